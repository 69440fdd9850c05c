# Tables of portable/snowid.sql go to the extension by a dump, with their defaults, columns and indexes, which call functions of the
# same names. A whole dump takes along where shards are, the settings, and rights.
# Runs in make test-all: it dumps and restores.

use Snowid;

my $owner = portable_owner();
my $node = ready_server('dumped');
create_portable($node, 'portable', shards => [ 1, 2 ]);
$node->safe_psql('portable', <<'SQL', extra_params => [ '-U', $owner ]);
SELECT snowid.create_shard(7, 'twitter');
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED,
  tweet bigint DEFAULT snowid_next(7, 'twitter'));
CREATE INDEX ON photos (snowid_shard(tweet, 'twitter'));
INSERT INTO photos SELECT FROM generate_series(1, 10);
UPDATE snowid.settings SET max_lead = 86400000;
SELECT snowid.release_shard(2);
SQL
my $greatest = $node->safe_psql('portable', 'SELECT max(id) FROM photos');
$node->safe_psql('postgres', "CREATE DATABASE tables; CREATE DATABASE whole OWNER $owner");
$node->safe_psql('tables', 'CREATE EXTENSION snowid');

sub restore
{
    my ($command, $database, $user) = @_;
    my $out = PostgreSQL::Test::Utils::tempdir() . '/out';
    return system_or_bail('sh', '-c', "$command | psql -Xq -v ON_ERROR_STOP=1 -o '$out' -U $user -d '" . $node->connstr($database) . "'");
}
my ($command) = section_of('docs/portable.md', 'To the extension, and back') =~ /`(pg_dump [^`]*)`/;
restore($command =~ s/-d app/-d '@{[ $node->connstr('portable') ]}'/r, 'tables', 'postgres');
is($node->safe_psql('tables', 'INSERT INTO photos DEFAULT VALUES; SELECT count(*), count(*) FILTER (WHERE at = snowid_timestamp(id)), '
      . q(count(*) FILTER (WHERE snowid_shard(tweet, 'twitter') = 7) FROM photos)), '11|11|11', 'tables draw from the extension');
restore("pg_dump -U $owner -d '" . $node->connstr('portable') . "'", 'whole', $owner);
set_clock(-3600);
cmp_ok($node->safe_psql('whole', 'INSERT INTO photos DEFAULT VALUES RETURNING id'), '>', $greatest, 'restored, with the clock behind: above all in the dump');
is(attempt($node, 'SELECT snowid_next(2)', dbname => 'whole'), 'ERROR 55000', 'a shard that was released is so there');
is($node->safe_psql('whole', q(SELECT has_function_privilege('public', 'snowid.release_shard(bigint, snowid_layout)', 'EXECUTE'))), 'f', 'and rights are as they were');
end_test($node);
