# What the runbook says to do while the clock is behind reaches sessions that are open, as a pool's are: one that has drawn
# before, and one that has not, which does not know the setting yet. What is stored for the database does not.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('lead');
my ($let_run_ahead) = blocks_of('docs/runbook.md', 'The clock went back');
my @take_back = map { said_in('docs/runbook.md', 'The clock went back', $_) } 'ALTER SYSTEM RESET snowid.max_lead', 'SELECT pg_reload_conf()';
set_clock(60);
my ($drew, $new) = map { open_session($node) } 1 .. 2;
my $last = ask($drew, 'SELECT snowid_next(1)');
is(ask($new, 'SELECT 1'), '1', 'a session that has not drawn');
set_clock(0);
is(ask($drew, 'SELECT snowid_next(1)'), 'ERROR SN001', '1 min back: refused');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET snowid.max_lead = 120000');
is(ask($drew, 'SELECT snowid_next(1)'), 'ERROR SN001', 'stored for the database: the session does not hear of it');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.max_lead');

follow($node, '', $let_run_ahead);
foreach my $session ($drew, $new)
{
    wait_for(sub { ask($session, 'SHOW snowid.max_lead') eq '2min' }, 'the session to hear of it');
    my $id = ask($session, 'SELECT snowid_next(1)');
    cmp_ok($id, '>', $last, 'the runbook followed: an open session draws');
    $last = $id;
}
$node->safe_psql('postgres', $_) foreach @take_back;
foreach my $session ($drew, $new)
{
    wait_for(sub { ask($session, 'SHOW snowid.max_lead') eq '1s' }, 'the session to hear of it');
    is(ask($session, 'SELECT snowid_next(1)'), 'ERROR SN001', 'taken back: refused');
}
end_test($node);
