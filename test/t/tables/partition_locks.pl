# Who makes or drops partitions gives way to others, in turns: no client waits for long behind him. He gives up when lock_timeout
# says so, all waits together, and has changed nothing then. What is refused waits for nothing. A partition whose DETACH
# CONCURRENTLY was interrupted is left alone: its range stays taken, and it does not count as one that stays.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = ready_server('partition_locks', conf => "timezone = 'UTC'\n", sql => <<'SQL');
CREATE ROLE other;
CREATE ROLE owner;
CREATE TABLE past (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE past_0 PARTITION OF past FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2016-01-01Z'));
SELECT snowid.create_partitions('past', '1 month', '2016-01-31Z');
SQL
my ($reader, $writer, $maker) = map { open_session($node) } 1 .. 3;
my $hasty = "SET lock_timeout = '100ms'; SELECT snowid";

ask($reader, 'BEGIN; SELECT FROM past');
is(attempt($node, "$hasty.$_"), 'ERROR 55P03', "lock_timeout ends the wait of $_")
  foreach q(drop_partitions('past', '2016-01-01Z')), q(create_partitions('past', '1 month', '2016-02-01Z'));
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'past'::regclass)), '2', 'nothing is changed');
ask($reader, 'COMMIT');
# A partition that is to go belongs to another role.
$node->safe_psql('postgres', 'ALTER TABLE past_0 OWNER TO other; ALTER TABLE past OWNER TO owner');
ask($reader, 'BEGIN; SELECT FROM past');
is(attempt($node, "$hasty.${_}_partitions('past', '2016-01-01Z')"), 'ERROR 42501', "$_: another role's is refused before anything is locked")
  foreach 'drop', 'detach';
ask($reader, 'COMMIT');
$node->safe_psql('postgres', 'ALTER TABLE past OWNER TO CURRENT_USER; ALTER TABLE past_0 OWNER TO CURRENT_USER');
is(attempt($node, "$hasty.drop_partitions('past', '2016-01-01Z')"), 'public.past_0', 'it goes when it can');

foreach my $call (q(create_partitions('past', '1 month', '2016-02-01Z')), q(drop_partitions('past', '2016-02-01Z')))
{
    ask($reader, 'BEGIN; SELECT FROM past');
    start_waiting($maker, "SELECT snowid.$call");
    is(ask($writer, q(INSERT INTO past VALUES (snowid_first_at('2016-01-05Z')); SELECT count(*) > 0 FROM past)), 't', "written and read beside $call");
    ask($reader, 'COMMIT');
    like(answer($maker), qr/^(public\.)?past_2016/, "$call when they are done");
    is(ask($maker, 'SHOW lock_timeout'), '0', 'lock_timeout is what it was');
}

# DETACH CONCURRENTLY, interrupted.
ask($writer, <<'SQL');
CREATE TABLE leaving (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE leaving_0 PARTITION OF leaving FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2016-01-01Z'));
SELECT snowid.create_partitions('leaving', '1 month', '2016-02-15Z')
SQL
ask($reader, 'BEGIN; SELECT FROM leaving');
start_waiting($maker, 'ALTER TABLE leaving DETACH PARTITION leaving_2016_02 CONCURRENTLY');
ask($writer, "SELECT pg_cancel_backend($maker->{backend})");
is(answer($maker), 'ERROR 57014', 'detaching is interrupted');
ask($reader, 'COMMIT');
foreach (
    [ 'SELECT inhrelid::regclass FROM pg_inherits WHERE inhdetachpending', 'leaving_2016_02', 'it is pending' ],
    [ q(SELECT snowid.create_partitions('leaving', '1 month', '2016-03-15Z')), 'leaving_2016_03', 'the next one is made beside it' ],
    [ q(SELECT snowid.drop_partitions('leaving', '2016-03-01Z', max_partitions => 1)), 'public.leaving_0', 'others go' ],
    [ q(SELECT snowid.detach_partitions('leaving', '2016-03-01Z')), 'leaving_2016_01', 'it is passed over' ],
    [ q(SELECT snowid.drop_partitions('leaving', '2016-04-01Z')), 'ERROR 55000', 'drop: all would go' ],
    [ q(SELECT snowid.detach_partitions('leaving', '2016-04-01Z')), 'ERROR 55000', 'detach: all would go' ],
    [ 'ALTER TABLE leaving DETACH PARTITION leaving_2016_02 FINALIZE; SELECT count(*) FROM leaving_2016_02', '0', 'it can be ended' ])
{
    is(ask($writer, $_->[0]), $_->[1], "detach pending: $_->[2]");
}
end_test($node);
