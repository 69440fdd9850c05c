# A source that is read-only, for the user or as a standby, gives an error that says so and what to do; of several hosts the one that is not
# gives numbers.

use Snowid;

my ($source, $node) = ready_source({ unread => 'INCREMENT 10' }, source => { allows_streaming => 1 });
my $session = open_session($node);
attach($session, 'unread');
sub check_read_only
{
    my ($name, $when) = @_;
    is(batch($session, 'unread', 1), 'ERROR 25006', "$name: an error");
    like($session->{err}, qr/server "central" is read-only\nDETAIL:  cannot execute \w+\(\) $when\nHINT:  .*target_session_attrs 'read-write'/, "$name: says so");
    return;
}
$source->safe_psql('postgres', 'ALTER ROLE postgres SET default_transaction_read_only = on');
check_read_only('a user', 'in a read-only transaction');
$source->safe_psql('postgres', 'SET default_transaction_read_only = off; ALTER ROLE postgres RESET default_transaction_read_only');
my $standby = new_standby($source, 'standby');
$standby->start;
$source->wait_for_catchup($standby);
point_at($node, $standby);
check_read_only('a standby', 'during recovery');
my ($hosts, $ports) = map { my $what = $_; join ',', map { $_->$what } $standby, $source } qw(host port);
ask($session, "ALTER SERVER central OPTIONS (SET host '$hosts', SET port '$ports', ADD target_session_attrs 'read-write')");
is(batch($session, 'unread', 1), '1', 'several hosts');
end_test($node, $standby, $source);
