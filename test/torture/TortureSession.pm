# A session of the torture: a process with a connection, which draws numbers in transactions of all sorts until its time is
# over. What its client has got it writes down at once, whatever becomes of the transaction: in the file numbers.N a line
# for each call, with the stream, when the call began and ended, the lead that it may have, and the numbers. In findings.N
# is what must not be.
package TortureSession;

use strict;
use warnings;

use DBD::Pg;
use DBI;
use Exporter 'import';
use IO::Handle;
use Time::HiRes qw(sleep);
use TortureKinds;

our @EXPORT = qw(run_session begin_session end_session connect_session is_on try run record record_ids draw_something);

# Databases, as far as they differ: layouts that are drawn from, and how far IDs may be ahead, in milliseconds.
my %characters = (
    plain => { layouts => [qw(instagram instagram twitter sonyflake micro second)], leads => [ (1000) x 5, 0, 0, 200, 86_400_000 ] },
    counters => { layouts => [qw(instagram twitter)], leads => [ 1000, 1000, 5000, 86_400_000 ] },
    long => { layouts => [qw(instagram twitter micro second minute hour)], leads => [2_000_000_000] });

# Runs a session. The settings: number; seed; database; character; quiet, whether it writes nothing but numbers; until, in
# monotonic time; dir; host; port; stop, a file whose being there ends it.
sub run_session
{
    my $session = begin_session(@_);
    while (is_on($session))
    {
        if (!$session->{dbh}) { connect_session($session) or sleep 0.02; next }
        take_step($session);
        sleep 0.001 * rand 4 if chance(0.3);
    }
    end_session($session);
    return;
}

# Leaves what it has done, and the errors that it was answered, by SQLSTATE.
sub end_session
{
    my ($session) = @_;
    open my $out, '>', "$session->{dir}/counts.$session->{number}" or die $!;
    print $out "$_ $session->{counts}{$_}\n" foreach keys %{ $session->{counts} };
    close $out;
    return;
}

sub begin_session
{
    my $session = {@_};
    srand $session->{seed};
    foreach my $file (qw(numbers findings))
    {
        open $session->{$file}, '>', "$session->{dir}/$file.$session->{number}" or die "$file: $!";
        $session->{$file}->autoflush;
    }
    $SIG{__WARN__} = sub { };
    $SIG{PIPE} = 'IGNORE';
    return $session;
}

sub is_on { my ($session) = @_; return monotonic() < $session->{until} && !-e $session->{stop} }

# Connects, with settings of its own. Returns whether it is connected.
sub connect_session
{
    my ($session) = @_;
    my $dbh = DBI->connect("dbi:Pg:dbname=$session->{database};host=$session->{host};port=$session->{port};connect_timeout=" . 5 * SLOWLY,
        'postgres', '', { AutoCommit => 1, RaiseError => 0, PrintError => 0, PrintWarn => 0, pg_server_prepare => 0 })
      or return 0;
    $dbh->{RaiseError} = 1;
    my $lead = pick(@{ $characters{ $session->{character} }{leads} });
    my $commit = $session->{quiet} || chance(0.3) ? 'off' : 'on';
    my $timeout = SLOWLY * pick(0, 0, 500, 2000);
    my $wait = pick(0, 50, 300, 1000);
    my $is_set = eval {
        $dbh->do("LOAD 'snowid'; SET snowid.max_lead = $lead; SET snowid.max_wait = $wait; SET synchronous_commit = $commit;"
              . " SET statement_timeout = $timeout; SET lock_timeout = '300ms'");
        1;
    };
    return 0 if !$is_set;
    $session->{lead} = $lead / 1000;
    $session->{dbh} = $dbh;
    $session->{is_parallel} = 0;
    return 1;
}

