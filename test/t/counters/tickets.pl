# Flickr's tickets: two servers that know nothing of each other and never give the same number, since their blocks interleave, or
# one counts odd and the other even. One dies, the other serves on; it comes back, and both go on.
#
# Runs in make test-all: sessions draw for long.

use Snowid;

my @nodes = map { new_server("tickets$_") } 1 .. 2;
foreach my $side (0, 1)
{
    # Nothing becomes durable but what is made so.
    $nodes[$side]->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
    $nodes[$side]->start;
    $nodes[$side]->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE photo_tickets INCREMENT 2000 START ' . (1 + 1000 * $side)
          . '; CREATE SEQUENCE user_tickets INCREMENT 2 START ' . (1 + $side) . '; CHECKPOINT');
}

foreach my $size (1000, 1)
{
    my $ticket = $size == 1000 ? q(snowid_segment_next('photo_tickets', 1000)) : q(snowid_segment_next('user_tickets', 1));
    my $load = sub { my ($side, $rows) = @_; return map { draw($nodes[$side], $ticket, $rows, pause_every => 20) } 1 .. 3 };
    my (@drawn, @greatest);
    foreach my $victim (0, 1)
    {
        my $other = 1 - $victim;
        my ($dying, $serving) = map { [ $load->($_) ] } $victim, $other;
        wait_to_draw(10_000, @$dying, @$serving);
        crash($nodes[$victim], $victim ? 'immediate' : 'kill');
        finish(@$dying);
        wait_to_go_on(@$serving);
        pass("size $size: server $victim is dead, and the other serves on");
        $nodes[$victim]->start;
        my @back = $load->($victim, 2_000);
        finish(@back);
        is(join(' ', map { scalar @{ ids($_) } } @back), '2000 2000 2000', "size $size: server $victim is back");
        stop_drawing([ $nodes[$other] ], @$serving);
        is(scalar(grep { errors_of($_) =~ /canceling/ } @$serving), 3, "size $size: no session of the other has failed");
        foreach ([ $victim, $dying ], [ $victim, \@back ], [ $other, $serving ])
        {
            my ($side, $sessions) = @$_;
            (undef, $greatest[$side]) = check_round("size $size, server $side", $greatest[$side] // 0, @$sessions);
            push @{ $drawn[$side] }, @$sessions;
        }
    }
    check_round("size $size: both", 0, map { @$_ } @drawn);
    foreach my $side (0, 1)
    {
        is(scalar(grep { int(($_ - 1) / $size) % 2 != $side } map { @{ ids($_) } } @{ $drawn[$side] }), 0, "size $size: server $side keeps to its side");
    }
}
end_test(@nodes);
