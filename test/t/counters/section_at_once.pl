# Sessions draw from a section while others call nextval, or set the sequence higher and higher: each key's numbers are in order
# across sessions, and above what was set before they were drawn.

use List::Util qw(max);
use Snowid;

my $node = ready_server('at_once', sql => 'CREATE SEQUENCE stamp; CREATE SEQUENCE counted INCREMENT 100');
my $key = 'generate_series % 20';
# The stamps tell which of two draws was over before the other.
my $stamped = "nextval('stamp'), $key, snowid_section_next('counted', $key), nextval('stamp')";
my @drawing = map { draw($node, $stamped, 4_000) } 1 .. 8;
my @calling = map { draw($node, q(nextval('counted')), 1000) } 1 .. 2;
finish(@drawing, @calling);
is((check_keys('beside nextval', 0, @drawing))[0], 32_000, 'beside nextval: all are served');
is(join(' ', map { scalar @{ ids($_) } } @calling), '1000 1000', 'so is nextval');

@drawing = map { draw($node, $stamped, undef, pause_every => 20) } 1 .. 4;
wait_to_draw(1, @drawing);
my $setting = draw($node, q(nextval('stamp'), setval('counted', 10000000::bigint * generate_series), nextval('stamp')), undef, pause_every => 1);
wait_to_draw(1, $setting);
# Until each has drawn between what was set and what was set then.
my $set_first = (split /\t/, ids($setting)->[0])[2];
my $begun_last = sub { return (split /\t/, ids($_[0])->[-1])[0] };
wait_for(sub { !grep { $begun_last->($_) <= $set_first } @drawing }, 'all to draw after what was set');
my $drawn_then = max(map { $begun_last->($_) } @drawing);
wait_for(sub { $begun_last->($setting) > $drawn_then }, 'more to be set');
stop_drawing([$node], @drawing, $setting);
check_keys('beside setval', 0, @drawing);
my @set = map { [ split /\t/, $_ ] } @{ ids($setting) };
foreach my $session (@drawing)
{
    my ($at, $between, $stale) = (-1, 0, 0);
    foreach my $line (@{ ids($session) })
    {
        my ($from, undef, $number) = split /\t/, $line;
        $at++ while $at < $#set && $set[ $at + 1 ][2] < $from;
        # What was set before this draw began.
        $stale++ if $at >= 0 && $number <= $set[$at][1];
        $between++ if $at >= 0 && $at < $#set;
    }
    is(($between > 0) . " $stale", '1 0', 'beside setval: it drew meanwhile, and nothing below what was set before');
}
end_test($node);