# Runs something. Returns whether it was answered without an error. A connection that is gone is forgotten.
sub try
{
    my ($session, $code) = @_;
    return 1 if eval { $code->(); 1 };
    my $message = $@;
    my $dbh = $session->{dbh} // return 0;
    my $state = $dbh->state || '';
    $session->{counts}{"error $state" =~ tr/ /_/r}++;
    # PostgreSQL's own words for a relation or a function that goes while it is looked up.
    print { $session->{findings} } "$state: $message\n"
      if $state =~ /^XX/ && $message !~ /cache lookup failed for|could not open relation with OID|tuple concurrently|could not find .* for/;
    if (!eval { $dbh->{Active} && $dbh->ping > 0 } || $state =~ /^(?:57P|08)/)
    {
        eval { $dbh->disconnect };
        delete $session->{dbh};
    }
    # Who is refused asks again, but not as fast as he can.
    sleep 0.004 if $state eq 'SN001';
    return 0;
}

sub run { my ($session, $sql) = @_; return try($session, sub { $session->{dbh}->do($sql) }) }

# Writes down what has arrived: a stream, its numbers or their runs, and how far they may be ahead.
sub record
{
    my ($session, $stream, $from, $runs) = @_;
    printf { $session->{numbers} } "%s\t%.6f\t%.6f\t%s\t%s\n", $stream, $from, monotonic(), $session->{lead}, $runs;
    return;
}

# The numbers that a query gives, as one value: 8 bytes each.
sub numbers_of
{
    my ($session, $expression, $from) = @_;
    my ($bytes) = $session->{dbh}->selectrow_array("SELECT string_agg(int8send(n), '') FROM (SELECT $expression AS n $from OFFSET 0) AS q");
    return defined $bytes ? unpack 'q>*', $bytes : ();
}

# IDs of one shard.
sub record_ids
{
    my ($session, $name, $shard, $from, @ids) = @_;
    return if !@ids;
    my $layout = $LAYOUTS{$name};
    my ($wrong) = grep { $_ < 0 || shard_of($layout, $_) != $shard } @ids;
    print { $session->{findings} } "$name: ID $wrong is none of shard $shard\n" if defined $wrong;
    record($session, "$session->{database}/$name/$shard", $from, runs_of($layout->{stride}, @ids));
    return;
}

# A shard: one that all draw from, some that many do, or any.
sub any_shard
{
    my ($layout) = @_;
    my $most = (1 << $layout->{shards}) - 1;
    # The last is the one that is released and accepted.
    return pick(0, 0, 1, 1, 2, 3, 1 + int rand($most > 30 ? 30 : $most - 1));
}

my @draws = (
    [ 20, \&draw_one, 'one' ], [ 6, \&draw_batch, 'batch' ], [ 5, \&draw_reserved, 'reserved' ], [ 1, \&draw_many, 'many' ], [ 3, \&draw_stream, 'stream' ],
    [ 1, \&draw_parallel, 'parallel' ], [ 4, \&draw_rows, 'rows' ], [ 2, \&draw_uuids, 'uuids' ], [ 2, \&draw_objectids, 'objectids' ]);
my @counter_draws = ([ 8, \&draw_segment, 'segment' ], [ 3, \&draw_segment_batch, 'segment_batch' ], [ 6, \&draw_section, 'section' ], [ 3, \&draw_central, 'central' ]);

# One call. Those of a session that is quiet write no rows.
sub draw_something
{
    my ($session) = @_;
    my @all = ($session->{character} eq 'counters' ? (@counter_draws, @draws) : @draws);
    my $weights = 0;
    $weights += $_->[0] foreach @all;
    my $at = rand $weights;
    my ($draw) = grep { ($at -= $_->[0]) < 0 } @all;
    $draw = $draws[0] if $session->{quiet} && $draw->[1] == \&draw_rows;
    $draw->[1]->($session);
    $session->{counts}{$draw->[2]}++;
    return;
}

