# Once a session has used snowid, in whatever way, and wherever the library is preloaded, its settings are stored by whoever may, and
# bad values are refused.
# Runs in make test-all: it starts hundreds of sessions.

use Snowid;
use SnowidSettings;

my $node = server_with_roles();

sub reload_until
{
    my ($sql, $first, $show, $expected) = @_;
    $node->safe_psql('postgres', "LOAD 'snowid'; $sql");
    $node->reload;
    wait_for(sub { in_session($node, 'plain', $first, "SHOW $show") eq $expected }, "new sessions to have $show");
    return;
}

my $used = 'SELECT snowid_timestamp(0)';
foreach my $how ('used', 'session_preload_libraries', 'shared_preload_libraries')
{
    my $first = $how eq 'used' ? $used : '';
    reload_until(q(ALTER SYSTEM SET session_preload_libraries = 'snowid'), '', 'snowid.default_shard', '-1') if $how =~ /session/;
    if ($how =~ /shared/)
    {
        $node->safe_psql('postgres', 'ALTER SYSTEM RESET session_preload_libraries');
        $node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
        $node->restart;
    }
    my $in_new = sub { my ($user, $sql) = @_; return in_session($node, $user, $first, $sql) };
    foreach my $user (qw(boss owner plain))
    {
        foreach my $way (ways($user))
        {
            if ($user eq 'plain' && $way =~ /ALTER DATABASE/)
            {
                is($in_new->($user, "$way SET snowid.default_shard = 7"), 'ERROR 42501', "$how: $user, $way: not the owner");
                next;
            }
            check_stored($how, $node, $user, $first, $way);
            foreach my $bad ([ "default_shard = 'x'", '22023' ], [ 'default_shard = -2', '22023' ], [ 'max_wait = -1', '22023' ], [ q(max_wait = 'x'), '22023' ],
                [ q(segment_adapt = 'x'), '22023' ], [ 'ceiling_step = 1000', '55P02' ], [ 'no_such = 1', '42602' ])
            {
                is($in_new->($user, "$way SET snowid.$bad->[0]"), "ERROR $bad->[1]", "$how: $user, $way: $bad->[0]");
            }
            is($in_new->($user, "$way SET snowid.max_lead = '2s'"), $user eq 'boss' ? '' : 'ERROR 42501', "$how: $user, $way: max_lead");
            is($in_new->('boss', "$way RESET snowid.max_lead"), '', "$how: $user, $way: max_lead is taken back");
        }
        is($in_new->($user, 'ALTER SYSTEM SET snowid.default_shard = 7'), $user eq 'boss' ? '' : 'ERROR 42501', "$how: $user: ALTER SYSTEM");
        is($in_new->('boss', 'ALTER SYSTEM RESET snowid.default_shard'), '', "$how: $user: ALTER SYSTEM is taken back");
        is($in_new->($user, 'SHOW snowid.max_lead'), '1s', "$how: $user: SHOW");
    }
    foreach my $bad ("default_shard = 'x'", 'default_shard = -2', 'ceiling_step = 9', 'ceiling_step = 5001', 'section_keys = 0', 'max_lead = -1')
    {
        is($in_new->('boss', "ALTER SYSTEM SET snowid.$bad"), 'ERROR 22023', "$how: ALTER SYSTEM: $bad");
    }
    reload_until('ALTER SYSTEM SET snowid.ceiling_step = 5000', $used, 'snowid.ceiling_step', '5s');
    reload_until('ALTER SYSTEM RESET snowid.ceiling_step', $used, 'snowid.ceiling_step', '1s');
    pass("$how: ALTER SYSTEM: ceiling_step, for new sessions");
}
end_test($node);
