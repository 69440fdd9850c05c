# An upgrade of the library under a running server that changes what one family keeps in shared memory:
# new sessions are refused that family alone, with the hint to restart. What the other families promise
# goes on across old and new sessions, which share their part of the memory: IDs and numbers come once.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my %draw = (
    ids => 'SELECT snowid_next(1)', objectid => 'SELECT objectid_next()',
    counters => q(SELECT snowid_segment_next('numbers')), sections => q(SELECT snowid_section_next('keyed', 7)));
$_ .= ' FROM generate_series(1, 500)' foreach values %draw;
# What needs which family (ObjectIDs are made of the ticks of IDs); the table that is of another form, and the number of
# the form that is there.
my %changed = (
    counters => { refused => 'counters sections', table => 'segments', abi => 11 },
    ids => { refused => 'ids objectid', table => 'databases', abi => 9 },
    objectid => { refused => 'objectid', table => 'objectid', abi => 1 });
my $node = ready_server('family', sql => 'CREATE SEQUENCE numbers INCREMENT 1000; CREATE SEQUENCE keyed INCREMENT 10000');
my $old = installed_library();
my $install = replaceable_library($node, $old);
foreach my $family (sort keys %changed)
{
    $node->restart;
    $install->($old);
    my $before = open_session($node);
    my %drawn;
    my $draws = sub {
        my ($name, $session, $from) = @_;
        my @drawn = split /\n/, ask($session, $draw{$from});
        $drawn{"$from $_"}++ foreach @drawn;
        is(scalar(@drawn), 500, "$family has changed, $name: $from");
    };
    $draws->('before', $before, $_) foreach sort keys %draw;
    $install->(build_library($family, '-DSNOWID_' . uc($family) . '_ABI=12'));
    my $after = open_session($node);
    foreach my $from (sort keys %draw)
    {
        my $is_refused = $changed{$family}{refused} =~ /\b$from\b/ ? 1 : 0;
        $draws->('after', $after, $from) unless $is_refused;
        # Twice: the first refusal leaves nothing behind.
        foreach my $try (1 .. 2 * $is_refused)
        {
            is(ask($after, $draw{$from}), 'ERROR 55000', "$family has changed, after: $from is refused");
            my $why = qr/Table "$changed{$family}{table}".*ABI $changed{$family}{abi}\b.*ABI 12\b/;
            like($after->{err}, qr/library "snowid" was replaced while the server was running\nDETAIL:.*$why.*\nHINT:.*Restart/,
                'with the reason and the hint');
        }
    }
    $draws->('the old session', $before, $_) foreach sort keys %draw;
    is(join(' ', grep { $drawn{$_} > 1 } keys %drawn), '', "$family has changed: nothing came twice");
    close_session($before, $after);
}

# After the restart that was hinted at there is nothing that the new library cannot do.
$node->restart;
my $session = open_session($node);
like(ask($session, $draw{$_}), qr/^(?:\w+\n){499}\w+$/, "restarted: $_") foreach sort keys %draw;
end_test($node);
