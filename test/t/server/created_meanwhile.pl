# A call that waits while the extension is dropped and created again in one transaction goes on with the new tables.

use Snowid;

my $node = ready_server('node', sql => 'CREATE SEQUENCE counter');
my $admin = open_session($node);
foreach my $call ('SELECT snowid_next(7) > 0', 'SELECT snowid.release_shard(5) > 0', q(SELECT snowid_segment_detach('counter') IS NOT NULL))
{
    my $caller = open_session($node);
    ask($admin, $_) foreach 'BEGIN', 'DROP EXTENSION snowid', 'CREATE EXTENSION snowid';
    start_asking($caller, $call);
    wait_until_waiting($node, $caller, 'Lock');
    is(ask($admin, 'COMMIT'), '', 'created again');
    is(answer($caller), 't', $call) or diag($caller->{err});
    close_session($caller);
}
close_session($admin);
end_test($node);
