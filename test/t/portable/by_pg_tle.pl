# pg_tle makes an extension of portable/snowid.sql, as far as a stand-in can tell: one keeps what it is told, and a server has that
# as the extension's script. Its dump takes along where shards are, and the settings.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $owner = portable_owner();
my ($prefix, $scripts) = new_prefix();
my $version = current_version();
my $node = new_server('by_pg_tle', install_path => $prefix);
$node->start;
$node->safe_psql('postgres', "CREATE ROLE $owner LOGIN");
$node->safe_psql('postgres', "CREATE DATABASE $_ OWNER $owner") foreach 'tle', 'restored';

# What it is told: neither commands of psql nor transactions.
$node->safe_psql('tle', <<'SQL');
CREATE SCHEMA pgtle;
GRANT USAGE ON SCHEMA pgtle TO PUBLIC;
CREATE TABLE pgtle.told (name text, version text, description text, ext text, requires text[]);
GRANT INSERT, SELECT ON pgtle.told TO PUBLIC;
CREATE FUNCTION pgtle.install_extension(name text, version text, description text, ext text, requires text[] DEFAULT NULL)
  RETURNS boolean LANGUAGE sql AS 'INSERT INTO pgtle.told VALUES ($1, $2, $3, $4, $5) RETURNING true';
SQL
my $dir = PostgreSQL::Test::Utils::tempdir();
system_or_bail('sh', '-c', "cd portable && psql -Xq -o '$dir/out' -U $owner -d '" . $node->connstr('tle') . "' -f pg_tle.sql");
is($node->safe_psql('tle', q(SELECT name, version, requires IS NULL, ext ~ E'(?n)^(\\\\\\\\|BEGIN;$|COMMIT;$)' FROM pgtle.told)), "snowid|$version|t|f", 'what pg_tle is told');

# CREATE EXTENSION runs that with the rights of who calls it.
unlink "$scripts/snowid.control", "$scripts/snowid--$version.sql";
append_to_file("$scripts/snowid.control", "default_version = '$version'\nsuperuser = false\n");
append_to_file("$scripts/snowid--$version.sql", $node->safe_psql('tle', 'SELECT ext FROM pgtle.told'));
$node->safe_psql('tle', 'DROP SCHEMA pgtle CASCADE');
$node->safe_psql('tle', 'CREATE EXTENSION snowid', extra_params => [ '-U', $owner ]);
is(attempt($node, 'SELECT snowid_next()', dbname => 'tle'), 'ERROR 55000', 'no shard is there yet');
my $greatest = $node->safe_psql('tle', <<'SQL', extra_params => [ '-U', $owner ]);
SELECT snowid.create_shard(n) FROM unnest(ARRAY[0, 7]) AS n;
UPDATE snowid.settings SET shard = 7, max_lead = 86400000;
SELECT max(id) FROM snowid_next_batch(7, 2000) AS id;
SQL

# A dump has CREATE EXTENSION, and beside it what is no member: shards, and the row of settings.
system_or_bail('sh', '-c', "pg_dump -U $owner -d '" . $node->connstr('tle') . "' | psql -Xq -v ON_ERROR_STOP=1 -o '$dir/out' -U $owner -d '" . $node->connstr('restored') . "'");
is($node->safe_psql('restored', q(SELECT count(*), shard, max_lead FROM pg_extension, snowid.settings WHERE extname = 'snowid' GROUP BY 2, 3)), '1|7|86400000',
    'the extension is restored, with its settings');
my $id = $node->safe_psql('restored', 'SELECT snowid_next()');
cmp_ok($id, '>', $greatest =~ s/\s//gr, 'and where its shard was');
is($node->safe_psql('restored', "SELECT snowid_shard($id)"), '7', 'which is its own');
end_test($node);
