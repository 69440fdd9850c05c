# A mistyped snowid.shard in ALTER DATABASE, ALTER ROLE or the configuration file, which nobody can check
# where the library is not loaded, ended as a warning and as shard 0, which may be another server's. Until
# it is right, whoever needs the shard is refused; who names a shard is not.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('refused_shard');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE app LOGIN');
$node->safe_psql('postgres', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), title text)');
$node->safe_psql('postgres', 'GRANT ALL ON photos TO app');

sub is_refused
{
    my ($name, $value, %options) = @_;
    my @as = $options{as} ? (extra_params => [ '-U', $options{as} ]) : ();
    foreach my $sql ('SELECT snowid_next()', 'SELECT snowid_default_shard()', 'INSERT INTO photos (title) VALUES (1)',
        q(SELECT snowid_next(snowid_default_shard(), 'twitter')))
    {
        my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", @as);
        is(sqlstate_of($err), '22023', "$name: refused: $sql");
        like($err, qr/invalid value for parameter "snowid\.shard": "\Q$value\E"\nHINT:/, "$name: naming it: $sql");
    }
    my ($status, $out, $err) =
      $node->psql('postgres', q{SELECT node_number IS NULL, source ~ '^setting [(]', problem FROM snowid.node_status}, @as);
    is("$out$err", qq(t|t|invalid value for parameter "snowid.shard": "$value"), "$name: the view says why");
    ($status, $out, $err) = $node->psql('postgres', 'SELECT snowid_shard(snowid_next(5))', @as);
    is("$out$err", '5', "$name: who names a shard is served, without a warning");
    ($status, $out, $err) = $node->psql('postgres', 'SET snowid.shard = 7; SELECT snowid_shard(snowid_next())', @as);
    is("$out$err", '7', "$name: and so is who sets it right");
    return;
}

sub is_served
{
    my ($name, $shard, %options) = @_;
    my @as = $options{as} ? (extra_params => [ '-U', $options{as} ]) : ();
    my ($status, $out, $err) = $node->psql('postgres', 'SELECT snowid_shard(snowid_next())', @as);
    is("$out$err", $shard, "$name: served");
    return;
}

foreach my $preloaded (0, 1)
{
    my $how = $preloaded ? 'preloaded' : 'loaded at first use';
    if ($preloaded)
    {
        # Checked by those who load it then, so it is written down before.
        $node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.shard = 'abc'");
        $node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
        $node->restart;
        is_refused("ALTER DATABASE, $how", 'abc');
        is(attempt($node, "ALTER DATABASE postgres SET snowid.shard = 'abcd'"), 'ERROR 22023', 'who sets it is told');
    }
    else
    {
        foreach my $value ('abc', '-2', '', '9223372036854775808', '1.5')
        {
            $node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.shard = '$value'");
            is_refused("ALTER DATABASE, $how, '$value'", $value);
        }
    }
    $node->safe_psql('postgres', 'ALTER DATABASE postgres SET snowid.shard = 12');
    is_served("ALTER DATABASE, $how, put right", 12);
    $node->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.shard');
    is_served("ALTER DATABASE, $how, reset", 0);

    if (!$preloaded)
    {
        $node->safe_psql('postgres', "ALTER ROLE app SET snowid.shard = '12a'");
        is_refused("ALTER ROLE, $how", '12a', as => 'app');
        is_served("ALTER ROLE, $how: others", 0);
        $node->safe_psql('postgres', 'ALTER ROLE app RESET snowid.shard');
        is_served("ALTER ROLE, $how, reset", 0, as => 'app');

        # The session's own, set before it has loaded the library.
        is(attempt($node, "SET snowid.shard = 'abc'; SELECT snowid_next()"), 'ERROR 22023', 'SET, before: refused');
        is(attempt($node, "SET snowid.shard = 'abc'; SELECT snowid_shard(snowid_next(1)); RESET snowid.shard;"
                  . ' SELECT snowid_shard(snowid_next())'), "1\n0", 'RESET takes it back');
    }
    is(attempt($node, "SELECT snowid_shard(snowid_next(1)); SET snowid.shard = 'abc'"), 'ERROR 22023', "SET, $how: refused at once");
    is(attempt($node, "SELECT snowid_shard(snowid_next(1))") . attempt($node, "LOAD 'snowid';\nALTER SYSTEM SET snowid.shard = 'abc'"),
        '1ERROR 22023', "ALTER SYSTEM, $how: refused at once");
    is(attempt($node, "LOAD 'snowid';\nALTER SYSTEM SET snowid.shard = 5;\nALTER SYSTEM RESET snowid.shard"), '',
        "ALTER SYSTEM, $how: a shard is taken");
    {
        local $ENV{PGOPTIONS} = '-c snowid.shard=oops';
        is_refused("connection's options, $how", 'oops');
    }

    $node->append_conf('postgresql.conf', "snowid.shard = 'first'\n");
    my $session = open_session($node);
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '0', "configuration, $how: not read yet");
    $node->reload;
    wait_for(sub { ask($session, 'SHOW snowid.shard') eq 'first' }, 'the configuration to be read');
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 22023', "configuration, $how: refused in a session that is open");
    is_refused("configuration, $how", 'first');
    $node->append_conf('postgresql.conf', "snowid.shard = 3\n");
    $node->reload;
    wait_for(sub { ask($session, 'SHOW snowid.shard') eq '3' }, 'the configuration to be read');
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '3', "configuration, $how, put right: that session goes on");
    close_session($session);
    is_served("configuration, $how, put right", 3);
    $node->append_conf('postgresql.conf', "snowid.shard = -1\n");
    $node->restart;
    is_served("configuration, $how: this node's own", 0);
}

# Parallel workers are given what the session has, and neither warn nor fail where they need it not.
$node->safe_psql('postgres', "INSERT INTO photos SELECT n, n FROM generate_series(1, 10000) n; ANALYZE photos");
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
$node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.shard = 'abc'");
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
  . ' SET parallel_leader_participation = off; SELECT snowid_shard(snowid_next(4));';
my ($status, $out, $err) = $node->psql('postgres', "$parallel SELECT count(snowid_shard(id)) FROM photos WHERE id > 0");
is("$out$err", "4\n10000", 'parallel workers are given a refused value');
is(attempt($node, "$parallel CREATE TABLE copied AS SELECT snowid_next() AS id FROM photos WHERE id > 0"), 'ERROR 22023',
    'and are refused as the session is');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.shard');
($status, $out, $err) =
  $node->psql('postgres', "SET snowid.shard = 'abc'; $parallel SELECT count(snowid_shard(id)) FROM photos WHERE id > 0");
is("$out$err", "4\n10000", 'also one that the session itself has set');

$node->stop;
done_testing();