sub draw_one
{
    my ($session) = @_;
    my $name = pick(@{ $characters{ $session->{character} }{layouts} });
    my $layout = $LAYOUTS{$name};
    my $shard = any_shard($layout);
    my $call = $name ne 'instagram' ? "snowid_next($shard, '$layout->{sql}')" : $shard == 0 && chance(0.5) ? 'snowid_next()' : "snowid_next($shard)";
    my $from = monotonic();
    my ($id) = $session->{dbh}->selectrow_array("SELECT $call");
    record_ids($session, $name, $shard, $from, $id);
    return;
}

sub draw_batch
{
    my ($session) = @_;
    my $name = pick(@{ $characters{ $session->{character} }{layouts} });
    my $layout = $LAYOUTS{$name};
    my $shard = any_shard($layout);
    my $count = pick(2, 10, 300, 1500, 5000);
    my $from = monotonic();
    record_ids($session, $name, $shard, $from,
        numbers_of($session, 'id', "FROM snowid_next_batch($shard, $count, '$layout->{sql}') AS id"));
    return;
}

sub draw_reserved
{
    my ($session) = @_;
    my $name = pick(@{ $characters{ $session->{character} }{layouts} });
    my $layout = $LAYOUTS{$name};
    my $shard = any_shard($layout);
    my $count = 1 + int rand $layout->{reserve};
    $count = $layout->{reserve} if chance(0.3);
    my $from = monotonic();
    my ($id) = $session->{dbh}->selectrow_array("SELECT snowid_reserve($shard, $count, '$layout->{sql}')");
    record($session, "$session->{database}/$name/$shard", $from, "$id:$count");
    return;
}

# Many shards at once.
sub draw_many
{
    my ($session) = @_;
    my $from = monotonic();
    my $first = pick(100, 500, 4000);
    my @ids = numbers_of($session, "snowid_next($first + g)", 'FROM generate_series(0, 99) AS g');
    record_ids($session, 'instagram', $first++, $from, $_) foreach @ids;
    return;
}

# Rows that arrive while the statement goes on: those count though it comes to no end.
sub draw_stream
{
    my ($session) = @_;
    my $shard = pick(0, 1);
    my $count = pick(10, 1000, 8000);
    my @ids;
    my $from = monotonic();
    my $done = eval {
        $session->{dbh}->do("COPY (SELECT snowid_next($shard) FROM (SELECT generate_series(1, $count)) AS g) TO STDOUT");
        my $line;
        while ($session->{dbh}->pg_getcopydata($line) >= 0) { push @ids, $1 if $line =~ /^(\d+)\n/ }
        1;
    };
    my $error = $@;
    record_ids($session, 'instagram', $shard, $from, @ids);
    die $error if !$done;
    return;
}

# Above scans by parallel workers.
sub draw_parallel
{
    my ($session) = @_;
    $session->{dbh}->do('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
          . ' SET max_parallel_workers_per_gather = 2')
      if !$session->{is_parallel}++;
    my $shard = pick(0, 1, 2);
    my $from = monotonic();
    my @ids = sort { $a <=> $b } numbers_of($session, "snowid_next($shard)", 'FROM many_rows');
    record_ids($session, 'instagram', $shard, $from, @ids);
    return;
}

sub draw_rows
{
    my ($session) = @_;
    my $shard = pick(0, 1, 2);
    my $count = pick(1, 1, 1, 50);
    my $from = monotonic();
    my $ids = $session->{dbh}
      ->selectcol_arrayref("INSERT INTO kept_rows SELECT snowid_next($shard) FROM generate_series(1, $count) RETURNING id");
    record_ids($session, 'instagram', $shard, $from, @$ids);
    return;
}

