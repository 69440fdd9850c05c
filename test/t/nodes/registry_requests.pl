# Who may join a registry is who may execute one function there. He speaks for his own claim: nothing that he says changes
# what others get, keeps them from it, or gets him more numbers than one in a transaction and 500 a day.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidNodes;

my $node = ready_server('node');
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
add_members($node, $node, qw(east meanwhile afterwards));
is(join_as($node, 'east', 'east'), '1', 'a node');
is(attempt($node, request('claim', claim => claim_of(20), database => 'x')), 'held|2', 'another one');
sub on_registry { my ($sql) = @_; return attempt($node, $sql) }
my $mallory = open_session($node, user => 'mallory');
sub mallory { return ask($mallory, request(@_)) }

is(ask($mallory, $_), 'ERROR 42501', "not for everybody: $_")
  foreach 'TABLE snowid_internal.nodes', 'TABLE snowid_internal.membership', 'TABLE snowid_internal.registry_identities', 'TABLE snowid.registry',
  'SELECT last_value FROM snowid_internal.membership_page', 'SELECT snowid.check_node()', 'SELECT snowid.take_over_node()',
  'SELECT snowid.accept_registry()', 'SELECT snowid.leave()', q(SELECT snowid.join('registry')), request('claim', registry_identity => 'r'),
  'SELECT snowid.recover_registry(8000)', 'SELECT snowid_internal.registry_identity()', 'SELECT snowid.retire_node(2)',
  'SELECT snowid_internal.commit_durably()';

# With the right to it: of a number, or of how often he has asked, he can say nothing.
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION snowid.register TO mallory');
my $others = q(SELECT md5(string_agg(n::text, ',' ORDER BY node_number)) FROM snowid_internal.nodes AS n WHERE n.database = 'x');
my $untouched = on_registry($others);
foreach my $number (2, 8000)
{
    my %greedy = (node_number => $number, exchange => 1 << 40, token => 1, timeline => 99);
    is(mallory($_, %greedy), 'unknown|0', "no claim, and number $number: $_") foreach 'exchange', 'take over', 'leave', 'look';
    is(mallory('accept', %greedy), 'ERROR 55000', "no claim, and number $number: accept");
}
my %his = (node_number => 3);
is(mallory('claim', node_number => 8000, exchange => 1 << 40), 'held|3', 'a claim: the least number');
is(mallory('claim'), 'held|3', 'once more: the same');
is(mallory('exchange', %his, exchange => 1 << 40, next => 1 << 40), 'behind|3', 'an exchange that counts too far');
is(mallory('accept', %his, exchange => 1 << 40, next => 1 << 40), 'held|3', 'which he can state');
is(mallory('exchange', %his, token => 5, next => 6), 'copy|3', 'and is no one else\'s then');
is(mallory('accept', node_number => 2, token => 1 << 40), 'ERROR 55000', 'but not of another number');
is(mallory('accept', %his, exchange => (1 << 40) + 1, token => 1 << 40), 'held|3', 'of his own only');
is(mallory('exchange', registry_identity => 'another'), 'moved|0', 'another registry');
is(mallory('grant'), 'ERROR 22023', 'no such request');
is(mallory('claim', next => 5), 'ERROR 22023', 'no claim with a token');
is(mallory('exchange', @$_), 'ERROR 22023', "no such request: @$_")
  foreach [ node_number => 8192 ], [ node_number => -1 ], [ next => 0 ], [ next => -1 ], [ token => -1 ], [ exchange => -1 ], [ max_lead => -1 ],
  [ node_name => '' ], [ node_name => 'n' x 256 ], [ database => 'd' x 256 ];

# In a transaction he locks nothing but his own row, nor keeps others from joining, or an administrator from his work.
ask($mallory, 'BEGIN');
is(mallory($_, claim => claim_of(2), node_number => 2), 'unknown|0', "in a transaction: $_") foreach 'look', 'exchange', 'leave';
is(mallory('exchange', %his, exchange => (1 << 40) + 2, token => 17, next => 18), 'held|3', 'in a transaction: his own');
is(mallory('claim', claim => claim_of(3)), 'held|4', 'in a transaction: one number');
is(check_node($node, 'east'), '1', 'others check meanwhile');
is(join_as($node, 'meanwhile', 'meanwhile'), '5', 'and join');
is(on_registry('SET lock_timeout = 1; SELECT snowid.recover_registry(5)'), '', 'and the registry is recovered');
ask($mallory, 'ROLLBACK');
is(join_as($node, 'afterwards', 'afterwards'), '6', 'what others may have been assigned below that is given to nobody');
is(on_registry($others), $untouched, 'nobody else has noticed');

