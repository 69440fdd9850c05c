# Power cuts: what was not synced is gone, committed or not, and the clock is an hour behind when the server comes back. No ID that
# a client has seen comes again, whichever way it got to see it: in a transaction that had committed, with or without waiting for
# the disk, that was rolled back, or that was open at the cut; with SELECT alone; rarely or in a burst; alone or while others draw
# and commit. While nothing gets to the disk, nobody gets an ID for which the ceiling must be raised. SNOWID_SEED repeats the
# choices of a run.

use Snowid;
use Time::HiRes qw(sleep time);

my $seed = $ENV{SNOWID_SEED} // int(rand(1 << 30));
srand $seed;
note("SNOWID_SEED=$seed");

# How a client gets to see IDs: what gives the next one of the same kind, and statements whose result is the greatest that they have
# drawn.
my @shown = map { [ $_, "SELECT $_" ] } 'snowid_next()', 'snowid_next(1)', q(snowid_next(1, 'twitter')),
  q(snowid_next(1, 'time:41 shard:13 seq:10 unit:10ms epoch:2020-01-01T00:00:00Z')), 'snowid_uuidv7()', 'objectid_next()';
my @many = (
    [ 'snowid_next(1)', 'SELECT snowid_reserve(1, 1000) + 999' ],
    [ 'snowid_next(2)', 'SELECT max(id) FROM snowid_next_batch(2, 3000) AS id' ],
    [ q(snowid_next(1, 'twitter')), q(SELECT max(id) FROM snowid_next_batch(1, 300000, 'twitter') AS id) ]);
my @written = (
    [ 'snowid_next(2)', 'INSERT INTO rows (id) VALUES (snowid_next(2)) RETURNING id' ],
    [ 'snowid_next()', 'INSERT INTO rows DEFAULT VALUES RETURNING id' ]);
my @ended = map { my $end = $_; map { [ $_->[0], "BEGIN; $_->[1]; $end" ] } @written, @shown } 'COMMIT', 'ROLLBACK';

# What happens between the start and the cut: how many seconds the clock goes on before each step, the ways to see IDs, and how many
# sessions draw besides, as fast as they can; and whether a WAL writer flushes. Then a step is as much as a few hundred real
# milliseconds, within which it may or may not. (make torture cuts the power hundreds of times.)
my @patterns = (
    { name => 'now and then', pause => [ 0.6, 3 ], ways => [ @shown, @written, @ended ], writer => 0 },
    { name => 'never flushed', pause => [ 0, 0.4 ], ways => \@shown, writer => 0 },
    { name => 'among commits', pause => [ 0.1, 0.5 ], ways => [ @shown, @written, @ended ], writer => 1 },
    { name => 'in bursts', pause => [ 0, 0.4 ], ways => [ @shown, @many, @written ], writer => 0 },
    { name => 'in a crowd', pause => [ 0.1, 1 ], ways => [ @shown, @written, @ended ], crowd => 3, writer => 1 });

my $node = new_powered_server('power');
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE TABLE rows (id bigint DEFAULT snowid_next()); CREATE TABLE cuts (number int, kept bool)');
$node->stop;

# How far the clock is set on from the real one.
my $ahead = 0;
sub go_on { set_clock($ahead += $_[0], $node); return }
sub between { my ($least, $most) = @_; return $least + rand($most - $least) }
sub one_of { return $_[ rand @_ ] }

# The greatest that a client has seen, by what gives the next, in a form whose order is that of texts.
my %seen;

