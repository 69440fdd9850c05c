# Segments: sessions draw the numbers of a sequence from blocks that they share. In order across
# sessions and without gaps; through crashes and a fail-over none comes twice; while one session refills
# the others go on; the last numbers are all handed out. How much is allocated at a time is
# segment_blocks.pl, what others do to the sequence meanwhile segment_changes.pl.
#
# Runs in make test-all: it goes through all sizes of blocks, with crashes and a fail-over.

use strict;
use warnings;

use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $one_by_one = 'SET snowid.segment_adapt = off';

# Starts eight sessions that draw, four of them in batches of 100; as many numbers each as given, or slowly
# until they are ended.
sub draw_by_eight
{
    my ($node, $sequence, $numbers, %options) = @_;
    my @pause = $numbers ? () : (pause_every => 64);
    my @pause_of_batches = $numbers ? () : (pause_every => 1);
    my $batches = $numbers ? $numbers / 100 : undef;
    return map {
        (draw($node, "snowid_segment_next('$sequence')", $numbers, @pause, %options),
            draw($node, "snowid_segment_batch('$sequence', 100)", $batches, @pause_of_batches, %options))
    } 1 .. 4;
}

my $node = new_server('segments');
$node->append_conf('postgresql.conf', "wal_writer_delay = 10s\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# 1. In order, and without a gap, whatever the size of blocks.
foreach my $increment (1, 7, 1000)
{
    foreach my $setup ($one_by_one, '')
    {
        my $name = "increment $increment" . ($setup ? ', block by block' : '');
        $node->safe_psql('postgres', "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s INCREMENT $increment");
        my @sessions = draw_by_eight($node, 's', 1_000, setup => $setup);
        finish(@sessions);
        my ($count, $max) = check_round($name, 0, @sessions);
        is("$count|$max", '8000|8000', "$name: all, and no gap");
        # Of the size that is asked for: that is, of a whole block less one.
        next if $increment < 7;
        my $size = $increment - 1;
        @sessions = map { draw($node, "snowid_segment_next('s', $size)", 500, setup => $setup) } 1 .. 8;
        finish(@sessions);
        ($count) = check_round("$name, less than all of it", $max, @sessions);
        is($count, 4_000, "$name, less than all of it: all");
        my %left;
        $left{ ($_ - 1) % $increment }++ foreach map { @{ ids($_) } } @sessions;
        is(join(',', grep { !$left{$_} } 0 .. $increment - 1), $size, "$name, less than all of it: leaves the rest");
    }
}

# Whoever has returned with a number leaves greater ones to all who call then.
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE in_turn INCREMENT 10;
CREATE SEQUENCE witnessed INCREMENT 10;
CREATE SEQUENCE witness MINVALUE 0 START 0;
CREATE FUNCTION not_above_witness(calls int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  returned bigint;
  lowest bigint;
  highest bigint;
  wrong int := 0;
BEGIN
  FOR round IN 1..calls LOOP
    SELECT last_value INTO returned FROM witness;
    SELECT min(n), max(n) INTO lowest, highest
      FROM snowid_segment_batch('witnessed', CASE WHEN round % 2 = 0 THEN 1 ELSE 7 END) n;
    wrong := wrong + (lowest <= returned)::int;
    PERFORM setval('witness', highest);
  END LOOP;
  RETURN wrong;
END $$;
SQL
my @sessions = map { open_session($node) } 1 .. 8;
my @got = map { ask($_, "SELECT snowid_segment_next('in_turn')") } map { shuffle(@sessions) } 1 .. 20;
is("@got", "@{[1 .. 160]}", 'in turn: each number is the one after the number given before');
close_session(@sessions);
@sessions = map { draw($node, 'not_above_witness(300)', 1) } 1 .. 8;
finish(@sessions);
is(join(',', map { @{ ids($_) } } @sessions), join(',', (0) x 8), 'at once: each number is above all that were returned');

# 2. The end of a sequence, near which it is time to refill and there is nothing to be had.
foreach my $end (
    [ 'INCREMENT 100 MAXVALUE 250', 1, 250 ],
    [ 'INCREMENT 100 MAXVALUE 300', 1, 300 ],
    [ 'INCREMENT 100 MAXVALUE 301', 1, 301 ],
    [ 'INCREMENT 100 MAXVALUE 5', 1, 5 ],
    [ 'INCREMENT 1 MAXVALUE 10', 1, 10 ],
    [ 'INCREMENT 4 MINVALUE -5 MAXVALUE 3', -5, 3 ],
    [ 'AS smallint INCREMENT 1000 START 32001', 32001, 32767 ],
    [ 'INCREMENT 1000 START 9223372036854775000', '9223372036854775000', '9223372036854775807' ],
    [ 'INCREMENT 9223372036854775807 MINVALUE -9223372036854775808 START 9223372036854775800',
        '9223372036854775800', '9223372036854775807' ])
{
    my ($options, $first, $last) = @$end;
    foreach my $setup ($one_by_one, '')
    {
        my $name = "to the end, $options" . ($setup ? ', block by block' : '');
        $node->safe_psql('postgres', "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s $options");
        my $session = open_session($node);
        ask($session, $setup);
        my $rows = $last - $first + 1;
        @got = split /\n/, ask($session, "SELECT snowid_segment_next('s') FROM generate_series(1, $rows)");
        is("@got[0, -1] " . @got, "$first $last $rows", "$name: all numbers");
        is(ask($session, $_), 'ERROR 2200H', "$name: no more")
          foreach ("SELECT snowid_segment_next('s')") x 2, "SELECT snowid_segment_batch('s', 2)";
        is(attempt($node, "SELECT snowid_segment_next('s')"), 'ERROR 2200H', "$name: nor for others");
        close_session($session);
    }
}
$node->safe_psql('postgres', 'CREATE SEQUENCE ends INCREMENT 1000 MAXVALUE 9999');
@sessions = map { draw($node, "snowid_segment_next('ends')", 10_000) } 1 .. 8;
finish(@sessions);
my ($count, $max) = check_round('eight to the end', 0, @sessions);
is("$count|$max", '9999|9999', 'eight to the end: all numbers');
is(join(',', map { sqlstate_of(errors_of($_)) } @sessions),
    join(',', ('2200H') x 8), 'eight to the end: each is told');

# 3. Crashes. First with nobody else there: what is lost is what was allocated.
my $session = open_session($node);
ask($session, $one_by_one);
my $next = "SELECT snowid_segment_next('steady')";
$node->safe_psql('postgres', 'CREATE SEQUENCE steady INCREMENT 1000');
is(ask($session, $next), 1, 'a first number');
is(last_value($node, 'steady'), 1, 'of a block');
crash($node, 'kill');
start_server($node);
$session = open_session($node);
ask($session, $one_by_one);
is(ask($session, $next), 1001, 'killed: the next block');
ask($session, "SELECT count(*) FROM snowid_segment_batch('steady', 500)");
crash($node, 'kill');
start_server($node);
is(attempt($node, $next), 3001, 'killed: the block after the two that were allocated');
# What nextval logs is ahead of what the page says: here by a bit above the 16 that else change.
$session = open_session($node);
ask($session, "SELECT setval('steady', 57001)");
ask($session, "$one_by_one; SELECT nextval('steady'); $next") foreach 1 .. 3;
is(last_value($node, 'steady'), 63001, 'nextval and blocks by turns');
crash($node, 'kill');
start_server($node);
is(attempt($node, $next), 64001, 'killed: the next block');
$node->restart;
is(attempt($node, $next), 65001, 'restarted: the next block');

# And while eight sessions draw from each of two sequences.
my %greatest = map { $_ => 999_999_999 } qw(by_block growing);
$node->safe_psql('postgres', "CREATE SEQUENCE $_ INCREMENT 1000 START 1000000000") foreach sort keys %greatest;
foreach my $how (qw(kill immediate))
{
    my %drawing = (
        by_block => [ draw_by_eight($node, 'by_block', undef, setup => $one_by_one) ],
        growing => [ draw_by_eight($node, 'growing', undef) ]);
    my @all = map { @{ $drawing{$_} } } sort keys %drawing;
    # A number and its newline are 11 bytes.
    wait_to_draw_together(11 * 60_000, @all);
    wait_to_draw(1, @all);
    crash($node, $how);
    finish(@all);
    unlike(errors_of(@all), qr/ERROR/, "$how: no session failed");
    start_server($node);
    foreach my $sequence (sort keys %drawing)
    {
        (undef, $max) = check_round("$how, $sequence", $greatest{$sequence}, @{ $drawing{$sequence} });
        my $allocated = last_value($node, $sequence);
        cmp_ok($allocated + 999, '>=', $max, "$how: all of $sequence was durable");
        $greatest{$sequence} = attempt($node, "SELECT snowid_segment_next('$sequence')");
        is($greatest{$sequence}, $allocated + 1000, "$how: $sequence goes on with the next block");
    }
}

# An unlogged sequence begins again after a crash, as it does for nextval.
$node->safe_psql('postgres', 'CREATE UNLOGGED SEQUENCE unlogged INCREMENT 1000');
is(attempt($node, "SELECT snowid_segment_next('unlogged')"), 1, 'unlogged: served');
$node->restart;
is(attempt($node, "SELECT snowid_segment_next('unlogged')"), 1001, 'unlogged: goes on after a restart');
crash($node, 'kill');
start_server($node);
is(attempt($node, "SELECT snowid_segment_next('unlogged')"), 1, 'unlogged: begins again after a crash');
is(attempt($node, "CREATE TEMP SEQUENCE own; SELECT snowid_segment_next('own')"), 'ERROR 0A000', 'temporary: refused');

# 4. Dumps. A column's default goes with the dump, and numbers go on above those of the table.
my $dir = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowid_segment_next('orders_seq'), n int);
ALTER SEQUENCE orders_seq OWNED BY orders.id;
INSERT INTO orders (n) SELECT generate_series(1, 1234);
CREATE DATABASE plain;
CREATE DATABASE custom;
SQL
is(attempt($node, "SELECT max(id), count(*) FROM orders"), '1234|1234', 'dump: a table');
my $insert = "INSERT INTO orders DEFAULT VALUES RETURNING id";
my $connection = $node->connstr('postgres');
system_or_bail('pg_dump', '-d', $connection, '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $connection, '-Fc', '-f', "$dir/custom.dump");
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$dir/plain.sql" ],
    'dump: restored as text');
command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('custom'), "$dir/custom.dump" ],
    'dump: restored');
