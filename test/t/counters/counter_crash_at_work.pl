# Sessions draw from segments and a section when the server crashes or stops. Each had its numbers in order, none came twice,
# and numbers go on above all that any client has seen: those of segments with the next block, those of keys above the limit.
# Runs in make test-all: it goes through all sizes of blocks.

use List::Util qw(max);
use Snowid;

my %floor = (by_block => 999_999_999, growing => 999_999_999, keyed => 0);
my @segments = ('by_block', 'growing');
my $node = ready_server('at_work', conf => "wal_writer_delay = 10s\n", sql => join '; ', 'CREATE SEQUENCE keyed INCREMENT 1000',
    map { "CREATE SEQUENCE $_ INCREMENT 1000 START 1000000000" } @segments);
my $key = 'generate_series % 50';
foreach my $how (qw(kill immediate fast))
{
    my %drawing = (
        by_block => [ draw_by_eight($node, 'by_block', undef, setup => one_by_one()) ],
        growing => [ draw_by_eight($node, 'growing', undef) ],
        keyed => [ map { draw($node, "$key, snowid_section_next('keyed', $key)", undef, pause_every => 20) } 1 .. 8 ]);
    wait_to_draw_together(300_000, @{ $drawing{$_} }) foreach sort keys %drawing;
    my @all = map { @$_ } values %drawing;
    wait_to_draw(1, @all);
    if ($how eq 'fast') { $node->stop('fast') }
    else { crash($node, $how) }
    finish(@all);
    unlike(errors_of(@all), qr/ERROR/, "$how: no session failed");
    start_server($node);
    foreach my $segment (@segments)
    {
        my (undef, $greatest) = check_round("$how, $segment", $floor{$segment}, @{ $drawing{$segment} });
        my $allocated = last_value($node, $segment);
        cmp_ok($allocated + 999, '>=', $greatest, "$how: all of $segment was durable");
        $floor{$segment} = attempt($node, "SELECT snowid_segment_next('$segment')");
        is($floor{$segment}, $allocated + 1000, "$how: $segment goes on with the next block");
    }
    my (undef, $of_keys) = check_keys("$how, keyed", $floor{keyed}, @{ $drawing{keyed} });
    $floor{keyed} = last_value($node, 'keyed');
    cmp_ok($floor{keyed}, '>=', max(values %$of_keys), "$how: the limit was durable");
    is(attempt($node, "SELECT count(snowid_section_current('keyed', k)), min(snowid_section_next('keyed', k)) > $floor{keyed} FROM generate_series(0, 49) k"),
        '0|t', "$how: all keys go on above it");
}
end_test($node);