# A database whose IDs are hours ahead would have the others' UUIDs be as far.
sub draw_uuids
{
    my ($session) = @_;
    return draw_one($session) if $session->{character} eq 'long';
    my $from = monotonic();
    my $count = pick(1, 1, 20);
    my $uuids = $session->{dbh}->selectcol_arrayref("SELECT snowid_uuidv7() FROM generate_series(1, $count)");
    record($session, "$session->{database}/uuid", $from, join ',', map { tr/-//dr } @$uuids);
    return;
}

sub draw_objectids
{
    my ($session) = @_;
    return draw_one($session) if $session->{character} eq 'long';
    my $from = monotonic();
    my $count = pick(1, 1, 20);
    my $ids = $session->{dbh}->selectcol_arrayref("SELECT objectid_next() FROM generate_series(1, $count)");
    record($session, "$session->{database}/objectid", $from, join ',', @$ids);
    return;
}

sub draw_segment
{
    my ($session) = @_;
    my $seq = pick('seg_busy', 'seg_small');
    my $from = monotonic();
    my ($number) = $session->{dbh}->selectrow_array("SELECT snowid_segment_next('$seq')");
    record($session, "$session->{database}/$seq", $from, "$number:1");
    return;
}

sub draw_segment_batch
{
    my ($session) = @_;
    my $count = pick(3, 200, 3000);
    my $seq = pick('seg_busy', 'seg_small', 'hub_one');
    my $from = monotonic();
    my @numbers = numbers_of($session, 'n', "FROM snowid_segment_batch('$seq', $count) AS n");
    record($session, "$session->{database}/$seq", $from, runs_of(1, @numbers));
    return;
}

sub draw_central
{
    my ($session) = @_;
    my $seq = pick('hub_one', 'hub_two');
    my $from = monotonic();
    my ($number) = $session->{dbh}->selectrow_array("SELECT snowid_segment_next('$seq')");
    record($session, "$session->{database}/$seq", $from, "$number:1");
    return;
}

sub draw_section
{
    my ($session) = @_;
    my ($key, $count) = (int rand 40, pick(1, 1, 5, 300));
    my $from = monotonic();
    my @numbers = numbers_of($session, "snowid_section_next('sec_keys', $key)", "FROM generate_series(1, $count)");
    record($session, "$session->{database}/sec_keys/$key", $from, runs_of(1, @numbers));
    return;
}

# A call alone, or some in a transaction.
my $prepared = 0;

sub take_step
{
    my ($session) = @_;
    my $draw = sub { try($session, sub { draw_something($session) }) };
    return $draw->() if $session->{quiet} && chance(0.8) || chance(0.5);
    run($session, 'BEGIN') or return;
    my $is_well = 1;
    foreach (1 .. 1 + int rand 3)
    {
        if (chance(0.4))
        {
            run($session, 'SAVEPOINT s') or $is_well = 0;
            last if !$is_well;
            $draw->();
            last if !$session->{dbh};
            run($session, chance(0.6) ? 'ROLLBACK TO s' : 'RELEASE s') or run($session, 'ROLLBACK TO s') or $is_well = 0;
        }
        else { $draw->() or $is_well = 0 }
        last if !$is_well || !$session->{dbh};
    }
    return if !$session->{dbh};
    run($session, 'INSERT INTO kept_rows VALUES (0)') if $is_well && !$session->{quiet} && chance(0.3);
    return if !$session->{dbh};
    end_transaction($session, $is_well);
    run($session, 'DISCARD ALL') && connect_anew($session) if chance(0.01);
    return;
}

# DISCARD ALL has taken the settings.
sub connect_anew
{
    my ($session) = @_;
    eval { $session->{dbh}->disconnect };
    delete $session->{dbh};
    return;
}

sub end_transaction
{
    my ($session, $is_well) = @_;
    my $end = $is_well ? pick('COMMIT', 'COMMIT', 'ROLLBACK', $session->{quiet} ? () : 'PREPARE') : 'ROLLBACK';
    if ($end ne 'PREPARE') { run($session, $end) or $session->{dbh} && run($session, 'ROLLBACK'); return }
    my $name = "'$session->{number}_$session->{seed}_" . ++$prepared . "'";
    if (!run($session, "PREPARE TRANSACTION $name")) { $session->{dbh} && run($session, 'ROLLBACK'); return }
    # Some are left to another round.
    return if chance(0.15);
    run($session, pick('COMMIT', 'ROLLBACK') . " PREPARED $name");
    $session->{counts}{prepared}++;
    return;
}

1;
