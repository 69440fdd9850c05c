# Clients of the model of watermarks, each a process: writers of every kind, who ends prepared transactions, and pollers.
package WatermarkClients;

use strict;
use warnings;

use Exporter 'import';
use IO::Handle;
use POSIX ();
use Time::HiRes qw(sleep);
use WatermarkServer;

our @EXPORT = qw(start_client write_rows end_transactions poll read_log reap_clients);

my @clients;

# Starts a process that runs a function with a number of its own, and a seed made of that. It never returns to the caller's
# code. Returns its process ID.
sub start_client
{
    my ($seed, $number, $run) = @_;
    my $child = fork // die "fork: $!";
    if ($child) { push @clients, $child; return $child }
    srand $seed * 1000 + $number;
    $SIG{__WARN__} = sub { };
    $SIG{TERM} = 'DEFAULT';
    POSIX::_exit(eval { $run->($number); 1 } ? 0 : 1);
    return;
}

# Waits for all of them but some to end, for so many seconds, in each of which it calls a function. Those that do not end are
# told of by another one, and killed. Returns how many did not end well.
sub reap_clients
{
    my ($seconds, $each, $tell, @but) = @_;
    my $bad = 0;
    my %stays = map { $_ => 1 } @but;
    my @others = grep { $stays{$_} } @clients;
    @clients = grep { !$stays{$_} } @clients;
    foreach my $n (1 .. $seconds * 10)
    {
        $each->() if $n % 10 == 1;
        @clients = grep {
            my $ended = waitpid $_, POSIX::WNOHANG();
            $bad++ if $ended == $_ && $? != 0;
            $ended == 0;
        } @clients;
        last if !@clients;
        sleep 0.1;
    }
    $tell->() if @clients;
    $bad += @clients;
    kill 'KILL', @clients;
    waitpid $_, 0 foreach @clients;
    @clients = @others;
    return $bad;
}

sub is_stopped { my ($dir) = @_; return -e "$dir/stop" }
sub pick { return $_[ rand @_ ] }
sub chance { my ($part) = @_; return rand() < $part }

# What a transaction does, by kind. An error ends it, whichever.
my %kinds = (
    default => sub { $_[0]->do(q(INSERT INTO events (kind) SELECT 'default' FROM generate_series(1, 1 + (random() * 4)::int))) },
    another_shard => sub { $_[0]->do('SET LOCAL snowid.default_shard = ' . int rand 20); $_[0]->do(q(INSERT INTO events (kind) VALUES ('another_shard'))) },
    many_shards => sub { $_[0]->do(q(INSERT INTO events (id, kind) SELECT snowid_next(i % 64), 'many_shards' FROM generate_series(1, 20) AS i)) },
    copy => sub {
        my ($dbh) = @_;
        $dbh->do('COPY events (kind) FROM STDIN');
        foreach (1 .. 5) { $dbh->pg_putcopydata("copy\n"); sleep 0.002 }
        $dbh->pg_putcopyend;
    },
    on_conflict => sub {
        $_[0]->do(q(INSERT INTO events (kind, key) VALUES ('on_conflict', ?) ON CONFLICT (key) DO UPDATE SET kind = 'again'), undef, int rand 10000);
    },
    merge => sub {
        $_[0]->do(q(MERGE INTO events AS e USING (VALUES (?::int)) AS v (key) ON e.key = v.key
          WHEN MATCHED THEN UPDATE SET kind = 'merged' WHEN NOT MATCHED THEN INSERT (kind, key) VALUES ('merge', v.key)), undef, int rand 10000);
    },
    trigger => sub { $_[0]->do(q(INSERT INTO events (id, kind) VALUES (0, 'trigger'))) },
    savepoint => sub {
        my ($dbh) = @_;
        if (chance(0.5)) { $dbh->do(q(INSERT INTO events (kind) VALUES ('before'))) }
        $dbh->do('SAVEPOINT here');
        $dbh->do(q(INSERT INTO events (kind) VALUES ('undone')));
        $dbh->do('ROLLBACK TO here');
        $dbh->do(q(INSERT INTO events (kind) VALUES ('savepoint')));
    },
    parent => sub { $_[0]->do(q(INSERT INTO parts (kind, part) SELECT 'parent', i FROM generate_series(0, 2) AS i)) },
    # The ID is there a while before its partition is locked.
    slow_parent => sub {
        $_[0]->do(q(INSERT INTO parts (id, kind, part) SELECT snowid_next(9), 'slow_parent', CASE WHEN pg_sleep(0.05 * random()) IS NOT NULL THEN i END
          FROM generate_series(1, 2) AS i));
    },
    attached => sub { $_[0]->do(q(INSERT INTO parts (kind, part) VALUES ('attached', 3))) },
    partition => sub {
        my ($table, $part) = @{ pick([ parts_a => 0 ], [ parts_b => 2 ], [ parts_b1 => 1 ], [ parts_b2 => 2 ]) };
        $_[0]->do(qq(INSERT INTO $table (id, kind, part) VALUES (snowid_next(?), 'partition', ?)), undef, int rand 64, $part);
    },
    attached_partition => sub {
        my ($dbh) = @_;
        my ($table) = $dbh->selectrow_array(q(SELECT inhrelid::regclass FROM pg_inherits
          WHERE inhparent = 'parts'::regclass AND NOT inhdetachpending AND inhrelid::regclass::text LIKE 'parts_x%'));
        $dbh->do(qq(INSERT INTO $table (id, kind, part) VALUES (snowid_next(9), 'attached_partition', 3))) if defined $table;
    },
    # Others see neither the partition nor its rows until the end. Who waits for the lock keeps writers from writing, for
    # which the one that has it may wait.
    made_partition => sub {
        my ($dbh) = @_;
        return if !chance(0.1) || ($dbh->selectrow_array(q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'parts'::regclass)))[0] > 40;
        my $part = 1000 + int rand 1e9;
        $dbh->do(q(SET LOCAL lock_timeout = '100ms'));
        $dbh->do("CREATE TABLE parts_m$part PARTITION OF parts FOR VALUES IN ($part)");
        $dbh->do("INSERT INTO parts_m$part (kind, part) VALUES ('made_partition', $part)");
    },
    legacy => sub { $_[0]->do(q(INSERT INTO legacy (kind) SELECT 'legacy' FROM generate_series(1, 3))) });
