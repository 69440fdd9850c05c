# A registry that was restored, moved or copied may have lost assigned numbers. It gives none until it is told the greatest
# one, and then only above; its nodes warn, and go on, until it is stated on each that it goes by this registry now.
# Runs in make test-all: it has many databases.

use Snowid;
use SnowidNodes;

my $registry = ready_server('registry', sql => 'CREATE ROLE keeper LOGIN; CREATE DATABASE first OWNER keeper');
$registry->safe_psql('first', 'CREATE EXTENSION snowid');
my $node = ready_server('node');
my @members = ('a' .. 'h');
my %number;
add_members($node, $registry, @members);
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub recover { my ($dbname, $max) = @_; return attempt($registry, "SET ROLE keeper; SELECT snowid.recover_registry($max)", dbname => $dbname) }
sub accept_registry { my ($member) = @_; return at($member, 'SELECT snowid.accept_registry()') }
sub ask_at { my ($dbname) = @_; $node->safe_psql($_, "ALTER SERVER registry OPTIONS (SET dbname '$dbname')") foreach @members; return }

sub check_accepted
{
    my ($member, $name) = @_;
    is(accept_registry($member), $number{$member}, "$name: $member accepts the registry");
    is(message_of($node, 'SELECT snowid.check_node()', $member), '', "$name: $member is confirmed");
    is(at($member, 'SELECT snowid_shard(snowid_next()), (SELECT problem FROM snowid.node_status)'), "$number{$member}|", "$name: $member draws");
    return;
}

# Nodes are warned, and go on.
sub check_moved
{
    my ($name, @names) = @_;
    foreach my $member (@names)
    {
        like(message_of($node, 'SELECT snowid.check_node()', $member),
            qr/^psql:[^\n]*WARNING:.*not confirmed number $number{$member} of node.*\nHINT:.*recover_registry\(\).*accept_registry\(\)/s, "$name: $member is warned");
        is(at($member, 'SELECT snowid.check_node(), snowid_shard(snowid_next())'), "$number{$member}|$number{$member}", "$name: $member goes on");
        like(problem_of($node, $member), qr/registry was restored/, "$name: $member shows it");
    }
    return;
}

# The registry gives nothing, until it is recovered.
sub check_incomplete
{
    my ($member, $name) = @_;
    like(message_of($node, "SELECT snowid.join('registry')", $member), qr/may have lost assigned numbers\nDETAIL:.*\nHINT:.*recover_registry\(\)/,
        "$name: nobody joins, and is told why");
    return;
}

# Moved by a dump, after which the old one gives numbers.
ask_at('first');
is($number{$_} = join_as($node, $_, $_), ord($_) - ord('a') + 1, "$_ has joined") foreach 'a' .. 'c';
is(recover('first', $_->[0]), $_->[1], "recovered from $_->[0] on") foreach [ 2, 'ERROR 55000' ], [ 8192, 'ERROR 22023' ], [ -1, 'ERROR 22023' ], [ 'NULL', '' ];
my $dump = PostgreSQL::Test::Utils::tempdir() . '/first.sql';
command_ok([ 'pg_dump', '-x', '-d', $registry->connstr('first') . ' user=keeper', '-f', $dump ], 'dumped');
is($number{$_->[0]} = join_as($node, $_->[0], $_->[0]), $_->[1], "$_->[0] joins after the dump") foreach [ 'd', 4 ], [ 'h', 5 ];
is(at('h', 'SELECT snowid.leave()'), '', 'h leaves');
$registry->safe_psql('postgres', 'CREATE DATABASE second OWNER keeper');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $registry->connstr('second') . ' user=postgres', '-f', $dump ], 'restored');
ask_at('second');
check_moved('moved', 'a', 'd');
is(accept_registry($_), 'ERROR 55000', "not recovered: $_ is not accepted") foreach 'a', 'd';
check_moved('not recovered', 'a', 'd');
check_incomplete('e', 'moved');
is(recover('second', 2), 'ERROR 55000', 'less than it knows: refused');
is(recover('second', 3), '', 'what it knows: two are lost');
like(message_of($node, 'SELECT snowid.accept_registry()', 'd'), qr/number 4 is greater than any the registry may have lost\nDETAIL:.* with 3/, 'd has a greater number');
is(recover('second', $_->[0]), $_->[1], "recovered from $_->[0] on") foreach [ 5, '' ], [ 4, 'ERROR 55000' ];
check_accepted($_, 'recovered') foreach 'a', 'b', 'd';
check_moved('which has not accepted', 'c');
is($number{e} = join_as($node, 'e', 'e'), '6', 'the next number that was never given');
is(attempt($registry, q(SELECT string_agg(node_number || node_name, ' ' ORDER BY node_number) FROM snowid.registry), dbname => 'second'), '1a 2b 3c 4d 6e',
    'what the registry knows');

ask_at('first');
check_moved('back at the old one', 'a', 'e');
check_accepted('a', 'back');
ask_at('second');
check_moved('and forth', 'a');
check_accepted('a', 'forth');

$registry->safe_psql('postgres', 'CREATE DATABASE third TEMPLATE second OWNER keeper');
ask_at('third');
check_moved('CREATE DATABASE', 'a');
check_incomplete('f', 'CREATE DATABASE');

# What was claimed of one registry is not claimed of another one.
ask_at('second');
like(message_of($node, q(SELECT snowid.join('registry', 'f')), 'f'),
    qr/claim of node "f" at server "registry" was lost\nDETAIL:.*the registry was restored.*\nHINT:  Try again/, 'a claim of another registry: lost, and f is told why');
is(number_of($node, 'f'), '0|0', 'f has joined nothing');
is(join_as($node, 'f', 'f'), '7', 'it tries again, and gets a number');
stand_between($registry, '', "IF request = 'exchange' THEN RAISE 'lost'; END IF;", 'second');
is(join_as($node, 'g', 'g'), 'ERROR P0001', 'g is given a number, and not told');
stand_aside($registry, 'second');
ask_at('third');
is(recover('third', 8), '', 'recovered from 8 on');
is(join_as($node, 'g', 'g'), 'ERROR 55000', 'its claim is of another registry');
is(join_as($node, 'g', 'g'), '9', 'it gets another number');
$node->stop;
end_test($registry);
