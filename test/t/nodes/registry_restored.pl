# A registry that was restored, promoted or moved may have lost numbers that it gave. It gives none until somebody states
# the greatest one; nodes warn, and go on, until it is stated on each that it goes by this registry now. No number is
# given twice, whatever is lost, and nobody stops who should not.
#
# Runs in make test-all: it has five servers.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidNodes;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $registry = new_server('registry', allows_streaming => 1);
start_server($registry);
$registry->safe_psql('postgres', 'CREATE ROLE keeper LOGIN; CREATE DATABASE first OWNER keeper');
$registry->safe_psql('first', 'CREATE EXTENSION snowid');
my $node = new_server('node', allows_streaming => 1);
start_server($node);

my %number;
sub new_member
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    add_source($node, $registry, name => 'registry', dbname => $name);
    $node->safe_psql($name, q(ALTER SERVER registry OPTIONS (SET dbname 'first')));
    return $name;
}
my @members = map { new_member($_) } 'a' .. 'h';
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub message_of { my ($member, $sql) = @_; return ($node->psql($member, $sql))[2] }
sub join_as { my ($member) = @_; return at($member, "SELECT snowid.join('registry', '$member')") }
sub check { my ($member) = @_; return at($member, 'SELECT snowid.check_node()') }
sub accept_registry { my ($member) = @_; return at($member, 'SELECT snowid.accept_registry()') }
sub recover { my ($dbname, $max, $server) = @_; return attempt($server // $registry, "SET ROLE keeper; SELECT snowid.recover_registry($max)", dbname => $dbname) }

# All members ask there from now on.
sub ask_at
{
    my ($dbname, $server) = @_;
    $server //= $registry;
    $node->safe_psql($_, sprintf q(ALTER SERVER registry OPTIONS (SET host '%s', SET port '%s', SET dbname '%s')), $server->host, $server->port, $dbname)
      foreach @members;
    return;
}

sub check_quiet
{
    my ($member, $name, $sql) = @_;
    is(message_of($member, $sql // 'SELECT snowid.check_node()'), '', "$name: $member is confirmed");
    is(at($member, 'SELECT snowid_shard(snowid_next()), (SELECT problem FROM snowid.node_status)'), "$number{$member}|", "$name: $member draws");
    return;
}

# The node is warned, and goes on.
sub check_moved
{
    my ($member, $name) = @_;
    like(message_of($member, 'SELECT snowid.check_node()'), qr/^psql:[^\n]*WARNING:.*not confirmed number $number{$member} of node.*\nHINT:.*recover_registry\(\).*accept_registry\(\)/s,
        "$name: $member is warned");
    is(at($member, 'SELECT snowid.check_node(), snowid_shard(snowid_next())'), "$number{$member}|$number{$member}", "$name: $member goes on");
    like(at($member, 'SELECT problem FROM snowid.node_status'), qr/registry was restored/, "$name: $member shows it");
    return;
}

# The registry gives nothing, until it is recovered.
sub check_incomplete
{
    my ($member, $name) = @_;
    is(join_as($member), 'ERROR 55000', "$name: nobody joins");
    like(message_of($member, "SELECT snowid.join('registry')"), qr/may have lost numbers that it gave\nDETAIL:.*\nHINT:.*recover_registry\(\)/, "$name: and is told why");
    return;
}

is($number{$_} = join_as($_), ord($_) - ord('a') + 1, "$_ has joined") foreach 'a' .. 'c';
is(recover('first', $_->[0]), $_->[1], "recovered from $_->[0] on") foreach [ 2, 'ERROR 55000' ], [ 8192, 'ERROR 22023' ], [ -1, 'ERROR 22023' ], [ 'NULL', '' ];

# 1. Moved by a dump, after which the old one gives another number.
command_ok([ 'pg_dump', '-x', '-d', $registry->connstr('first') . ' user=keeper', '-f', "$dir/first.sql" ], 'dumped');
is($number{d} = join_as('d'), '4', 'd joins after the dump');
is(join_as('h'), '5', 'so does h');
is(at('h', 'SELECT snowid.leave()'), '', 'which leaves');
$registry->safe_psql('postgres', 'CREATE DATABASE second OWNER keeper');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $registry->connstr('second') . ' user=postgres', '-f', "$dir/first.sql" ], 'restored');
ask_at('second');
check_moved($_, 'moved') foreach 'a', 'd';
is(accept_registry('a'), 'ERROR 55000', 'not recovered: a is not accepted');
is(accept_registry('d'), 'ERROR 55000', 'nor is d');
check_moved($_, 'not recovered') foreach 'a', 'd';
check_incomplete('e', 'moved');
is(recover('second', 2), 'ERROR 55000', 'less than it knows: refused');
is(recover('second', 3), '', 'what it knows: two are lost');
is(accept_registry('d'), 'ERROR 55000', 'd has a greater number');
like(message_of('d', 'SELECT snowid.accept_registry()'), qr/number 4 is greater than the registry may have lost\nDETAIL:.* with 3/, 'and says so');
is(recover('second', 5), '', 'recovered');
is(recover('second', 4), 'ERROR 55000', 'and not back');
is(accept_registry($_), $number{$_}, "$_ accepts the registry") foreach 'a', 'b', 'd';
check_quiet($_, 'accepted') foreach 'a', 'b', 'd';
check_moved('c', 'which has not');
is($number{e} = join_as('e'), '6', 'the next number that was never given');
is(attempt($registry, 'SELECT string_agg(node_number || node_name, \' \' ORDER BY node_number) FROM snowid.registry', dbname => 'second'), '1a 2b 3c 4d 6e',
    'what the registry knows');
# Back to the old one, which lives: it has given nothing since.
ask_at('first');
check_moved($_, 'back at the old one') foreach 'a', 'e';
is(accept_registry('a'), '1', 'a goes back');
check_quiet('a', 'back');
ask_at('second');
check_moved('a', 'and forth');
is(accept_registry('a'), '1', 'a goes forth');
# A registry that is behind its node without another identity, as from a snapshot.
$registry->safe_psql('second', "UPDATE snowid_internal.nodes SET exchange = exchange - 1, token = 5 WHERE node_number = $number{b}");
check_moved('b', 'a registry that has lost an exchange');
is(accept_registry('b'), '2', 'b accepts it');
$registry->safe_psql('second', "DELETE FROM snowid_internal.nodes WHERE node_number = $number{b}");
check_moved('b', 'a registry that has lost the node');
is(accept_registry('b'), '2', 'b accepts it');
check_quiet('b', 'which has learnt of it');

# Nobody who may ask it takes a number by saying that it is his, but one that was lost; and that costs its node an error.
$registry->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
$registry->safe_psql('second', 'GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
sub mallory { return attempt($registry, 'SET SESSION AUTHORIZATION mallory; ' . request(@_), dbname => 'second') }
is(mallory('accept', node_number => $_->[0]), $_->[1], "mallory says that he has $_->[0]") foreach [ 4, 'ERROR 23505' ], [ 6, 'ERROR 55000' ], [ 8191, 'ERROR 55000' ];
$registry->safe_psql('second', "DELETE FROM snowid_internal.nodes WHERE node_number = $number{d}");
is(mallory('accept', node_number => 4), 'held|4', 'a lost number');
is(accept_registry('d'), 'ERROR 23505', 'its node is told');
like(message_of('d', 'SELECT snowid.accept_registry()'), qr/number 4 of node "d" belongs to node "mallory" of the registry\nHINT:.*join anew/, 'with both names');
check_moved('d', 'which goes on');
is($number{f} = join_as('f'), '7', 'others join');
$registry->safe_psql('second', "DELETE FROM snowid_internal.nodes WHERE node_name = 'mallory'");
is(accept_registry('d'), '4', 'd accepts');

# Of two copies that accept one is found here, too.
$node->backup('copy');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'copy');
start_server($copy);
is(attempt($copy, 'SELECT snowid.accept_registry()', dbname => 'b'), '2', 'the copy of b comes first');
is(check('b'), 'ERROR 55000', 'b comes second');
is(at('b', $_), 'ERROR 55000', "and refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(77)', 'SELECT snowid.accept_registry()';
$copy->stop;

# 2. Promoted, and a number behind.
my $standby = new_standby($registry, 'standby');
start_server($standby);
$registry->wait_for_catchup($standby);
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
wait_for(sub { $registry->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '0' }, 'the standby to be cut off');
check_quiet('a', 'later than the standby') for 1, 2;
is($number{g} = join_as('g'), '8', 'g joins, and its number is lost');
ask_at('second', $standby);
is(check('a'), 'ERROR 25006', 'a standby is no registry');
like(message_of('a', 'SELECT snowid.check_node()'), qr/server "registry" is read-only\nDETAIL:.*\nHINT:.*target_session_attrs/, 'and says so');
is(join_as('h'), 'ERROR 25006', 'for nobody');
$standby->promote;
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
check_moved($_, 'promoted') foreach 'a', 'g';
check_incomplete('h', 'promoted');
is(recover('second', 8, $standby), '', 'recovered');
is(accept_registry($_), $number{$_}, "$_ accepts it") foreach 'a', 'g';
check_quiet($_, 'promoted') foreach 'a', 'g';
is(join_as('h'), '9', 'h joins');
# The old primary is alive: it is found.
ask_at('second', $registry);
check_moved($_, 'the old primary lives') foreach 'a', 'g';
is(at('h', 'SELECT snowid.check_node() = 9'), 't', 'h, too');

# 3. Another database, and one that has given nothing yet.
$registry->safe_psql('postgres', 'CREATE DATABASE third TEMPLATE second OWNER keeper');
ask_at('third');
check_moved('a', 'CREATE DATABASE');
new_member('i');
$node->safe_psql('i', q(ALTER SERVER registry OPTIONS (SET dbname 'third')));
check_incomplete('i', 'CREATE DATABASE');
$standby->safe_psql('postgres', 'CREATE DATABASE fourth OWNER keeper');
$standby->safe_psql('fourth', 'CREATE EXTENSION snowid');
my $empty = new_standby($standby, 'empty');
start_server($empty);
$standby->wait_for_catchup($empty);
$empty->promote;
wait_for(sub { $empty->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
push @members, 'i';
ask_at('fourth', $empty);
check_incomplete('i', 'restored to before the first node');
is(recover('fourth', 1, $empty), '', 'recovered');
is(join_as('i'), '2', 'and gives the next');

is(join('', grep { /(?:WARNING|PANIC):|TRAP/ && !/has not confirmed number/ } split /^/, slurp_file($node->logfile)), '', 'no other warning in the log of the node');
$_->stop foreach $node, $empty, $standby, $registry;
done_testing();
