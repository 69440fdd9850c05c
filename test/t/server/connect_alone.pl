# A role that may do nothing but connect cannot stop IDs. Several statements lock a relation before they check any right
# on it: where one session keeps a weak lock, and another queues for a strong one behind it, everybody else queues, too.
# So the extension's relations that IDs need are where this role finds none by its name.
# Runs in make test-all: it locks every relation in every way.

use Snowid;

my $node = ready_server('connect', conf => "client_min_messages = error\nmax_prepared_transactions = 5\n", sql => q(CREATE ROLE mallory LOGIN; CREATE SEQUENCE central;
  CREATE SEQUENCE numbers INCREMENT 10; CREATE SEQUENCE keyed INCREMENT 10; CREATE SEQUENCE remote INCREMENT 10));
add_source($node, $node, name => 'registry');
$node->safe_psql('postgres', q(SELECT snowid.join('registry', 'a node'), snowid_segment_attach('remote', 'registry', 'central'),
  snowid.release_shard(4000)));

# Every relation of the extension, its indexes included.
my @relations = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', <<'SQL');
SELECT c.oid, c.oid::regclass, c.relkind
  FROM pg_class AS c
  LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
  JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = coalesce(i.indrelid, c.oid) AND d.deptype = 'e'
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'snowid'
 WHERE c.relkind IN ('r', 'v', 'S', 'i')
SQL
cmp_ok(scalar(@relations), '>', 16, 'tables, sequences, indexes and views');

# Statements that lock what they name, whatever comes of it; and functions that take an OID, for which no schema counts.
my @named = (
    (map { "LOCK TABLE %s IN $_ MODE" } 'ACCESS SHARE', 'ROW EXCLUSIVE', 'SHARE', 'ACCESS EXCLUSIVE'),
    'SELECT FROM %s', 'SELECT * FROM %s FOR UPDATE', 'INSERT INTO %s DEFAULT VALUES', 'DELETE FROM %s', 'TRUNCATE %s', 'COPY %s TO STDOUT',
    'CREATE RULE r AS ON INSERT TO %s DO NOTHING', 'DROP RULE r ON %s', 'DROP TRIGGER t ON %s', 'DROP POLICY p ON %s',
    'ALTER RULE r ON %s RENAME TO s', 'ALTER TRIGGER t ON %s RENAME TO s', 'ALTER POLICY p ON %s RENAME TO s', 'ALTER POLICY p ON %s USING (true)',
    'CREATE TRIGGER t AFTER INSERT ON %s EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()',
    'CREATE POLICY p ON %s', 'CREATE INDEX i ON %s ((1))', 'CREATE INDEX CONCURRENTLY i ON %s ((1))', 'CREATE STATISTICS s ON a, b FROM %s',
    'ALTER TABLE %s ADD COLUMN c int', 'ALTER TABLE %s RENAME TO r', 'ALTER TABLE %s RENAME COLUMN a TO b', 'ALTER TABLE %s SET SCHEMA public',
    'ALTER TABLE %s OWNER TO mallory', 'ALTER TABLE %s RENAME CONSTRAINT a TO b', 'ALTER TABLE %s ENABLE ROW LEVEL SECURITY',
    'ALTER VIEW %s SET (security_barrier)', 'ALTER VIEW %s RENAME TO r', 'ALTER SEQUENCE %s RESTART', 'ALTER SEQUENCE %s OWNED BY NONE', 'ALTER INDEX %s RENAME TO r',
    'ALTER INDEX %s SET (fillfactor = 50)', 'DROP TABLE %s', 'DROP VIEW %s', 'DROP SEQUENCE %s', 'DROP INDEX %s', 'DROP INDEX CONCURRENTLY %s',
    'COMMENT ON TABLE %s IS NULL', 'COMMENT ON VIEW %s IS NULL', 'COMMENT ON SEQUENCE %s IS NULL', 'COMMENT ON COLUMN %s.a IS NULL',
    'COMMENT ON RULE r ON %s IS NULL', 'COMMENT ON TRIGGER t ON %s IS NULL', 'COMMENT ON CONSTRAINT c ON %s IS NULL', 'COMMENT ON POLICY p ON %s IS NULL',
    'ALTER EXTENSION snowid DROP TABLE %s', 'ALTER EXTENSION snowid DROP VIEW %s', 'ALTER EXTENSION snowid ADD SEQUENCE %s',
    'GRANT SELECT ON %s TO mallory', 'REVOKE ALL ON %s FROM PUBLIC', 'ANALYZE %s', 'VACUUM %s', 'VACUUM FULL %s', 'CLUSTER %s', 'REINDEX TABLE %s', 'REINDEX INDEX %s',
    'REINDEX TABLE CONCURRENTLY %s', 'REFRESH MATERIALIZED VIEW %s', 'ALTER MATERIALIZED VIEW %s RENAME TO r', 'CREATE TEMP TABLE t (LIKE %s)', 'CREATE TEMP TABLE t () INHERITS (%s)',
    'CREATE TEMP TABLE t (a int REFERENCES %s)', 'CREATE TEMP TABLE t OF %s', 'CREATE TEMP VIEW v AS SELECT FROM %s', 'DECLARE c CURSOR FOR SELECT FROM %s',
    'CREATE PUBLICATION p FOR TABLE %s', 'CREATE TEMP SEQUENCE s OWNED BY %s.a', 'SECURITY LABEL ON TABLE %s IS NULL',
    (map { "SELECT $_" } q(nextval('%s')), q(setval('%s', 1)), q(currval('%s')), q('%s'::regclass), q(pg_get_viewdef('%s'::regclass))));
