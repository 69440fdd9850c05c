# The promise to others: no session gives out what the synchronous standbys do not know, whatever it has
# set for its own commits, and though its wait was cancelled or it was terminated; nor do others after
# it. IDs, segments, sections, and segments of a central source; what is seen never comes again when the standby is
# promoted.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $primary = new_server('primary', allows_streaming => 1);
start_server($primary);
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE segment INCREMENT 10;
CREATE SEQUENCE section INCREMENT 10;
SQL
# Each of these is drawn from for the first time when there is no standby: of a central source many numbers are
# allocated at once.
my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', 'CREATE SEQUENCE there INCREMENT 10');
add_source($primary, $source);
my @commits = qw(off local remote_write on);
$primary->safe_psql('postgres',
    "CREATE SEQUENCE central_$_ INCREMENT 10; SELECT snowid_segment_attach('central_$_', 'central', 'there')")
  foreach @commits;
my $standby = new_standby($primary, 'standby');
start_server($standby);
wait_until_synchronous($primary, $standby);

# A statement of each kind, which draws more than is left of what the standby knows (an ID, as the clock
# is set on); and the greatest number of each kind that a client has seen.
my %draw = (
    ID => 'SELECT snowid_next(1)',
    segment => q(SELECT max(snowid_segment_next('segment')) FROM generate_series(1, 100)),
    section => q(SELECT max(snowid_section_next('section', 1)) FROM generate_series(1, 100)));
my @kinds = sort keys %draw;
my %seen;

sub see
{
    my ($kind, $number) = @_;
    like($number, qr/^\d+$/, "$kind: drawn");
    cmp_ok($number, '>', $seen{$kind} // 0, "$kind: and never before");
    $seen{$kind} = $number;
    return;
}

# Has a session draw. Returns whether it waits for a standby.
sub waits
{
    my ($session, $statement) = @_;
    my $waiting = "SELECT 'SyncRep' = wait_event FROM pg_stat_activity WHERE pid = " . backend_of($session);
    start_asking($session, $statement);
    wait_for(sub { is_answered($session) || $primary->safe_psql('postgres', $waiting) eq 't' },
        'a session to wait or to be answered');
    return !is_answered($session);
}

sub new_session
{
    my ($synchronous_commit) = @_;
    my $session = open_session($primary);
    ask($session, "SET synchronous_commit = $synchronous_commit");
    # Or a hundred numbers might not be more than is left.
    ask($session, 'SET snowid.segment_adapt = off');
    return $session;
}

# With no standby there, sessions of all sorts draw in vain: those that are cancelled, and draw again, until they are
# terminated.
sub check_nobody_draws
{
    my ($when, @with) = @_;
    foreach my $kind (@kinds)
    {
        foreach my $commit (@with)
        {
            my $name = "$when, $kind, synchronous_commit = $commit";
            my $session = new_session($commit);
            ok(waits($session, $draw{$kind}), "$name: waits");
            is($session->{out}, '', "$name: nothing drawn");
            $primary->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
            is(answer($session), 'ERROR 57014', "$name: and can be cancelled");
            ok(waits($session, $draw{$kind}), "$name: waits again after that");
            $primary->safe_psql('postgres', "SELECT pg_terminate_backend($session->{backend})");
            close_session($session);
        }
    }
    return;
}

see($_, $primary->safe_psql('postgres', $draw{$_})) foreach @kinds;
$standby->stop;
set_clock(3600, $primary);
check_nobody_draws('no standby', @commits);
foreach my $commit (@commits)
{
    my $session = new_session($commit);
    ok(waits($session, "SELECT snowid_segment_next('central_$commit')"), "central source, $commit: waits");
    $primary->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "central source, $commit: and can be cancelled");
    close_session($session);
}
my %waiting = map { $_ => new_session('off') } @kinds;
ok(waits($waiting{$_}, $draw{$_}), "$_: waits for the standby") foreach @kinds;
start_server($standby);
see($_, answer($waiting{$_})) foreach @kinds;
close_session(values %waiting);

# Who raises the ceiling early, while there is room, waits for no standby. The clock is behind, so it is
# the IDs alone that come near the ceiling, 1,024 in a millisecond.
my $ahead = "SET snowid.max_lead = '1d'";
set_clock(3700, $primary);
see('ID', $primary->safe_psql('postgres', $draw{ID}));
set_clock(0, $primary);
$standby->stop;
my $hasty = new_session('on');
ask($hasty, $ahead);
foreach my $part (1 .. 3)
{
    my $reserve = 'SELECT max(snowid_reserve(1, 1024)) FROM generate_series(1, 300)';
    my $does_wait = waits($hasty, $reserve);
    ok(!$does_wait, "early, part $part: does not wait");
    $primary->safe_psql('postgres', "SELECT pg_cancel_backend($hasty->{backend})") if $does_wait;
    see('ID', answer($hasty));
    # What has been written is flushed.
    $primary->safe_psql('postgres', 'CHECKPOINT');
}
close_session($hasty);
start_server($standby);

# Another storage behind the ceiling: what it says must be known too, though there is room below the
# ceiling that was known before, and though it says the same. There is room for long, since the clock is
# behind.
foreach my $value ('less', 'the same')
{
    $standby->stop;
    my $changer = new_session('off');
    ask($changer, $ahead);
    see('ID', ask($changer, $draw{ID})) foreach 1 .. 2;
    my $said = ask($changer, 'SELECT last_value FROM snowid_internal.ceiling');
    is(ask($changer, 'ALTER SEQUENCE snowid_internal.ceiling RESTART'), '', "another storage, $value");
    is(ask($changer, "SELECT setval('snowid_internal.ceiling', $said)"), $said, 'set') if $value eq 'the same';
    foreach my $name ('the first', 'the next', 'the one who changed it')
    {
        my $session = $name eq 'the one who changed it' ? $changer : new_session('off');
        ask($session, $ahead);
        ok(waits($session, $draw{ID}), "another storage, $value: $name waits");
        $primary->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
        is(answer($session), 'ERROR 57014', "another storage, $value: $name can be cancelled");
        close_session($session);
    }
    start_server($standby);
    see('ID', $primary->safe_psql('postgres', "$ahead; $draw{ID}"));
}

# The primary dies with all that nobody has seen. The standby, whose clock is no help, goes on above.
$standby->stop;
set_clock(7200 + 3600, $primary);
check_nobody_draws('before the fail-over', 'off', 'on');
crash($primary, 'kill');
set_clock(-600, $standby);
start_server($standby);
$standby->promote;
foreach my $kind (@kinds)
{
    see($kind, $standby->safe_psql('postgres', "SET snowid.max_lead = '1d'; $draw{$kind}"));
}
check_log($standby);
$standby->stop;
done_testing();
