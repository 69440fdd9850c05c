# Each layout that has a name, and some that have none, under load, on the greatest shard that it has: every ID is the shard's, of
# now, in order, and comes once, one by one and in batches. Two names of one layout are one allocator.
# Runs in make test-all: it draws of every layout.

use Snowid;

my $node = ready_server('layouts', conf => "max_connections = 200\n");

# Draws from a shard of a layout. An ID that is not the shard's, or not of now, is a 0 to the client, and out of order.
sub draw_of
{
    my ($layout, $shard, $is_batch) = @_;
    my $source = $is_batch ? "snowid_next_batch($shard, 2000, '$layout')" : "(SELECT snowid_next($shard, '$layout') FROM generate_series(1, 2000) OFFSET 0)";
    return draw($node, <<"SQL", 1, setup => q(SET snowid.max_wait = '1min'));
CASE WHEN snowid_shard(id, '$layout') = $shard AND snowid_timestamp(id, '$layout') BETWEEN clock_timestamp()
  - (SELECT unit FROM snowid_describe_layout('$layout')) - interval '5 minutes' AND clock_timestamp() + interval '1 s' THEN id ELSE 0 END
  FROM $source AS drawn (id)
SQL
}

my %shard_of = split /[|\n]/, $node->safe_psql('postgres', 'SELECT name, max_shard FROM snowid.layouts');
is(join(' ', sort keys %shard_of),
    'baidu bluesky discord instagram js53 leaf linkedin mastodon pgedge seata sonyflake sonyflake2 taobao tiktok twitter yitter',
    'layouts that have a name');
is(attempt($node, "SELECT snowid_next(@{[ delete $shard_of{baidu} ]}, 'baidu')"), 'ERROR 2200H', 'baidu is past its end');
# Twitter's has the greatest shard of this one.
$shard_of{leaf}--;
$shard_of{$_} = 31 foreach 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
  'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z', 'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z';
my %drawing = map { my $layout = $_; $layout => [ map { draw_of($layout, $shard_of{$layout}, $_ % 3 == 0) } 1 .. 8 ] } sort keys %shard_of;
$drawing{'leaf and twitter'} = [ map { draw_of($_ % 2 ? 'twitter' : 'leaf', 77, $_ > 6) } 1 .. 8 ];
foreach my $layout (sort keys %drawing)
{
    finish(@{ $drawing{$layout} });
    my ($count, $greatest) = check_round($layout, 0, @{ $drawing{$layout} });
    is($count, 16_000, "$layout: as many as asked for");
    cmp_ok($greatest, '<', 2**53, 'js53: within what JavaScript can count to') if $layout eq 'js53';
}
end_test($node);
