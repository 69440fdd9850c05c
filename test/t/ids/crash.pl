# Promise 1, through crashes: sessions draw IDs of several shards and layouts at once and send them to clients while the
# server is killed or shut down at once, again and again, and its clock is set back before it starts anew. Clients record
# every ID that they saw. None comes twice, and later ones are greater. Where the unit is long, what a crash leaves of one
# is not used.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# What is drawn: arguments of snowid_next(), and by how many sessions at once.
my @kinds = (
    [ '0', 3 ],
    [ '4711', 3 ],
    map { [ "9, '$_'", 2 ] } 'twitter', 'sonyflake', 'js53',
    'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z',
    'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z');
# How the server crashes, and how far its clock is set back then, in seconds.
my @rounds = ([ 'kill', 60 ], [ 'immediate', 600 ], [ 'kill', 4 * 3600 ], [ 'immediate', 300 ]);
my $ids_per_round = 60_000;

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";
# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0;';

my $node = new_server('crash');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# The greatest ID that anybody has seen, of each kind.
my %greatest = map { $_->[0] => 0 } @kinds;

sub check_kind
{
    my ($name, $kind, @sessions) = @_;
    (my $count, $greatest{$kind}) = check_round("$name, $kind", $greatest{$kind} // 0, @sessions);
    return $count;
}

foreach my $number (1 .. @rounds)
{
    my ($how, $back) = @{ $rounds[ $number - 1 ] };
    my $round = "round $number, $how";
    my %drawing;
    foreach (@kinds)
    {
        my ($kind, $sessions) = @$_;
        $drawing{$kind} = [ map { draw($node, "snowid_next($kind)", undef) } 1 .. $sessions ];
    }
    my @all = map { @$_ } values %drawing;
    # An ID and its newline are 20 bytes, or somewhat less.
    wait_to_draw_together(20 * $ids_per_round, @all);
    wait_to_draw(20_000, @all);
    crash($node, $how);
    finish(@all);
    cmp_ok(check_kind($round, $_, @{ $drawing{$_} }), '>', 0, "$round, $_: clients saw some") foreach sort keys %drawing;
    unlike(errors_of(@all), qr/ERROR/, "$round: no session failed");

    # What is behind by more than may be waited for is refused, at once or as it comes; allowed to run ahead of the clock
    # that far it serves on, above what was there.
    set_clock(-$back, $node);
    start_server($node);
    my $behind = "$round, clock $back s behind";
    is(attempt($node, "SET snowid.max_wait = '1s'; SELECT snowid_next($kinds[0][0])"), 'ERROR SN001', "$behind: refused as it comes");
    is(attempt($node, "$no_wait SELECT snowid_next($_->[0])"), 'ERROR SN001', "$behind, $_->[0]: refused") foreach @kinds;
    my %ahead = map { $_->[0] => draw($node, "snowid_next($_->[0])", 2_000, setup => $far) } @kinds;
    foreach my $kind (sort keys %ahead)
    {
        finish($ahead{$kind});
        is(check_kind($behind, $kind, $ahead{$kind}), 2_000, "$behind, $kind: served when allowed to run ahead");
    }
    set_clock(0, $node);
}

# Units of an hour: what a crash leaves of one is not used.
my $hours = q(2, 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z');
my $hour = int(time / 3600 + 1) * 3600;
my $at = sub { my ($minute) = @_; set_clock($hour + $minute * 60 - time, $node) };
my $draws = sub {
    my ($name) = @_;
    my @sessions = map { draw($node, "snowid_next($hours)", 1_000) } 1 .. 4;
    finish(@sessions);
    is(check_kind($name, $hours, @sessions), 4_000, "$name: as many as asked for");
};
my $refused = sub {
    my ($name, $settings) = @_;
    is(attempt($node, "$settings SELECT snowid_next($hours)"), 'ERROR SN001', $name);
};
$at->(20);
$draws->('unit of an hour');
foreach my $round (0 .. 1)
{
    my $how = $round ? 'immediate' : 'kill';
    my $name = "unit of an hour, $how";
    crash($node, $how);
    # The second time the clock is set back to the hour before.
    $at->($round ? 50 : 25);
    start_server($node);
    $refused->("$name: no wait", $no_wait);
    $refused->("$name: as it comes", '');
    $at->(35 + 60 * $round);
    $refused->("$name: later in the hour", $no_wait);
    my $waiting = draw($node, "snowid_next($hours)", 1, setup => "SET snowid.max_wait = '2h'");
    wait_for_waiting($node, 1, 'Extension', 'snowid_next');
    $at->(62 + 60 * $round);
    finish($waiting);
    is(check_kind("$name, waited for the next", $hours, $waiting), 1, "$name: the wait ends with the hour");
    $draws->("$name, next hour");
}
# Each hour has all of its sequence.
$at->(185);
$draws->('unit of an hour, yet another hour');
$node->stop;
done_testing();
