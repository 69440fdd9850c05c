# Attaching a sequence to a central source, and detaching it: who may, what is refused, what other
# sessions notice, what a dump keeps. What a caller has, by way of rights, names or connections,
# changes nothing of where numbers come from, and leaves nothing open there.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq START 100001 INCREMENT 100;
CREATE SEQUENCE small_seq START 1 INCREMENT 10 MAXVALUE 35;
CREATE SEQUENCE cycling_seq INCREMENT 10 CYCLE;
CREATE SEQUENCE falling_seq INCREMENT -10;
CREATE TABLE no_seq ();
CREATE SCHEMA other;
CREATE SEQUENCE other.orders_seq START 7000001 INCREMENT 100;
SQL

my $node = new_server('node');
$node->start;
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN;
GRANT CREATE ON SCHEMA public TO alice;
CREATE SERVER slow FOREIGN DATA WRAPPER dblink_fdw OPTIONS (dbname 'postgres');
CREATE SEQUENCE orders_seq;
CREATE TABLE no_seq ();
SQL
my $next = q(SELECT snowid_segment_next('orders_seq'));

# Has a session run a statement that fails, and checks its SQLSTATE and its message.
sub check_error
{
    my ($name, $session, $sql, $sqlstate, $message) = @_;
    is(ask($session, $sql), "ERROR $sqlstate", "$name: $sqlstate");
    like($session->{err}, $message, "$name: says so");
    return;
}

# 1. What is refused.
my $admin = open_session($node);
my $bob = open_session($node);
ask($bob, 'SET ROLE bob');
ask($admin, 'GRANT USAGE ON SEQUENCE orders_seq TO bob');
check_error('not the owner', $bob, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')),
    '42501', qr/must be owner of sequence orders_seq/);
check_error('not the owner, detach', $bob, q(SELECT snowid_segment_detach('orders_seq')),
    '42501', qr/must be owner of sequence orders_seq/);
my $alice = open_session($node);
ask($alice, 'SET ROLE alice');
ask($alice, 'CREATE SEQUENCE alice_seq');
check_error('no right to the server', $alice, q(SELECT snowid_segment_attach('alice_seq', 'central', 'orders_seq')),
    '42501', qr/permission denied for foreign server central/);
check_error('no server', $admin, q(SELECT snowid_segment_attach('orders_seq', 'nowhere', 'orders_seq')),
    '42704', qr/server "nowhere" does not exist/);
check_error('connection options', $admin, q(SELECT snowid_segment_attach('orders_seq', 'dbname=postgres', 'orders_seq')),
    '42704', qr/server "dbname=postgres" does not exist/);
check_error('not a sequence', $admin, q(SELECT snowid_segment_attach('no_seq', 'central', 'orders_seq')),
    '42809', qr/"no_seq" is not a sequence/);
ask($admin, 'BEGIN READ ONLY');
check_error('read-only', $admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')),
    '25006', qr/snowid_segment_attach/);
ask($admin, 'ROLLBACK');
my $slow = q(SELECT snowid_segment_attach('orders_seq', 'slow', 'orders_seq'));
check_error('no time-out', $admin, $slow, '55000',
    qr/server "slow" has no "connect_timeout".*HINT:  Use ALTER SERVER slow OPTIONS \(ADD connect_timeout '2'\)/s);
ask($admin, q(ALTER SERVER slow OPTIONS (ADD connect_timeout '0')));
check_error('a time-out of 0, which is none', $admin, $slow, '55000',
    qr/server "slow" has no "connect_timeout".*HINT:  Use ALTER SERVER slow OPTIONS \(SET connect_timeout '2'\)/s);
ask($admin, q(ALTER SERVER slow OPTIONS (SET connect_timeout '2')));
is(ask($admin, "BEGIN; $slow"), '', 'a time-out');
ask($admin, 'ROLLBACK');
is(ask($admin, 'SELECT count(*) FROM snowid.segment_sources'), '0', 'nothing is attached');

# 2. Sessions that have numbers left notice at once that it is attached, and detached.
my @sessions = map { open_session($node) } 1 .. 3;
sub drawn { return map { ask($_, $next) } @sessions }
is(join(' ', drawn()), '1 2 3', 'its own numbers');
ask($admin, q(BEGIN; SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
is(ask($admin, $next), '100001', 'attached: who has done it draws from the source');
ask($admin, 'ROLLBACK');
is(scalar(grep { $_ > 3 && $_ < 100000 } drawn()), 3, 'rolled back: its own numbers go on');
is(ask($admin, 'SELECT count(*) FROM snowid.segment_sources'), '0', 'rolled back: nothing is attached');
ask($admin, 'ALTER SEQUENCE orders_seq INCREMENT 50');
my @own = drawn();
is($own[2] - $own[0], 2, 'a block of its own');
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
# What is attached goes on without a time-out.
ask($admin, 'ALTER SERVER central OPTIONS (DROP connect_timeout)');
my @allocated = drawn();
ask($admin, q(ALTER SERVER central OPTIONS (ADD connect_timeout '2')));
cmp_ok($allocated[0], '>', 100001, 'attached: sessions draw from the source at once');
is("$allocated[1] $allocated[2]", join(' ', $allocated[0] + 1, $allocated[0] + 2), 'attached: all of them');
is(ask($bob, $next), $allocated[2] + 1, 'so does who has the right to the sequence, and none to the server');
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'other.orders_seq')));
is(join(' ', drawn()), '7000001 7000002 7000003', 'attached to another: all draw from that');
foreach my $how ('ROLLBACK', 'COMMIT')
{
    ask($admin, q(BEGIN; SELECT snowid_segment_detach('orders_seq')));
    ask($admin, $how);
    my @after = drawn();
    my $top = $source->safe_psql('postgres', 'SELECT last_value + 99 FROM other.orders_seq');
    is(scalar(grep { $how eq 'COMMIT' ? $_ > $top : $_ <= $top } @after), 3, "detached, $how: all notice")
      or diag("@after");
}
is(ask($admin, 'SELECT count(*) FROM snowid.segment_sources'), '0', 'detached: the table says so');

