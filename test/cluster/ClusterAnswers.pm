# Answers of the registry that are lost or held up, and nodes that are killed while they ask.

package ClusterAnswers;

use strict;
use warnings;

use ClusterCopies;
use ClusterFaults;
use ClusterModel;
use ClusterOracle;
use ClusterRegistry;
use ClusterServers;
use Exporter 'import';
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_proxy lose_answers lose_joining lose_leaving hold_check hold_claim hold_leaving hold_take_over pass_on kill_while_asking);

my @arguments = qw(request registry_identity claim node_number exchange token next node_name database system_identifier database_oid
  timeline max_lead);
my @answers = qw(verdict held_claim held_number held_exchange held_token held_max_lead is_promoted identity);

# What stands between nodes and the registry: it passes requests on, and loses answers, or keeps requests to be passed on
# later, by its table `way`.
sub new_proxy
{
    my ($cluster) = @_;
    my $proxy = $cluster->{proxy} = fresh_server($cluster, 'proxy', bare => 1);
    put_clock($cluster, $proxy, 0);
    my $parameters = join ', ', (map { $_ . (/^(?:request|registry_identity|node_name|database)$/ ? ' text' : /claim/ ? ' uuid' : ' bigint') } @arguments),
      map { "OUT $_ text" } @answers;
    my ($values, $columns) = (join(', ', @arguments), join(', ', @answers));
    my $formats = join ', ', map { '%L' } @arguments;
    my $named = join ', ', map { "$_ text" } @answers;
    expect(query($proxy, $_), qr/^/, 'the proxy') foreach 'CREATE SCHEMA snowid',
      'CREATE EXTENSION dblink', 'CREATE TABLE way (mode text, registry text)', q(INSERT INTO way VALUES ('pass', '')),
      'CREATE TABLE held (id serial, request text)', 'CREATE SEQUENCE asked', <<"SQL";
CREATE FUNCTION snowid.register($parameters) LANGUAGE plpgsql AS \$\$
#variable_conflict use_variable
DECLARE
  way public.way;
  statement text := format('SELECT $columns FROM snowid.register($formats)', $values);
BEGIN
  SELECT * INTO way FROM public.way;
  IF way.mode IN ('not passed on', request || ' not passed on') THEN RAISE 'not passed on'; END IF;
  IF way.mode IN ('held', 'held ' || request) THEN
    INSERT INTO public.held (request) VALUES (statement);
    verdict := 'held up';
    RETURN;
  END IF;
  SELECT d.* INTO $columns FROM public.dblink(way.registry, statement) AS d($named);
  IF way.mode IN ('lost', 'lost ' || request) OR way.mode = 'every second' AND nextval('public.asked') % 2 = 0 THEN RAISE 'lost'; END IF;
  IF way.mode = 'garbled' THEN held_claim := gen_random_uuid(); END IF;
END \$\$
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

sub restart
{
    my ($cluster, $server) = @_;
    kill_server($cluster, $server);
    start($cluster, $server);
    fault($cluster, 'nodes killed');
    return;
}

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
            my $answer = query($node->{server}, 'SELECT snowid.check_node()');
            expect($answer, $mode eq 'every second' ? qr/^(?:ERROR P0001|$node->{number})$/ : $lost, "$node->{name}: a check whose answer is lost ($mode)");
        }
        fault($cluster, 'answers lost', $count);
        draw($cluster, $node);
    }
    restart($cluster, $node->{server}) if chance(0.15);
    point($cluster, $node->{server});
    check_node($cluster, $node, 'after answers were lost');
    draw($cluster, $node);
    return;
}

sub greatest_of_registry { my ($cluster) = @_; return at_registry($cluster, 'SELECT coalesce(max(node_number), 0) FROM snowid.registry') }

# The answer to a claim is lost, or that to the exchange which follows: it is the same claim when it is made again.
sub lose_joining
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    leave_node($cluster, $node);
    rename_node($cluster, $node);
    go_by_proxy($cluster, $node, pick('lost claim', 'lost exchange'));
    my $join = "SELECT snowid.join('registry', '$node->{name}')";
    expect(query($server, $join), $lost, "$node->{name}: a claim whose answer is lost") foreach 1 .. 1 + int rand 2;
    my $number = greatest_of_registry($cluster);
    fault($cluster, 'answers lost');
    restart($cluster, $server) if chance(0.3);
    expect_refused($cluster, $server, 0, "$node->{name}, which has claimed and not joined");
    point($cluster, $server);
    join_node($cluster, other_node_anew($cluster, $node)) if chance(0.3);
    expect(query($server, $join), $number, "$node->{name} joins: the number that it has claimed");
    note_number($cluster, $node, $number, "$node->{name} joins");
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# Another node, which has left just now.
sub other_node_anew
{
    my ($cluster, $node) = @_;
    my $other = other_node($cluster, $node);
    leave_node($cluster, $other);
    return $other;
}

