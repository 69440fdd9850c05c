# Pages that a test follows to the letter: the statements below a heading, run on the servers that they name.
package SnowidPages;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(section_of blocks_of follow said_in printed_by has_lines messages_of leads_to errcodes);

# What a page says below a heading of any level, up to the next one.
sub section_of
{
    my ($page, $heading) = @_;
    my ($section) = slurp_file($page) =~ /^#+ \Q$heading\E\n(.*?)(?=^#+ |\z)/ms;
    die "$page has no section \"$heading\"" unless defined $section;
    return $section;
}

# The blocks of code below a heading, in order.
sub blocks_of
{
    my ($page, $heading) = @_;
    my (@blocks, $section);
    $section = section_of($page, $heading);
    while ($section =~ /^( *)```(?:sql)?\n(.*?)^\1```$/msg)
    {
        my ($indent, $block) = ($1, $2);
        push @blocks, $block =~ s/^$indent//mgr;
    }
    return @blocks;
}

# Runs a block on a server, and checks that it gives what it is said to give. The first line says where: "-- on", and
# what the test expects there. Options: those of attempt(); here, a function that puts what the test has in place of
# names and passwords.
sub follow
{
    my ($node, $where, $block, %options) = @_;
    my ($named, $title) = $block =~ /\A(?:-- on (.*)\n)?(.*)$/m;
    is($named // '', $where, "on $where: $title");
    my $sql = $options{here} ? $options{here}->($block) : $block;
    my @lines = split /\n/, attempt($node, $sql, %options);
    is(join("\n", grep { length } @lines), join("\n", $block =~ /^--> (.*)$/mg), "on $where, the results of: $title");
    return;
}

# A statement that stands in the text of a section, as code.
sub said_in
{
    my ($page, $heading, $statement) = @_;
    my $section = section_of($page, $heading) =~ s/\s+/ /gr;
    ok(index($section, "`$statement`") >= 0, "$heading: the page has $statement");
    return $statement;
}

# What a statement prints, in a session of its own, that is no result: with SQLSTATEs.
sub printed_by
{
    my ($node, $dbname, $sql) = @_;
    return ($node->psql($dbname, "\\set VERBOSITY verbose\n$sql"))[2] =~ s/^psql:<stdin>:\d+: //mgr;
}

# Checks that what was printed has all lines of a section's blocks that begin so, numbers aside.
sub has_lines
{
    my ($page, $heading, $lines, $printed) = @_;
    my @lines = grep { /^(?:$lines):  / } map { split /\n/ } blocks_of($page, $heading);
    cmp_ok(scalar(@lines), '>', 0, "$heading: messages");
    foreach my $line (@lines)
    {
        my $pattern = quotemeta($line) =~ s/\d+/[\\d.]+/gr;
        like($printed, qr/^(?:.* )?$pattern$/m, "$heading: $line");
    }
    return;
}

# The runbook's table of messages: of each, its text, in which "…" stands for anything, its SQLSTATEs or severity, and the entry.
sub messages_of
{
    my ($page) = @_;
    my @messages;
    my %rows = section_of($page, 'Runbook') =~ /^\|([^|]*)\|([^|]*)\|$/mg;
    foreach my $row (sort keys %rows)
    {
        foreach my $part (split /; /, $row)
        {
            my ($codes, $texts) = $part =~ /^([^`]*), (`.*)$/ or next;
            push @messages, map { { text => $_, codes => [ split /, /, $codes ], entry => $rows{$row} } } $texts =~ /`([^`]*)`/g;
        }
    }
    return @messages;
}

# Checks that the errors and warnings that were printed, with their SQLSTATEs, are in that table, and lead to an entry.
sub leads_to
{
    my ($page, $heading, $printed) = @_;
    my $anchor = lc($heading) =~ s/[^\w\- ]//gr =~ tr/ /-/r;
    my @printed = $printed =~ /^(?:.* )?((?:ERROR|FATAL|WARNING|PANIC):  .*)$/mg;
    cmp_ok(scalar(@printed), '>', 0, "$heading: messages");
    foreach my $line (@printed)
    {
        my ($severity, $code, $text) = $line =~ /^(\w+):  (?:(\w{5}): )?(.*)$/;
        my @found = grep {
            my $message = $_;
            my $pattern = join '.+', map { quotemeta } split /…/, $message->{text}, -1;
            $text =~ /^$pattern/ && grep { $_ eq $severity || $_ eq ($code // '') } @{ $message->{codes} }
        } messages_of($page);
        ok((grep { $_->{entry} =~ /#$anchor\)/ } @found), "$heading: found by $line");
    }
    return;
}

# SQLSTATEs by the names that C has for them; snowid's own, too.
sub errcodes
{
    my $codes = slurp_file(`$ENV{PG_CONFIG} --sharedir` =~ s/\n//r . '/errcodes.txt');
    return (kClockBehind => 'SN001', map { /^(\w{5})\s+\w\s+(ERRCODE_\w+)/ ? ($2 => $1) : () } split /\n/, $codes);
}

1;
