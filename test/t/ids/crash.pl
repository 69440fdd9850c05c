# Promise 1, through crashes: sessions draw IDs and send them to clients while the server is killed or
# shut down at once, again and again, and its clock is set back before it starts anew. Clients record
# every ID that they saw. None comes twice, and later ones are greater.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $sessions_per_shard = 3;
my @shards = (0, 4711);
# Each way to crash with each way to go on while the clock is behind.
my @rounds = (
    [ 'kill', 'refused', 60 ], [ 'immediate', 'ahead', 600 ], [ 'kill', 'ahead', 4 * 3600 ], [ 'immediate', 'refused', 300 ]);
my $ids_per_round = 60_000;

my $node = new_server('crash');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

my %greatest = map { $_ => 0 } @shards;

foreach my $number (1 .. @rounds)
{
    my ($how, $then, $back) = @{ $rounds[ $number - 1 ] };
    my $round = "round $number, $how";
    my %drawing;
    foreach my $shard (@shards)
    {
        $drawing{$shard} =
          [ map { draw($node, "snowid_next($shard)", undef) } 1 .. $sessions_per_shard ];
    }
    # An ID and its newline are 20 bytes.
    my @all = map { @{ $drawing{$_} } } @shards;
    wait_to_draw_together(20 * $ids_per_round, @all);
    wait_to_draw(1, @all);
    crash($node, $how);
    finish(@all);
    foreach my $shard (@shards)
    {
        (my $count, $greatest{$shard}) = check_round("$round, shard $shard", $greatest{$shard}, @{ $drawing{$shard} });
        cmp_ok($count, '>', 0, "$round, shard $shard: clients saw $count IDs");
    }
    unlike(errors_of(@all), qr/ERROR/, "$round: no session failed");

    set_clock(-$back);
    start_server($node);
    if ($then eq 'refused')
    {
        # As it comes: what is behind by more than may be waited for is refused.
        is(attempt($node, "SET snowid.max_wait = '1s'; SELECT snowid_next($shards[0])"),
            'ERROR SN001', "$round: refused while the clock is $back s behind");
    }
    else
    {
        # Allowed to run ahead of the clock that far, it serves on, above what was there.
        reload_with($node, 'snowid.max_lead', '1d');
        foreach my $shard (@shards)
        {
            my $behind = draw($node, "snowid_next($shard)", 2_000);
            finish($behind);
            (my $count, $greatest{$shard}) =
              check_round("$round, clock $back s behind, shard $shard", $greatest{$shard}, $behind);
            is($count, 2_000, "$round: served with the clock behind");
        }
        reload_with($node, 'snowid.max_lead', '1s');
    }
    set_clock(0);
}
$node->stop;
done_testing();
