# Databases that may have few segments and sections, or few keys, so that a test meets the bounds.
package SnowidCounters;

use strict;
use warnings;

use Exporter 'import';
use SnowidLibrary;
use SnowidServers;
use SnowidSessions;

our @EXPORT = qw(few_counters next_of draws one_by_one draw_by_eight);

# A server with databases of which each may have 4 segments and sections, all together 16, and sequences c1 to c6.
sub few_counters
{
    my (@databases) = @_;
    my $node = ready_server('few', sql => join '; ', 'CREATE ROLE mallory LOGIN', map { "CREATE DATABASE $_" } @databases);
    foreach my $dbname (@databases)
    {
        $node->safe_psql($dbname, join '; ', 'CREATE EXTENSION snowid', (map { "CREATE SEQUENCE c$_ INCREMENT 100" } 1 .. 6),
            'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO PUBLIC');
        lower_bounds($node, $dbname, max_counters => 16, max_counters_of_database => 4);
    }
    # So that nothing is left of the other library.
    $node->restart;
    return $node;
}

# The call for the next number of a sequence, by whether it is a segment or a section.
sub next_of { my ($kind, $sequence) = @_; return $kind eq 'segment' ? "snowid_segment_next('$sequence')" : "snowid_section_next('$sequence', 7)" }

# What a session gets from counters, of which each other one is a section.
sub draws
{
    my ($session, @counters) = @_;
    return join ' ', map { ask($session, 'SELECT ' . next_of($_ % 2 ? 'segment' : 'section', "c$_")) } @counters;
}

# Has a session allocate one block at a time.
sub one_by_one { return 'SET snowid.segment_adapt = off' }

# Starts eight sessions that draw from a segment, four of them in batches of 100; so many numbers each, or slowly until they
# are ended.
sub draw_by_eight
{
    my ($node, $sequence, $numbers, %options) = @_;
    return map {
        (draw($node, "snowid_segment_next('$sequence')", $numbers, ($numbers ? () : (pause_every => 64)), %options),
            draw($node, "snowid_segment_batch('$sequence', 100)", $numbers && $numbers / 100, ($numbers ? () : (pause_every => 1)), %options))
    } 1 .. 4;
}

1;
