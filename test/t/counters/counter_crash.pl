# A block of a segment, and a section's limit, are durable before the first number of theirs is seen: after a crash numbers go
# on above them. An unlogged sequence begins again, as it does for nextval.

use Snowid;

# WAL is written out for those alone who ask for it.
my $node = ready_server('crash', conf => "wal_writer_delay = 10s\nsnowid.segment_adapt = off\n", sql => <<'SQL');
CREATE SEQUENCE steady INCREMENT 1000;
CREATE SEQUENCE tight INCREMENT 10;
CREATE SEQUENCE single;
CREATE UNLOGGED SEQUENCE unlogged INCREMENT 1000;
SQL
my $next = q(SELECT snowid_segment_next('steady'));
my $session = open_session($node);

sub crash_and_ask
{
    my ($how, $sql) = @_;
    crash_and_start($node, $how);
    close_session($session);
    $session = open_session($node);
    return ask($session, $sql);
}

# Segments.
is(ask($session, $next), 1, 'a first number');
is(crash_and_ask('kill', $next), 1001, 'then the next block');
ask($session, q(SELECT count(*) FROM snowid_segment_batch('steady', 500)));
is(crash_and_ask('kill', $next), 3001, 'the block after the two that were allocated');
# What nextval logs is ahead of what the page says: here by a bit above the 16 that else change.
ask($session, "SELECT setval('steady', 57001)");
ask($session, "SELECT nextval('steady'); $next") foreach 1 .. 3;
is(last_value($node, 'steady'), 63001, 'nextval and blocks by turns');
is(crash_and_ask('kill', $next), 64001, 'then the next block');
my $unlogged = q(SELECT snowid_segment_next('unlogged'));
is(ask($session, $unlogged), 1, 'unlogged');
is(crash_and_ask('kill', $unlogged), 1, 'begins again');
$node->restart;
is(attempt($node, $unlogged), 1001, 'but not after a restart');

# Sections: just after the limit is raised, and further on.
foreach my $case ([ 1, 'kill' ], [ 11, 'kill' ], [ 26, 'immediate' ])
{
    my ($count, $how) = @$case;
    $session = open_session($node);
    my %seen = map { $_ => ask($session, "SELECT max(snowid_section_next('$_', 7)) FROM generate_series(1, $count)") } 'tight', 'single';
    crash_and_ask($how, 'SELECT');
    foreach my $section (sort keys %seen)
    {
        my $limit = last_value($node, $section);
        cmp_ok($limit, '>=', $seen{$section}, "$section, $count, $how: the limit was durable");
        is(ask($session, "SELECT snowid_section_current('$section', 7), snowid_section_next('$section', 7) > $limit"), '|t', 'and keys go on above it');
    }
}
end_test($node);