my @by_oid = map { "SELECT $_" } (
    'nextval(%s::oid)', 'setval(%s::oid, 1)', 'currval(%s::oid)', 'pg_sequence_last_value(%s::oid)', 'pg_relation_size(%s::oid)', 'pg_table_size(%s::oid)',
    'pg_get_viewdef(%s::oid)', 'brin_summarize_new_values(%s::oid)', 'gin_clean_pending_list(%s::oid)', 'pg_get_indexdef(%s::oid)',
    'snowid_segment_next(%s::oid)', 'snowid_segment_next(%s::oid, 5)', '* FROM snowid_segment_batch(%s::oid, 5)', 'snowid_section_next(%s::oid, 1)',
    'snowid_section_current(%s::oid, 1)', q(snowid_segment_attach(%s::oid, 'registry', 'x')), 'snowid_segment_detach(%s::oid)',
    q(snowid.adopt(%s::oid, 'shard')), q(snowid.create_partitions(%s::oid, '1 day', now())), 'snowid.drop_partitions(%s::oid, now())',
    'snowid.detach_partitions(%s::oid, now())', q(snowid.lock_tables(ARRAY[%s::oid], ARRAY['ACCESS EXCLUSIVE'])),
    q(snowid.future_times(%s::oid, 'shard', 'twitter')));

# One session keeps each lock that it can get, errors notwithstanding.
my $keeper = open_session($node, user => 'mallory');
ask($keeper, 'BEGIN');
sub statements_on { my ($oid, $name) = @{ $_[0] }; return ((map { sprintf $_, $name } @named), map { sprintf $_, $oid } @by_oid) }
my $kept = 0;
foreach my $relation (@relations)
{
    foreach my $statement (grep { !/CONCURRENTLY|VACUUM|^CLUSTER|ACCESS EXCLUSIVE|^COPY|TEMP/ } statements_on($relation))
    {
        ask($keeper, 'SAVEPOINT s');
        if (ask($keeper, $statement) =~ /^ERROR/) { ask($keeper, 'ROLLBACK TO s') }
        else { $kept++ }
    }
}
cmp_ok($kept, '>', 10, 'one session keeps locks');
cmp_ok($node->safe_psql('postgres', q(SELECT count(*) FROM pg_locks JOIN pg_class AS c ON c.oid = relation
  WHERE pid = ) . $keeper->{backend} . q( AND relnamespace = 'snowid_internal'::regnamespace)), '>', 0, 'on relations that IDs need, too');

# What another session then queues with. A wait never ends by itself here, so the time it is given does not matter.
my $queuer = open_session($node, user => 'mallory');
ask($queuer, q(SET lock_timeout = '50ms'));
my %queued;
my $tried = 0;
foreach my $relation (@relations)
{
    foreach my $statement (statements_on($relation))
    {
        $tried++;
        push @{ $queued{ $relation->[1] } }, $statement if ask($queuer, $statement) eq 'ERROR 55P03';
        ask($queuer, 'ROLLBACK') if $statement =~ /^DECLARE/;
    }
}
cmp_ok($tried, '>', 1500, 'statements that lock, on all relations');
is_deeply([ grep { !/^snowid[.]/ } sort keys %queued ], [], 'nothing queues for what IDs need');
cmp_ok(scalar(keys %queued), '>', 4, 'but for views something does');

# While it queues for any view, sessions go on, from their first ID on: all kinds of IDs and numbers, rows of tables, and
# moves of shards.
ask($queuer, 'RESET lock_timeout');
my $shard = 100;
foreach my $view (sort keys %queued)
{
    start_waiting($queuer, $queued{$view}[0]);
    my $other = open_session($node);
    ask($other, q(SET statement_timeout = '60s'));
    $shard++;
    my @wrong = grep { ask($other, $_) =~ /^ERROR/ } 'SELECT snowid_next()', "SELECT snowid_next($shard)", "SELECT snowid_next($shard, 'twitter')",
      'SELECT snowid_next_batch(7, 10)', 'SELECT snowid_reserve(7, 5)', 'SELECT snowid_uuidv7()', 'SELECT objectid_next()', 'SELECT snowid_ceiling()',
      q(SELECT snowid_segment_next('numbers')), q(SELECT snowid_segment_next('remote')), q(SELECT snowid_section_next('keyed', 1)),
      'SELECT snowid_default_shard()', "SELECT snowid.release_shard($shard)", 'SELECT snowid.check_node()', 'SELECT snowid.advance_past(now())';
    is("@wrong", '', "$view: nobody else waits for who queues");
    $node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . $queuer->{backend} . ')');
    is(answer($queuer), 'ERROR 57014', "$view: it was still queueing");
    close_session($other);
}
# Of what it may not do, the log has warnings.
$node->stop;
done_testing();
