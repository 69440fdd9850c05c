# Promise 1, through crashes: sessions draw IDs of several shards and layouts at once and send them to clients while the
# server is killed or shut down at once, again and again, and its clock is set back before it starts anew. Clients record
# every ID that they saw. None comes twice, and later ones are greater. Where the unit is long, what a crash leaves of one
# is not used.
#
# What a crash costs: nothing is issued again, so the first ID after it has to be above the ceiling, for which its caller
# may have to wait. Whatever was drawn before, and however often, the ceiling is ahead of the clock by 2.5 s at most, of
# which snowid.max_lead covers one. So the first ID comes within 1.5 s of the crash. Where no lead is allowed it takes
# 2.5 s, which the default of snowid.max_wait allows.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# What is drawn: arguments of snowid_next(), and by how many sessions at once.
my @kinds = (
    [ '0', 3 ],
    [ '4711', 3 ],
    map { [ "9, '$_'", 1 ] } 'twitter', 'sonyflake', 'js53',
    'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z',
    'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z');
# How the server crashes, and how far its clock is set back then, in seconds: by more than its start may take.
my @rounds = ([ 'kill', 900 ], [ 'immediate', 4 * 3600 ]);
my $ids_per_round = 20_000;

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";
# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0;';

my $node = new_server('crash');
$node->append_conf('postgresql.conf', "max_connections = 50\n");
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');

# What a crash costs, after loads that end with it, each in a database of its own: after how many seconds by the clock IDs
# are drawn each time, and by which statements; and by how many sessions besides, as fast as they can.
my $farthest_s = 2.5;
my $one = 'SELECT snowid_next(1)';
my $row = 'INSERT INTO rows DEFAULT VALUES RETURNING id';
my $batch = 'SELECT max(id) FROM snowid_next_batch(1, 1000000) AS id';
my %loads = map { ("an ID each $_ s" => { pause => $_, statements => [ ($one) x 12 ] }) } 0.3, 0.7, 3;
$loads{"a row each $_ s"} = { pause => $_, statements => [ ($row) x 12 ] } foreach 0.7;
$loads{'many IDs'} = { pause => 0.2, statements => [ ($one) x 12 ], crowd => 2 };
$loads{'a batch that borrows'} = { pause => 0.7, statements => [ $one, $batch ] };
$loads{'rare IDs, then a batch that borrows'} = { pause => 3, statements => [ ($one) x 6, $batch ] };
# The ceiling and the clock, in seconds. Time that passes meanwhile brings them nearer to each other.
my $look = 'SELECT last_value / 1000.0, extract(epoch FROM clock_timestamp()) FROM snowid_internal.ceiling';
my $clock = 0;
my $databases = 0;

# Has sessions draw, crashes the server, and checks what the next one does.
sub check_cost
{
    my ($what, $max_lead_s, @names) = @_;
    my (@loads, @steps);
    foreach my $name (@names)
    {
        my $load = { %{ $loads{$name} }, name => "$name$what", dbname => 'load' . ++$databases, farthest => 0 };
        $node->safe_psql('postgres', "CREATE DATABASE $load->{dbname} TEMPLATE loads");
        my @crowd = map { draw($node, 'snowid_next(2)', undef, dbname => $load->{dbname}, pause_every => 10) }
          1 .. ($load->{crowd} // 0);
        wait_to_draw(1, @crowd);
        $load->{drawing} = \@crowd;
        $load->{session} = open_session($node, dbname => $load->{dbname});
        push @loads, $load;
        # All of them have their last ID at the same time.
        my @statements = @{ $load->{statements} };
        push @steps, map { [ -$load->{pause} * ($#statements - $_), $load, $statements[$_] ] } 0 .. $#statements;
    }
    @steps = sort { $a->[0] <=> $b->[0] } @steps;
    my $begin = $clock - $steps[0][0] + 1;
    foreach my $step (@steps)
    {
        my ($at, $load, $statement) = @$step;
        set_clock($clock = $begin + $at, $node);
        $load->{last} = ask($load->{session}, $statement);
        my ($ceiling, $now) = split /[|]/, ask($load->{session}, $look);
        my $ahead = $ceiling - $now;
        $load->{farthest} = $ahead if $ahead > $load->{farthest};
    }
    crash($node, 'kill');
    finish(map { @{ $_->{drawing} } } @loads);
    close_session(map { $_->{session} } @loads);

    start_server($node);
    $_->{ceiling} = $node->safe_psql($_->{dbname}, 'SELECT last_value / 1000.0 FROM snowid_internal.ceiling') foreach @loads;
    my @first = map { draw($node, 'snowid_next(1)', 1, dbname => $_->{dbname}) } @loads;
    finish(@first);
    foreach my $load (@loads)
    {
        my ($name, $drawn) = ($load->{name}, shift @first);
        note(sprintf('%s: %.3f s', $name, $load->{farthest}));
        cmp_ok($load->{farthest}, '<=', $farthest_s, "$name: the ceiling is near");
        my ($id) = @{ ids($drawn) };
        ok(defined $id && $id > $load->{last}, "$name: the first ID is new, and no error") or diag(errors_of($drawn));
        # A shard that nobody has used since the start begins where all of them begin.
        # However long the crash took: with the bound above that is 1.5 s after it, or 2.5 s without a lead.
        stop_clock($load->{ceiling} - $max_lead_s + 0.01, $node);
        like(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(3)', dbname => $load->{dbname}), qr/^\d+$/,
            "$name: $max_lead_s s before the ceiling nobody waits");
    }
    set_clock($clock += 10, $node);
    return;
}

$node->safe_psql('postgres', 'CREATE DATABASE loads');
$node->safe_psql('loads', 'CREATE EXTENSION snowid; CREATE TABLE rows (id bigint DEFAULT snowid_next(1))');
check_cost('', 1, sort keys %loads);
reload_with($node, 'snowid.max_lead', '0');
check_cost(', and no lead', 0, 'an ID each 0.7 s', 'a row each 0.7 s', 'many IDs');
reload_with($node, 'snowid.max_lead', '1s');
set_clock(0, $node);
check_log($node);

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
        $drawing{$kind} = [ map { draw($node, "snowid_next($kind)", undef, pause_every => 100) } 1 .. $sessions ];
    }
    my @all = map { @$_ } values %drawing;
    # An ID and its newline are 20 bytes, or somewhat less.
    wait_to_draw_together(20 * $ids_per_round, @all);
    wait_to_draw(5_000, @all);
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
