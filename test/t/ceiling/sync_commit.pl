# No session gives out what the synchronous standbys do not know, whatever it has set for its own commits, and though its wait was
# cancelled or it was terminated; nor do others after it: IDs, segments, sections, and segments of a central source. What is seen
# never comes again when the standby is promoted.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $primary = ready_server('primary', allows_streaming => 1, conf => "snowid.max_lead = '1d'\nsnowid.segment_adapt = off\n",
    sql => 'CREATE SEQUENCE segment INCREMENT 10; CREATE SEQUENCE section INCREMENT 10');
# Of a central source many numbers are allocated at once, so each is drawn from for the first time when there is no standby.
my $source = ready_server('source', sql => 'CREATE SEQUENCE there INCREMENT 10');
add_source($primary, $source);
my @commits = qw(off local remote_write on);
$primary->safe_psql('postgres', "CREATE SEQUENCE central_$_ INCREMENT 10; SELECT snowid_segment_attach('central_$_', 'central', 'there')") foreach @commits;
my $standby = new_standby($primary, 'standby');
start_server($standby);
wait_until_synchronous($primary, $standby);

# A statement of each kind, which draws more than is left of what the standby knows (an ID, as the clock is set on); and the
# greatest number of each kind that a client has seen.
my %draw = (
    ID => 'SELECT snowid_next(1)',
    segment => q(SELECT max(snowid_segment_next('segment')) FROM generate_series(1, 100)),
    section => q(SELECT max(snowid_section_next('section', 1)) FROM generate_series(1, 100)));
my @kinds = sort keys %draw;
my %seen = map { $_ => 0 } @kinds;
sub see { my ($kind, $number) = @_; cmp_ok($number, '>', $seen{$kind}, "$kind: never before"); $seen{$kind} = $number; return }

sub new_session
{
    my ($commit) = @_;
    my $session = open_session($primary);
    ask($session, "SET synchronous_commit = $commit");
    return $session;
}

# Has a session draw. Returns whether it waits for a standby.
sub waits
{
    my ($session, $statement) = @_;
    my $waiting = "SELECT 'SyncRep' = wait_event FROM pg_stat_activity WHERE pid = " . $session->{backend};
    start_asking($session, $statement);
    wait_for(sub { is_answered($session) || $primary->safe_psql('postgres', $waiting) eq 't' }, 'a session to wait or to be answered');
    return !is_answered($session);
}

# Checks that it waits, and can be cancelled.
sub is_in_vain
{
    my ($name, $session, $statement) = @_;
    ok(waits($session, $statement), "$name: waits");
    is($session->{out}, '', "$name: nothing drawn");
    $primary->safe_psql('postgres', "SELECT pg_cancel_backend($session->{backend})");
    is(answer($session), 'ERROR 57014', "$name: and can be cancelled");
    return;
}

# With no standby there, sessions of all sorts draw in vain: are cancelled, and draw again, until they are terminated.
sub check_nobody_draws
{
    my ($when, $draw, @with) = @_;
    foreach my $commit (@with)
    {
        foreach my $kind (sort keys %$draw)
        {
            my $statement = $draw->{$kind} =~ s/COMMIT/$commit/r;
            my $name = "$when, $kind, synchronous_commit = $commit";
            my $session = new_session($commit);
            is_in_vain($name, $session, $statement);
            ok(waits($session, $statement), "$name: waits again after that");
            $primary->safe_psql('postgres', "SELECT pg_terminate_backend($session->{backend})");
            close_session($session);
        }
    }
    return;
}

see($_, $primary->safe_psql('postgres', $draw{$_})) foreach @kinds;
$standby->stop;
set_clock(3600, $primary);
check_nobody_draws('no standby', { %draw, central => q(SELECT snowid_segment_next('central_COMMIT')) }, @commits);
my %waiting = map { $_ => new_session('off') } @kinds;
ok(waits($waiting{$_}, $draw{$_}), "$_: waits for the standby") foreach @kinds;
start_server($standby);
see($_, answer($waiting{$_})) foreach @kinds;
close_session(values %waiting);

# Who raises the ceiling early, while there is room, waits for no standby. The clock is behind, so it is the IDs alone that come
# near the ceiling, 1,024 in a millisecond.
set_clock(3700, $primary);
see('ID', $primary->safe_psql('postgres', $draw{ID}));
set_clock(0, $primary);
$standby->stop;
my $hasty = new_session('on');
foreach my $part (1 .. 3)
{
    my $does_wait = waits($hasty, 'SELECT max(snowid_reserve(1, 1024)) FROM generate_series(1, 300)');
    ok(!$does_wait, "early, part $part: does not wait");
    $primary->safe_psql('postgres', "SELECT pg_cancel_backend($hasty->{backend})") if $does_wait;
    see('ID', answer($hasty));
    # What has been written is flushed.
    $primary->safe_psql('postgres', 'CHECKPOINT');
}
close_session($hasty);
start_server($standby);

# Another storage behind the ceiling: what it says must be known too, though there is room below the ceiling that was known before,
# and though it says the same. There is room for long, since the clock is behind.
foreach my $value ('less', 'the same')
{
    $standby->stop;
    my $changer = new_session('off');
    see('ID', ask($changer, $draw{ID})) foreach 1 .. 2;
    my $said = ask($changer, 'SELECT last_value FROM snowid_internal.ceiling');
    is(ask($changer, 'ALTER SEQUENCE snowid_internal.ceiling RESTART'), '', "another storage, $value");
    ask($changer, "SELECT setval('snowid_internal.ceiling', $said)") if $value eq 'the same';
    my %drawing = (first => new_session('off'), second => new_session('off'), 'the one who changed it' => $changer);
    is_in_vain("another storage, $value, $_", $drawing{$_}, $draw{ID}) foreach sort keys %drawing;
    close_session(values %drawing);
    start_server($standby);
    see('ID', $primary->safe_psql('postgres', $draw{ID}));
}

# The primary dies with all that nobody has seen. The standby, whose clock is no help, goes on above.
$standby->stop;
set_clock(7200 + 3600, $primary);
check_nobody_draws('before the fail-over', \%draw, 'off', 'on');
crash($primary, 'kill');
set_clock(-600, $standby);
start_server($standby);
$standby->promote;
see($_, $standby->safe_psql('postgres', $draw{$_})) foreach @kinds;
end_test($standby);
