# The server of the model of watermarks: its tables, its clock, and what happens to it.
package WatermarkServer;

use strict;
use warnings;

use DBD::Pg;
use DBI;
use Exporter 'import';
use File::Spec;
use PostgreSQL::Test::Utils;
use SnowidClock;
use SnowidServers;
use SnowidSessions;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_world connect_to first_answer answers step_clock kill_server kill_backend terminate_some end_prepared promote_standby
  change_partitions adopt_legacy stop_world);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $clock = "$scratch/offset";

# A server with tables of each kind, and a directory in which its clients find what they need: `server`, where to connect
# to; `stop`, which ends them.
sub new_world
{
    my ($dir) = @_;
    mkdir $dir;
    my $node = new_server('watermark_model', allows_streaming => 1);
    $node->append_conf('postgresql.conf', <<'CONF');
shared_buffers = '16MB'
max_connections = 80
max_prepared_transactions = 80
restart_after_crash = on
deadlock_timeout = '200ms'
log_min_messages = fatal
CONF
    my $world = { node => $node, dir => $dir, offset => 0, standbys => 0, parts => 0, counts => {} };
    step_clock($world, 0);
    come_up($world);
    first_answer($world, <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), kind text, key int UNIQUE);
CREATE FUNCTION give_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := snowid_next(11); RETURN NEW; END $$;
CREATE TRIGGER give_id BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.kind = 'trigger') EXECUTE FUNCTION give_id();
CREATE TABLE parts (id bigint DEFAULT snowid_next(9), kind text, part int) PARTITION BY LIST (part);
CREATE INDEX ON parts (id);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_b PARTITION OF parts FOR VALUES IN (1, 2) PARTITION BY LIST (part);
CREATE TABLE parts_b1 PARTITION OF parts_b FOR VALUES IN (1);
CREATE TABLE parts_b2 PARTITION OF parts_b FOR VALUES IN (2);
CREATE TABLE legacy (id bigserial PRIMARY KEY, kind text);
SQL
    return $world;
}

sub come_up
{
    my ($world, $node) = @_;
    $node //= $world->{node};
    local %ENV = (%ENV, offset_clock($clock));
    $node->start;
    if ($node == $world->{node}) { tell_clients($world) }
    return;
}

# In one piece, or a client would read half of it.
sub tell_clients
{
    my ($world) = @_;
    append_to_file("$world->{dir}/server.new", $world->{node}->host . ' ' . $world->{node}->port);
    rename "$world->{dir}/server.new", "$world->{dir}/server" or die $!;
    return;
}

# A connection, or undef where there is none now.
sub connect_to
{
    my ($dir) = @_;
    my ($host, $port) = split ' ', slurp_file("$dir/server");
    my $dbh = DBI->connect("dbi:Pg:dbname=postgres;host=$host;port=$port;connect_timeout=30", 'postgres', '',
        { AutoCommit => 1, RaiseError => 0, PrintError => 0, PrintWarn => 0, AutoInactiveDestroy => 1 });
    $dbh->{RaiseError} = 1 if $dbh;
    return $dbh;
}

# What a session of its own is answered: the first column. While the server recovers it is tried again.
sub answers
{
    my ($world, $sql) = @_;
    my $dbh;
    wait_for(sub { return $dbh = connect_to($world->{dir}) }, 'the server to take connections');
    my $statement = $dbh->prepare($sql, { pg_direct => 1 });
    $statement->execute;
    my @answers = $statement->{NUM_OF_FIELDS} ? map { $_->[0] } @{ $statement->fetchall_arrayref } : ();
    $statement->finish;
    $dbh->disconnect;
    return @answers;
}

sub first_answer { my ($first) = answers(@_); return $first }

# The clock is as many seconds further ahead of the real one, or back.
sub step_clock
{
    my ($world, $by) = @_;
    $world->{offset} += $by;
    put_offset($clock, $world->{offset});
    return;
}

sub kill_server
{
    my ($world) = @_;
    crash($world->{node}, 'kill');
    come_up($world);
    return;
}

# Has the server crash, and begin again by itself.
sub kill_backend
{
    my ($world) = @_;
    my $pid = first_answer($world, q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1));
    kill 'KILL', $pid if defined $pid;
    return;
}

sub terminate_some
{
    my ($world) = @_;
    first_answer($world, q(SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 5) AS chosen));
    return;
}

# Ends a part of the prepared transactions whose name is like this, one way or the other. Another process may do the same.
sub end_prepared
{
    my ($dbh, $part, $like) = @_;
    foreach my $name (@{ +eval { $dbh->selectcol_arrayref('SELECT gid FROM pg_prepared_xacts WHERE gid LIKE ?', undef, $like) } // [] })
    {
        next if rand() >= $part;
        eval { $dbh->do((rand() < 0.6 ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$name'") };
    }
    return;
}

# A standby for which commits wait takes over; the server that is killed stays away.
sub promote_standby
{
    my ($world) = @_;
    my $old = $world->{node};
    my $new = new_standby($old, 'model_standby' . ++$world->{standbys});
    come_up($world, $new);
    my $held = hold_commits($old);
    release_commits($old, $held, $new->name);
    wait_for(sub { first_answer($world, q(SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync')) eq '1' }, 'the standby to be synchronous');
    sleep 1;
    crash($old, 'kill');
    $new->promote;
    $world->{node} = $new;
    tell_clients($world);
    return;
}

# A partition is detached, or one is attached that is empty and written to from then on.
sub change_partitions
{
    my ($world) = @_;
    my $dbh = connect_to($world->{dir}) // return;
    my $done = eval {
        foreach my $name (@{ $dbh->selectcol_arrayref(q(SELECT inhrelid::regclass FROM pg_inherits WHERE inhdetachpending)) })
        {
            $dbh->do("ALTER TABLE parts DETACH PARTITION $name FINALIZE");
        }
        my ($old) = $dbh->selectrow_array(q(SELECT inhrelid::regclass FROM pg_inherits
          WHERE inhparent = 'parts'::regclass AND inhrelid::regclass::text LIKE 'parts_x%'));
        if (defined $old) { $dbh->do("ALTER TABLE parts DETACH PARTITION $old" . (rand() < 0.5 ? ' CONCURRENTLY' : '')) }
        else
        {
            my $new = 'parts_x' . ++$world->{parts};
            $dbh->do("CREATE TABLE $new (LIKE parts INCLUDING DEFAULTS)");
            $dbh->do("ALTER TABLE parts ATTACH PARTITION $new FOR VALUES IN (3)");
        }
        1;
    };
    $world->{counts}{ $done ? 'partitions_changed' : 'partitions_not_changed' }++;
    $dbh->disconnect;
    return;
}

sub adopt_legacy
{
    my ($world) = @_;
    first_answer($world, q(SELECT snowid.adopt('legacy', 'id')));
    return;
}

sub stop_world { my ($world) = @_; crash($world->{node}, 'kill'); return }

1;
