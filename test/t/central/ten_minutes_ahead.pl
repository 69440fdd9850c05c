# Within two and a half minutes at a rate, a server has what ten minutes take allocated ahead. Time passes in steps of five seconds.
# Runs in make test-all: it draws 150,000 numbers.

use Snowid;

my ($source, $node) = ready_source({ rate => 'INCREMENT 1000' });
my ($session, $looking) = map { open_session($_) } $node, $source;
attach($session, 'rate');
my $clock = 0;
foreach my $rate (100, 400)
{
    my $short = 0;
    foreach my $step (1 .. 60)
    {
        my $drawn = ask($session, "SELECT max(n) FROM snowid_segment_batch('rate', 5 * $rate) AS n");
        my $ahead = ask($looking, "SELECT last_value + 999 - $drawn FROM rate");
        $short = $step * 5 if $ahead < 600 * $rate;
        set_clock($clock += 5, $node);
    }
    cmp_ok($short, '<=', 150, "$rate numbers a second: the last time that less was allocated ahead");
}
end_test($node, $source);
