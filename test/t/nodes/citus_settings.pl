# Citus copies what ALTER DATABASE and ALTER ROLE set to all of its nodes, which with one snowid.shard all
# make the same IDs, without an error where the key is not the ID alone. So on a node of Citus such a shard is
# refused when it is used, wherever PostgreSQL keeps it meanwhile. What is set for one node or one session
# counts: the configuration file, the connection's options, SET. But Citus carries SET LOCAL, and a distributed
# function with its SET clause, to all nodes, so SET does not count in sessions that Citus has opened.
#
# Runs in make test-all: it starts hundreds of sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('citus');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE app LOGIN; CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int);'
      . ' GRANT ALL ON photos TO app;' . objects_for_workers() . 'GRANT SELECT ON rows TO app');

# A session that has not loaded the library.
sub new_session { return open_session($node, user => 'app') }

sub ask_anew
{
    my ($sql) = @_;
    my $session = new_session();
    my $answer = ask($session, $sql);
    close_session($session);
    return $answer;
}

my $shard = 'SELECT snowid_shard(snowid_next())';
my %stored = (
    'ALTER DATABASE' => 'ALTER DATABASE postgres',
    'ALTER ROLE' => 'ALTER ROLE app',
    'ALTER ROLE ALL' => 'ALTER ROLE ALL',
    'ALTER ROLE ... IN DATABASE' => 'ALTER ROLE app IN DATABASE postgres');

# Where Citus is not, each of them is as good as any other.
sub are_served
{
    my ($how) = @_;
    foreach my $name (sort keys %stored)
    {
        $node->safe_psql('postgres', "$stored{$name} SET snowid.shard = 7");
        is(ask_anew($shard), '7', "$how: $name");
        $node->safe_psql('postgres', "$stored{$name} RESET snowid.shard");
    }
    return;
}

# What PostgreSQL says of where each was set.
my %source = ('ALTER DATABASE' => 'database', 'ALTER ROLE' => 'user', 'ALTER ROLE ... IN DATABASE' => 'database user', 'ALTER ROLE ALL' => 'global');

