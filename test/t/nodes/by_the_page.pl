# What docs/many-servers.md and docs/operations.md say of several servers, followed to the letter: joining, changing
# passwords, several databases of one server, more tenants than numbers, upgrading one server after the
# other, standbys of which none answers, and a fail-over with layouts of long units. No number or ID comes twice, and
# nodes draw on meanwhile.
#
# Runs in make test-all: it has three servers, by the steps of the page.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my ($many, $operations) = map { "docs/$_.md" } qw(many-servers operations);

# An earlier version than the current one, which is what the servers have at first.
my ($install_path, $scripts) = new_prefix();
my $current = current_version();
my $control = slurp_file("$scripts/snowid.control");
my $older = 'ALTER FUNCTION @extschema@.snowid_lastval() PARALLEL';
add_version($scripts, 'before', script_of($current) . "$older UNSAFE;\n", "$older RESTRICTED;\n");
sub install
{
    my ($version) = @_;
    unlink "$scripts/snowid.control";
    append_to_file("$scripts/snowid.control", $control =~ s/^default_version = .*/default_version = '$version'/mr);
    return;
}
install('before');

my $registry = new_server('registry', install_path => $install_path);
unlink $registry->data_dir . '/pg_hba.conf';
append_to_file($registry->data_dir . '/pg_hba.conf', "local all members scram-sha-256\nlocal all all trust\n");
start_server($registry);
my $berlin = new_server('berlin', install_path => $install_path, allows_streaming => 1);
$berlin->append_conf('postgresql.conf', "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
start_server($berlin);
$registry->safe_psql('postgres', 'CREATE DATABASE registry');
$berlin->safe_psql('postgres', 'CREATE DATABASE berlin; CREATE DATABASE app; CREATE DATABASE late');

sub here
{
    my ($block) = @_;
    my ($host, $port) = ($registry->host, $registry->port);
    return $block =~ s/host 'registry[.]example'/host '$host', port '$port'/r;
}
sub on_registry
{
    my ($block, $where) = @_;
    return follow($registry, $where // 'registry', $block, dbname => 'registry');
}
# On one of its databases.
sub on_berlin
{
    my ($block, $dbname) = @_;
    $dbname //= 'berlin';
    return follow($berlin, $dbname, $block, dbname => $dbname, here => \&here);
}
sub at { my ($sql, $dbname) = @_; return attempt($berlin, $sql, dbname => $dbname // 'berlin') }
my $number = 'SELECT snowid_default_shard(), snowid_shard(snowid_next())';

# Joining, where the registry asks for a password.
my @blocks = blocks_of($many, 'Joining');
on_registry($blocks[0]);
on_berlin($blocks[1]);
on_registry($blocks[2]);
my ($set_up) = $blocks[1] =~ /\A(.*?)SELECT snowid[.]join/s;
$berlin->safe_psql('late', here($set_up));

# Upgrading, with a session that draws through all of it.
my $drawing = open_session($berlin, dbname => 'berlin');
is(ask($drawing, $number), '1|1', 'drawing');
my $greatest = ask($drawing, 'SELECT snowid_next()');
sub draws_on
{
    my ($name) = @_;
    my $next = ask($drawing, 'SELECT snowid_next()');
    cmp_ok($next, '>', $greatest, "$name: draws on");
    is(at($number), '1|1', "$name: so does a new session");
    $greatest = $next;
    return;
}
my ($update, $check, $forgotten) = blocks_of($operations, 'Upgrading several servers');
is(at('SELECT snowid.check_node()'), '1', 'all is well before');
install($current);
my $as = q(SELECT proparallel FROM pg_proc WHERE proname = 'snowid_lastval');
is($registry->safe_psql('registry', $as), 'u', 'the registry is of the version before');
follow($registry, 'the registry, then on each node', $update, dbname => 'registry');
is($registry->safe_psql('registry', $as), 'r', 'the registry is upgraded');
is(at($as), 'u', 'its node is not');
draws_on('an older node');

# A registry that the node cannot ask: of another version, it has another function, or answers with other columns or words.
my $register = 'FUNCTION snowid.register';
my $arguments = 'text, text, uuid, bigint, bigint, bigint, bigint, text, text, bigint, bigint, bigint, bigint';
my $columns = qq(CREATE FUNCTION snowid.register($arguments, OUT verdict text, OUT number bigint)
  LANGUAGE sql AS \$\$ SELECT 'lost', 1 \$\$; GRANT EXECUTE ON $register TO members);
my $words = qq(DROP $register($arguments);
  CREATE FUNCTION snowid.register($arguments, OUT verdict text, OUT held_claim uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity text)
  LANGUAGE sql AS \$\$ SELECT 'new', \$3, 1, 1, 1, 0, false, 'i' \$\$; GRANT EXECUTE ON $register TO members);
my $known = q(SELECT count(*), min(token), bool_or(retired IS NOT NULL) FROM snowid_internal.nodes);
my $before = $registry->safe_psql('registry', $known);
$registry->safe_psql('registry', "ALTER $register RENAME TO newer");
foreach my $stand_in ([ 'SELECT 1', '42883' ], [ $columns, '42703' ], [ $words, '08P01' ])
{
    my ($sql, $code) = @$stand_in;
    $registry->safe_psql('registry', $sql);
    is(at('SELECT snowid.check_node()'), "ERROR $code", "other versions, $code: a check");
    is(at(q(SELECT snowid.join('registry')), 'late'), "ERROR $code", "other versions, $code: joining");
    like(section_of($operations, 'Upgrading several servers'), qr/may fail \([^)]*\b$code\b/, "the page says $code");
    draws_on("other versions, $code");
}
is($registry->safe_psql('registry', $known), $before, 'and nothing has changed');
$registry->safe_psql('registry', "DROP $register; ALTER FUNCTION snowid.newer RENAME TO register");
follow($berlin, 'the registry, then on each node', $update, dbname => 'berlin');
is(at($as), 'r', 'the node is upgraded');
draws_on('the node is upgraded');

# Nobody is forgotten: whoever has not checked is listed.
set_clock(660);
is($registry->safe_psql('registry', $forgotten =~ s/^--.*\n//r), 'berlin', 'who has not checked is listed');
follow($berlin, 'each node', $check, dbname => 'berlin');
on_registry($forgotten, 'the registry');
close_session($drawing);

# Passwords, and another number.
my ($password, $mapping, $another) = blocks_of($many, 'Passwords');
on_registry($password);
is(at('SELECT snowid.check_node()'), 'ERROR 28P01', 'the registry has another password');
like(section_of($many, 'Passwords'), qr/28P01/, 'the page says so');
is(at($number), '1|1', 'the node draws on');
on_berlin($mapping);
my $claim = q(SELECT claim FROM snowid_internal.nodes WHERE node_name = 'berlin' AND retired IS NULL);
my $old_claim = $registry->safe_psql('registry', $claim);
on_berlin($another);
my $new_claim = $registry->safe_psql('registry', $claim);
ok($new_claim ne '' && $new_claim ne $old_claim, 'another claim');
is(at($number), '2|2', 'of another number');
is($registry->safe_psql('registry', 'SELECT retired IS NOT NULL FROM snowid.registry WHERE node_number = 1'),
    't', 'the old one is retired');

# Several databases: one that joins, and one that is made from it.
my ($joining, $shop) = blocks_of($many, 'Several databases of one server');
on_berlin($joining, 'app');
is(at($number, $_->[0]), $_->[1], "$_->[0] draws from its own") foreach [ 'app', '3|3' ], [ 'berlin', '2|2' ];
$berlin->safe_psql('postgres', said_in($many, 'Several databases of one server', 'CREATE DATABASE shop TEMPLATE app'));
is(at($number, 'shop'), 'ERROR 55000', 'one that is made from another draws nothing');
on_berlin($shop, 'shop');
is(at("$number, snowid.check_node()", $_->[0]), $_->[1], "$_->[0] draws from its own")
  foreach [ 'shop', '4|4|4' ], [ 'app', '3|3|3' ];

# More tenants than numbers.
my ($tenants, $tenant) = blocks_of($many, 'More tenants than numbers');
on_registry($tenants);
on_berlin($tenant);
my ($layout) = $tenant =~ /'(time:[^']*)'/;
my $last = 65535;
my $insert = 'INSERT INTO tenants (tenant) VALUES';
my $above = said_in($many, 'More tenants than numbers', q(SELECT setval('tenants_shard_seq', 1000)));
$registry->safe_psql('registry', $above =~ s/1000/$last - 1/r);
is($registry->safe_psql('registry', "$insert ('last') RETURNING shard"), $last, 'as many tenants as the page says');
is(attempt($registry, "$insert ('too many')", dbname => 'registry'), 'ERROR 2200H', 'and no more');
is(at("SELECT snowid_shard(snowid_next($last, '$layout'), '$layout')"), $last, 'the layout has them');
is(at("SELECT snowid_next($last + 1, '$layout')"), 'ERROR 22023', 'and no more');
is(at("SELECT count(DISTINCT snowid_sequence(id, '$layout')) FROM snowid_next_batch(7, 1000, '$layout') AS id"),
    '128', 'each with 128 IDs a millisecond');
is(at("SELECT snowid.release_shard(1, '$layout') > 0"), 't', 'a tenant moves');
is(at("INSERT INTO acme.orders (item) VALUES ('milk')"), 'ERROR 55000', 'and is served here no more');

# No standby answers. One of the two is down, the one that commits wait for.
my ($ask, $empty, $again) = blocks_of($operations, 'No standby answers');
my ($near, $far) = map { new_standby($berlin, $_) } 'standby1', 'standby2';
start_server($_) foreach $near, $far;
my $count = 'SELECT count(*) FROM pg_stat_replication';
wait_for(sub { $berlin->safe_psql('postgres', $count) eq '2' }, 'the standbys');
$berlin->append_conf('postgresql.conf', "synchronous_standby_names = 'standby1'\n");
$berlin->reload;
my $away = q(SELECT bool_or(sync_state <> 'async') FROM pg_stat_replication);
my $state = q(SELECT sync_state FROM pg_stat_replication WHERE application_name = 'standby1');
my $is_synchronous = sub { $berlin->safe_psql('postgres', $state) eq 'sync' };
wait_for($is_synchronous, 'the standby to be synchronous');
$near->stop;
my $waiting = open_session($berlin, dbname => 'berlin');
backend_of($waiting);
# Past the ceiling.
set_clock(670);
start_asking($waiting, $number);
wait_until_waiting($berlin, $waiting, 'SyncRep');
follow($far, 'each standby', $ask);
ok(!is_answered($waiting), 'it waits');
follow($berlin, 'the primary', $empty);
is(answer($waiting), '2|2', 'what waited goes on');
start_server($near);
$berlin->wait_for_catchup($near);
my $behind = said_in($operations, 'No standby answers',
    'SELECT application_name, state, pg_current_wal_lsn() - replay_lsn AS behind FROM pg_stat_replication');
like($berlin->safe_psql('postgres', $behind), qr/^standby1\|streaming\|\d+$/m, 'the standby has caught up');
is($berlin->safe_psql('postgres', $away), 'f', 'and none is waited for yet');
follow($berlin, 'the primary', $again);
wait_for($is_synchronous, 'the standby to be synchronous');
is(ask($waiting, $number), '2|2', 'and draws go on');
close_session($waiting);

# Long units: an hour, which begins while the standby that is to be promoted is cut off.
my $hours = 'time:31 shard:16 seq:17 unit:1h epoch:2020-01-01T00:00:00Z';
my ($advance) = blocks_of($operations, 'Long units of time');
$berlin->wait_for_catchup($far);
$far->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$far->reload;
wait_for(sub { $berlin->safe_psql('postgres', $count) eq '1' }, 'the standby to be cut off');
# A later hour. Ten minutes of it are over, so it does not end meanwhile.
set_clock(7800 - (time + 7200) % 3600);
my %drawn = map { $_ => at("SELECT snowid_next($_, '$hours')") } 5, 6;
crash($berlin, 'immediate');
$far->promote;
wait_for(sub { $far->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
sub at_far { my ($sql) = @_; return attempt($far, $sql, dbname => 'berlin') }
is(at_far("SELECT snowid_next(5, '$hours')"), $drawn{5}, 'the unit begins anew, with the same ID');
follow($far, '', $advance, dbname => 'berlin');
is(at_far("SELECT snowid_next(6, '$hours')"), 'ERROR SN001', 'then not: it waits for the next one');
is(at_far("SET snowid.max_lead = '61min'; SELECT snowid_next(6, '$hours') > $drawn{6} | 131071"),
    't', 'or runs ahead by one');
is(at_far($number), '2|2', 'others draw');

# The registry is lost between leaving and joining: called again, it goes on.
my $lose = q(ALTER SERVER registry OPTIONS (SET host '/nowhere'));
is(at_far($another =~ s/(snowid.leave.*;)\n/$1\n$lose;\n/r), 'ERROR 08006', 'the registry is lost');
is(at_far('SELECT snowid_next()'), 'ERROR 55000', 'the node draws nothing');
point_at($far, $registry, name => 'registry', dbname => 'berlin');
like(at_far($another =~ s/^SELECT snowid.leave.*\n//mr), qr/^5$/, 'it joins');
is(at_far($number), '5|5', 'then it draws');
$_->stop foreach $far, $near, $registry;
done_testing();