my $above = last_value($node, 'orders_seq') + 1000;
foreach my $dbname (qw(plain custom))
{
    is(attempt($node, $insert, dbname => $dbname), $above, "dump, $dbname: goes on above");
    is(attempt($node, "$insert; SELECT last_value >= $above FROM orders_seq", dbname => $dbname),
        ($above + 1) . "\nt", "dump, $dbname: its own sequence");
}
# Over a table in use, whose numbers have come further.
$session = open_session($node);
ask($session, 'INSERT INTO orders (n) SELECT generate_series(1, 10000)');
command_ok([ 'pg_restore', '--clean', '--exit-on-error', '-d', $connection, "$dir/custom.dump" ],
    'dump: restored over it');
is(ask($session, $insert), $above, 'dump: a session that has drawn goes by what was restored');

# 5. Ways to draw: COPY, INSERT … SELECT, prepared statements. A plan with it is never parallel.
@got = map { attempt($node, $_) } 'TRUNCATE orders RESTART IDENTITY',
  q(COPY orders (n) FROM PROGRAM 'seq 1 2000'), 'INSERT INTO orders (n) SELECT generate_series(2001, 12000)',
  'SELECT count(*), min(id), max(id), count(DISTINCT id), count(*) FILTER (WHERE id = n) FROM orders';
