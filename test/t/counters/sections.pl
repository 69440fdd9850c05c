# Sections: each key's numbers strictly increase, for ever. In many sessions at once, through crashes
# and restarts in the middle, through a fail-over, a dump and its restoration, and while a raise of the
# limit is held up. The limit, which is the sequence's last value, is durable before a number below it
# is seen. Clients record every number that they saw.
#
# Runs in make test-all: it goes through all sizes of blocks, with crashes and a fail-over.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $keys = 50;
my $key = "generate_series % $keys";
my $drawn = "$key, snowid_section_next('shared', $key)";
my $stamped = "nextval('stamp'), $key, snowid_section_next('shared', $key), nextval('stamp')";

# The greatest of a section's numbers that any client has seen.
my %greatest;

sub see
{
    my ($section, @numbers) = @_;
    foreach my $number (@numbers)
    {
        $greatest{$section} = $number if $number > ($greatest{$section} // 0);
    }
    return;
}

# Checks what sessions saw of a section. Returns how many numbers there were.
sub check
{
    my ($name, $section, $floor, @sessions) = @_;
    my ($count, $of_keys) = check_keys($name, $floor, @sessions);
    see($section, values %$of_keys);
    return $count;
}

# Checks that the section's limit is no lower than any number seen, with nothing drawn since a start;
# and that each key goes on above it. Returns the limit.
sub check_limit
{
    my ($name, $node, $section) = @_;
    my $limit = last_value($node, $section);
    cmp_ok($limit, '>=', $greatest{$section}, "$name: the limit was durable before use");
    is(attempt($node, "SELECT count(snowid_section_current('$section', k)) FROM generate_series(0, $keys) k"),
        0, "$name: memory knows of no key");
    my @first = split /\n/, attempt($node,
        "SELECT snowid_section_next('$section', k) FROM generate_series(0, $keys - 1) k");
    is(scalar(grep { $_ > $limit } @first), $keys, "$name: each key goes on above the limit");
    see($section, @first);
    return $limit;
}

my $primary = new_server('sections', allows_streaming => 1);
# WAL is written out for those alone who ask for it.
$primary->append_conf('postgresql.conf', "wal_writer_delay = 10s\n");
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE stamp;
CREATE SEQUENCE shared INCREMENT 1000;
CREATE SEQUENCE tight INCREMENT 10;
CREATE SEQUENCE held INCREMENT 100;
CREATE SEQUENCE changed INCREMENT 100;
CREATE SEQUENCE single INCREMENT 1;
SQL

# 1. Eight sessions on the same keys. The stamps tell which of two draws was over before the other.
my @sessions = map { draw($primary, $stamped, 5_000) } 1 .. 8;
finish(@sessions);
is(check('eight sessions', 'shared', 0, @sessions), 40_000, 'eight sessions: all served');
cmp_ok(last_value($primary, 'shared'), '>=', $greatest{shared}, 'eight sessions: no number above the limit');

# 2. The limit: raised by the increment, never below a number, and not far above it.
my %increments = (tight => 10, single => 1);
foreach my $section (sort keys %increments)
{
    my $increment = $increments{$section};
    my @wrong;
    my $session = open_session($primary);
    ask($session, 'SET snowid.segment_adapt = off');
    foreach my $expected (1 .. 200)
    {
        my $number = ask($session, "SELECT snowid_section_next('$section', -1)");
        my $limit = ask($session, "SELECT last_value FROM $section");
        push @wrong, "$number with limit $limit"
          if $number != $expected || $limit < $number || $limit > $number + 2 * $increment || $limit % $increment;
    }
    is("@wrong", '', "increment $increment: the limit keeps ahead of the numbers");
    see($section, 200);
    # While it is used up quickly, it is raised by twice as many increments as before, up to a million numbers.
    ask($session, 'SET snowid.segment_adapt = on');
    is(ask($session, "SELECT max(snowid_section_next('$section', -1)) FROM generate_series(1, 3000000)"),
        3_000_200, "increment $increment: numbers without a gap");
    my ($number, $limit) = ($greatest{$section} = 3_000_200, last_value($primary, $section));
    ok($limit >= $number && $limit <= $number + 1_500_000 && $limit % $increment == 0,
        "increment $increment: the limit keeps ahead of them") or diag($limit);
    cmp_ok($limit, '>', $number + 2 * $increment, "increment $increment: and further ahead");
    close_session($session);
}

# 3. A few numbers, and the power is cut: just after the limit is raised, and further on.
my $floor = 0;
foreach my $case ([ 1, 'kill' ], [ 11, 'kill' ], [ 26, 'immediate' ])
{
    my ($count, $how) = @$case;
    my $session = open_session($primary);
    foreach my $section (qw(tight single))
    {
        see($section, ask($session, "SELECT snowid_section_next('$section', 7)")) foreach 1 .. $count;
    }
    crash($primary, $how);
    close_session($session);
    $primary->start;
    $floor = check_limit("$count numbers, $how: $_", $primary, $_) foreach qw(tight single shared);
}

# 4. Crashes and restarts in the middle.
foreach my $how (qw(kill immediate restart))
{
    my $name = "in the middle, $how";
    my @drawing = map { draw($primary, $drawn, undef, pause_every => 20) } 1 .. 8;
    # A key, a number below a million and what separates them take no more than 10.
    wait_to_draw_together(10 * 40_000, @drawing);
    wait_to_draw(1, @drawing);
    if ($how eq 'restart')
    {
        $primary->stop('fast');
    }
    else
    {
        crash($primary, $how);
    }
    finish(@drawing);
    check($name, 'shared', $floor, @drawing);
    unlike(errors_of(@drawing), qr/ERROR/, "$name: no session failed");
    $primary->start;
    $floor = check_limit($name, $primary, 'shared');
}

# 5. Dumped and restored, into a database that has had no such section, and over one that has.
system_or_bail('pg_dump', '-d', $primary->connstr('postgres'), '-Fc', '-f', "$dir/sections.dump");
$primary->safe_psql('postgres', 'CREATE DATABASE restored');
foreach my $how ('created', 'replaced')
{
    my $name = "restored, $how";
    my @options = $how eq 'replaced' ? ('--clean') : ();
    my $session = open_session($primary, dbname => 'restored');
    system_or_bail('pg_restore', '--exit-on-error', @options, '-d', $primary->connstr('restored'),
        "$dir/sections.dump");
    foreach my $section (qw(shared tight single))
    {
        my $answer = ask($session, "SELECT min(snowid_section_next('$section', k)) FROM generate_series(0, 9) k");
        cmp_ok($answer, '>', $greatest{$section}, "$name: $section goes on above what was dumped");
    }
    close_session($session);
}
$primary->safe_psql('postgres', 'DROP DATABASE restored');

# 6. A fail-over to a standby that commits wait for, and so does the limit.
my $standby = new_standby($primary, 'standby');
$standby->start;
wait_until_synchronous($primary, $standby);
my $on_standby = open_session($standby);
is(ask($on_standby, "SELECT snowid_section_next('shared', 1)"), 'ERROR 25006', 'a standby gives no numbers');
is(ask($on_standby, "SELECT snowid_section_current('shared', 1) IS NULL"), 't', 'and knows of none');
my @drawing = map { draw($primary, $drawn, undef, pause_every => 20) } 1 .. 8;
wait_to_draw(20_000, @drawing);
crash($primary, 'kill');
finish(@drawing);
check('before the fail-over', 'shared', $floor, @drawing);
is(ask($on_standby, "SELECT snowid_section_current('shared', 1) IS NULL"), 't', 'still the standby knows of none');
$standby->promote;
$floor = check_limit('promoted', $standby, 'shared');
my $number = ask($on_standby, "SELECT snowid_section_next('shared', 1)");
cmp_ok($number, '>', $floor, 'a session of the standby draws when it is promoted');
is(ask($on_standby, "SELECT snowid_section_current('shared', 1)"), $number, 'and knows what it has drawn');
@sessions = map { draw($standby, $drawn, 2_000) } 1 .. 8;
finish(@sessions);
is(check('promoted', 'shared', $floor, @sessions), 16_000, 'promoted: all served');
close_session($on_standby);

# 7. A raise that is held up, since commits wait for a standby that does not answer.
my ($raiser, $other, $third) = map { open_session($standby) } 1 .. 3;
backend_of($_) foreach $raiser, $other, $third;
my $draw_held = "SELECT snowid_section_next('held', 1)";
is(ask($raiser, $draw_held), $_, "before: $_") foreach 1 .. 10;
my $limit = last_value($standby, 'held');
is($limit, 100, 'the limit is one increment');
my $held = hold_commits($standby);
# Whichever number it is at which the limit is raised, its session alone waits.
start_asking($raiser, "SELECT max(snowid_section_next('held', 2)) FROM generate_series(1, $limit)");
wait_until_waiting($standby, $raiser, 'SyncRep');
my @numbers = split /\n/, ask($other, "SELECT snowid_section_next('held', 1) FROM generate_series(11, $limit)");
is("@numbers", join(' ', 11 .. $limit), 'others go on, up to the limit');
is(ask($third, "SELECT snowid_section_next('held', 3)"), 1, 'with another key, too');
is(ask($third, "SELECT snowid_section_current('held', 1)"), $limit, 'the last number can be asked for');
start_asking($other, $draw_held);
start_asking($third, $draw_held);
wait_until_waiting($standby, $_, 'Extension') foreach $other, $third;
$standby->safe_psql('postgres', "SELECT pg_cancel_backend($_->{backend})") foreach $other, $third;
is(answer($_), 'ERROR 57014', 'who needs more waits, and can be cancelled') foreach $other, $third;
is(ask($other, "SET statement_timeout = '100ms'; $draw_held"), 'ERROR 57014', 'or gives up after a time');
ask($other, 'RESET statement_timeout');
start_asking($_, $draw_held) foreach $other, $third;
wait_until_waiting($standby, $_, 'Extension') foreach $other, $third;
release_commits($standby, $held);
is(answer($raiser), $limit, 'the wait over, the one who has raised the limit is served');
is(join(' ', sort map { answer($_) } $other, $third), '101 102', 'so are those who wait');

# 8. A raise after a change is held up: nobody gets a number of before the change.
is(ask($_, "SELECT snowid_section_next('changed', 1) > 0"), 't', 'before the change') foreach $raiser, $other, $third;
$held = hold_commits($standby);
foreach my $case ([ 5000, 5001 ], [ 20, 21 ])
{
    my ($set, $expected) = @$case;
    $standby->safe_psql('postgres', "SET synchronous_commit = off; SELECT setval('changed', $set)");
    start_asking($raiser, "SELECT snowid_section_next('changed', 2)");
    wait_until_waiting($standby, $raiser, 'SyncRep');
    is(ask($third, "SELECT snowid_section_current('changed', 1) IS NULL"), 't',
        "set to $set: no number of before is the last one");
    start_asking($other, "SELECT snowid_section_next('changed', 1)");
    my $waits = "SELECT wait_event_type = 'Extension' FROM pg_stat_activity WHERE pid = $other->{backend}";
    wait_for(sub { is_answered($other) || $standby->safe_psql('postgres', $waits) eq 't' },
        'another session to wait, or to be answered');
    release_commits($standby, $held);
    is(answer($raiser), $expected, "set to $set: who raises the limit draws above");
    is(answer($other), $expected, "set to $set: so do others");
    $held = hold_commits($standby);
}
release_commits($standby, $held);
close_session($raiser, $other, $third);

$standby->stop;
check_log($_) foreach $primary, $standby;
done_testing();
