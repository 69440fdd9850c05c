# Flickr's tickets: two servers that know nothing of each other and never give the same number, since
# their blocks interleave, or one counts odd and the other even. One dies, the other serves on; it comes
# back, and both go on.
#
# Runs in make test-all: sessions draw for long.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# The recipe: what is run on either server, and what gives a ticket.
my @recipes = (
    {
        name => 'blocks',
        setup => [
            'CREATE SEQUENCE photo_tickets START 1 INCREMENT 2000',
            'CREATE SEQUENCE photo_tickets START 1001 INCREMENT 2000',
        ],
        ticket => q(snowid_segment_next('photo_tickets', 1000)),
        side => sub { return int(($_[0] - 1) / 1000) % 2 },
    },
    {
        name => 'odd and even',
        setup => [
            'CREATE SEQUENCE user_tickets START 1 INCREMENT 2',
            'CREATE SEQUENCE user_tickets START 2 INCREMENT 2',
        ],
        ticket => q(snowid_segment_next('user_tickets', 1)),
        side => sub { return ($_[0] - 1) % 2 },
    });

my @nodes = map { new_server("tickets$_") } 1 .. 2;
foreach my $side (0, 1)
{
    # Nothing becomes durable but what is made so.
    $nodes[$side]->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = '10s'\n");
    $nodes[$side]->start;
    $nodes[$side]->safe_psql('postgres', 'CREATE EXTENSION snowid');
    $nodes[$side]->safe_psql('postgres', $_->{setup}[$side]) foreach @recipes;
    $nodes[$side]->safe_psql('postgres', 'CHECKPOINT');
}

# Sessions that draw tickets, three on a server.
sub load
{
    my ($recipe, $node, $rows) = @_;
    return map { draw($node, $recipe->{ticket}, $rows, pause_every => 20) } 1 .. 3;
}

foreach my $recipe (@recipes)
{
    my $name = $recipe->{name};
    is($nodes[$_]->safe_psql('postgres', "SELECT $recipe->{ticket}"), $recipe->{setup}[$_] =~ /START (\d+)/ ? $1 : '',
        "$name: the first ticket of server $_") foreach 0, 1;
    my @drawn = ([], []);
    my @greatest = (0, 0);
    foreach my $victim (0, 1)
    {
        my $other = 1 - $victim;
        my @dying = load($recipe, $nodes[$victim], undef);
        my @serving = load($recipe, $nodes[$other], undef);
        wait_to_draw(10_000, @dying, @serving);
        crash($nodes[$victim], $victim ? 'immediate' : 'kill');
        finish(@dying);
        wait_to_go_on(@serving);
        pass("$name: server $victim is dead, and the other serves on");
        $nodes[$victim]->start;
        my @back = load($recipe, $nodes[$victim], 2_000);
        finish(@back);
        is(scalar(grep { @{ ids($_) } == 2_000 } @back), 3, "$name: server $victim is back");
        stop_drawing([ $nodes[$other] ], @serving);
        is(scalar(grep { errors_of($_) =~ /canceling/ } @serving), 3, "$name: no session of the other has failed");

        (undef, $greatest[$victim]) = check_round("$name: before server $victim died", $greatest[$victim], @dying);
        (undef, $greatest[$victim]) = check_round("$name: after it", $greatest[$victim], @back);
        (undef, $greatest[$other]) = check_round("$name: the other meanwhile", $greatest[$other], @serving);
        push @{ $drawn[$victim] }, @dying, @back;
        push @{ $drawn[$other] }, @serving;
    }
    my ($count) = check_round("$name: both", 0, map { @$_ } @drawn);
    cmp_ok($count, '>', 12_000, "$name: clients saw $count tickets");
    foreach my $side (0, 1)
    {
        is(scalar(grep { $recipe->{side}->($_) != $side } map { @{ ids($_) } } @{ $drawn[$side] }),
            0, "$name: each server keeps to its side: $side");
    }
}
$_->stop foreach @nodes;
done_testing();
