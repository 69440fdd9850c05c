# Layouts through crashes, with the clock set back: sessions draw from several of them at once, and none of
# what clients saw comes again. Where the unit is long, what a crash leaves of one is not used.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $hours = 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z';
my @layouts = (
    'twitter', 'sonyflake', 'js53',
    'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z',
    'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z');

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";

# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0;';

# 1. Sessions draw from several layouts at once.
my $crashing = new_server('crashing');
start_server($crashing);
$crashing->safe_psql('postgres', 'CREATE EXTENSION snowid');
my %floor = map { $_ => 0 } @layouts;
foreach my $how (qw(kill immediate))
{
    my %drawing;
    foreach my $layout (@layouts)
    {
        $drawing{$layout} = [ map { draw($crashing, "snowid_next(9, '$layout')", undef) } 1 .. 2 ];
    }
    my @all = map { @$_ } values %drawing;
    wait_to_draw(20_000, @all);
    crash($crashing, $how);
    finish(@all);
    foreach my $layout (@layouts)
    {
        (undef, $floor{$layout}) = check_round("$how, $layout", $floor{$layout}, @{ $drawing{$layout} });
    }
    unlike(errors_of(@all), qr/ERROR/, "$how: no session failed");

    set_clock($how eq 'kill' ? -120 : -600, $crashing);
    start_server($crashing);
    my @behind;
    foreach my $layout (@layouts)
    {
        is(attempt($crashing, "$no_wait SELECT snowid_next(9, '$layout')"), 'ERROR SN001',
            "$how: refused while the clock is behind, $layout");
        my $session = draw($crashing, "snowid_next(9, '$layout')", 2_000, setup => $far);
        push @behind, [ $layout, $session ];
    }
    foreach (@behind)
    {
        my ($layout, $session) = @$_;
        finish($session);
        (my $count, $floor{$layout}) = check_round("clock set back, $layout", $floor{$layout}, $session);
        is($count, 2_000, "clock set back, $layout: served when allowed to run ahead");
    }
    set_clock(0, $crashing);
}

# 2. Units of an hour: what a crash leaves of one is not used.
my $hour = int(time / 3600 + 1) * 3600;
my $at = sub { my ($minute) = @_; set_clock($hour + $minute * 60 - time, $crashing) };
my $draws = sub {
    my ($name) = @_;
    my @sessions = map { draw($crashing, "snowid_next(2, '$hours')", 1_000) } 1 .. 4;
    finish(@sessions);
    (my $count, $floor{$hours}) = check_round($name, $floor{$hours} // 0, @sessions);
    is($count, 4_000, "$name: as many as asked for");
};
my $refused = sub {
    my ($name, $settings) = @_;
    is(attempt($crashing, "$settings SELECT snowid_next(2, '$hours')"), 'ERROR SN001', $name);
};
$at->(20);
$draws->('unit of an hour');
foreach my $round (0 .. 1)
{
    my $how = $round ? 'immediate' : 'kill';
    my $name = "unit of an hour, $how";
    crash($crashing, $how);
    # The second time the clock is set back to the hour before.
    $at->($round ? 50 : 25);
    start_server($crashing);
    $refused->("$name: no wait", $no_wait);
    $refused->("$name: as it comes", '');
    $at->(35 + 60 * $round);
    $refused->("$name: later in the hour", $no_wait);
    my $waiting = draw($crashing, "snowid_next(2, '$hours')", 1, setup => "SET snowid.max_wait = '2h'");
    wait_for_waiting($crashing, 1, 'Extension', 'snowid_next');
    $at->(62 + 60 * $round);
    finish($waiting);
    (my $count, $floor{$hours}) = check_round("$name, waited for the next", $floor{$hours}, $waiting);
    is($count, 1, "$name: the wait ends with the hour");
    $draws->("$name, next hour");
}
# Each hour has all of its sequence.
$at->(185);
$draws->('unit of an hour, yet another hour');
$crashing->stop;
done_testing();