# One number a transaction, whatever it does before.
foreach my $sql (q(SELECT age('3'::xid) > 0), 'SAVEPOINT before', 'SELECT 1')
{
    ask($mallory, "BEGIN; $sql");
    is(mallory('claim', claim => claim_of(4)), 'held|7', "one number after: $sql") for 1, 2;
    is(mallory('claim', claim => claim_of(5)), 'ERROR 53400', 'no second one');
    ask($mallory, 'ROLLBACK');
}
my $all = 'SELECT count(*) FROM generate_series(1, 499) AS g, LATERAL (' . request('claim', registry_identity => on_registry('SELECT snowid_internal.registry_identity()'));
is(ask($mallory, $all =~ s/'\Q${\claim_of(1)}\E'/md5(g::text)::uuid/r . ') AS c'), 'ERROR 53400', 'nor in one statement');
is(mallory('claim', claim => claim_of(6)), 'held|7', 'one more, in a transaction of its own');

# A role gets so many a day.
$node->safe_psql('postgres', <<'SQL');
INSERT INTO snowid_internal.nodes
SELECT g, gen_random_uuid(), 'many ' || g, 'd', 0, 0, 0, 1, 1, 1, 0, now(), 'mallory', '3', now() FROM generate_series(2002, 2499) AS g
SQL
is(mallory('claim', claim => claim_of(7)), 'ERROR 53400', '500 within a day: refused');
is(mallory('exchange', %his, exchange => (1 << 40) + 2, token => 17, next => 18), 'held|3', 'who has a number checks');
is(check_node($node, 'east'), '1', 'and others are not concerned');
$node->safe_psql('postgres', q(UPDATE snowid_internal.nodes SET claimed = now() - interval '25 hours' WHERE node_number = 2002));
is(mallory('claim', claim => claim_of(7)), 'held|8', 'a day later one more');

# Nor does a transaction hold more than one number that the registry may have lost. Whoever waits for one is told so.
$node->safe_psql('postgres', 'SELECT snowid.recover_registry(2600)');
ask($mallory, 'BEGIN');
is(mallory('accept', claim => claim_of(8), node_number => 2501), 'held|2501', 'a number that was lost');
is(mallory('accept', claim => claim_of(9), node_number => 2502), 'ERROR 53400', 'no second one');
ask($mallory, 'ROLLBACK');
is(mallory('accept', claim => claim_of($_), node_number => $_), "held|$_", "one in each: $_") foreach 2501 .. 2503;
is(on_registry('SELECT count(*) FROM snowid.registry WHERE claimed IS NULL'), 3, 'when they were claimed is not known');
ask($mallory, 'BEGIN');
is(mallory('accept', claim => claim_of(8), node_number => 2504), 'held|2504', 'a number that was lost, and a transaction that goes on');
is(on_registry(request('accept', claim => claim_of(9), node_number => 2504)), 'ERROR 55P03', 'another one: told so after a while');
close_session($mallory);

# On the node he connects as himself, with a right to the server and a password; and a superuser over no server of his.
$node->safe_psql('east', 'GRANT EXECUTE ON FUNCTION snowid.check_node() TO mallory');
is(attempt($node, 'SET SESSION AUTHORIZATION mallory; SELECT snowid.check_node()', dbname => 'east'), 'ERROR 42501', 'no right to the server');
$node->safe_psql('east', 'GRANT USAGE ON FOREIGN SERVER registry TO mallory');
my $checker = open_session($node, dbname => 'east', user => 'mallory');
is(ask($checker, 'SELECT snowid.check_node()'), 'ERROR 28000', 'no password of his own');
close_session($checker);
$node->safe_psql('east', 'GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO mallory; ALTER SERVER registry OWNER TO mallory');
is(check_node($node, 'east'), 'ERROR 42501', "a superuser, and a server of mallory's");
end_test($node);
