# A dump is restored over a database that has issued IDs, while a session draws: an old one sets nothing back, not after a crash
# either; above what a new one says all go on. A ceiling that is restored into the very sequence that a session uses has nobody to
# tell it: it goes on below the ceiling that it knows, and above the restored one from the next raise on.
# Runs in make test-all: it dumps and restores.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my %options = (conf => "snowid.max_lead = '1d'\n", sql => 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next());'
      . ' INSERT INTO photos DEFAULT VALUES');
my ($source, $target) = map { ready_server($_, %options) } qw(source target);
my $ceiling = 'SELECT last_value FROM snowid_internal.ceiling';
my $draw = 'SELECT snowid_next()';
my $last;

# The greatest ID, of all shards, with a time in Unix milliseconds.
sub max_of { my ($ms) = @_; return ($ms - 1314220021721) << 23 | 0x7FFFFF }

sub run_ahead
{
    my ($node, $hours) = @_;
    $node->safe_psql('postgres', "SELECT snowid.advance_shard(snowid_encode(clock_timestamp() + interval '$hours hours', 0, 0))");
    return $node->safe_psql('postgres', $draw);
}

sub restore
{
    my ($name) = @_;
    system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-Fc', '-f', "$dir/dump");
    command_ok([ 'pg_restore', '--clean', '--if-exists', '--exit-on-error', '-d', $target->connstr('postgres'), "$dir/dump" ], "$name: restored");
    return;
}

# Sessions that come now draw above an ID, and rows get keys of their own.
sub above
{
    my ($name, $floor) = @_;
    my @sessions = map { draw($target, 'snowid_next()', 5000) } 1 .. 2;
    finish(@sessions);
    (my $count, $last) = check_round($name, $floor, @sessions);
    is($count, 10_000, "$name: as many as asked for");
    is(attempt($target, 'INSERT INTO photos SELECT FROM generate_series(1, 1000)'), '', "$name: no duplicate key");
    $last = $target->safe_psql('postgres', $draw);
    return;
}

$last = run_ahead($target, 1);
my $session = open_session($target);
ask($session, $draw);
restore('old dump');
cmp_ok(max_of($target->safe_psql('postgres', $ceiling)), '<', $last, 'old dump: its ceiling is lower');
my $next = ask($session, $draw);
cmp_ok($next, '>', $last, 'old dump: the session goes on above its own IDs');
above('old dump', $next);
crash_and_start($target, 'kill', -600);
close_session($session);
above('old dump, after a crash', $last);

run_ahead($source, 3);
my $says = max_of($source->safe_psql('postgres', $ceiling));
cmp_ok($says, '>', $last, 'new dump: its ceiling is higher');
$session = open_session($target);
ask($session, $draw);
restore('new dump');
cmp_ok(ask($session, $draw), '>', $says, 'new dump: the session goes on above it');
above('new dump', $says);

ask($session, $draw);
my $known = $target->safe_psql('postgres', $ceiling);
my $restored = $known + 600_000;
$target->safe_psql('postgres', "SELECT setval('snowid_internal.ceiling', $restored)");
# Each of these has a millisecond of its own. The ceiling is raised a second ahead.
my @ids = split /\n/, ask($session, 'SELECT snowid_reserve(0, 1024) FROM generate_series(1, 3000)');
is(scalar(@ids), 3000, 'in use: the session goes on');
is(scalar(grep { $ids[$_] <= ($_ ? $ids[ $_ - 1 ] : $last) } 0 .. $#ids), 0, 'in use: in order');
is(scalar(grep { $_ > max_of($known) && $_ <= max_of($restored) } @ids), 0, 'in use: none above the old ceiling and not above the restored one');
cmp_ok($ids[1000], '>', max_of($restored), 'in use: noticed within a step of the ceiling');
cmp_ok(max_of($target->safe_psql('postgres', $ceiling)), '>', $ids[-1], 'in use: the ceiling is above all');
end_test($source, $target);