sub are_refused
{
    my ($how) = @_;
    foreach my $name (sort keys %stored)
    {
        $node->safe_psql('postgres', "$stored{$name} SET snowid.shard = 7");
        my $message = qq(parameter "snowid.shard" is set by $name on a node of Citus);
        my $session = new_session();
        foreach my $sql ($shard, 'SELECT snowid_default_shard()', 'INSERT INTO photos (n) VALUES (1)',
            q(SELECT snowid_next(snowid_default_shard(), 'twitter')), 'BEGIN; SELECT snowid_next()')
        {
            is(ask($session, $sql), 'ERROR 55000', "$how: $name: $sql");
            like($session->{err}, qr/\Q$message\E\nDETAIL:  Citus copies .*\nHINT:  RESET it there: /, "$how: $name: with the reason");
        }
        ask($session, 'ROLLBACK');
        is(ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)), "null|setting ($source{$name})|$message",
            "$how: $name: shown");
        is(ask($session, 'SELECT snowid_shard(snowid_next(9))'), '9', "$how: $name: who names a shard is served");

        # However the session comes by another value, and back to this one.
        is(ask($session, "SET snowid.shard = 8; $shard"), '8', "$how: $name: SET");
        is(ask($session, "SET snowid.shard = DEFAULT; $shard"), 'ERROR 55000', "$how: $name: SET to the default");
        is(ask($session, "BEGIN; SET LOCAL snowid.shard = 8; $shard"), '8', "$how: $name: SET LOCAL");
        is(ask($session, "COMMIT; $shard"), 'ERROR 55000', "$how: $name: and after the transaction");
        is(ask($session, "BEGIN; SET snowid.shard = 8; SAVEPOINT s; SET snowid.shard = -1; $shard"), '3', "$how: $name: SET to this node's own");
        is(ask($session, "ROLLBACK TO s; $shard"), '8', "$how: $name: rolled back in part");
        is(ask($session, "ROLLBACK; $shard"), 'ERROR 55000', "$how: $name: and altogether");
        is(ask($session, "SET snowid.shard = 8; RESET snowid.shard; $shard"), 'ERROR 55000', "$how: $name: RESET");
        foreach my $reset ('RESET ALL', 'DISCARD ALL')
        {
            ask($session, 'SET snowid.shard = 8');
            ask($session, $reset);
            is(ask($session, $shard), 'ERROR 55000', "$how: $name: $reset");
        }
        ask($session, q(CREATE FUNCTION pg_temp.draw() RETURNS bigint SET snowid.shard = 6 LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END'));
        is(ask($session, 'SELECT snowid_shard(pg_temp.draw())'), '6', "$how: $name: a function's own setting");
        is(ask($session, $shard), 'ERROR 55000', "$how: $name: and after it");
        close_session($session);

        # Before the library is loaded PostgreSQL keeps values without knowing what they are.
        is(ask_anew("BEGIN; SET LOCAL snowid.shard = 8; $shard"), '8', "$how: $name: SET LOCAL before all else");
        is(ask_anew("BEGIN; SET LOCAL snowid.shard = 8; SELECT snowid_next(1); COMMIT; $shard"), 'ERROR 55000', "$how: $name: and after the transaction");
        is(ask_anew("SET snowid.shard = 8; SELECT snowid_default_shard()"), '8', "$how: $name: SET before all else");
        is(ask_anew("SET snowid.shard = 8; SELECT snowid_next(1); RESET snowid.shard; $shard"), 'ERROR 55000', "$how: $name: and RESET");

        # A connection's options go before it.
        {
            local $ENV{PGOPTIONS} = '-c snowid.shard=5';
            is(ask_anew($shard), '5', "$how: $name: the connection's options");
        }
        # Parallel workers have what the session has.
        $session = new_session();
        make_parallel($session);
        my $make = 'CREATE TEMP TABLE ids AS SELECT snowid_default_shard() AS shard FROM rows';
        my $answer;
        wait_for(
            sub {
                $answer = ask($session, $make);
                return $answer !~ /ERROR/ || $session->{err} =~ /parallel worker/;
            },
            'a worker to take part');
        is($answer, 'ERROR 55000', "$how: $name: parallel workers");
        like($session->{err}, qr/\Q$message\E\nDETAIL:  Citus copies .*\nHINT:  RESET it there: /, "$how: $name: with the same words");
        is(ask($session, "SET snowid.shard = 8; $make; SELECT DISTINCT shard FROM ids"), '8', "$how: $name: that has set it");
        close_session($session);

        # -1 is what every node may have.
        $node->safe_psql('postgres', "$stored{$name} SET snowid.shard = -1");
        is(ask_anew("$shard, source, problem FROM snowid.node_status"), '3|citus|', "$how: $name: this node's own");
        $node->safe_psql('postgres', "$stored{$name} RESET snowid.shard");
        is(ask_anew($shard), '3', "$how: $name: RESET there");
    }
    # A session that has it is told when Citus comes and goes.
    $node->safe_psql('postgres', "$stored{'ALTER DATABASE'} SET snowid.shard = 7");
    my $session = new_session();
    is(ask($session, $shard), 'ERROR 55000', "$how: a session that has it");
    $node->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
    is(ask($session, $shard), '7', "$how: Citus is dropped");
    create_citus($node);
    citus_set_group($node, 3);
    is(ask($session, $shard), 'ERROR 55000', "$how: and installed again");
    $node->safe_psql('postgres', "$stored{'ALTER DATABASE'} RESET snowid.shard");
    close_session($session);
    return;
}

