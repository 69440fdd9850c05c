# What a run of SQLsmith shows: CALLS, a line "function|calls" for each of the extension's functions; the server's first
# log; and its logs as JSON. Prints TAP.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../fuzz/calls";
use CallsJudging qw(faults_of_log);
use JSON::PP;
use Test::More;

# PostgreSQL's own errors with SQLSTATE XX000, each with the function that reports it in a file of PostgreSQL's, and
# why it is none of the extension's.
my @known = (
);

my ($calls, $first_log, @logs) = @ARGV;

sub is_known
{
    my ($entry) = @_;
    return 0 if $entry->{state_code} ne 'XX000' || ($entry->{file_name} // '') !~ /\.c\z/;
    return !!grep { $entry->{message} =~ /\A$_->[0]\z/ && $entry->{func_name} eq $_->[1] } @known;
}

my ($errors, %states, %known_count, %internal, @faults) = (0);
foreach my $log (@logs)
{
    open my $in, '<', $log or die "$log: $!";
    while (my $line = <$in>)
    {
        my $entry = eval { decode_json($line) } or next;
        my $severity = $entry->{error_severity};
        push @faults, faults_of_log("$severity: $entry->{message}\n" . ($entry->{detail} // ''));
        next if !defined $entry->{state_code} || $severity !~ /\A(?:ERROR|FATAL|PANIC|WARNING)\z/;
        $errors++ if $severity eq 'ERROR';
        $states{ $entry->{state_code} }++;
        next if $entry->{state_code} !~ /^XX/;
        my $place = ($entry->{func_name} // '?') . ', ' . ($entry->{file_name} // '?');
        if (is_known($entry)) { $known_count{$place}++; next }
        my $name = "$severity:  $entry->{state_code}: $entry->{message} ($place)";
        $internal{ $name =~ s/\d+/N/gr } //= "$name\n" . ($entry->{context} // '') . "\n" . ($entry->{statement} // '');
    }
    close $in;
}
open my $in, '<', $first_log or die "$first_log: $!";
push @faults, faults_of_log(do { local $/; <$in> });
close $in;

open $in, '<', $calls or die "$calls: $!";
my %calls = map { chomp; split /\|/ } <$in>;
close $in;
my $called = grep { $calls{$_} > 0 } keys %calls;
my $all = 0;
$all += $_ foreach values %calls;

note("$errors errors: ", join ', ', map { "$_ $states{$_}" } sort { $states{$b} <=> $states{$a} } keys %states);
note("known: $_ $known_count{$_}") foreach sort keys %known_count;
note("$all calls of $called of the extension's ", scalar keys %calls, ' functions');

is(join('', @faults), '', 'no crash');
is(join("\n\n", map { substr $_, 0, 4000 } values %internal), '', 'no internal error');
cmp_ok($called, '>=', 20, "the extension's functions were called");
done_testing();
