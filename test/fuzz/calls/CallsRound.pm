# A round: a database of its own, eight sessions in it, and what is looked at when they are done. The server is stopped and
# started between rounds, so each begins with empty shared memory.
package CallsRound;

use strict;
use warnings;

use CallsJudging;
use CallsSession;
use CallsStatements;
use CallsValues;
use CallsWatch;
use DBI;
use Exporter 'import';
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(prepare_server run_round);

# Who is who: three roles, of which one is the owner of the database in some sessions, in one a superuser.
my @ROLES = qw(connect connect connect tables tables owner owner superuser);

# The settings of the server, and its roles.
sub prepare_server
{
    my ($node) = @_;
    $node->append_conf('postgresql.conf', <<'CONF');
log_statement = none
log_min_messages = warning
log_min_error_statement = panic
log_line_prefix = '%m [%p] %q%u %e '
max_prepared_transactions = 50
max_connections = 60
temp_file_limit = '200MB'
max_parallel_workers = 8
max_worker_processes = 16
restart_after_crash = off
deadlock_timeout = '100ms'
CONF
    # dblink lets who is not a superuser connect with a password alone.
    my $hba = $node->data_dir . '/pg_hba.conf';
    my $rest = slurp_file($hba);
    unlink $hba;
    append_to_file($hba, "local all fuzz_link scram-sha-256\n$rest");
    $node->start;
    $node->safe_psql('postgres', <<'SQL');
CREATE ROLE fuzz_connect LOGIN; CREATE ROLE fuzz_tables LOGIN; CREATE ROLE fuzz_owner LOGIN; CREATE ROLE fuzz_superuser LOGIN SUPERUSER;
CREATE ROLE fuzz_keeper; CREATE ROLE fuzz_link LOGIN PASSWORD 'fuzz';
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['fuzz_connect', 'fuzz_tables', 'fuzz_owner', 'fuzz_superuser', 'fuzz_link'] LOOP
    EXECUTE format('ALTER ROLE %I SET statement_timeout = ''2s''', role);
    EXECUTE format('ALTER ROLE %I SET lock_timeout = ''300ms''', role);
    EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = ''30s''', role);
    EXECUTE format('ALTER ROLE %I SET snowid.max_wait = ''100ms''', role);
    EXECUTE format('ALTER ROLE %I SET client_min_messages = warning', role);
  END LOOP;
END $$;
SQL
    return;
}

# Runs a round. Options: node; number; seed; seconds; dir, for files; upheaval, whether the extension is dropped and
# created meanwhile; wild, whether IDs may be made to run far ahead; mode, how the server is stopped; progress, as watch()
# takes it. Counts its checks as Test::More does; returns whether all have passed.
sub run_round
{
    my (%round) = @_;
    my ($node, $dir) = @round{qw(node dir)};
    $round{database} = "fuzz$round{number}";
    $round{stop} = "$dir/stop";
    my $log_begun = -s $node->logfile;
    make_database(\%round);
    my $end = time + $round{seconds};
    # At the end one is alone with the database, for what is refused while others are connected.
    my @hanging = sessions(\%round, [@ROLES], $end - 0.1 * $round{seconds});
    push @hanging, sessions(\%round, ['superuser'], $end) if !$round{gone};
    my $ok = is(join("\n", @hanging), '', name(\%round, 'every statement heeds a cancel'));
    $ok &= !$round{gone} && settle(\%round);
    $ok &= is(join('', findings(\%round)), '', name(\%round, 'no error that says of a fault'));
    my ($count, @twice) = repeated(glob "$dir/ids.*");
    $ok &= is("@twice", '', name(\%round, "none of $count numbers came twice"));
    $ok &= is(join('', faults_of_log(substr slurp_file($node->logfile), $log_begun)),
        '', name(\%round, 'no crash in the log'));
    return $ok;
}

sub name { return "round $_[0]{number}: $_[1]" }

sub make_database
{
    my ($round) = @_;
    my ($node, $database) = @{$round}{qw(node database)};
    $node->safe_psql('postgres', "CREATE DATABASE $database OWNER fuzz_owner");
    # CONNECT alone is without temporary tables, which every role may make else.
    $node->safe_psql('postgres', "REVOKE TEMPORARY ON DATABASE $database FROM PUBLIC") if $round->{number} % 2;
    my $objects = slurp_file('test/fuzz/calls/objects.sql');
    my ($host, $port) = ($node->host, $node->port);
    $node->safe_psql($database, "$objects\n" . <<"SQL");
CREATE SERVER loopback FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname '$database', connect_timeout '2');
CREATE SERVER broken FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '1', dbname '$database', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (user 'fuzz_link', password 'fuzz');
CREATE USER MAPPING FOR PUBLIC SERVER broken OPTIONS (user 'fuzz_link', password 'fuzz');
GRANT USAGE ON FOREIGN SERVER loopback, broken TO PUBLIC;
SET ROLE @{[$round->{number} % 2 ? 'fuzz_owner' : 'postgres']};
CREATE EXTENSION snowid;
SQL
    my $dependents = slurp_file('test/fuzz/calls/dependents.sql') =~ s/:ext\b/public/gr;
    # The code of tables' owners makes some of it fail.
    $node->psql($database, $dependents, on_error_stop => 0);
    append_to_file("$round->{dir}/dependents.sql", slurp_file('test/fuzz/calls/dependents.sql'));
    return;
}

