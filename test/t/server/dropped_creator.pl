# Whoever created the extension can be dropped: dumps, restores and rights are the same afterwards. Before PostgreSQL 17 a
# dropped role's OID stays in pg_init_privs, and pg_dump would revoke from it by that number. So nothing of the extension
# names a role that can be dropped, neither as grantee nor as owner.
#
# Runs in make test-all: it has many databases.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('dropped');
$node->start;
my $rights = <<'SQL';
SELECT i.type, i.identity, o.owner::regrole, o.acl, p.initprivs
  FROM pg_extension AS e
  JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i
  CROSS JOIN LATERAL (SELECT proowner AS owner, proacl AS acl FROM pg_proc WHERE d.classid = 'pg_proc'::regclass AND oid = d.objid
    UNION ALL SELECT relowner, relacl FROM pg_class WHERE d.classid = 'pg_class'::regclass AND oid = d.objid
    UNION ALL SELECT typowner, typacl FROM pg_type WHERE d.classid = 'pg_type'::regclass AND oid = d.objid
    UNION ALL SELECT oprowner, NULL FROM pg_operator WHERE d.classid = 'pg_operator'::regclass AND oid = d.objid
    UNION ALL SELECT opcowner, NULL FROM pg_opclass WHERE d.classid = 'pg_opclass'::regclass AND oid = d.objid
    UNION ALL SELECT opfowner, NULL FROM pg_opfamily WHERE d.classid = 'pg_opfamily'::regclass AND oid = d.objid
    UNION ALL SELECT nspowner, nspacl FROM pg_namespace WHERE d.classid = 'pg_namespace'::regclass AND oid = d.objid) AS o
  LEFT JOIN pg_init_privs AS p ON p.classoid = d.classid AND p.objoid = d.objid
 WHERE e.extname = 'snowid' ORDER BY 1, 2
SQL
$node->safe_psql('postgres', 'CREATE DATABASE plain; CREATE ROLE heir; CREATE ROLE application LOGIN');
$node->safe_psql('plain', 'CREATE EXTENSION snowid');
my $expected = $node->safe_psql('plain', $rights);
cmp_ok(scalar(split /\n/, $expected), '>', 150, 'members of the extension');

my %creator = (
    'owner of the database' => 'CREATE ROLE creator LOGIN',
    'another superuser' => 'CREATE ROLE creator LOGIN SUPERUSER',
    'role that may create' => 'CREATE ROLE creator LOGIN');
foreach my $kind (sort keys %creator)
{
    $node->safe_psql('postgres', "$creator{$kind}; CREATE DATABASE made" . ($kind =~ /^owner/ ? ' OWNER creator' : ''));
    $node->safe_psql('made', 'GRANT CREATE ON DATABASE made TO creator; GRANT CREATE ON SCHEMA public TO creator');
    $node->psql('made', 'CREATE EXTENSION snowid', extra_params => [ '-U', 'creator' ], on_error_die => 1);
    is($node->safe_psql('made', $rights), $expected, "$kind: owners and rights as if the first superuser had created it");
    $node->safe_psql('made', 'REASSIGN OWNED BY creator TO heir; DROP OWNED BY creator; DROP ROLE creator');
    is($node->safe_psql('made', $rights), $expected, "$kind: dropped, nothing has changed");
    $node->safe_psql('made', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next()); INSERT INTO photos DEFAULT VALUES');
    system_or_bail('pg_dump', '-d', $node->connstr('made'), '-f', "$dir/made.sql");
    system_or_bail('pg_dump', '-d', $node->connstr('made'), '--binary-upgrade', '--schema-only', '-f', "$dir/upgrade.sql");
    unlike(slurp_file("$dir/$_.sql"), qr/"\d+"|\bcreator\b/, "$kind: $_: no role is named by its number") foreach 'made', 'upgrade';
    $node->safe_psql('postgres', 'DROP DATABASE made; CREATE DATABASE made');
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('made'), '-f', "$dir/made.sql" ], "$kind: restored");
    is($node->safe_psql('made', 'SELECT snowid_next() > max(id) FROM photos'), 't', "$kind: IDs go on");
    $node->safe_psql('postgres', 'DROP DATABASE made');
}

# A hardened database: what default privileges take from PUBLIC is granted all the same, and what they grant is not.
my @hardening = map { "ALTER DEFAULT PRIVILEGES $_" } 'REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', 'REVOKE USAGE ON TYPES FROM PUBLIC',
  'GRANT ALL ON TABLES TO application', 'GRANT ALL ON SEQUENCES TO application', 'GRANT ALL ON SCHEMAS TO application', 'GRANT ALL ON FUNCTIONS TO heir';
$node->safe_psql('postgres', 'CREATE DATABASE hardened');
$node->safe_psql('hardened', join '; ', @hardening, 'REVOKE ALL ON SCHEMA public FROM PUBLIC', 'GRANT USAGE ON SCHEMA public TO application',
    'CREATE EXTENSION snowid');
is($node->safe_psql('hardened', $rights), $expected, 'hardened: the same rights');
$node->safe_psql('hardened', <<'SQL');
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), layout snowid_layout DEFAULT 'twitter', document objectid DEFAULT objectid_next(),
  made timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED);
CREATE SEQUENCE numbers INCREMENT 10;
CREATE TABLE kept (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
GRANT ALL ON photos, numbers TO application;
ALTER TABLE kept OWNER TO application;
GRANT CREATE ON SCHEMA public TO application
SQL
foreach my $sql ('INSERT INTO photos DEFAULT VALUES', q(SELECT layout, count(*) FROM photos WHERE layout = 'twitter' AND document > '000000000000000000000000' GROUP BY layout),
    'SELECT snowid_next(5), snowid_uuidv7(), snowid_ceiling()', q(SELECT snowid_decode(5), snowid_to_uuid(5), snowid_to_base62(5)),
    q(SELECT * FROM photos WHERE snowid_in_range(id, now() - interval '1 h', now() + interval '1 h')), 'SELECT * FROM snowid_next_batch(1, 10)',
    q(SELECT snowid_segment_next('numbers'), snowid_section_next('numbers', 1)), 'SELECT * FROM seq_x_to_y(1, 5)', 'SELECT max(document) FROM photos',
    q(SELECT snowid.create_partitions('kept', '1 day', now() + interval '2 days', 'instagram')), q(SELECT snowid.adopt('kept', 'id')),
    map { "SELECT * FROM snowid.$_" } qw(layouts node_status skipped_times released_shards segment_sources partitions))
{
    unlike(attempt($node, "SET ROLE application; $sql", dbname => 'hardened'), qr/^ERROR/, "hardened: $sql");
}
foreach my $sql ('SELECT snowid.release_shard(1)', 'SELECT * FROM snowid.stat_shards', 'SELECT * FROM snowid_internal.nodes', q(SELECT snowid.return_to_clock('{}')))
{
    is(attempt($node, "SET ROLE application; $sql", dbname => 'hardened'), 'ERROR 42501', "hardened: $sql");
}
$node->stop;
done_testing();