# Numbers of its own go on above those allocated, whatever the two increments are, and after a crash.
foreach my $increment (1, 100, 1000)
{
    ask($admin, "DROP SEQUENCE IF EXISTS detached_seq; CREATE SEQUENCE detached_seq INCREMENT $increment");
    ask($admin, q(SELECT snowid_segment_attach('detached_seq', 'central', 'orders_seq')));
    my ($last) = ask($admin, q(SELECT snowid_segment_batch('detached_seq', 20))) =~ /(\d+)\z/;
    ask($admin, q(SELECT snowid_segment_detach('detached_seq')));
    my $top = $source->safe_psql('postgres', 'SELECT last_value + 99 FROM orders_seq');
    cmp_ok(ask($admin, q(SELECT snowid_segment_next('detached_seq'))), '>', $top,
        "detached: above all that was allocated, INCREMENT $increment");
}
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\n");
$node->reload;
ask($admin, 'DROP SEQUENCE detached_seq; CREATE SEQUENCE detached_seq; CHECKPOINT');
ask($admin, q(SELECT snowid_segment_attach('detached_seq', 'central', 'orders_seq')));
my $last = ask($admin, q(SELECT snowid_segment_next('detached_seq')));
crash($node, 'kill');
close_session($admin, $alice, $bob, @sessions);
$node->start;
$admin = open_session($node);
ask($admin, q(SELECT snowid_segment_detach('detached_seq')));
cmp_ok(ask($admin, q(SELECT snowid_segment_next('detached_seq'))), '>', $last, 'detached after a crash: above what was drawn');

# 3. What the source refuses; its end, and the end here.
ask($admin, 'CREATE SEQUENCE attached_seq INCREMENT 1000');
my %refused = (
    gone_seq => [ '42P01', qr/relation "gone_seq" does not exist/ ],
    no_seq => [ '42809', qr/"no_seq" is not a sequence on server "central"/ ],
    cycling_seq => [ '55000', qr/sequence "cycling_seq" on server "central" cycles/ ],
    falling_seq => [ '55000', qr/sequence "falling_seq" on server "central" cycles or counts down/ ]);
my $attached = q(SELECT snowid_segment_next('attached_seq'));
foreach my $remote (sort keys %refused)
{
    ask($admin, "SELECT snowid_segment_attach('attached_seq', 'central', '$remote')");
    check_error($remote, $admin, $attached, @{ $refused{$remote} }) foreach 1 .. 2;
    check_no_connection($source, "$remote: no connection is left");
}
ask($admin, q(SELECT snowid_segment_attach('attached_seq', 'central', 'small_seq')));
is(ask($admin, q(SELECT string_agg(snowid_segment_next('attached_seq')::text, ' ') FROM generate_series(1, 35))),
    join(' ', 1 .. 35), 'MAXVALUE there: all numbers are handed out');
check_error('MAXVALUE there', $admin, $attached, '2200H', qr/reached maximum value of sequence "small_seq" \(35\)/) foreach 1 .. 2;
$source->safe_psql('postgres', 'ALTER SEQUENCE small_seq MAXVALUE 1000');
is(ask($admin, $attached), '41', 'MAXVALUE there: raised');
ask($admin, 'CREATE SEQUENCE short_seq MAXVALUE 1005');
$source->safe_psql('postgres', 'ALTER SEQUENCE small_seq MAXVALUE 100000 RESTART 991');
ask($admin, q(SELECT snowid_segment_attach('short_seq', 'central', 'small_seq')));
is(ask($admin, q(SELECT string_agg(snowid_segment_next('short_seq')::text, ' ') FROM generate_series(1, 15))),
    join(' ', 991 .. 1005), 'MAXVALUE here: numbers up to it');
my $short = q(SELECT snowid_segment_next('short_seq'));
check_error('MAXVALUE here', $admin, $short, '2200H', qr/reached maximum value of sequence "short_seq" \(1005\)/) foreach 1 .. 2;
is(ask($admin, q(SELECT snowid_segment_detach('short_seq'))), '', 'MAXVALUE here: detached');
is(ask($admin, $short), 'ERROR 2200H', 'MAXVALUE here: there is nothing above it');
check_no_connection($source, 'no connection is left');

$_->stop foreach $node, $source;
done_testing();
