# Several servers draw dense numbers from one sequence on another server: none comes twice, none is lost down to the last, and on each server
# they increase from session to session.
# Runs in make test-all: it has four servers.

use Snowid;

my ($source, @nodes) = ready_source({ orders => 'INCREMENT 1000', few => 'INCREMENT 100 MAXVALUE 10050' });
push @nodes, map { ready_server("node$_") } 2 .. 3;
add_source($_, $source) foreach @nodes[ 1, 2 ];
foreach my $node (@nodes)
{
    $node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', '$_')") foreach qw(orders few);
}

sub load
{
    my ($sequence, $rows) = @_;
    my @drawing = map { my $node = $_; map { draw($node, "snowid_segment_next('$sequence')", $rows) } 1 .. 3 } @nodes;
    finish(@drawing);
    return @drawing;
}
my @drawn = load('orders', 2_000);
is((check_round('three servers', 0, @drawn))[0], 18_000, 'all that were asked for');
my %seen = map { $_ => 1 } map { @{ ids($_) } } @drawn;
foreach my $node (@nodes)
{
    my @sessions = map { open_session($node) } 1 .. 3;
    my @numbers = map { ask($sessions[ $_ % 3 ], q(SELECT snowid_segment_next('orders'))) } 1 .. 60;
    is(scalar(grep { $numbers[$_] <= $numbers[ $_ - 1 ] } 1 .. $#numbers), 0, $node->name . ': numbers increase from session to session');
    is(scalar(grep { $seen{$_}++ } @numbers), 0, $node->name . ': none comes twice');
    close_session(@sessions);
}
my @last = load('few', 20_000);
is(join(' ', check_round('to the last', 0, @last)), '10050 10050', 'to the last: all numbers there are');
is(scalar(grep { errors_of($_) =~ /ERROR:  2200H: .*reached maximum value of sequence "few"/ } @last), 9, 'to the last: then all sessions get an error');
end_test(@nodes, $source);
