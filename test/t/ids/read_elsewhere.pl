# docs/read-in-order.md, "Rows from other servers": by the steps of the page a subscriber, which has rows of its own, and a standby
# read all rows of a server up to its watermark, and no others.
# Runs in make test-all: it starts three servers.

use Snowid;

my $node = ready_server('publisher', allows_streaming => 1, conf => "wal_level = logical\nsnowid.default_shard = 7\n");
my $subscriber = ready_server('subscriber', conf => "snowid.default_shard = 8\n");
my $standby = new_standby($node, 'standby');
start_server($standby);
$_->safe_psql('postgres', 'CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text NOT NULL)') foreach $node, $subscriber;
sub sql { return $node->safe_psql('postgres', $_[0]) }

sql('CREATE PUBLICATION events FOR TABLE events');
$subscriber->safe_psql('postgres', q(CREATE SUBSCRIPTION events_of_amsterdam CONNECTION $$) . $node->connstr('postgres') . q($$ PUBLICATION events));
wait_for(sub { $subscriber->safe_psql('postgres', q(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)) eq 't' }, 'the copy');
$node->wait_for_catchup($standby);

# Rows that neither has yet.
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION events_of_amsterdam DISABLE');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
wait_for(sub { sql('SELECT count(*) FROM pg_stat_replication WHERE application_name = $$events_of_amsterdam$$') eq '0' }, 'the subscription to stop');
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_get_wal_replay_pause_state()') eq 'paused' }, 'the standby to pause');
sql("INSERT INTO events (body) SELECT 'row ' || n FROM generate_series(1, 1000) AS n");
$subscriber->safe_psql('postgres', "INSERT INTO events (body) VALUES ('its own')");

my ($take, $is_there, $read) = slurp_file('docs/read-in-order.md') =~ s/.*^### Rows from other servers\n//msr =~ /^ +(SELECT .*;)$/mg;
my ($mark, $lsn) = split /\|/, sql($take);
$is_there =~ s/'0[^']*'/'$lsn'/;
$read =~ s/<= \d+/<= $mark/;
my $on_standby = "SELECT pg_last_wal_replay_lsn() >= '$lsn'";
my $rows = sql($read);
isnt(sql($is_there), 't', 'the subscriber has not got there');
is($standby->safe_psql('postgres', $on_standby), 'f', 'nor has the standby');
is(attempt($standby, "SELECT snowid_watermark('events')"), 'ERROR 25006', 'which makes no watermark itself');
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION events_of_amsterdam ENABLE');
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
wait_for(sub { sql($is_there) eq 't' }, 'the subscriber to get there');
is($subscriber->safe_psql('postgres', $read), $rows, 'the subscriber has all rows of the server up to the watermark, and no others');
wait_for(sub { $standby->safe_psql('postgres', $on_standby) eq 't' }, 'the standby to get there');
is($standby->safe_psql('postgres', $read), $rows, 'so has the standby');
end_test($standby, $subscriber, $node);