sub retired { my ($cluster, $number) = @_; return at_registry($cluster, "SELECT retired IS NOT NULL FROM snowid.registry WHERE node_number = $number") }

# Leaving: the node has stopped, for good, whatever the registry hears, and is told if it has not heard of it.
sub lose_leaving
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my ($server, $number) = ($node->{server}, $node->{number});
    my $mode = pick('leave not passed on', 'lost leave', 'not passed on');
    go_by_proxy($cluster, $node, $mode);
    notices();
    expect(query($server, 'SELECT snowid.leave()'), '', "$node->{name} leaves: $mode");
    expect(notices(), qr/has not confirmed that node/, "$node->{name} leaves: $mode: what it is told");
    fault($cluster, 'answers lost');
    undef $node->{number};
    restart($cluster, $server) if chance(0.3);
    expect_refused($cluster, $server, 0, "$node->{name}, which has left ($mode)");
    expect(query($server, "SELECT snowid.$_()"), 'ERROR 55000', "$node->{name}, which has left: $_") foreach 'check_node', 'take_over_node', 'accept_registry';
    expect(retired($cluster, $number), $mode eq 'lost leave' ? '1' : '0', "number $number, $mode: retired");
    point($cluster, $server);
    leave_and_join($cluster, other_node($cluster, $node)) if chance(0.3);
    if (chance(0.6))
    {
        notices();
        expect(query($server, 'SELECT snowid.leave()'), '', "$node->{name} leaves once more");
        expect(notices(), '', "$node->{name} leaves once more: what it is told");
        expect(retired($cluster, $number), '1', "number $number, left once more: retired");
    }
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# Keeps what the proxy was asked, to be passed on some steps later. number: of the node that has asked.
sub keep_held
{
    my ($cluster, $kind, $number) = @_;
    my $proxy = $cluster->{proxy};
    my $statement = query($proxy, 'SELECT request FROM held ORDER BY id LIMIT 1');
    expect(query($proxy, 'DELETE FROM held'), qr/^/, 'the proxy');
    fault($cluster, 'requests held up');
    push @{ $cluster->{held} }, { kind => $kind, number => $number, statement => $statement, registries => $cluster->{registries}, step => $cluster->{step} };
    return;
}

# What was held up comes. Nobody who goes by what happened meanwhile is harmed.
sub pass_on
{
    my ($cluster) = @_;
    hold_check($cluster) while !@{ $cluster->{held} };
    my ($held) = splice @{ $cluster->{held} }, rand @{ $cluster->{held} }, 1;
    my $verdict = at_registry($cluster, $held->{statement});
    event($cluster, "a $held->{kind} from step $held->{step} comes: $verdict", $held->{number});
    my $is_same = $cluster->{registries} == $held->{registries};
    my %expected = (
        check => qr/^(?:copy|retired|promoted|moved|unknown|behind)$/, claim => qr/^(?:held|retired|moved)$/,
        'take over' => $is_same ? qr/^(?:copy|retired)$/ : qr/^(?:copy|retired|moved|unknown|behind)$/,
        leave => qr/^(?:held|retired|moved|unknown|behind|copy)$/);
    expect($verdict, $expected{ $held->{kind} }, "a $held->{kind} from step $held->{step}, which was held up");
    # A registry that was set back may not know the claim: then a number is given that nobody has.
    if ($held->{kind} eq 'claim') { $cluster->{given}{$_} //= 'a claim that was held up' foreach 1 .. greatest_of_registry($cluster) }
    check_node($cluster, $_, "after a $held->{kind} that was held up has come") foreach @{ $cluster->{nodes} };
    draw_all($cluster, 50);
    return;
}

# A check is held up, and comes when the node has gone on, at once or some steps later.
sub hold_check
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    go_by_proxy($cluster, $node, 'held');
    expect(query($node->{server}, 'SELECT snowid.check_node()'), 'ERROR 08P01', "$node->{name}: a check that is held up");
    keep_held($cluster, 'check', $node->{number});
    restart($cluster, $node->{server}) if chance(0.2);
    point($cluster, $node->{server});
    check_node($cluster, $node) foreach 1 .. 1 + int rand 2;
    pass_on($cluster) if chance(0.5);
    return;
}

