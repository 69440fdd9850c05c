# A fuzzer of all functions of the extension: eight sessions of three roles call them with arguments of all sorts, in
# transactions that are rolled back, cancelled and prepared, while the extension itself comes and goes. It fails where a
# backend crashes, an error says of a fault, a statement does not heed a cancel, or a number comes twice. In rounds; the
# arguments: seconds, seed, and a directory for what is left to be read.

use strict;
use warnings;

use CallsCatalog;
use CallsRound;
use CallsStatements;
use DBI;
use File::Path qw(make_path remove_tree);
use POSIX ();
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

use constant { ROUND => 60, MOST_FAILED => 12 };

my ($seconds, $seed, $output) = @ARGV;
my ($begun, $told) = (time, time);
my (%counts, %kinds, @all);
my %sum = map { $_ => 0 } qw(statements errors drawn);

my $node = new_server('fuzz');
prepare_server($node);

my ($number, $failed) = (0, 0);
while ($number == 0 || time < $begun + $seconds - 5 && $failed < MOST_FAILED)
{
    $number++;
    my $dir = "$output/round-$number";
    make_path($dir);
    # The first of three goes without what excuses errors; in the last IDs may be far ahead.
    my $kind = ($number - 1) % 3;
    my $left = $begun + $seconds - time;
    my $ok = run_round(
        node => $node,
        number => $number,
        seed => $seed * 1000 + $number,
        dir => $dir,
        sessions => 0,
        upheaval => $kind != 0,
        wild => $kind == 2,
        mode => $number % 2 ? 'fast' : 'immediate',
        seconds => $left < 1.7 * ROUND ? ($left < 5 ? 5 : $left) : ROUND,
        progress => sub { tell_progress($dir) });
    add_up($dir);
    if ($ok) { remove_tree($dir) }
    else
    {
        $failed++;
        note("$dir has what was run");
        go_on($node);
    }
}
judge_all();

# Has a server that is gone come back, or another take its place.
sub go_on
{
    my ($server) = @_;
    return if eval {
        DBI->connect($server->connstr('postgres') =~ s/^/dbi:Pg:/r =~ s/ /;/gr,
            undef, undef, { RaiseError => 1, PrintError => 0 })->disconnect;
        1;
    };
    $server->stop('immediate', fail_ok => 1);
    $server->_update_pid(0);
    $server->start;
    return;
}

# A line each half minute.
sub tell_progress
{
    my ($dir) = @_;
    return if time < $told + 30;
    $told = time;
    my %now = %sum;
    add_progress(\%now, $dir);
    note(
        sprintf '%4d s: round %d, %d statements, %d errors, %d numbers',
        time - $begun,
        $number, @now{qw(statements errors drawn)});
    return;
}

sub add_progress
{
    my ($sum, $dir) = @_;
    foreach my $file (glob "$dir/progress.[0-9]*")
    {
        next if $file =~ /new$/;
        my @counts = split ' ', slurp_file($file);
        $sum->{$_} += shift(@counts) // 0 foreach qw(statements errors drawn);
    }
    return;
}

# Adds a round's counts to those of all.
sub add_up
{
    my ($dir) = @_;
    add_progress(\%sum, $dir);
    foreach my $file (glob "$dir/counts.*")
    {
        foreach (split /\n/, slurp_file($file))
        {
            my ($signature, $role, $state, $count) = split /\t/;
            $counts{$signature}{$role}{$state} += $count;
        }
    }
    foreach my $file (glob "$dir/ids.*")
    {
        open my $in, '<', $file or die $!;
        while (<$in>) { $kinds{$1}++ if /^(\w+)/ }
        close $in;
    }
    return;
}

# The counts of calls by function and role, of those that succeeded, and the errors of the others.
sub write_counts
{
    open my $out, '>', "$output/counts" or die $!;
    foreach my $signature (sort keys %counts)
    {
        print $out "$signature\n";
        foreach my $role (sort keys %{ $counts{$signature} })
        {
            my %states = %{ $counts{$signature}{$role} };
            my $calls = 0;
            $calls += $_ foreach values %states;
            my @errors =
              map { "$_ $states{$_}" } sort { $states{$b} <=> $states{$a} } grep { $_ ne '00000' } keys %states;
            printf $out "  %-10s %7d calls, %7d ok; %s\n", $role, $calls, $states{'00000'} // 0, join(', ', @errors);
        }
    }
    close $out or die $!;
    return;
}

# What is looked at once, in the end.
sub judge_all
{
    write_counts();
    my $database = 'fuzz_last';
    # A round that ended in a crash has left its settings.
    $node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
    $node->restart;
    $node->safe_psql('postgres', "CREATE DATABASE $database");
    $node->safe_psql($database, 'CREATE EXTENSION snowid');
    my $dbh = DBI->connect($node->connstr($database) =~ s/^/dbi:Pg:/r =~ s/ /;/gr, undef, undef, { RaiseError => 1 });
    my $functions = functions_of($dbh);
    $dbh->disconnect;
    my @missed;

    foreach my $function (@$functions)
    {
        my $called = $counts{ $function->{signature} };
        push @missed, map { "$function->{signature} by $_" } grep { !$called->{$_} } qw(connect tables owner superuser);
    }
    # A short run may not get to all of them.
    my $enough = $seconds >= 300 && !$failed;
    is($enough ? join(', ', @missed) : '', '', "of " . @$functions . ' functions every one was called by each role');
    note('not yet called: ', join(', ', @missed)) if @missed && !$enough;
    my @none = grep { !$kinds{$_} } @KINDS;
    is("@none", '', 'numbers of every kind were kept: ' . join(', ', map { "$kinds{$_} $_" } sort keys %kinds));
    ok(regress('next'), 'the regression test next passes');
    ok($node->stop('fast', fail_ok => 1), 'the server stops');
    note("$sum{statements} statements, $sum{errors} errors");
    done_testing();
    return;
}

# Whether a regression test passes on this server.
sub regress
{
    my ($test) = @_;
    local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'postgres');
    my $log = "$output/regress.log";
    return 1
      if system("make installcheck PG_CONFIG='$ENV{PG_CONFIG}' ISOLATION= REGRESS='setup extension $test' >'$log' 2>&1")
      == 0;
    diag(slurp_file($log));
    return 0;
}