is("@got", '   12000|1|12000|12000|12000', 'COPY and INSERT: in the order of rows');
$session = open_session($node);
make_parallel($session);
like(ask($session, 'EXPLAIN SELECT count(*) FROM orders'), qr/Gather/, 'parallel: what can be');
unlike(ask($session, "EXPLAIN SELECT $_, n FROM orders"), qr/Gather/, "parallel: not $_")
  foreach "snowid_segment_next('orders_seq')", "snowid_segment_next('orders_seq', 10)",
  "snowid_segment_batch('orders_seq', 10)", "snowid_segment_batch('orders_seq', 10, 10)";
is(ask($session, "SELECT count(DISTINCT id), max(id) FROM (SELECT snowid_segment_next('orders_seq') id FROM orders) o"),
    '12000|24000', 'parallel: all there');
$node->safe_psql('postgres', "CREATE SEQUENCE p$_ INCREMENT $_") foreach 1 .. 30;
ask($session, 'SET plan_cache_mode = force_generic_plan; PREPARE next(regclass) AS SELECT snowid_segment_next($1)');
@got = map { my $i = $_; map { ask($session, "EXECUTE next('p$_')") } 1 .. 30 } 1 .. 5;
is("@got", join(' ', map { ($_) x 30 } 1 .. 5), 'prepared: of many sequences by turns');
# In one transaction of more sequences than the server has buffers.
$node->append_conf('postgresql.conf', "shared_buffers = 128kB\n");
$node->restart;
$node->safe_psql('postgres', "CREATE SEQUENCE q$_ INCREMENT 100") foreach 1 .. 30;
$session = open_session($node);
my $all = join '; ', map { "SELECT snowid_segment_next('q$_')" } 1 .. 30;
my $round = 1;
foreach my $statements ('BEGIN; ALL; SAVEPOINT a; ALL; ROLLBACK TO a; ALL; COMMIT; ALL', 'BEGIN; ALL; ROLLBACK; ALL')
{
    my $rounds = (my $sql = $statements) =~ s/ALL/$all/g;
    is(ask($session, $sql), join("\n", map { ($_) x 30 } $round .. $round + $rounds - 1),
        "more sequences than buffers: $statements");
    $round += $rounds;
}
close_session($session);
check_log($node);
$node->stop;