my @kinds = sort keys %kinds;

# Writes rows in transactions that begin with one kind and may go on with others, until it is stopped. Some are held up
# before they end, some prepared, some rolled back, and of some the client goes away.
sub write_rows
{
    my ($dir, $number) = @_;
    my ($dbh, $prepared) = (undef, 0);
    while (!is_stopped($dir))
    {
        $dbh //= connect_to($dir);
        if (!$dbh) { sleep 0.05; next }
        my $is_prepared = chance(0.08);
        my $done = eval {
            $dbh->do('BEGIN');
            $kinds{ pick(@kinds) }->($dbh) foreach 1 .. pick(1, 1, 2);
            sleep pick(0, 0, 0, 0.005, 0.02, 0.1) * rand;
            $dbh->do('SELECT pg_sleep(?)', undef, pick(0.01, 0.1, 0.4)) if chance(0.1);
            $dbh->do(chance(0.1) ? 'ROLLBACK' : $is_prepared ? sprintf q(PREPARE TRANSACTION 'writer %d %d %d'), $$, ++$prepared, rand 1e6 : 'COMMIT');
            1;
        };
        if (!$done) { eval { $dbh->do('ROLLBACK') } }
        if (!$dbh->ping || chance(0.01)) { $dbh->disconnect; $dbh = undef }
        sleep 0.01 * rand;
    }
    return;
}

sub end_transactions
{
    my ($dir) = @_;
    my $dbh;
    while (!is_stopped($dir))
    {
        $dbh //= connect_to($dir);
        if (!$dbh || !$dbh->ping) { $dbh = undef } else { end_prepared($dbh, 0.3, 'writer%') }
        sleep 0.05;
    }
    return;
}

# Reads a table in order until all is written and it has read the last row: by watermarks, or, as people do, by what it has
# read. Its file has a line for each row, "w MARK" before those of a poll, and "e SQLSTATE" for a poll that has failed.
sub poll
{
    my ($dir, $name, $table, $is_naive) = @_;
    open my $out, '>', "$dir/$name" or die "$name: $!";
    my ($dbh, $last) = (undef, 0);
    while (1)
    {
        my $is_last = -e "$dir/written";
        $dbh //= connect_to($dir);
        if (!$dbh) { sleep 0.05; next }
        my ($mark, $rows);
        my $done = eval {
            if (!$is_naive)
            {
                $dbh->do('SET lock_timeout = ' . ($is_last ? 0 : pick(20, 100, 300, 1000)));
                ($mark) = $dbh->selectrow_array("SELECT snowid_watermark('$table')");
            }
            $rows = $dbh->selectcol_arrayref("SELECT id FROM $table WHERE id > $last" . ($is_naive ? '' : " AND id <= $mark") . ' ORDER BY id');
            1;
        };
        if ($done)
        {
            print $out "w $mark\n" if !$is_naive;
            print $out "$_\n" foreach @$rows;
            $last = $is_naive ? @$rows ? $rows->[-1] : $last : $mark;
            $out->flush;
            return if $is_last && eval { ($dbh->selectrow_array("SELECT max(id) <= $last FROM $table"))[0] };
        }
        else
        {
            print $out 'e ' . ($dbh->state // '') . "\n";
            $out->flush;
            if (!$dbh->ping) { $dbh->disconnect; $dbh = undef }
        }
        sleep 0.02 * rand;
    }
    return;
}

# What a poller has written: its rows, in order; how many polls it made, and errors by SQLSTATE; its last mark; and what is
# wrong with it.
sub read_log
{
    my ($file) = @_;
    my $log = { rows => [], polls => 0, errors => {}, mark => 0, wrong => [], attempts => 0 };
    my $last = 0;
    open my $in, '<', $file or return $log;
    while (my $line = <$in>)
    {
        # The last line may be half written.
        last if $line !~ /\n$/;
        if ($line =~ /^w (\d+)/)
        {
            push @{ $log->{wrong} }, "its watermark went back from $log->{mark} to $1" if $1 < $log->{mark};
            ($log->{mark}, $log->{polls}) = ($1, $log->{polls} + 1);
            $log->{attempts}++;
        }
        elsif ($line =~ /^e (\w*)/) { $log->{errors}{$1}++; $log->{attempts}++ }
        elsif ($line =~ /^(\d+)$/)
        {
            push @{ $log->{wrong} }, "it has read $1 after $last" if $1 <= $last;
            push @{ $log->{rows} }, $last = $1;
        }
    }
    return $log;
}

1;
