# A model of readers in order: writers of every kind, and pollers that take a watermark and read the rows up to it, while
# the clock steps, sessions and servers are killed, and partitions come and go. Each row that is committed has to be read by
# each poller, once, and in order. A poller that reads by the last ID alone has to miss some, or the others would show
# nothing. The arguments: seconds, or "once" for each step once but a failover, and seed.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(sleep time);
use WatermarkClients;
use WatermarkServer;

my ($seconds, $seed) = @ARGV;
use constant WRITERS => 8;

# What sessions do that do not end.
use constant TELL => <<'SQL';
SELECT format('%s %s %s %s | %s | %s', pid, state, wait_event, backend_xid, query,
    (SELECT string_agg(format('%s %s %s', relation::regclass, mode, granted), ', ') FROM pg_locks AS l WHERE l.pid = a.pid AND l.relation > 16000))
  FROM pg_stat_activity AS a WHERE backend_type = 'client backend'
SQL

# Whose table it is that each poller reads.
my %pollers = (
    events_1 => 'events', events_2 => 'events', parts_1 => 'parts', parts_2 => 'parts', parts_b => 'parts_b', parts_b1 => 'parts_b1', legacy => 'legacy');
my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/clients';
srand $seed;
my $world = new_world($dir);
my $begun = time;

# Waits until each poller of these tables has begun and ended a poll since this was called.
sub wait_for_polls
{
    my @names = @_;
    my %before = map { $_ => read_log("$dir/$_")->{attempts} } @names;
    wait_for(sub { !grep { read_log("$dir/$_")->{attempts} < $before{$_} + 2 } @names }, 'pollers to poll');
    return;
}

# A transaction that is late: rows with later IDs are committed before it, and read by who goes by IDs alone. `insert` is
# for it, `pollers` are those that must not read past it, `end` are the statements that end it.
sub come_late
{
    my ($insert, $pollers, @end) = @_;
    my ($late, $early) = map { connect_to($dir) } 1 .. 2;
    $late->do('BEGIN');
    my ($id) = $late->selectrow_array("$insert RETURNING id");
    my ($next) = $early->selectrow_array("$insert RETURNING id");
    wait_for(sub { my $rows = read_log("$dir/naive")->{rows}; @$rows && $rows->[-1] >= $next }, 'the naive poller') if $insert =~ /INTO events/;
    $late->do(shift @end) if @end > 1;
    wait_for_polls(@$pollers);
    ($end[0] =~ /PREPARED/ ? $early : $late)->do($end[0]);
    $_->disconnect foreach $late, $early;
    return;
}

# Rows of a shard that is behind, inserted after a watermark that is ahead of the clock.
sub lag_behind
{
    my ($dbh) = connect_to($dir);
    step_clock($world, 1.5);
    my ($id) = $dbh->selectrow_array(q(INSERT INTO events (kind) VALUES ('ahead') RETURNING id));
    step_clock($world, -1.5);
    wait_for(sub { read_log("$dir/events_1")->{mark} >= $id }, 'a watermark at it');
    $dbh->do(q(INSERT INTO events (id, kind) SELECT snowid_next(5000 + (random() * 3000)::int), 'behind' FROM generate_series(1, 3)));
    $dbh->disconnect;
    return;
}

my %steps = (
    late => sub { come_late(q(INSERT INTO events (kind) VALUES ('late')), [ 'events_1', 'events_2' ], 'COMMIT') },
    late_parent => sub { come_late(q(INSERT INTO parts (kind, part) VALUES ('late', 1)), [qw(parts_1 parts_b parts_b1)], 'COMMIT') },
    late_partition => sub { come_late(q(INSERT INTO parts_b1 (id, kind, part) VALUES (snowid_next(9), 'late', 1)), [qw(parts_1 parts_b)], 'COMMIT') },
    late_prepared => sub { come_late(q(INSERT INTO events (kind) VALUES ('late')), [ 'events_1', 'events_2' ], q(PREPARE TRANSACTION 'late'), q(COMMIT PREPARED 'late')) },
    lag_behind => \&lag_behind,
    clock_steps => sub { foreach my $by (0.3, -0.6, -0.5, 0.8, -2.2, 2.2) { step_clock($world, $by); sleep 0.1 } },
    clock_far_back => sub { step_clock($world, -8); sleep 0.7; step_clock($world, 8) },
    clock_ahead => sub { step_clock($world, 3600); sleep 0.2 },
    terminate => sub { terminate_some($world) },
    kill_backend => sub { kill_backend($world) },
    kill_server => sub { kill_server($world) },
    partitions => sub { change_partitions($world) foreach 1 .. 2 },
    adopt => sub { adopt_legacy($world) },
    promote => sub { promote_standby($world) });

