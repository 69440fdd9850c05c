# Clients that write to a cluster whatever happens to its servers: they connect to the one that takes writes,
# and again when it has gone. Not part of Snowid: the tests of engines use it.
package SnowidWriters;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowidServers;
use SnowidSessions;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw(start_writers given_to wait_for_writes stop_writers let_go check_writers
  check_no_conflict draw_again);

my $writers = 0;

# Starts clients that insert rows into a table with a column id, in transactions of a few rows. Each notes the
# IDs that it is given, and then, where it is told so, that they are committed.
sub start_writers
{
    my ($count, $connection, $table) = @_;
    my $dir = PostgreSQL::Test::Utils::tempdir();
    append_to_file("$dir/transactions", <<"SQL" x 200);
\\echo begun
BEGIN;
INSERT INTO $table SELECT FROM generate_series(1, 5) RETURNING id;
SELECT FROM pg_sleep(0.002);
COMMIT;
\\echo committed
SQL
    append_to_file("$dir/go", '');
    my $loop = 'while [ -e "$1/go" ]; do psql -XAtq -v ON_ERROR_STOP=1 -f "$1/transactions" "$2" || sleep 0.1; done';
    my @started;
    foreach (1 .. $count)
    {
        my $file = "$dir/given" . $writers++;
        my $run = IPC::Run::start([ 'sh', '-c', $loop, 'writer', $dir, $connection ],
            '<', \undef, '>', $file, '2>', "$file.err");
        push @started, { run => $run, file => $file, dir => $dir };
    }
    return @started;
}

# What a writer was given: pairs of an ID and of whether its commit was confirmed.
sub given_to
{
    my ($writer) = @_;
    my (@given, @open);
    foreach my $line (split /^/, slurp_file($writer->{file}))
    {
        if ($line =~ /^(\d+)\n$/)
        {
            push @open, $1;
        }
        elsif ($line eq "committed\n" || $line eq "begun\n")
        {
            # What is open when the next one begins is of a transaction of which no more was heard.
            my $is_confirmed = $line eq "committed\n" ? 1 : 0;
            push @given, map { [ $_, $is_confirmed ] } splice @open;
        }
    }
    push @given, map { [ $_, 0 ] } @open;
    return @given;
}

# Waits until each writer has had so many more transactions confirmed.
sub wait_for_writes
{
    my ($transactions, @writers) = @_;
    my $confirmed = sub { scalar(() = slurp_file($_[0]{file}) =~ /^committed$/mg) };
    my %before = map { $_->{file} => $confirmed->($_) } @writers;
    wait_for(
        sub { !grep { $confirmed->($_) < $before{ $_->{file} } + $transactions } @writers },
        'the writers to write');
    return;
}

# Has them come to an end, each after its transactions, or when its server goes.
sub stop_writers
{
    my (@writers) = @_;
    let_go(@writers);
    $_->{run}->finish foreach @writers;
    return;
}

# Has them not begin again.
sub let_go
{
    my (@writers) = @_;
    unlink map { "$_->{dir}/go" } @writers;
    return;
}

# Checks that writers were given no ID twice, and that every row is there, as `ask` runs a statement, whose commit
# was confirmed.
sub check_writers
{
    my ($name, $ask, $table, @writers) = @_;
    my (%times, @confirmed);
    foreach my $given (map { given_to($_) } @writers)
    {
        my ($id, $is_confirmed) = @$given;
        $times{$id}++;
        push @confirmed, $id if $is_confirmed;
    }
    my $lost = keys(%times) - @confirmed;
    is(scalar(grep { $times{$_} > 1 } keys %times), 0,
        "$name: none of " . keys(%times) . " IDs was given twice, $lost of which no commit was heard of");
    my $list = join ',', @confirmed;
    is($ask->("SELECT count(*) FROM $table WHERE id = ANY ('{$list}')"), scalar(@confirmed),
        "$name: every row is there whose commit was confirmed");
    check_no_conflict($name, @writers);
    return;
}

# Checks that nobody was told that a row with his ID is there already.
sub check_no_conflict
{
    my ($name, @writers) = @_;
    is(scalar(grep { slurp_file("$_->{file}.err") =~ /duplicate key/ } @writers), 0, "$name: nobody met a row with his ID");
    return;
}

# Has a server that has taken over, and was asked for no ID yet, draw 2.5 s' worth of them with a clock that is as
# far behind the ceiling that it came to know, which is 2.4 s at most above what was given: if it went by
# anything else, it would give that again. Sets its clock right then. Returns those that had been given before.
sub draw_again
{
    my ($name, $node, $shard, $ceiling, $before, %options) = @_;
    set_clock($ceiling / 1000 - 2.5 - time, $node);
    my $session = draw($node, "snowid_next_batch($shard, 2500000)", 1, %options, setup => "SET snowid.max_lead = '1min'");
    finish($session);
    set_clock(0, $node);
    my %given = map { $_ => 1 } @$before;
    my ($count, @repeated) = (0);
    open my $file, '<', $session->{file} or die "$session->{file}: $!";
    while (my $id = <$file>)
    {
        chomp $id;
        $count++;
        push @repeated, $id if $given{$id};
    }
    is($count, 2_500_000, "$name: who has taken over draws") or diag(errors_of($session));
    return @repeated;
}

1;
