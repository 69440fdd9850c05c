# Programs that a test runs. PostgreSQL's modules do that by IPC::Run, which takes several times as long as psql does for a
# statement, and the tests run psql tens of thousands of times. Of what IPC::Run offers they need little: so its run() is
# replaced here where a call is a command, its input, and what takes its output.
package SnowidRun;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Utils;

our @EXPORT = qw(start_program);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $run = \&IPC::Run::run;

# Starts a program, whose standard input, output and errors are these handles, or the test's own.
sub start_program
{
    my ($command, @handles) = @_;
    my $pid = fork // die "fork: $!";
    return bless { pid => $pid } if $pid;
    POSIX::dup2(fileno $handles[$_], $_) foreach grep { $handles[$_] } 0 .. 2;
    # The test's end is no matter of this process.
    no warnings 'exec';
    exec { $command->[0] } @$command or POSIX::_exit(127);
}

# Waits until it has ended. Returns whether that was with status 0.
sub finish
{
    my ($program) = @_;
    waitpid $program->{pid}, 0 or die 'waited for twice' if !defined $program->{status};
    $program->{status} //= $?;
    $? = $program->{status};
    return $? == 0;
}

# The command, its input, what takes its output and errors, and the seconds that it may take, of a call that is as plain
# as that; else nothing.
sub plain
{
    my ($command, @rest) = @_;
    return if ref $command ne 'ARRAY' || grep { ref } @$command;
    my $seconds = UNIVERSAL::isa($rest[-1], 'IPC::Run::Timer') ? (pop @rest)->interval : 0;
    my %to = @rest % 2 ? (other => 1) : @rest;
    return if grep { !/^(?:<|2?>)$/ || ref $to{$_} ne 'SCALAR' } keys %to;
    return ($command, @to{qw(< > 2>)}, $seconds);
}

# A new file with these contents.
sub scratch_file
{
    my ($name, $contents) = @_;
    open my $file, '+>', "$scratch/$name.$$" or die "$scratch/$name.$$: $!";
    unlink "$scratch/$name.$$";
    syswrite $file, $contents if defined $contents;
    sysseek $file, 0, 0;
    return $file;
}

sub run_plainly
{
    my ($command, $in, $out, $err, $seconds) = @_;
    my $input = $in && scratch_file('in', $$in);
    my ($output, $errors) = map { $_ && scratch_file('out') } $out, $err;
    my $program = start_program($command, $input, $output, $errors);
    local $SIG{ALRM} = sub { kill 'TERM', $program->{pid}; die "@$command took more than $seconds s" };
    alarm $seconds;
    finish($program);
    alarm 0;
    my $status = $?;
    foreach ([ $output, $out ], [ $errors, $err ])
    {
        my ($file, $to) = @$_;
        next unless $to;
        seek $file, 0, 0;
        local $/;
        $$to = <$file> // '';
    }
    $? = $status;
    return $status == 0;
}

{
    no warnings 'redefine';
    *IPC::Run::run = sub {
        my @plain = plain(@_);
        return @plain ? run_plainly(@plain) : $run->(@_);
    };
}

1;