sub see
{
    my ($next, $id, $name) = @_;
    die "$next: $id" unless $id =~ /^[0-9a-f-]+$/;
    $id = sprintf '%019d', $id if $id =~ /^\d{1,19}$/;
    ok($id gt ($seen{$next} // ''), "$name: $next goes on above what was seen") or diag("$id after $seen{$next}") if $name;
    $seen{$next} = $id if $id gt ($seen{$next} // '');
    return;
}

sub take_step { my ($session, $way) = @_; see($way->[0], ask($session, $way->[1])); return }

# Has a session run a statement. Returns whether it is answered; if not it waits for the disk, which hangs, or for another who does.
sub is_served
{
    my ($session, $statement) = @_;
    my $pid = $session->{backend};
    my $waiting = <<"SQL";
SELECT count(*) FROM pg_stat_activity AS mine, pg_stat_activity AS others
WHERE mine.pid = $pid AND mine.wait_event_type IN ('IO', 'LWLock') AND others.wait_event ILIKE 'WALSync'
SQL
    start_asking($session, $statement);
    wait_for(sub { is_answered($session) || $node->safe_psql('postgres', $waiting) > 0 }, 'a session to wait for the disk, or to be answered');
    return is_answered($session);
}

# The disk hangs: nobody sees an ID, not the one who raises the ceiling, and not the one who comes by meanwhile. A row that is
# committed then without waiting gets as far as being written.
sub check_nobody_sees
{
    my ($number, $name, @sessions) = @_;
    my $committing = open_session($node);
    ask($committing, 'SET synchronous_commit = off');
    hang_disk($node);
    # The next to wait for the disk writes it, too.
    ask($committing, "INSERT INTO cuts VALUES ($number, false)");
    go_on(10);
    foreach my $session (@sessions)
    {
        my ($next, $statement) = @{ one_of(@shown) };
        my $is_served = is_served($session, $statement);
        ok(!$is_served, "$name: the disk hangs: $next waits");
        see($next, answer($session)) if $is_served;
    }
    return $committing;
}

# Has sessions draw, step by step, until the power is cut.
sub use_until_cut
{
    my ($number, $name, $pattern) = @_;
    my @drawing = map { { next => $shown[$_][0], drawing => draw($node, $shown[$_][0], undef, pause_every => 50) } } 1 .. ($pattern->{crowd} // 0);
    wait_to_draw(1, map { $_->{drawing} } @drawing);
    my @sessions = map { open_session($node) } 0 .. 2;
    ask($sessions[$_], 'SET synchronous_commit = ' . qw(on off on)[$_]) foreach 0 .. 2;
    ask($sessions[0], "INSERT INTO cuts VALUES ($number, true)");
    ask($sessions[2], 'BEGIN');
    foreach (1 .. 5 + rand 10)
    {
        go_on(between(@{ $pattern->{pause} }));
        sleep between(0, 0.25) if $pattern->{writer};
        my $session = one_of(0 .. 2);
        take_step($sessions[$session], one_of(grep { $session < 2 || $_->[1] !~ /BEGIN/ } @{ $pattern->{ways} }));
    }
    # The last ones seen are such as have nothing flushed, and come by while the ceiling is near.
    foreach (0 .. 5 + rand 10)
    {
        go_on(between(0, 0.4));
        take_step(one_of(@sessions), one_of(@shown));
    }
    push @sessions, check_nobody_sees($number, $name, @sessions);
    cut_power($node);
    finish(map { $_->{drawing} } @drawing);
    foreach (@drawing) { see($_->{next}, ids($_->{drawing})->[-1]) if @{ ids($_->{drawing}) } }
    close_session(@sessions);
    return;
}

my $number = 0;
foreach my $pattern (@patterns)
{
    my $name = 'cut ' . ++$number . ", $pattern->{name}, " . ($pattern->{writer} ? 'with a WAL writer' : 'no WAL writer');
    power_on($node);
    hold_wal_writer($node) unless $pattern->{writer};
    use_until_cut($number, $name, $pattern);

    # The server comes back with its clock behind.
    set_clock(-3600, $node);
    start_server($node);
    see($_, attempt($node, "SET snowid.max_lead = '1d'; SELECT $_"), $name) foreach sort keys %seen;
    is($node->safe_psql('postgres', "SELECT kept FROM cuts WHERE number = $number"), 't', "$name: what was flushed is there, and what was not is gone");
    # No ID of the next start is below what this one has made durable.
    $ahead = last_value($node, 'snowid_internal.ceiling') / 1000 - time;
    go_on(1);
    $node->stop;
}
check_log($node);
done_testing();
