# A node's clock is compared with the registry's, and with the greatest ID time that the node has reported:
# one that is more than 10 s off is refused, naming the difference, and so is one that is behind what was
# reported. An ordinary check right after another never is. A database that is older than what it has
# reported issues its next IDs above that.

use strict;
use warnings;

use Snowid;
use Test::More;

my $registry = new_server('registry');
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $node = new_server('node');
start_server($node);
foreach my $member ('early', 'late')
{
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
}
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }

# Fails, and says by how much the clock is off.
sub check_off
{
    my ($member, $sql, $state, $message, $seconds, $name) = @_;
    is(at($member, $sql), "ERROR $state", "$name: $sql refused");
    my (undef, undef, $error) = $node->psql($member, $sql);
    like($error, $message, "$name: says so");
    my ($ms) = $error =~ /clock is (\d+) ms/;
    ok($ms > ($seconds - 3) * 1000 && $ms < ($seconds + 3) * 1000, "$name: by how much") or diag($error);
    return;
}

my $join = q(SELECT snowid_join('registry'));
foreach my $offset (-20, 20)
{
    set_clock($offset, $node);
    my $how = $offset < 0 ? 'behind' : 'ahead of';
    check_off('early', $join, '55000', qr/clock is \d+ ms $how that of server "registry"/, 20, "$how");
    is($registry->safe_psql('postgres', 'SELECT count(*) FROM snowid.nodes'), '0', "$how: has not claimed");
}
foreach my $offset (-8, 8)
{
    set_clock($offset, $node);
    is(at($offset < 0 ? 'early' : 'late', $join), $offset < 0 ? '1' : '2', "$offset s: joins");
}
set_clock(0, $node);
is(at('late', 'SELECT snowid_check()'), '2', 'clocks that agree');
set_clock(-20, $registry);
check_off('late', 'SELECT snowid_check()', '55000', qr/clock is \d+ ms ahead of that of server "registry"/, 20, 'checked');
like(at('late', 'SELECT snowid_shard(snowid_next())'), qr/^2$/, 'it goes on');
set_clock(0, $registry);

# Checks one after the other while IDs are drawn, by many and by few; after a stop and a start, too.
my $session = open_session($node, dbname => 'late');
foreach my $count (1, 1, 5000, 5000, 1, 1)
{
    ask($session, "SELECT max(snowid_next()) FROM generate_series(1, $count)");
    is(ask($session, 'SELECT snowid_check()'), '2', "checked after $count IDs");
}
my $last = ask($session, 'SELECT snowid_next()');
is(ask($session, 'SELECT snowid_check()'), '2', 'checked after another');
is($registry->safe_psql('postgres', "SELECT last_id_time >= snowid_timestamp($last) FROM snowid.nodes WHERE number = 2"),
    't', 'what was reported covers all IDs');
close_session($session);
crash($node, 'kill');
start_server($node);
is(at('late', 'SELECT snowid_check()'), '2', 'checked right after a crash');

# A clock that is set back behind what was reported, though it agrees with the registry's.
set_clock(3600, $_) foreach $node, $registry;
is(at('late', 'SELECT snowid_shard(snowid_next())'), '2', 'an hour later');
is(at('late', 'SELECT snowid_check()'), '2', 'reported');
set_clock(0, $_) foreach $node, $registry;
check_off('late', 'SELECT snowid_check()', 'SN001', qr/clock is \d+ ms behind the greatest ID time that this node has reported/, 3600, 'set back');
set_clock(3610, $_) foreach $node, $registry;
is(at('late', 'SELECT snowid_check()'), '2', 'right again');

# A database that is older than what it has reported: its ceiling is of before. What it has reported is
# a few seconds ahead of the clock, so nobody refuses it.
set_clock(7200, $_) foreach $node, $registry;
is(at('early', 'SELECT snowid_shard(snowid_next())'), '1', 'two hours later');
is(at('early', 'SELECT snowid_check()'), '1', 'reported');
$registry->safe_psql('postgres', q(UPDATE snowid.nodes SET last_id_time = clock_timestamp() + interval '4 s' WHERE number = 1));
my $reported = $registry->safe_psql('postgres', q(SELECT snowid_max(last_id_time) FROM snowid.nodes WHERE number = 1));
my $drawing = open_session($node, dbname => 'early');
is(ask($drawing, "SELECT snowid_next() < $reported"), 't', 'an ID below what was reported');
is(at('early', 'SELECT snowid_check()'), '1', 'checked');
cmp_ok(ask($drawing, 'SELECT snowid_next()'), '>', $reported, 'the next one is above it');
cmp_ok(ask($drawing, 'SELECT snowid_next(99) >> 23'), '>=', $reported >> 23, 'and of another shard, too');
close_session($drawing);

# A number that is given back is free only a minute after all IDs, though the node's clock is ahead.
set_clock(7208, $node);
$last = at('early', 'SELECT snowid_next()');
is(at('early', 'SELECT snowid_leave()'), '', 'left');
is($registry->safe_psql('postgres', "SELECT free_from >= snowid_timestamp($last) + interval '1 min' FROM snowid.nodes WHERE number = 1"),
    't', 'a minute after its last ID');

# Clocks that ran wild ahead, and what they have reported: once that is rewound it counts for nothing.
set_clock(20000, $_) foreach $node, $registry;
is(at('late', 'SELECT snowid_shard(snowid_next())'), '2', 'wild');
is(at('late', 'SELECT snowid_check()'), '2', 'wild: reported');
set_clock(7210, $_) foreach $node, $registry;
is(at('late', 'SELECT snowid_check()'), 'ERROR SN001', 'put right: refused');
is(at('late', q(SELECT count(*) FROM snowid.rewind(tstzmultirange(tstzrange(now() + interval '1 h', now() + interval '4 h'))))), '1', 'put right: rewound');
foreach my $time (1, 2)
{
    is(at('late', 'SELECT snowid_check()'), '2', "rewound: checked, time $time");
    is(at('late', 'SELECT snowid_timestamp(snowid_next()) < now() + interval \'10 s\''), 't', 'rewound: IDs by the clock');
}
# The right clock comes to the wild times, three hours: the IDs are ahead of it while they step over.
my $from = $node->safe_psql('late', 'SELECT ceil(extract(epoch FROM lower(wild)) - extract(epoch FROM clock_timestamp())) FROM snowid.rewinds');
set_clock(7210 + $from + 2, $_) foreach $node, $registry;
is(at('late', 'SELECT snowid_timestamp(snowid_next()) > now() + interval \'1 h\''), 't', 'stepping over: IDs are ahead');
is(at('late', 'SELECT snowid_check()'), '2', "stepping over: checked, time $_") foreach 1, 2;
check_log($_) foreach $node, $registry;
$_->stop foreach $node, $registry;
done_testing();