sub take_step
{
    my ($name) = @_;
    # What the server's end has cut short is as good as done.
    if (!eval { $steps{$name}->(); 1 }) { die "SEED=$seed, step $name: $@" if $name =~ /kill_server|promote|adopt/; note("$name: $@"); $world->{counts}{failed}++ }
    $world->{counts}{$name}++;
    return;
}

start_client($seed, $_, sub { write_rows($dir, @_) }) foreach 1 .. WRITERS;
start_client($seed, 100, sub { end_transactions($dir) });
my @names = sort keys %pollers;
my @readers = map { my $n = $_; start_client($seed, 200 + $n, sub { poll($dir, $names[$n], $pollers{ $names[$n] }, 0) }) } 0 .. $#names;
push @readers, start_client($seed, 300, sub { poll($dir, 'naive', 'events', 1) });

# Those that show that a row would be missed come first, while the clock is right.
my @late = qw(late late_parent late_partition late_prepared lag_behind);
take_step($_) foreach @late;
if ($seconds eq 'once')
{
    foreach my $name (qw(clock_steps partitions adopt terminate kill_server partitions clock_far_back kill_backend partitions)) { sleep 0.5; take_step($name) }
    sleep 0.5;
}
else
{
    my @often = ((qw(clock_steps terminate partitions partitions partitions)) x 3, @late, qw(clock_far_back clock_ahead kill_backend kill_server kill_server promote));
    my $told = time;
    sleep 2;
    take_step('adopt');
    while (time < $begun + $seconds)
    {
        sleep 0.2 + rand 1.5;
        take_step($often[ rand @often ]);
        next if time < $told + 30;
        $told = time;
        note(sprintf '%4d s: %s', time - $begun, join ', ', map { "$world->{counts}{$_} $_" } sort keys %{ $world->{counts} });
    }
}

# The end: nobody writes, nothing is open, and then each poller reads on until the last row.
my $end_prepared = sub { my $dbh = connect_to($dir); end_prepared($dbh, 1, '%') if $dbh };
my $tell = sub { diag(join "\n", answers($world, TELL)) };
append_to_file("$dir/stop", '');
my $bad = reap_clients(90, $end_prepared, $tell, @readers);
$end_prepared->();
append_to_file("$dir/written", '');
$bad += reap_clients(90, $end_prepared, $tell);
is($bad, 0, 'all clients end well, and the pollers have read the last row') or diag("SEED=$seed");

# Rows that a partition had when it was detached may have been read.
my %detached = map { $_ => 1 } map { answers($world, "SELECT id FROM $_") } answers($world, q(SELECT relname FROM pg_class WHERE relname LIKE 'parts\_x%' AND relkind = 'r'));
foreach my $name (@names, 'naive')
{
    my $log = read_log("$dir/$name");
    my @kinds = answers($world, q(SELECT id || ' ' || kind FROM ) . ($pollers{$name} // 'events') . ' ORDER BY id');
    my %kind = map { split } @kinds;
    my @there = map { (split)[0] } @kinds;
    my %read = map { $_ => 1 } @{ $log->{rows} };
    my @missed = grep { !$read{$_} } @there;
    my $errors = join ' ', map { "$log->{errors}{$_} x $_" } sort keys %{ $log->{errors} };
    if ($name eq 'naive')
    {
        cmp_ok(scalar(@missed), '>', 0, sprintf 'by the last ID %d of %d rows are missed', scalar(@missed), scalar(@there));
        next;
    }
    my @other = grep { !defined $kind{$_} && !$detached{$_} } @{ $log->{rows} };
    my @wrong = ((map { "it has missed $_, $kind{$_}" } @missed), (map { "it has read $_, which is not there" } @other), @{ $log->{wrong} });
    splice @wrong, 10 if @wrong > 10;
    is(join("\n", @wrong), '', sprintf '%s: all %d rows are read once, and in order, in %d polls; errors: %s', $name, scalar(@there), $log->{polls}, $errors)
      or diag("SEED=$seed");
    cmp_ok(scalar(@there), '>', 0, "$name: there are rows");
}
note(join ', ', map { "$world->{counts}{$_} $_" } sort keys %{ $world->{counts} });
note('rows: ' . join ', ', map { "$_" } answers($world, q(SELECT kind || ' ' || count(*) FROM (SELECT kind FROM events UNION ALL SELECT kind FROM parts) AS rows GROUP BY kind ORDER BY kind)));
stop_world($world);
done_testing();
