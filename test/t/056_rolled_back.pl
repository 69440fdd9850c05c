# Promise 1 where a transaction replaces the ceiling's sequence, or its storage, shows IDs to its client,
# and is rolled back, whole or in part: the server crashes, and what comes next is above what was shown.

use strict;
use warnings;

use Snowid;
use Test::More;

my $advance = q(SELECT snowid_advance(snowid_encode(clock_timestamp() + interval '30 s', 1, 1)));
my $draw = 'SELECT snowid_next(1)';
my $alter = 'ALTER SEQUENCE snowid.ceiling INCREMENT 1';
my $anew = 'DROP EXTENSION snowid; CREATE EXTENSION snowid';
# How a transaction begins before it draws, and how it ends.
my %cases = (
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
my %unlogged = map { $_ => $cases{$_} } 'altered', 'altered, and again in a part', 'made anew', 'altered, and committed';

foreach my $wal_level (qw(replica minimal))
{
    my %tried = $wal_level eq 'minimal' ? %unlogged : %cases;
    my $node = new_server($wal_level);
    $node->append_conf('postgresql.conf', <<"CONF");
wal_level = $wal_level
max_wal_senders = 0
max_prepared_transactions = 1
snowid.max_lead = '1h'
CONF
    $node->start;
    $node->safe_psql('postgres', "CREATE EXTENSION snowid; $draw");
    foreach my $case (sort keys %tried)
    {
        # With memory that knows the sequence, and with memory that begins, as after each crash, with the
        # transaction: then only one that is altered is there to be found.
        foreach my $known ('known', $case =~ /anew/ ? () : 'unknown')
        {
            my $name = "$wal_level, $case, $known";
            my ($begin, $end) = @{ $cases{$case} };
            my $session = open_session($node);
            ask($session, $draw) if $known eq 'known';
            ask($session, "$begin; $advance");
            my $seen = ask($session, $draw);
            like($seen, qr/^\d+$/, "$name: is served");
            is(ask($session, $end), '', "$name: ends");
            close_session($session);
            crash($node, 'kill');
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
    next if $case =~ /prepared/;
    my ($begin, $end) = @{ $cases{$case} };
    ask($session, "SET snowid.max_lead = '1h'; $begin; $advance; $draw; $end; RESET snowid.max_lead");
    like(ask($session, $daily), qr/^\d+$/, "$case: it goes on");
    like($node->safe_psql('postgres', $daily), qr/^\d+$/, "$case: in another session, too");
}
close_session($session);
check_log($node);
$node->stop;

# A transaction that replaces the storage may find that the ceiling was written ahead, and is not durable
# yet. Nothing else of it is logged at this level, so nothing else would take that along to the disk.
$node = new_quiet_server('ahead');
start_server($node);
my $now = int(time) + 1000;
stop_clock($now, $node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
$session = open_session($node);
my $ceiling = 'SELECT last_value FROM snowid.ceiling';
ask($session, "BEGIN; $draw");
my $durable = ask($session, $ceiling);
stop_clock($now + 1, $node);
ask($session, $draw);
cmp_ok(ask($session, $ceiling), '>', $durable, 'written ahead');
ask($session, $alter);
stop_clock($durable / 1000 + 0.2, $node);
my $shown = ask($session, "SELECT floor(extract(epoch FROM snowid_timestamp(snowid_next(1))) * 1000)");
cmp_ok($shown, '>', $durable, 'written ahead, and replaced: an ID above what was durable');
crash($node, 'kill');
close_session($session);
start_server($node);
cmp_ok($node->safe_psql('postgres', $ceiling), '>=', $shown, 'written ahead, and replaced: what was shown is covered');
check_log($node);
$node->stop;
done_testing();