# 6. While one session refills, the others draw what is left; where nothing is, they can be cancelled. The
# one that refills waits for a synchronous standby, which nobody is.
my $primary = new_server('primary', allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE held INCREMENT 100;
CREATE SEQUENCE replicated INCREMENT 1000 START 1000000000;
SQL
my ($refiller, @others) = map { open_session($primary) } 1 .. 3;
backend_of($_), ask($_, "$one_by_one; SET statement_timeout = '1min'") foreach $refiller, @others;
$next = "SELECT snowid_segment_next('held')";
is(ask($refiller, "SELECT max(n) FROM snowid_segment_batch('held', 9) n"), 9, 'held up: less than a tenth is used');
my $held = hold_commits($primary);
start_asking($refiller, $next);
wait_until_waiting($primary, $refiller, 'SyncRep');
is(ask($others[0], "SELECT min(n), max(n) FROM snowid_segment_batch('held', 85) n"), '11|95',
    'held up: others draw what is left');
is(join(',', map { ask($others[ $_ % 2 ], $next) } 0 .. 4), '96,97,98,99,100', 'held up: to the last number');
foreach my $state ('held up', 'stopped')
{
    kill 'STOP', $refiller->{backend} if $state eq 'stopped';
    start_asking($others[0], $next);
    wait_until_waiting($primary, $others[0], 'Extension');
    $primary->safe_psql('postgres', "SELECT pg_cancel_backend($others[0]{backend})");
    is(answer($others[0]), 'ERROR 57014', "$state: with nothing left one waits, and can be cancelled");
    is(ask($others[1], "SET statement_timeout = '100ms'; $next"), 'ERROR 57014', "$state: or run out of time");
    ask($others[1], "SET statement_timeout = '1min'");
}
kill 'CONT', $refiller->{backend};
start_asking($others[0], $next);
wait_until_waiting($primary, $others[0], 'Extension');
is($refiller->{out}, '', 'held up: nothing from a block before a standby has it');
release_commits($primary, $held);
is(answer($refiller), 10, 'held up: the one who refilled has its number');
is(answer($others[0]), 101, 'held up: the one who waited has the next');
is(ask($others[1], $next), 102, 'held up: and all go on');

# 7. Fail-over to a synchronous standby.
my $standby = new_standby($primary, 'standby');
$standby->start;
$held = hold_commits($primary);
my $first = draw($primary, "snowid_segment_next('replicated')", 1);
wait_for_waiting($primary, 1, 'SyncRep', 'replicated');
is(-s $first->{file}, 0, 'fail-over: no number before the standby has its block');
release_commits($primary, $held, 'standby');
finish($first);
is("@{ ids($first) }", '1000000000', 'fail-over: and then the first');
@sessions = draw_by_eight($primary, 'replicated', undef);
wait_to_draw_together(11 * 60_000, @sessions);
crash($primary, 'kill');
finish(@sessions);
my ($seen, $floor) = check_round('fail-over, on the primary', 1_000_000_000, @sessions);
is(attempt($standby, "SELECT $_"), 'ERROR 25006', "on a standby: $_")
  foreach "snowid_segment_next('replicated')", "snowid_segment_next('replicated', 10)",
  "snowid_segment_batch('replicated', 10)", "snowid_segment_batch('replicated', 10, 10)";
$standby->promote;
my $allocated = last_value($standby, 'replicated');
cmp_ok($allocated + 999, '>=', $floor, 'fail-over: the standby has all that was seen');
@sessions = draw_by_eight($standby, 'replicated', 2_000);
finish(@sessions);
($count, $max) = check_round('fail-over, promoted', $allocated + 999, @sessions);
is("$count|$max", '16000|' . ($allocated + 16_999), 'fail-over: goes on with the next block, and no gap');
check_log($_) foreach $primary, $standby;
$standby->stop;
done_testing();
