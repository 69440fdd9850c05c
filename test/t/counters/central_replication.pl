# FOR ALL TABLES publishes the table of sources. Rows that logical replication brings are about another
# server's sequences and must count for nothing at the subscriber, where there may be no such sequence, or
# one with a source of its own; and they must not stop the replication of anything else. Each of the two
# servers is the other's publisher and subscriber in turn.

use strict;
use warnings;

use Snowid;
use Test::More;

my $hub = new_server('hub');
$hub->start;
$hub->safe_psql('postgres', 'CREATE SEQUENCE orders_seq INCREMENT 10; CREATE SEQUENCE others_seq START 5001 INCREMENT 10');
my @nodes = map { new_server($_, allows_streaming => 'logical') } 'east', 'west';
foreach my $node (@nodes)
{
    $node->start;
    add_source($node, $hub);
    $node->safe_psql('postgres', <<'SQL');
CREATE TABLE rows (n int PRIMARY KEY);
CREATE SEQUENCE shared_seq;
SQL
}

sub sources
{
    my ($node) = @_;
    return $node->safe_psql('postgres', 'SELECT seq, remote_seq FROM snowid.segment_sources ORDER BY seq::text');
}

# Waits until a subscriber has all that was done at its publisher.
my $mark = 0;
sub check_goes_on
{
    my ($publisher, $subscriber, $name) = @_;
    $mark++;
    $publisher->safe_psql('postgres', "INSERT INTO rows VALUES ($mark)");
    wait_for(sub { $subscriber->safe_psql('postgres', "SELECT count(*) FROM rows WHERE n = $mark") eq '1' },
        "replication to go on: $name");
    pass("$name: replication goes on");
    return;
}

foreach my $binary ('false', 'true')
{
    foreach my $direction (0, 1)
    {
        my ($publisher, $subscriber) = @nodes[ $direction, 1 - $direction ];
        my $to = $subscriber->name . ", binary = $binary";
        # What the initial copy has: a sequence that the subscriber has not, one with no source there, and
        # one with another.
        $_->safe_psql('postgres', 'TRUNCATE rows; CREATE SEQUENCE common_seq') foreach @nodes;
        $publisher->safe_psql('postgres', <<'SQL');
CREATE SCHEMA here;
CREATE SEQUENCE here."Only Here";
SELECT snowid_segment_attach('here."Only Here"', 'central', 'orders_seq');
SELECT snowid_segment_attach('common_seq', 'central', 'orders_seq');
SELECT snowid_segment_attach('shared_seq', 'central', 'orders_seq');
CREATE PUBLICATION everything FOR ALL TABLES;
SQL
        $subscriber->safe_psql('postgres', q(SELECT snowid_segment_attach('shared_seq', 'central', 'others_seq')));
        my $own = 'shared_seq|others_seq';
        my $connection = $publisher->connstr('postgres') =~ s{'}{''}gr;
        $subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION all_of_it CONNECTION '$connection' PUBLICATION everything"
              . " WITH (binary = $binary)");
        wait_for(sub { $subscriber->safe_psql('postgres', q(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)) eq 't' },
            'the initial copy');
        is(sources($subscriber), $own, "$to: nothing of the initial copy is there");

        check_goes_on($publisher, $subscriber, "$to, copied");
        $publisher->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE new_seq;
SELECT snowid_segment_attach('new_seq', 'central', 'orders_seq');
UPDATE snowid.segment_sources SET remote_seq = 'elsewhere';
UPDATE snowid.segment_sources SET seq = 'new_seq'::regclass, server = 'nowhere' WHERE seq = 'shared_seq'::regclass
  AND false;
SQL
        check_goes_on($publisher, $subscriber, "$to, attached and changed");
        is(sources($subscriber), $own, "$to: its sources are its own");
        $publisher->safe_psql('postgres', "SELECT snowid_segment_detach('$_')") foreach qw(new_seq shared_seq common_seq);
        check_goes_on($publisher, $subscriber, "$to, detached");
        is(sources($subscriber), $own, "$to: and stay so");
        my $number = $subscriber->safe_psql('postgres', q(SELECT snowid_segment_next('shared_seq')));
        cmp_ok($number, '>', 5000, "$to: numbers are from its source");
        is($subscriber->safe_psql('postgres', q(SELECT snowid_segment_next('common_seq'))), '1', "$to: or its own");

        $subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION all_of_it');
        $publisher->safe_psql('postgres', 'DROP PUBLICATION everything; DROP SCHEMA here CASCADE; DROP SEQUENCE new_seq');
        $_->safe_psql('postgres', q(DROP SEQUENCE common_seq; SELECT snowid_segment_detach('shared_seq'))) foreach @nodes;
        is(sources($_), '', 'nothing is attached') foreach @nodes;
    }
}
$_->stop foreach @nodes, $hub;
done_testing();
