# Several servers are upgraded one after the other, as docs/runbook.md has it: the node draws on through all of it, and a
# registry of another version, which it cannot ask, changes nothing. Nobody is forgotten.
# Runs in make test-all: it starts many sessions.

use Snowid;
use SnowidNodes;

my ($page, $heading) = ('docs/runbook.md', 'Upgrading several servers');

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
my ($registry, $node) = map { ready_server($_, install_path => $install_path) } 'registry', 'node';
add_source($node, $registry, name => 'registry');
add_members($node, $registry, 'late');
is(join_as($node, 'berlin'), '1', 'joined');

# With a session that draws through all of it.
my $drawing = open_session($node);
my $greatest = 0;

sub draws_on
{
    my ($name) = @_;
    my $next = ask($drawing, 'SELECT snowid_next()');
    cmp_ok($next, '>', $greatest, "$name: draws on");
    is(number_of($node), '1|1', "$name: so does a new session");
    $greatest = $next;
    return;
}
my ($update, $forgotten) = blocks_of($page, $heading);
my $check = said_in($page, $heading, 'SELECT snowid.check_node()');
my $as = q(SELECT proparallel FROM pg_proc WHERE proname = 'snowid_lastval');
draws_on('before');
is(check_node($node), '1', 'all is well before');
install($current);
is($registry->safe_psql('postgres', $as), 'u', 'the registry is of the version before');
follow($registry, 'the registry, then on each node', $update);
is($registry->safe_psql('postgres', $as), 'r', 'the registry is upgraded');
draws_on('an older node');

# A registry of another version has another function, or answers with other columns or words.
my $register = 'FUNCTION snowid.register';
my $arguments = 'text, text, uuid, bigint, bigint, bigint, bigint, text, text, bigint, bigint, bigint, bigint';
my $columns = "CREATE $register($arguments, OUT verdict text, OUT number bigint) LANGUAGE sql AS \$\$ SELECT 'lost', 1 \$\$";
my $words = qq(DROP $register($arguments);
  CREATE $register($arguments, OUT verdict text, OUT held_claim uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity text)
  LANGUAGE sql AS \$\$ SELECT 'new', \$3, 1, 1, 1, 0, false, 'i' \$\$);
my $known = 'SELECT count(*), min(token), bool_or(retired IS NOT NULL) FROM snowid_internal.nodes';
my $before = $registry->safe_psql('postgres', $known);
$registry->safe_psql('postgres', "ALTER $register RENAME TO newer");
foreach my $stand_in ([ 'SELECT 1', '42883' ], [ $columns, '42703' ], [ $words, '08P01' ])
{
    my ($sql, $code) = @$stand_in;
    $registry->safe_psql('postgres', $sql);
    is(check_node($node), "ERROR $code", "other versions, $code: a check");
    is(join_as($node, 'late', 'late'), "ERROR $code", "other versions, $code: joining");
    like(section_of($page, $heading), qr/may fail \([^)]*\b$code\b/, "the page says $code");
    draws_on("other versions, $code");
}
is($registry->safe_psql('postgres', $known), $before, 'and nothing has changed');
$registry->safe_psql('postgres', "DROP $register; ALTER FUNCTION snowid.newer RENAME TO register");
follow($node, 'the registry, then on each node', $update);
is(attempt($node, $as), 'r', 'the node is upgraded');
draws_on('the node is upgraded');
set_clock(660);
is($registry->safe_psql('postgres', $forgotten =~ s/^--.*\n//r), 'berlin', 'who has not checked is listed');
is(attempt($node, $check), '1', 'a check');
follow($registry, 'the registry', $forgotten);
end_test($node, $registry);
