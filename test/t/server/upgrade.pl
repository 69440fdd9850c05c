# Promise 1 through an upgrade of the library under a running server, where old and new have different
# ideas of what is in shared memory: sessions of the old one go on, those of the new one are refused
# with the hint to restart, and after the restart the new one goes on above what the old one issued.

use Snowid;

my %library = (old => build_library('old', '-DSNOWID_SHARED_ABI=11'), new => build_library('new', '-DSNOWID_SHARED_ABI=12'));
my $node = new_server('upgrade');
start_server($node);
my $install = replaceable_library($node, $library{old});
$node->safe_psql('postgres', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(1), title text)');
# CREATE EXTENSION has used the installed library, which has made the shared memory. Begin without.
$node->stop;
start_server($node);
my $greatest = 0;

# Draws in a session that is open.
sub drawn_by
{
    my ($name, $session) = @_;
    my @ids = split /\n/, ask($session, 'SELECT snowid_next(1) FROM generate_series(1, 1000)');
    my $rising = grep { $ids[$_] > ($_ ? $ids[ $_ - 1 ] : $greatest) } 0 .. $#ids;
    is($rising, 1000, "$name: 1000 IDs, in order and above those of before");
    $greatest = $ids[-1] if @ids;
    return;
}

# A session of the old library, open across the upgrade.
my $before = open_session($node);
drawn_by('before', $before);
$install->($library{new});
drawn_by('old library, after the upgrade', $before);
my $after = open_session($node);
foreach my $sql ((map { "SELECT $_" } 'snowid_next(1)', 'snowid_next(1)', 'snowid_next(2)', 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)', "snowid.advance_shard($greatest)"),
    q(INSERT INTO photos (title) VALUES ('refused')))
{
    is(ask($after, $sql), 'ERROR 55000', "refused: $sql");
    like($after->{err}, qr/library "snowid" was replaced while the server was running\nDETAIL:.*ABI 11\b.*ABI 12\b.*\nHINT:.*Restart/, 'with the hint to restart');
}
my $status = 'SELECT node_number, source, problem FROM snowid.node_status';
is(ask($after, $status), '0|none|library "snowid" was replaced while the server was running', 'the view says why');
is(ask($before, $status), '0|none|', 'an old session has no problem');

# Nothing else is harmed: neither that session, nor what needs no shared memory, nor others.
is(ask($after, "SELECT count(*), snowid_shard($greatest), snowid_encode(snowid_timestamp($greatest), 1, snowid_sequence($greatest)) = $greatest FROM photos"), '0|1|t',
    'the refused session goes on, and reads IDs');
is(ask($after, "INSERT INTO photos VALUES ($greatest, 'given') RETURNING title"), 'given', 'and writes');
drawn_by('old library, after the refusals', $before);
is(ask($before, 'SELECT snowid_shard(snowid_next(2))'), '2', 'the old library takes new shards, too');
my $ceiling = last_value($node, 'snowid_internal.ceiling');
# Each has a millisecond of its own, and the ceiling is 2.4 seconds ahead at most.
$greatest = ask($before, 'SELECT max(snowid_reserve(1, 1024)) + 1023 FROM generate_series(1, 3000)');
cmp_ok(last_value($node, 'snowid_internal.ceiling'), '>', $ceiling, 'and raises the ceiling');
is(attempt($node, 'SELECT snowid_next(1)'), 'ERROR 55000', 'another session is refused');
drawn_by('old library, at last', $before);
close_session($before, $after);

# With the server restarted, the new library makes the shared memory. The clock is behind by more than
# the callers may wait for: what the old library has issued counts.
$node->stop;
set_clock(-60, $node);
start_server($node);
is(attempt($node, 'SELECT snowid_next(1)'), 'ERROR SN001', 'restarted: the clock is behind what was issued');
$after = open_session($node);
ask($after, "SET snowid.max_lead = '1h'");
drawn_by('restarted, new library', $after);
set_clock(0, $node);
is(attempt($node, $status), '0|none|', 'restarted: no problem');
drawn_by('restarted, once more', $after);
close_session($after);

$install->($library{old});
$before = open_session($node);
is(ask($before, 'SELECT snowid_next(1)'), 'ERROR 55000', 'downgraded: refused');
like($before->{err}, qr/\bABI 12\b.*\bABI 11\b/, 'downgraded: says which is which');
end_test($node);
