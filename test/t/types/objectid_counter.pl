# The process and the counter of ObjectIDs are random: each start has others. The counter comes round to 0 with no number left out, in order.
# Runs in make test-all: it makes up to 16 million ObjectIDs.

use Snowid;

my $node = ready_server('counter');
sub process_of { return substr $_[0], 8, 10 }
sub counter_of { return hex substr $_[0], 18, 6 }

my @first;
foreach (1 .. 4)
{
    $node->restart if @first;
    push @first, $node->safe_psql('postgres', 'SELECT objectid_next()');
}
foreach my $part ([ 'process', \&process_of ], [ 'counter', \&counter_of ])
{
    my %seen = map { $part->[1]->($_) => 1 } @first;
    is(scalar(keys %seen), 4, "each start has another $part->[0]");
}
my ($one, $next) = map { counter_of($node->safe_psql('postgres', 'SELECT objectid_next() FROM pg_sleep(1.1)')) } 1, 2;
is($next, ($one + 1) % 0x1000000, 'a session that begins in a later second goes on');
my $session = open_session($node);
my $left = 0x1000000 - counter_of(ask($session, 'SELECT objectid_next()')) - 500;
ask($session, "SELECT count(objectid_next()) FROM generate_series(1, $left)") if $left > 0;
my @round = split /\n/, ask($session, 'SELECT objectid_next() FROM generate_series(1, 1000)');
is(scalar(grep { $round[$_] le $round[ $_ - 1 ] } 1 .. $#round), 0, 'in order');
is(scalar(grep { counter_of($round[$_]) != (counter_of($round[ $_ - 1 ]) + 1) % 0x1000000 } 1 .. $#round), 0, 'no number is left out');
cmp_ok(counter_of($round[0]), '>', counter_of($round[-1]), 'the counter has come round');
end_test($node);
