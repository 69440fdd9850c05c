# Clients that write to a cluster whatever happens to its servers: they connect to the one that takes writes,
# and again when it has gone. Not part of Snowid: the tests of engines use it.
package SnowidWriters;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowidServers;
use Test::More;

our @EXPORT = qw(start_writers given_to wait_for_writes stop_writers let_go conflicts);

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

# Has them not begin anew.
sub let_go
{
    my (@writers) = @_;
    unlink map { "$_->{dir}/go" } @writers;
    return;
}

# How often they were told that a row with such an ID is there already.
sub conflicts { return scalar(() = join('', map { slurp_file("$_->{file}.err") } @_) =~ /duplicate key/g) }

1;
