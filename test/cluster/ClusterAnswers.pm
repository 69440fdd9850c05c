# Answers of the registry that are lost or held up, and nodes that are killed while they ask.

package ClusterAnswers;

use strict;
use warnings;

use ClusterFaults;
use ClusterModel;
use ClusterOracle;
use ClusterRegistry;
use ClusterServers;
use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_proxy lose_answers lose_joining lose_leaving hold_check hold_take_over kill_while_asking);

# What stands between nodes and the registry: it passes requests on, and loses answers, or keeps requests to be passed on
# later, by its table `way`.
sub new_proxy
{
    my ($cluster) = @_;
    my $proxy = $cluster->{proxy} = fresh_server($cluster, 'proxy');
    put_clock($cluster, $proxy, 0);
    expect(query($proxy, $_), qr/^/, 'the proxy') foreach 'DROP EXTENSION snowid', 'DROP SCHEMA IF EXISTS snowid CASCADE', 'CREATE SCHEMA snowid',
      'CREATE EXTENSION dblink', 'CREATE TABLE way (mode text, registry text)', q(INSERT INTO way VALUES ('pass', '')),
      'CREATE TABLE held (id serial, request text)', 'CREATE SEQUENCE asked', <<'SQL';
CREATE FUNCTION snowid.register(request text, node text, number bigint, secret text, known bigint, next bigint,
  database text, system_identifier bigint, database_oid bigint, timeline bigint, registry text,
  OUT verdict text, OUT held_number text, OUT held_node text, OUT token text, OUT identity text) LANGUAGE plpgsql AS $$
DECLARE
  way public.way;
  statement text := format('SELECT * FROM snowid.register(%L, %L, %s, %L, %s, %s, %L, %s, %s, %s, %L)', request, node, number,
    secret, known, next, database, system_identifier, database_oid, timeline, registry);
BEGIN
  SELECT * INTO way FROM public.way;
  IF way.mode = 'not passed on' OR way.mode = 'leave not passed on' AND request = 'leave' THEN RAISE 'not passed on'; END IF;
  IF way.mode = 'held' OR way.mode = 'held ' || request THEN
    INSERT INTO public.held (request) VALUES (statement);
    verdict := 'held up';
    held_number := 0; held_node := node; token := 0; identity := '';
    RETURN;
  END IF;
  SELECT d.* INTO verdict, held_number, held_node, token, identity FROM public.dblink(way.registry, statement)
    AS d(verdict text, held_number text, held_node text, token text, identity text);
  IF way.mode IN ('lost', 'lost ' || request) OR way.mode = 'every second' AND nextval('public.asked') % 2 = 0 THEN RAISE 'lost'; END IF;
  IF way.mode = 'garbled' THEN held_node := 'somebody'; END IF;
END $$;
SQL
    return;
}

