# Databases that may have few segments and sections, or few keys, so that a test meets the bounds.
package SnowidCounters;

use strict;
use warnings;

use Exporter 'import';
use Fcntl;
use File::Spec;
use PostgreSQL::Test::Utils;
use SnowidLibrary;
use SnowidRun;
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(few_counters few_keys make_sections fill_sections known_in sum_of check_order next_of draws one_by_one draw_by_eight make_numbers make_counted full_server);

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

# A server whose sections have at most 1,000 keys, a database 50,000, the server 200,000; and at least 100 a section. Its databases have
# 60 sections each, s1 to s60.
sub few_keys
{
    my (@databases) = @_;
    my $node = ready_server('keys', conf => "snowid.section_keys = 1000\n");
    make_sections($node, $_) foreach @databases;
    # So that nothing is left of the other library.
    $node->restart;
    return $node;
}

sub make_sections
{
    my ($node, $dbname) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    lower_bounds($node, $dbname, least_section_keys => 1000);
    $node->safe_psql($dbname, join '; ', 'CREATE TABLE drawn (section int, key int, number bigint)', map { "CREATE SEQUENCE s$_ INCREMENT 100000" } 1 .. 60);
    return;
}

# Has each of these sections give a number to each of its keys, in a session that is open, or in one of its own: [node, database].
sub fill_sections
{
    my ($session, @sections) = @_;
    my @sql = map { "INSERT INTO drawn SELECT $_, k, snowid_section_next('s$_', k) FROM generate_series(1, 1000) k" } @sections;
    if (ref $session eq 'ARRAY') { $session->[0]->safe_psql($session->[1], join ';', @sql) }
    else { ask($session, join ';', @sql) }
    return;
}

# How many keys of each section memory knows; and of all.
sub known_in
{
    my ($node, $dbname) = @_;
    return split /\n/, $node->safe_psql($dbname, join ';', map { "SELECT count(snowid_section_current('s$_', k)) FROM generate_series(1, 1000) k" } 1 .. 60);
}

sub sum_of { my $sum = 0; $sum += $_ foreach @_; return $sum }

# Checks that each key's numbers came in the order in which they are kept.
sub check_order
{
    my ($name, $node, @databases) = @_;
    is($node->safe_psql($_, <<'SQL'), 0, "$name: each key's numbers increase: $_") foreach @databases;
SELECT count(*) FROM (SELECT number <= lag(number) OVER (PARTITION BY section, key ORDER BY ctid) AS is_wrong FROM drawn) AS n WHERE is_wrong
SQL
    return;
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

# Makes the sequence `numbers` again, of which these sessions have drawn 15: 85 are left of its first block, and the second one,
# from 101 on, has been allocated. Returns what draws from it, whatever its name.
sub make_numbers
{
    my (@sessions) = @_;
    ask($sessions[0], <<'SQL');
SET client_min_messages = error;
DROP SEQUENCE IF EXISTS numbers, elsewhere.numbers, numerals CASCADE;
DROP TABLE IF EXISTS rows;
CREATE TABLE rows (id bigint);
CREATE SEQUENCE numbers INCREMENT 100 OWNED BY rows.id;
SQL
    my @drawn = map { ask($sessions[ $_ % @sessions ], q(SELECT snowid_segment_next('numbers'))) } 0 .. 14;
    die "drew @drawn" if "@drawn" ne "@{[1 .. 15]}";
    return 'SELECT snowid_segment_next(' . ask($sessions[0], q(SELECT 'numbers'::regclass::oid)) . ')';
}

# Makes the section `counted` again, and has each session draw so many numbers of key 1, and one of key 2.
sub make_counted
{
    my ($draws, @sessions) = @_;
    ask($sessions[0], <<'SQL');
SET client_min_messages = error;
DROP SEQUENCE IF EXISTS counted CASCADE;
DROP TABLE IF EXISTS owner;
CREATE TABLE owner (id bigint);
CREATE SEQUENCE counted INCREMENT 100 MINVALUE -1000 START 1 OWNED BY owner.id;
SQL
    my $drawn = join ' ', map { ask($_, "SELECT max(snowid_section_next('counted', 1)), snowid_section_next('counted', 2) FROM generate_series(1, $draws)") } @sessions;
    die "drew $drawn" if $drawn ne join ' ', map { $_ * $draws . "|$_" } 1 .. @sessions;
    return;
}

# A server that is refused shared memory as test/modules/shared_full says, by files in a directory. Returns it, and what sets the errno with which
# it is refused, if any.
sub full_server
{
    my ($dir, $sql) = @_;
    # The server's user must be able to create segments. Elsewhere initdb selects another type of shared memory.
    my $segment = "/dev/shm/snowid.$$";
    sysopen my $file, $segment, O_RDWR | O_CREAT | O_EXCL
      or die "Cannot create files in /dev/shm: $!. Mount a tmpfs there with mode 1777.\n";
    unlink $segment;
    my $node = new_server('full');
    $node->append_conf('postgresql.conf', "dynamic_shared_memory_type = posix\n");
    {
        local %ENV = (%ENV, LD_PRELOAD => preload_library("shared_full"), SNOWID_SHARED_FULL => File::Spec->rel2abs($dir));
        $node->start;
    }
    $node->safe_psql('postgres', "CREATE EXTENSION snowid; $sql");
    return ($node, sub { my ($errno) = @_; unlink "$dir/refuse"; append_to_file("$dir/refuse", $errno) if $errno; return });
}

1;
