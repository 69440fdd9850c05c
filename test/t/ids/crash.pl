# IDs through crashes: sessions draw from several shards and layouts at once, and send their IDs to clients, while the server is
# killed or shut down at once, and its clock is set back before it starts. No ID that a client saw comes twice, and later ones
# are greater.

use Snowid;

# Arguments of snowid_next(), and how many sessions draw at once.
my %sessions = (
    '0' => 3,
    '4711' => 3,
    map { ("9, '$_'" => 1) } 'twitter', 'sonyflake', 'js53',
    'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
    'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z',
    'time:54 shard:5 seq:4 unit:1us epoch:2020-01-01T00:00:00Z');
my $node = ready_server('crash');
my %greatest = map { $_ => 0 } keys %sessions;

# Checks what clients saw of one kind. Returns how many IDs.
sub check
{
    my ($name, $kind, @drawn) = @_;
    (my $count, $greatest{$kind}) = check_round("$name, $kind", $greatest{$kind}, @drawn);
    return $count;
}

# How it crashes, and how far its clock is set back then, in seconds: by more than its start may take.
foreach ([ 'kill', 900 ], [ 'immediate', 4 * 3600 ])
{
    my ($how, $back) = @$_;
    my %drawing;
    foreach my $kind (keys %sessions)
    {
        $drawing{$kind} = [ map { draw($node, "snowid_next($kind)", undef, pause_every => 100) } 1 .. $sessions{$kind} ];
    }
    my @all = map { @$_ } values %drawing;
    # An ID and its newline are 20 bytes, or somewhat less.
    wait_to_draw_together(20 * 20_000, @all);
    wait_to_draw(5_000, @all);
    crash($node, $how);
    finish(@all);
    cmp_ok(check($how, $_, @{ $drawing{$_} }), '>', 0, "$how, $_: clients saw some") foreach sort keys %drawing;
    unlike(errors_of(@all), qr/ERROR/, "$how: no session failed");

    set_clock(-$back);
    start_server($node);
    is(attempt($node, "SET snowid.max_wait = 0; SELECT snowid_next($_)"), 'ERROR SN001', "$how, clock behind, $_: refused")
      foreach sort keys %sessions;
    my %ahead = map { $_ => draw($node, "snowid_next($_)", 2_000, setup => "SET snowid.max_lead = '1d'") } sort keys %sessions;
    foreach my $kind (sort keys %ahead)
    {
        finish($ahead{$kind});
        is(check("$how, clock behind", $kind, $ahead{$kind}), 2_000, "$how, $kind: served when allowed to run ahead");
    }
    set_clock(0);
}
end_test($node);
