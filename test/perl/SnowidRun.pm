# Programs that a test runs. The tests run psql tens of thousands of times, mostly for a statement, which takes a quarter of
# the time that goes to IPC::Run, as PostgreSQL's modules have it, and to loading psql. So IPC::Run::run() is replaced here
# where a call is a command, its input, and what takes its output; and psql is loaded once, and forked for each run
# (test/modules/again).
package SnowidRun;

use strict;
use warnings;

use Errno qw(EINTR);
use Exporter 'import';
use Fcntl qw(:flock);
use File::Spec;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Utils;

our @EXPORT = qw(start_program preload_library);

my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $run = \&IPC::Run::run;

# Programs that are loaded, by what they were loaded with.
my %loaded;

# A library of test/modules that is to be preloaded. All tests of a run share it, where SNOWID_LIBRARIES names a directory:
# who finds it locked waits until another test has built it.
my $libraries = File::Spec->rel2abs($ENV{SNOWID_LIBRARIES} // $scratch);
my $modules = File::Spec->rel2abs('test/modules');

sub preload_library
{
    my ($name) = @_;
    my $library = "$libraries/$name.so";
    return $library if -e $library;
    open my $lock, '>', "$library.lock" or die "$library.lock: $!";
    flock $lock, LOCK_EX or die "$library.lock: $!";
    return $library if -e $library;
    system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', "$library.new", "$modules/$name/$name.c", '-ldl');
    rename "$library.new", $library or die "$library: $!";
    return $library;
}

# Starts a program, whose standard input, output and errors are these handles, or the test's own.
sub start_program
{
    my ($command, @handles) = @_;
    my $again = $command->[0] =~ m{(?:^|/)psql$} ? run_again($command, @handles) : 0;
    return bless { pid => $again } if $again > 0;
    my $pid = fork // die "fork: $!";
    return bless { pid => $pid } if $pid;
    POSIX::dup2(fileno $handles[$_], $_) foreach grep { $handles[$_] } 0 .. 2;
    # The test's end is no matter of this process.
    no warnings 'exec';
    exec { $command->[0] } @$command or POSIX::_exit(127);
}

# The same of a program that is loaded already, or loads it. Returns its process; 0 where it cannot be run like that, as
# where the one that is loaded has ended.
sub run_again
{
    my ($command, @handles) = @_;
    # One of another installation has another PATH. A process that a test has forked has its own.
    my $key = "$$ $command->[0] $ENV{PATH}";
    my $loaded = $loaded{$key} //= load($command->[0]);
    my @files = map { "/proc/$$/fd/" . ($handles[$_] ? fileno $handles[$_] : $_) } 0 .. 2;
    my $request = join '', map { "$_\0" } "/proc/$$/cwd", @files, scalar(@$command), @$command, map { "$_=" . ($ENV{$_} // '') } keys %ENV;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $loaded->{to}, pack('l', length $request) . $request;
    my ($answer, $length);
    do { $length = sysread $loaded->{from}, $answer, 4 } while !defined $length && $! == EINTR;
    my $process = $length ? unpack 'l', $answer : 0;
    delete $loaded{$key} if $process <= 0;
    return $process;
}

sub load
{
    my ($program) = @_;
    local $ENV{LD_PRELOAD} = preload_library('again');
    pipe my $in, my $to or die "pipe: $!";
    pipe my $from, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    return { to => $to, from => $from } if $pid;
    POSIX::dup2(fileno $in, 0);
    POSIX::dup2(fileno $out, 1);
    exec { $program } $program or POSIX::_exit(127);
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
