# Promise 1 where a transaction replaces the ceiling's sequence, or its storage, shows IDs to its client,
# and is rolled back, whole or in part: the server crashes, and what comes next is above what was shown.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use Snowid;
use Test::More;

my $advance = q(SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '30 s', 1, 1)));
my $draw = 'SELECT snowid_next(1)';
my $alter = 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT 1';
my $anew = 'DROP EXTENSION snowid; CREATE EXTENSION snowid';
# How a transaction begins before it draws, and how it ends, unless the crash ends it.
my %cases = (
    'altered, unfinished' => ["BEGIN; $alter"],
    'altered' => ["BEGIN; $alter", 'ROLLBACK'],
    'altered twice' => ["BEGIN; $alter; $draw; $alter", 'ROLLBACK'],
    'altered in a part' => ["BEGIN; SAVEPOINT a; $alter", 'ROLLBACK TO a; COMMIT'],
    'altered, and again in a part' => ["BEGIN; $alter; SAVEPOINT a; $alter", 'ROLLBACK TO a; COMMIT'],
    'made anew' => ["BEGIN; $anew", 'ROLLBACK'],
    'made anew in a part' => ["BEGIN; SAVEPOINT a; $anew", 'ROLLBACK TO a; COMMIT'],
    'altered and made anew' => ["BEGIN; $alter; $anew", 'ROLLBACK'],
    'altered, prepared' => ["BEGIN; $alter", q(PREPARE TRANSACTION 'a'; ROLLBACK PREPARED 'a')],
    'altered, and committed' => ["BEGIN; $alter", 'COMMIT'],
    'made anew, and committed' => ["BEGIN; $anew", 'COMMIT'],
);

# Where little is logged, what a transaction has made itself is not, and is synced when it commits.
my %unlogged = map { $_ => $cases{$_} } 'altered', 'altered, unfinished', 'altered, and again in a part', 'made anew', 'altered, and committed';

foreach my $wal_level (qw(replica minimal))
{
    my %tried = $wal_level eq 'minimal' ? %unlogged : %cases;
    # Where nobody else flushes the WAL, what was shown has to be flushed by who shows it.
    my $node = $wal_level eq 'minimal' ? new_quiet_server($wal_level) : new_server($wal_level);
    $node->append_conf('postgresql.conf', <<"CONF");
wal_level = $wal_level
max_prepared_transactions = 1
snowid.max_lead = '1h'
CONF
    $node->start;
    $node->safe_psql('postgres', "CREATE EXTENSION snowid; $draw");
    foreach my $case (sort keys %tried)
    {
        # With memory that knows the sequence, since an ID was drawn, and with memory that begins with the transaction:
        # then only one that is altered is there to be found.
        foreach my $known ('known', $case =~ /anew/ ? () : 'unknown')
        {
            my $name = "$wal_level, $case, $known";
            my ($begin, $end) = @{ $cases{$case} };
            $node->restart if $known eq 'unknown';
            my $session = open_session($node);
            ask($session, "$begin; $advance");
            my $seen = ask($session, $draw);
            like($seen, qr/^\d+$/, "$name: is served");
            is(ask($session, $end), '', "$name: ends") if defined $end;
            crash($node, 'kill');
            close_session($session);
            $node->start;
            cmp_ok($node->safe_psql('postgres', $draw), '>', $seen, "$name: goes on above what was shown");
        }
    }
    check_log($node);
    $node->stop;
}

# Memory that knows what was shown needs no lift: a shard with a unit of a day, which would have to wait for
# the next one, goes on. The clock stands at noon.
my $node = new_server('day');
start_server($node);
stop_clock(int(time / 86400 + 1) * 86400 + 43200, $node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $daily = q(SELECT snowid_next(1, 'time:22 shard:20 seq:12 unit:1d epoch:2020-01-01T00:00:00Z'));
my $session = open_session($node);
like(ask($session, $daily), qr/^\d+$/, 'a shard with a unit of a day');
foreach my $case (grep { !/commit/ } sort keys %cases)
{
    next if $case =~ /prepared|unfinished/;
    my ($begin, $end) = @{ $cases{$case} };
    ask($session, "SET snowid.max_lead = '1h'; $begin; $advance; $draw; $end; RESET snowid.max_lead");
    like(ask($session, $daily), qr/^\d+$/, "$case: it goes on");
    like($node->safe_psql('postgres', $daily), qr/^\d+$/, "$case: in another session, too");
}
close_session($session);
check_log($node);
$node->stop;

# What is written ahead is not durable yet. Nobody who replaces the storage goes by it before it is: at this
# level nothing else that he does would take it along to the disk. The clock stands still.
my $ceiling = 'SELECT last_value FROM snowid_internal.ceiling';
my $time = 'SELECT floor(extract(epoch FROM snowid_timestamp(%s)) * 1000)';
my $now = int(time) + 1000;

# A server on which nobody flushes the WAL but who waits for it, and a session in a transaction that has
# drawn an ID after a pause.
sub new_unflushed
{
    my ($name, $setup) = @_;
    my $unflushed = new_quiet_server($name);
    start_server($unflushed);
    stop_clock($now, $unflushed);
    $unflushed->safe_psql('postgres', "CREATE EXTENSION snowid; $setup");
    my $drawing = open_session($unflushed);
    ask($drawing, "BEGIN; $draw");
    return ($unflushed, $drawing);
}

# Crashes the server, and checks that an ID of this time, in milliseconds, is covered.
sub check_covered
{
    my ($name, $unflushed, $drawing, $shown) = @_;
    crash($unflushed, 'kill');
    close_session($drawing);
    start_server($unflushed);
    cmp_ok($unflushed->safe_psql('postgres', $ceiling), '>=', $shown, "$name: what was shown is covered");
    check_log($unflushed);
    $unflushed->stop;
    return;
}

# The transaction finds what others have written ahead.
my $name = 'written ahead by others';
($node, $session) = new_unflushed('others', '');
my $durable = ask($session, $ceiling);
stop_clock($now + 1, $node);
ask($session, $draw);
cmp_ok(ask($session, $ceiling), '>', $durable, $name);
ask($session, $alter);
stop_clock($durable / 1000 + 0.2, $node);
my $shown = ask($session, sprintf $time, 'snowid_next(1)');
cmp_ok($shown, '>', $durable, "$name: an ID above what was durable");
check_covered($name, $node, $session, $shown);
done_testing();
