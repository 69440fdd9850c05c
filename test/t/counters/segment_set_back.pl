# A sequence is set back while a session is about to refill since it was set: there are numbers left after all, and all go on there.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('set_back', conf => "snowid.segment_adapt = off\n", sql => 'CREATE SEQUENCE numbers INCREMENT 100');
my ($changer, $other, $third) = my @sessions = map { open_session($node) } 1 .. 3;
my $next = q(SELECT snowid_segment_next('numbers'));
# The second block, from 101 on, was allocated.
is(join(',', map { ask($_, $next) } (@sessions) x 5), join(',', 1 .. 15), 'fifteen are drawn');
ask($other, q(SELECT setval('numbers', 5000)));
# Who locks the table of sources can have it happen in this order.
ask($changer, 'BEGIN; LOCK TABLE snowid_internal.segment_sources');
start_waiting($third, $next);
ask($other, q(SELECT setval('numbers', 101)));
ask($changer, 'COMMIT');
ask($_, q(SET statement_timeout = '1min')) foreach $changer, $other;
is(answer($third), 201, 'the one who was to refill has done so');
is(join(',', map { ask($_, $next) } $other, $changer), '202,203', 'others go on there');
end_test($node);
