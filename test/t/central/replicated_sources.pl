# Rows of the table of sources that logical replication brings, which FOR ALL TABLES publishes, count for nothing at the subscriber, whatever it
# has itself, and do not stop the replication of anything else.
# Runs in make test-all: it waits for subscriptions.

use Snowid;

my @nodes = map { new_server($_, allows_streaming => 'logical') } 'north', 'south';
my $source = new_server('source');
$_->start foreach $source, @nodes;
$source->safe_psql('postgres', 'CREATE SEQUENCE ours START 1000001 INCREMENT 10; CREATE SEQUENCE theirs START 5001 INCREMENT 10');
foreach my $node (@nodes)
{
    add_source($node, $source);
    $node->safe_psql('postgres', 'CREATE TABLE rows (n int PRIMARY KEY); CREATE SEQUENCE shared');
}
sub sources { return $_[0]->safe_psql('postgres', 'SELECT seq, remote_seq FROM snowid_internal.segment_sources ORDER BY seq::text') }

# Runs statements at a publisher, and checks what sources a subscriber has when it has all of them.
my $mark = 0;
sub check_replicated
{
    my ($publisher, $subscriber, $name, $sql) = @_;
    $mark++;
    $publisher->safe_psql('postgres', "$sql; INSERT INTO rows VALUES ($mark)");
    wait_for(sub { $subscriber->safe_psql('postgres', "SELECT count(*) FROM rows WHERE n = $mark") eq '1' }, "replication to go on: $name");
    is(sources($subscriber), 'shared|theirs', "$name: its sources are its own");
    return;
}
foreach my $case ([ 'false', 0 ], [ 'true', 1 ])
{
    my ($binary, $direction) = @$case;
    my ($publisher, $subscriber) = @nodes[ $direction, 1 - $direction ];
    # A sequence that the subscriber has not, one with no source there, and one with another.
    $_->safe_psql('postgres', 'TRUNCATE rows; CREATE SEQUENCE common') foreach @nodes;
    $publisher->safe_psql('postgres', <<'SQL');
CREATE SCHEMA here;
CREATE SEQUENCE here."Only Here";
SELECT snowid_segment_attach(s, 'central', 'ours') FROM unnest(ARRAY['here."Only Here"', 'common', 'shared']::regclass[]) AS s;
CREATE PUBLICATION everything FOR ALL TABLES;
SQL
    $subscriber->safe_psql('postgres', q(SELECT snowid_segment_attach('shared', 'central', 'theirs')));
    my $connection = $publisher->connstr('postgres') =~ s{'}{''}gr;
    $subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION all_of_it CONNECTION '$connection' PUBLICATION everything WITH (binary = $binary)");
    $subscriber->wait_for_subscription_sync(undef, undef, 'postgres');
    check_replicated($publisher, $subscriber, "binary $binary, copied", 'SELECT');
    check_replicated($publisher, $subscriber, "binary $binary, changed", <<'SQL');
CREATE SEQUENCE added;
SELECT snowid_segment_attach('added', 'central', 'ours');
UPDATE snowid_internal.segment_sources SET remote_seq = 'elsewhere'
SQL
    check_replicated($publisher, $subscriber, "binary $binary, detached",
        q(DROP SCHEMA here CASCADE; SELECT snowid_segment_detach(s) FROM unnest(ARRAY['added', 'shared', 'common']::regclass[]) AS s));
    like($subscriber->safe_psql('postgres', q(SELECT snowid_segment_next('shared'))), qr{^5\d\d\d\z}, "binary $binary: numbers are from its source");
    is($subscriber->safe_psql('postgres', q(SELECT snowid_segment_next('common'))), '1', "binary $binary: or its own");
    $subscriber->safe_psql('postgres', q(DROP SUBSCRIPTION all_of_it; SELECT snowid_segment_detach('shared')));
    $publisher->safe_psql('postgres', 'DROP PUBLICATION everything');
    $_->safe_psql('postgres', 'DROP SEQUENCE common') foreach @nodes;
}
done_testing();
