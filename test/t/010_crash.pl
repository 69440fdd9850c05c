# Promise 1, through crashes: sessions draw IDs and send them to clients while the server is killed or
# shut down at once, again and again, and its clock is set back before it starts anew. Clients record
# every ID that they saw. None comes twice, and later ones are greater.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $sessions_per_shard = 4;
my @shards = (0, 4711);
my $rounds = 10;
my $ids_per_round = 220_000;

my $node = new_server('crash');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

my %greatest = map { $_ => 0 } @shards;
my $total = 0;
my @set_back = (60, 600, 5, 3600, 4 * 3600);

foreach my $round (1 .. $rounds)
{
    my %drawing;
    foreach my $shard (@shards)
    {
        $drawing{$shard} =
          [ map { draw($node, "snowid_next($shard)", 5_000_000) } 1 .. $sessions_per_shard ];
    }
    # An ID and its newline are 20 bytes.
    my @all = map { @{ $drawing{$_} } } @shards;
    wait_to_draw_together(20 * $ids_per_round, @all);

    my $how = $round % 2 ? 'kill' : 'immediate';
    crash($node, $how);
    finish(@all);
    foreach my $shard (@shards)
    {
        my ($count, $max) = check_round("round $round, $how, shard $shard", $greatest{$shard},
            @{ $drawing{$shard} });
        $total += $count;
        $greatest{$shard} = $max;
    }
    ok(!(grep { slurp_file("$_->{file}.err") =~ /ERROR/ } @all), "round $round: no session failed");

    my $back = $set_back[ $round % @set_back ];
    set_clock(-$back);
    start_server($node);
    if ($round % 3)
    {
        # As it comes: what is behind by more than may be waited for is refused.
        is(attempt($node, "SET snowid.max_wait = '1s'; SELECT snowid_next($shards[0])"),
            'ERROR SN001', "round $round: refused while the clock is $back s behind");
        set_clock(0);
    }
    else
    {
        # Allowed to run ahead of the clock that far, it serves on, above what was there.
        $node->safe_psql('postgres', "LOAD 'snowid'; ALTER SYSTEM SET snowid.max_lead = '1d'");
        $node->reload;
        wait_for(sub { $node->safe_psql('postgres', "LOAD 'snowid'; SHOW snowid.max_lead") eq '1d' },
            'the setting');
        foreach my $shard (@shards)
        {
            my $behind = draw($node, "snowid_next($shard)", 20_000);
            finish($behind);
            my ($count, $max) =
              check_round("round $round, clock $back s behind, shard $shard", $greatest{$shard}, $behind);
            is($count, 20_000, "round $round: served with the clock behind");
            $total += $count;
            $greatest{$shard} = $max;
        }
        $node->safe_psql('postgres', 'LOAD \'snowid\'; ALTER SYSTEM RESET snowid.max_lead');
        $node->reload;
        set_clock(0);
    }
}

cmp_ok($total, '>=', 2_000_000, "clients saw $total IDs");
$node->stop;
done_testing();
