# The checking of what sessions drew.
package SnowidChecks;

use strict;
use warnings;

use Exporter 'import';
use SnowidSessions;
use Test::More;

our @EXPORT = qw(check_round check_text_round check_in_turns check_keys take_shards);

# Checks what sessions saw of one shard in one round: each its IDs in increasing order, none of them
# twice, all above `floor`, the greatest ID of the rounds before. Returns how many there were, and
# the greatest.
sub check_round
{
    my ($name, $floor, @sessions) = @_;
    return check_in_order($name, 0, $floor, @sessions);
}

# The same of UUIDs, or of ObjectIDs: their order is that of their text.
sub check_text_round
{
    my ($name, $floor, @sessions) = @_;
    return check_in_order($name, 1, $floor, @sessions);
}

# Draws in open sessions, in turns: each gets a UUID or an ObjectID above all before it, and above the greatest, which it becomes.
sub check_in_turns
{
    my ($name, $call, $greatest, @sessions) = @_;
    my $wrong = 0;
    foreach my $session (@sessions)
    {
        my $id = ask($session, "SELECT $call");
        $wrong++ unless $id =~ /^[0-9a-f-]{24,36}$/ && $id gt $$greatest;
        $$greatest = $id unless $id =~ /ERROR/;
    }
    is($wrong, 0, "$name: above all those of before: $call") or diag("greatest $$greatest");
    return;
}

sub check_in_order
{
    my ($name, $is_text, $floor, @sessions) = @_;
    my @all;
    my $unordered = 0;
    foreach my $session (@sessions)
    {
        my $last = $is_text ? '' : 0;
        foreach my $id (@{ ids($session) })
        {
            $unordered++ if $is_text ? $id le $last : $id <= $last;
            $last = $id;
            push @all, $id;
        }
    }
    @all = $is_text ? sort @all : sort { $a <=> $b } @all;
    my $repeated = grep { $all[$_] eq $all[ $_ - 1 ] } 1 .. $#all;
    my $least = @all ? $all[0] : 'none';
    my $above = !@all || ($is_text ? $least gt $floor : $least > $floor);
    ok($unordered == 0 && $repeated == 0 && $above,
        "$name: in order, none twice, all above those of before")
      or diag("$unordered out of order, $repeated repeated, least $least, floor $floor");
    return (scalar(@all), @all ? $all[-1] : $floor);
}

# Checks what sessions saw of a section's keys. Their lines are a key and a number, or two stamps
# around those: the draw took place between the two. Each key's numbers are in order in each session
# and, where there are stamps, across sessions; none comes twice; all are above `floor`, which is one
# number, or one for each key. Returns how many there were, and the greatest of each key.
sub check_keys
{
    my ($name, $floor, @sessions) = @_;
    my (%drawn, %stamps, %greatest);
    my ($count, $unordered, $repeated, $low) = (0, 0, 0, 0);
    foreach my $session (@sessions)
    {
        my %last;
        foreach my $line (@{ ids($session) })
        {
            my @fields = split /\t/, $line;
            my ($key, $number) = @fields == 4 ? @fields[ 1, 2 ] : @fields;
            $unordered++ if exists $last{$key} && $number <= $last{$key};
            $last{$key} = $number;
            push @{ $drawn{$key} }, $number;
            push @{ $stamps{$key} }, [ $number, @fields[ 0, 3 ] ] if @fields == 4;
            $count++;
        }
    }
    foreach my $key (keys %drawn)
    {
        my @numbers = sort { $a <=> $b } @{ $drawn{$key} };
        $repeated += grep { $numbers[$_] == $numbers[ $_ - 1 ] } 1 .. $#numbers;
        $low++ if $numbers[0] <= (ref $floor ? $floor->{$key} // 0 : $floor);
        $greatest{$key} = $numbers[-1];
        my $begun = 0;
        foreach my $draw (sort { $a->[0] <=> $b->[0] } @{ $stamps{$key} // [] })
        {
            my ($number, $from, $until) = @$draw;
            # Over before a lesser number was begun to be drawn.
            $unordered++ if $until < $begun;
            $begun = $from if $from > $begun;
        }
    }
    ok($unordered == 0 && $repeated == 0 && $low == 0,
        "$name: each key's numbers in order, none twice, all above those of before")
      or diag("$unordered out of order, $repeated repeated, $low keys too low");
    return ($count, \%greatest);
}

# Has a session draw from shards of a layout, one after another, up to the first error. Returns how many served it. One whose
# ID is not above the greatest that the shard has had, which `greatest` has, fails the test.
sub take_shards
{
    my ($session, $layout, $from, $to, $greatest) = @_;
    foreach my $shard ($from .. $to)
    {
        my $id = ask($session, "SELECT snowid_next($shard, '$layout')");
        return $shard - $from unless $id =~ /^\d+$/;
        fail("shard $shard: $id is not above $greatest->{$shard}") if $id <= ($greatest->{$shard} // 0);
        $greatest->{$shard} = $id;
    }
    return $to - $from + 1;
}

1;
