# Other programs that tests run beside servers.
package SnowidPrograms;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(start_program process_of log_of);

# Starts a program that ends with this one, whatever becomes of that. What it prints is added to the log.
sub start_program
{
    my ($log, @command) = @_;
    my $run = IPC::Run::start([ 'setpriv', '--pdeathsig', 'KILL', @command ], '<', \undef, '>>', $log, '2>&1');
    return $run;
}

sub process_of { return $_[0]{KIDS}[0]{PID} }

# The file that a program of this name has its log in, beside those of the servers.
sub log_of { return "$PostgreSQL::Test::Utils::log_path/$_[0].log" }

1;
