# What must not be: what a session's error, a warning, or the server's log says of it; and numbers that came twice.
package CallsJudging;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(is_expected is_leak faults_of_log repeated);

# Errors of PostgreSQL's own with SQLSTATE XX000: the message; the function that reports it, in one of its own files;
# whether it may come only where the extension is dropped meanwhile; what the statement begins with, if that matters;
# and, above each, why it is none of the extension's.
my @expected = (
    # A query keeps no lock on functions and types that it names. So they may be gone when they are looked up again, by
    # planner and executor, and for the parameters of EXECUTE.
    [ qr/cache lookup failed for (?:type|function|operator|opclass) \d+/, qr/\w+/, 1 ],
    # Two sessions change the rights, or the definition, of one object: the catalogs' rows are not waited for.
    [ qr/tuple concurrently (?:updated|deleted)/, qr/simple_heap_(?:update|delete)/, 0 ],
    # A check drops a partition of the table that a statement of PostgreSQL's own is about to write to.
    [ qr/could not open relation with OID \d+/, qr/relation_open/, 0, qr/\A(?:INSERT|DELETE|TRUNCATE|ALTER)\b/ ],
    # A value of a table's row type is read while the table is dropped.
    [ qr/could not open relation with OID \d+/, qr/relation_open/, 1, qr/::snowid_internal[.]nodes\b/ ],
);

# Whether an error is none that says of a fault: SQLSTATE; the whole message, with the place that reports it; the
# statement; whether the extension is dropped meanwhile.
sub is_expected
{
    my ($state, $message, $sql, $upheaval) = @_;
    return 1 if $state !~ /^XX/;
    my ($function) = $message =~ /^LOCATION:\s+(\w+), \w+[.]c:\d+$/m;
    return 0 if $state ne 'XX000' || !defined $function;
    foreach my $known (@expected)
    {
        my ($text, $reporter, $needs_upheaval, $statement) = @$known;
        next if $needs_upheaval && !$upheaval || $statement && $sql !~ $statement;
        return 1 if $message =~ /\A\w+:  XX000: $text$/m && $function =~ /\A$reporter\z/;
    }
    return 0;
}

sub is_leak
{
    my ($text) = @_;
    return $text =~
/leak:|resource was not closed|is not owned by resource owner|you don't own a lock|WARNING:.* while in \w+ state|buffers available/;
}

# The lines of a log that say that a process has crashed, in what, failed an assertion or left something behind.
sub faults_of_log
{
    my ($text) = @_;
    return grep {
        /terminated by signal|Failed process was running|TRAP:|PANIC:|stuck spinlock|exited with exit code [^01]\b/
          || is_leak($_)
    } split /^/, $text;
}

# The lines that are more than once in files, of all of them, ten at most; and how many lines there are in all.
sub repeated
{
    my (@files) = @_;
    my $count = 0;
    foreach my $file (@files)
    {
        open my $in, '<', $file or die "$file: $!";
        while (<$in>) { $count++ }
        close $in;
    }
    local $ENV{LC_ALL} = 'C';
    my @twice;
    open my $sorted, '-|', 'sh', '-c', 'sort -S 200M "$@" | uniq -d', 'sh', @files or die "sort: $!";
    while (<$sorted>) { chomp; push @twice, $_ if @twice < 10 }
    close $sorted or die 'sort failed';
    return ($count, @twice);
}

1;
