# What a crash costs: nothing is issued again, so the first ID after it has to be above the ceiling, for
# which its caller may have to wait. Whatever was drawn before, and however often, the ceiling is ahead of
# the clock by 2.5 s at most, of which snowid.max_lead covers one. So the first ID comes within 1.5 s of the
# crash. Where no lead is allowed it takes 2.5 s, which the default of snowid.max_wait allows.

use strict;
use warnings;

use Snowid;
use Test::More;

my $farthest_s = 2.5;

# The ceiling and the clock, in seconds. Time that passes meanwhile brings them nearer to each other.
my $look = 'SELECT last_value / 1000.0, extract(epoch FROM clock_timestamp()) FROM snowid.ceiling';

my $one = 'SELECT snowid_next(1)';
my $batch = 'SELECT max(id) FROM snowid_next_batch(1, 1000000) AS id';
# How IDs are drawn: each time after how many seconds by the clock, and by which statements; and by how many
# sessions besides, as fast as they can.
my %loads = map { ("an ID each $_ s" => { pause => $_, statements => [ ($one) x 12 ] }) } 0.1, 0.3, 0.7, 1.4, 3;
$loads{'a row each 0.7 s'} = { pause => 0.7, statements => [ ('INSERT INTO rows DEFAULT VALUES RETURNING id') x 12 ] };
$loads{'a row each 0.2 s'} = { pause => 0.2, statements => [ ('INSERT INTO rows DEFAULT VALUES RETURNING id') x 12 ] };
$loads{'many IDs'} = { pause => 0.2, statements => [ ($one) x 12 ], crowd => 2 };
$loads{'a batch that borrows'} = { pause => 0.7, statements => [ $one, $batch ] };
$loads{'rare IDs, then a batch that borrows'} = { pause => 3, statements => [ ($one) x 6, $batch ] };
my @without_lead = ('an ID each 0.7 s', 'a row each 0.7 s', 'many IDs');

my $node = new_server('waiting');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE TABLE rows (id bigint DEFAULT snowid_next(1))');

my $clock = 0;
my $last = 0;

# Has sessions draw, crashes the server, and checks what the next one does.
sub check_load
{
    my ($name, $load, $max_lead_s) = @_;
    my @drawing = map { draw($node, 'snowid_next(2)', undef, pause_every => 50) } 1 .. $load->{crowd} // 0;
    wait_to_draw(1, @drawing);
    my $session = open_session($node);
    my ($farthest, $now) = (0);
    foreach my $statement (@{ $load->{statements} })
    {
        set_clock($clock += $load->{pause}, $node);
        $last = ask($session, $statement);
        (my $ceiling, $now) = split /[|]/, ask($session, $look);
        $farthest = $ceiling - $now if $ceiling - $now > $farthest;
    }
    crash($node, 'kill');
    finish(@drawing);
    close_session($session);
    note(sprintf('%s: %.3f s', $name, $farthest));
    cmp_ok($farthest, '<=', $farthest_s, "$name: the ceiling is near");

    start_server($node);
    my $id = attempt($node, $one);
    ok($id =~ /^\d+$/ && $id > $last, "$name: the first ID is new, and no error") or diag("$id after $last");
    # A shard that nobody has used since the start begins where all of them begin.
    my $wait_s = $farthest_s - $max_lead_s;
    stop_clock($now + $wait_s, $node);
    like(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(3)'), qr/^\d+$/, "$name: $wait_s s later nobody waits");
    # The next load finds nothing of this one ahead of its clock.
    set_clock($clock += 10, $node);
    return;
}

check_load($_, $loads{$_}, 1) foreach sort keys %loads;
reload_with($node, 'snowid.max_lead', '0');
check_load("$_, and no lead", $loads{$_}, 0) foreach @without_lead;
$node->stop;
check_log($node);
done_testing();