# What Citus does on its nodes, by the application_name of its sessions there.
my @own_sessions = ('citus_internal gpid=10000000042', 'citus_run_command gpid=10000000042', 'citus_rebalancer gpid=10000000042');
my $carried = 'parameter "snowid.shard" is set by SET in a session of Citus';
$node->safe_psql('postgres', q(CREATE FUNCTION draw() RETURNS bigint SET snowid.shard = 6 LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END'));

sub are_carried_refused
{
    my ($how) = @_;
    foreach my $name (@own_sessions)
    {
        local $ENV{PGAPPNAME} = $name;
        # Before the library is loaded, and after that.
        is(ask_anew("BEGIN; SET LOCAL snowid.shard = 8; $shard"), 'ERROR 55000', "$how: $name: SET LOCAL before all else");
        is(ask_anew('SELECT draw()'), 'ERROR 55000', "$how: $name: a function before all else");
        my $session = new_session();
        is(ask($session, $shard), '3', "$how: $name: its number");
        foreach my $sql ($shard, 'SELECT snowid_default_shard()', 'INSERT INTO photos (n) VALUES (1)', 'SELECT snowid_next()')
        {
            is(ask($session, "BEGIN; SET LOCAL snowid.shard = 8; $sql"), 'ERROR 55000', "$how: $name: SET LOCAL: $sql");
            like($session->{err}, qr/\Q$carried\E\nDETAIL:  Citus carries .*\nHINT:  Leave it out: /, "$how: $name: with the reason");
            ask($session, 'ROLLBACK');
        }
        is(ask($session, 'SELECT draw()'), 'ERROR 55000', "$how: $name: a function's own setting");
        is(ask($session, q(BEGIN; SELECT set_config('snowid.shard', '8', true); SELECT snowid_next())), 'ERROR 55000', "$how: $name: set_config");
        ask($session, 'ROLLBACK; SET snowid.shard = 8');
        is(ask($session, 'SELECT node_number, source, problem FROM snowid.node_status'), "|setting (session)|$carried", "$how: $name: SET, shown");
        is(ask($session, 'SELECT snowid_shard(snowid_next(9))'), '9', "$how: $name: who names a shard is served");
        is(ask($session, "SET snowid.shard = -1; $shard"), '3', "$how: $name: so is who leaves it to the node");
        # A session of a pool, whose clients come and go.
        is(ask($session, "SET application_name = 'psql'; SET snowid.shard = 8; $shard"), '8', "$how: $name: another client's session");
        is(ask($session, "SET application_name = '$name'"), '', "$how: $name: is Citus' again");
        is(ask($session, $shard), 'ERROR 55000', "$how: $name: and refused");
        make_parallel($session);
        is(ask($session, 'CREATE TEMP TABLE ids AS SELECT snowid_default_shard() FROM rows'), 'ERROR 55000', "$how: $name: parallel workers");
        close_session($session);
        local $ENV{PGOPTIONS} = '-c snowid.shard=5';
        is(ask_anew($shard), '5', "$how: $name: the connection's options");
    }
    return;
}

are_served('without Citus');
foreach my $name (@own_sessions)
{
    local $ENV{PGAPPNAME} = $name;
    is(ask_anew("SET snowid.shard = 8; $shard"), '8', "without Citus: $name is called so by chance");
}
create_citus($node);
citus_set_group($node, 3);
are_refused('loaded at first use');
are_carried_refused('loaded at first use');

# The configuration file is each node's own.
my $session = new_session();
is(ask($session, $shard), '3', 'configuration: not yet');
reload_with($node, 'snowid.shard', '4', $session);
is(ask($session, "$shard, source FROM snowid.node_status"), '4|setting (configuration file)', 'configuration: a session that is open');
{
    local $ENV{PGAPPNAME} = $own_sessions[0];
    is(ask_anew($shard), '4', 'configuration: one of Citus');
}
is(ask_anew($shard), '4', 'configuration: a new one');
$node->safe_psql('postgres', 'ALTER ROLE app SET snowid.shard = 7');
is(ask_anew($shard), 'ERROR 55000', 'configuration: what a role has goes before it');
is(ask($session, $shard), '4', 'configuration: but not in a session that was there before');
$node->safe_psql('postgres', 'ALTER ROLE app RESET snowid.shard; ALTER SYSTEM RESET snowid.shard');
$node->reload;
wait_for(sub { ask($session, 'SHOW snowid.shard') eq '-1' }, 'the configuration to be read');
is(ask($session, $shard), '3', 'configuration: reset');
close_session($session);

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
$node->restart;
are_refused('preloaded');
are_carried_refused('preloaded');
$node->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
are_served('preloaded, without Citus');

check_log($node);
$node->stop;
done_testing();
