# In a hardened database what default privileges take from PUBLIC is granted by the extension all the same, and what they grant is not: its
# rights are the same, and an application with a right to its own tables does what it may elsewhere.

use Snowid;

my $node = ready_server('hardened', sql => 'CREATE ROLE heir; CREATE ROLE application LOGIN; CREATE DATABASE hardened');
my $rights = rights_of_members();
my @hardening = map { "ALTER DEFAULT PRIVILEGES $_" } 'REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC', 'REVOKE USAGE ON TYPES FROM PUBLIC',
  'GRANT ALL ON TABLES TO application', 'GRANT ALL ON SEQUENCES TO application', 'GRANT ALL ON SCHEMAS TO application', 'GRANT ALL ON FUNCTIONS TO heir';
$node->safe_psql('hardened', join '; ', @hardening, 'REVOKE ALL ON SCHEMA public FROM PUBLIC', 'GRANT USAGE ON SCHEMA public TO application',
    'CREATE EXTENSION snowid');
is($node->safe_psql('hardened', $rights), $node->safe_psql('postgres', $rights), 'the same rights');
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
    unlike(attempt($node, "SET ROLE application; $sql", dbname => 'hardened'), qr/^ERROR/, $sql);
}
foreach my $sql ('SELECT snowid.release_shard(1)', 'SELECT * FROM snowid.stat_shards', 'SELECT * FROM snowid_internal.nodes', q(SELECT snowid.return_to_clock('{}')))
{
    is(attempt($node, "SET ROLE application; $sql", dbname => 'hardened'), 'ERROR 42501', $sql);
}
end_test($node);