# A claim is held up, and made again; what was held up comes before that, after that, or some steps later.
sub hold_claim
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $server = $node->{server};
    leave_node($cluster, $node);
    rename_node($cluster, $node);
    go_by_proxy($cluster, $node, 'held claim');
    my $join = "SELECT snowid.join('registry', '$node->{name}')";
    expect(query($server, $join), 'ERROR 08P01', "$node->{name}: a claim that is held up") foreach 1 .. 1 + int rand 2;
    keep_held($cluster, 'claim', 0);
    leave_and_join($cluster, other_node($cluster, $node)) if chance(0.5);
    my $number;
    if (chance(0.5))
    {
        expect(at_registry($cluster, $cluster->{held}[-1]{statement}), 'held', 'a claim that was held up');
        $number = greatest_of_registry($cluster);
        leave_and_join($cluster, other_node($cluster, $node)) if chance(0.5);
    }
    restart($cluster, $server) if chance(0.2);
    point($cluster, $server);
    my $answer = query($server, $join);
    expect($answer, $number, "$node->{name} joins: the number that its held-up claim has got") if defined $number;
    note_number($cluster, $node, $answer, "$node->{name} joins after its claim was held up");
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# A leave is held up; the node has joined anew when it comes.
sub hold_leaving
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $number = $node->{number};
    go_by_proxy($cluster, $node, 'held leave');
    notices();
    expect(query($node->{server}, 'SELECT snowid.leave()'), '', "$node->{name}: a leave that is held up");
    expect(notices(), qr/has not confirmed that node/, "$node->{name}: a leave that is held up: what it is told");
    keep_held($cluster, 'leave', $number);
    undef $node->{number};
    point($cluster, $node->{server});
    expect_refused($cluster, $node->{server}, 0, "$node->{name}, whose leave was held up");
    join_node($cluster, $node);
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

# A take-over is held up. Who had the number checks before it comes, and is not unseated; or after that, and then it is the
# clone that has it.
sub hold_take_over
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $clone = copy_of($cluster, $node->{server}, 'clone');
    start($cluster, $clone);
    fault($cluster, 'clones');
    go_by_proxy($cluster, { name => $clone->{name}, number => $node->{number}, server => $clone }, 'held take over');
    expect(wait_for_clocks($cluster, $clone, 'SELECT snowid.take_over_node()'), 'ERROR 08P01', "$clone->{name}: a take-over that is held up");
    keep_held($cluster, 'take over', $node->{number});
    draw($cluster, $node);
    if (chance(0.7))
    {
        check_node($cluster, $node);
        pass_on($cluster) if chance(0.5);
        drop_server($cluster, $clone);
    }
    else
    {
        expect(at_registry($cluster, pop(@{ $cluster->{held} })->{statement}), 'held', 'a take-over that was held up');
        check_stopped($cluster, $node->{server}, 'which a clone has replaced');
        point($cluster, $clone);
        take_over($cluster, $clone, $node->{number}, shards_of($cluster, $node));
        drop_server($cluster, replace_server($cluster, $node, $clone));
        give_standby($cluster, $node);
    }
    check_node($cluster, $node, 'after a take-over that was held up');
    draw($cluster, $node);
    return;
}

# A node is killed in the middle of a check.
sub kill_while_asking
{
    my ($cluster) = @_;
    my $node = pick_node($cluster);
    my $pending = start_query($node->{server}, 'SELECT snowid.check_node()');
    sleep rand 0.015;
    kill_server($cluster, $node->{server});
    put_clock($cluster, $node->{server}, rand(18) - 9) if chance(0.5);
    start($cluster, $node->{server});
    event($cluster, "$node->{name} is killed while it checks", $node->{number});
    fault($cluster, 'nodes killed');
    wait_for_standby($cluster, $node);
    check_node($cluster, $node, 'after it was killed while it checked');
    draw($cluster, $node, layout => $_) foreach @{ LAYOUTS() };
    return;
}

1;