# Has a node's requests go by the proxy, in some way.
sub go_by_proxy
{
    my ($cluster, $node, $mode) = @_;
    my $to = $cluster->{registry};
    my $conninfo = 'host=' . $to->{pg}->host . ' port=' . $to->{pg}->port . ' dbname=' . ($to->{dbname} // 'postgres');
    expect(query($cluster->{proxy}, "UPDATE way SET mode = '$mode', registry = '$conninfo'"), qr/^/, 'the proxy');
    point($cluster, $node->{server}, $cluster->{proxy});
    event($cluster, "$node->{name} asks by the proxy: $mode", $node->{number} // ());
    return;
}

my $lost = qr/^ERROR (?:P0001|08P01)$/;

# Answers to checks are lost, before or after the registry was asked; the node may crash meanwhile.
sub lose_answers
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    foreach my $mode (map { pick('lost', 'garbled', 'not passed on', 'every second') } 1 .. 1 + int rand 3)
    {
        go_by_proxy($cluster, $node, $mode);
        my $count = 1 + int rand 3;
        foreach (1 .. $count)
        {
            my $answer = query($node->{server}, 'SELECT snowid_check()');
            expect($answer, $mode eq 'every second' ? qr/^(?:ERROR P0001|$node->{number})$/ : $lost, "$node->{name}: a check whose answer is lost ($mode)");
        }
        fault($cluster, 'answers lost', $count);
        draw($cluster, $node);
    }
    if (chance(0.15))
    {
        kill_server($cluster, $node->{server});
        start($cluster, $node->{server});
        fault($cluster, 'nodes killed');
    }
    point($cluster, $node->{server});
    check_node($cluster, $node, 'after answers were lost');
    draw($cluster, $node);
    return;
}

# The answer to a claim is lost: it is the same claim when it is made again.
sub lose_joining
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    expect(query($server, 'SELECT snowid_leave()'), '', "$node->{name} leaves");
    undef $node->{number};
    $node->{name} = $node->{letter} . ++$cluster->{names};
    my $mode = pick('lost claim', 'lost check');
    go_by_proxy($cluster, $node, $mode);
    my $join = "SELECT snowid_join('registry', '$node->{name}')";
    expect(query($server, $join), $lost, "$node->{name}: a claim whose answer is lost");
    my $number = at_registry($cluster, "SELECT number FROM snowid_internal.nodes WHERE node = '$node->{name}'");
    fault($cluster, 'answers lost');
    if (chance(0.3))
    {
        kill_server($cluster, $server);
        start($cluster, $server);
        fault($cluster, 'nodes killed');
    }
    expect_refused($cluster, $server, 0, "$node->{name}, which has claimed and not joined");
    point($cluster, $server);
    expect(query($server, $join), $number, "$node->{name} joins: the number that it has claimed");
    note_number($cluster, $node, $number, "$node->{name} joins");
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# Leaving: where the registry does not hear of it nothing has happened; where its answer is lost, the number is retired.
sub lose_leaving
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    go_by_proxy($cluster, $node, 'leave not passed on');
    expect(query($server, 'SELECT snowid_leave()'), 'ERROR P0001', "$node->{name}: a leave that does not get there");
    draw($cluster, $node);
    go_by_proxy($cluster, $node, 'lost leave');
    expect(query($server, 'SELECT snowid_leave()'), 'ERROR P0001', "$node->{name}: a leave whose answer is lost");
    fault($cluster, 'answers lost', 2);
    draw($cluster, $node);
    point($cluster, $server);
    join_another($cluster);
    expect(query($server, 'SELECT snowid_leave()'), 'ERROR 55000', "$node->{name}: leaves once more");
    expect_refused($cluster, $server, 1, "$node->{name}, which has left");
    undef $node->{number};
    expect(query($server, 'SELECT snowid_leave()'), '', "$node->{name}: forgets");
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

sub pass_on_what_was_held
{
    my ($cluster) = @_;
    my $statement = query($cluster->{proxy}, 'SELECT request FROM held ORDER BY id LIMIT 1');
    query($cluster->{proxy}, 'DELETE FROM held');
    return at_registry($cluster, $statement =~ s/SELECT \*/SELECT verdict/r);
}

# A check is held up, and comes when the node has gone on: it changes nothing.
sub hold_check
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    go_by_proxy($cluster, $node, 'held');
    expect(query($node->{server}, 'SELECT snowid_check()'), 'ERROR 08P01', "$node->{name}: a check that is held up");
    fault($cluster, 'requests held up');
    point($cluster, $node->{server});
    check_node($cluster, $node) foreach 1 .. 1 + int rand 2;
    my $verdict = pass_on_what_was_held($cluster);
    expect($verdict, qr/^(?:lost|held)$/, 'a check that was held up');
    event($cluster, "a check of $node->{name} that was held up: $verdict", $node->{number});
    draw($cluster, $node);
    check_node($cluster, $node, 'after a check that was held up has come');
    return;
}

# A take-over is held up; who had the number goes on with it, and is not unseated when that comes.
sub hold_take_over
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $clone = copy_of($cluster, $node->{server}, 'clone');
    start($cluster, $clone);
    fault($cluster, 'clones');
    my $as_node = { name => $clone->{name}, number => $node->{number}, server => $clone };
    go_by_proxy($cluster, $as_node, 'held take over');
    expect(query($clone, 'SELECT snowid_check(take_over => true)'), 'ERROR 08P01', "$clone->{name}: a take-over that is held up");
    fault($cluster, 'requests held up');
    check_node($cluster, $node);
    draw($cluster, $node);
    expect(pass_on_what_was_held($cluster), 'stale', 'a take-over that was held up');
    check_node($cluster, $node, 'after a take-over that was held up has come');
    draw($cluster, $node);
    drop_server($cluster, $clone);
    return;
}

# A node is killed in the middle of a check.
sub kill_while_asking
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $pending = start_query($node->{server}, 'SELECT snowid_check()');
    sleep rand 0.015;
    kill_server($cluster, $node->{server});
    put_clock($cluster, $node->{server}, rand(18) - 9) if chance(0.5);
    start($cluster, $node->{server});
    event($cluster, "$node->{name} is killed while it checks", $node->{number});
    fault($cluster, 'nodes killed');
    check_node($cluster, $node, 'after it was killed while it checked');
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

1;