# Runs sessions with these roles until a time. Returns what hangs.
sub sessions
{
    my ($round, $roles, $until) = @_;
    my %sessions;
    foreach my $role (@$roles)
    {
        my $number = $round->{sessions}++;
        my $pid = fork // die "fork: $!";
        if (!$pid)
        {
            my $done = eval {
                run_session(
                    (map { $_ => $round->{$_} } qw(node database dir stop upheaval wild)),
                    number => $number,
                    role => $role,
                    until => $until,
                    seed => $round->{seed} * 100 + $number);
                1;
            };
            append_to_file("$round->{dir}/findings.$number", "session $number died: $@") if !$done;
            # No END blocks: those are the parent's.
            POSIX::_exit($done ? 0 : 1);
        }
        $sessions{$pid} = $number;
    }
    my ($hanging, $gone) =
      watch(node => $round->{node}, sessions => \%sessions, dir => $round->{dir}, progress => $round->{progress});
    if ($gone)
    {
        $round->{gone} = 1;
        append_to_file($round->{stop}, 'gone');
        my $deadline = time + 30;
        while (%sessions) { reap(\%sessions); sleep 0.1; kill 'KILL', keys %sessions if time > $deadline }
    }
    return @$hanging;
}

# When all is quiet: what is prepared is rolled back, the server is stopped and started, indexes and tables are looked
# at, and the shards go on above what they gave. Returns whether all is well.
sub settle
{
    my ($round) = @_;
    my ($node, $database) = @{$round}{qw(node database)};
    my $prepared = $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
    $node->safe_psql($database, "ROLLBACK PREPARED '$_'") foreach split /\n/, $prepared;
    $node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
    $node->safe_psql($database, 'DROP EVENT TRIGGER IF EXISTS elsewhere; CREATE EXTENSION IF NOT EXISTS snowid');
    my $begun = time;
    my $ok = ok($node->stop($round->{mode}, fail_ok => 1), name($round, "the server stops ($round->{mode})"));
    return 0 if !$ok;
    $ok &= cmp_ok(time - $begun, '<', 60, name($round, 'soon'));
    $node->start;
    $ok &= is(look_at_files($round), '', name($round, 'amcheck finds nothing'));
    $ok &= draw_again($round);
    return $ok;
}

sub look_at_files
{
    my ($round) = @_;
    return $round->{node}->safe_psql($round->{database}, <<'SQL');
CREATE EXTENSION IF NOT EXISTS amcheck;
CREATE FUNCTION pg_temp.look(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found text;
BEGIN
  EXECUTE what INTO found;
  RETURN found;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLERRM;
END $$;
SELECT c.oid::regclass, x.problem
  FROM pg_class AS c, LATERAL (SELECT pg_temp.look(CASE WHEN c.relkind = 'i'
      THEN format('SELECT bt_index_parent_check(%s, true)', c.oid)
      ELSE format('SELECT string_agg(msg, '', '') FROM verify_heapam(%s)', c.oid) END) AS problem) AS x
 WHERE (c.relkind IN ('r', 'm', 't') OR c.relkind = 'i' AND c.relam = 403
     AND (SELECT i.indisvalid FROM pg_index AS i WHERE i.indexrelid = c.oid))
   AND c.relpersistence = 'p' AND x.problem <> '' ORDER BY 1
SQL
}

# After the start each shard that was drawn from goes on. Not where there was another extension meanwhile, whose
# ceiling knows nothing of what the first has given: then the clock decides (docs/guarantees.md). And not if the superuser
# stated all times from a moment on as used, which may have exhausted all layouts: snowid.return_to_clock() takes ranges
# without an end.
sub draw_again
{
    my ($round) = @_;
    return 1 if $round->{upheaval};
    my $node = $round->{node};
    my $dbh = DBI->connect('dbi:Pg:dbname=' . $round->{database} . ';host=' . $node->host . ';port=' . $node->port,
        'postgres', '', { RaiseError => 0, PrintError => 0 });
    open my $out, '>', "$round->{dir}/ids.again" or die $!;
    my ($is_endless) =
      $dbh->selectrow_array("SELECT bool_or(upper(skipped) > '9000-01-01') FROM snowid.skipped_times");
    my ($drawn, $error) = (0, '');
    foreach my $layout (@LAYOUTS)
    {
        my ($name) = $dbh->selectrow_array('SELECT ' . $dbh->quote($layout) . '::snowid_layout::text');
        next if !defined $name;
        foreach my $shard (0 .. 5)
        {
            $dbh->do("SET snowid.max_wait = '10s'");
            my $ids = $dbh->selectcol_arrayref("SELECT snowid_next_batch($shard, 50, " . $dbh->quote($layout) . ')');
            print $out "id $name: $_\n" foreach @{ $ids // [] };
            $drawn += @{ $ids // [] };
            $error ||= $dbh->errstr if !$ids;
        }
    }
    foreach my $sequence (qw(segment sized ones both))
    {
        my $numbers = $dbh->selectcol_arrayref("SELECT snowid_segment_batch('kept.$sequence', 50)");
        print $out "segment kept.$sequence $_\n" foreach @{ $numbers // [] };
    }
    foreach my $key (0 .. 11)
    {
        my $numbers =
          $dbh->selectcol_arrayref("SELECT snowid_section_next('kept.section', $key) FROM generate_series(1, 20)");
        print $out "key kept.section of $key $_\n" foreach @{ $numbers // [] };
    }
    $dbh->disconnect;
    close $out or die $!;
    return 1 if $is_endless;
    diag($error) if !$drawn;
    return $round->{wild} || cmp_ok($drawn, '>', 0, name($round, 'shards go on after the start'));
}

sub findings
{
    my ($round) = @_;
    return map { slurp_file($_) } glob "$round->{dir}/findings.*";
}

1;
