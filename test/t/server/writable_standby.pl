# A standby on which transactions pass for ones that may write: whatever would change the server's state
# is refused as on any other standby (25006), and not only when it comes to lock or to log something.

use Snowid;

my $module = build_module('writable');

my $primary = ready_server('primary', allows_streaming => 1, sql => <<"SQL");
CREATE SEQUENCE segment INCREMENT 10;
CREATE SEQUENCE section INCREMENT 10;
SELECT snowid_next(1), snowid_uuidv7(), objectid_next(), snowid_segment_next('segment'), snowid_section_next('section', 1);
CREATE FUNCTION writable() RETURNS void AS '$module' LANGUAGE C;
SQL
my $standby = new_standby($primary, 'standby');
$standby->start;
$primary->wait_for_catchup($standby);

my $session = open_session($standby);
is(ask($session, "BEGIN; SELECT writable(); SHOW transaction_read_only"), "\noff", 'it passes for one that may write');
ask($session, 'ROLLBACK');
foreach my $call ('snowid_next()', 'snowid_next(1)', q(snowid_next(1, 'twitter')), 'snowid_next_batch(1, 10)', 'snowid_reserve(1, 10)',
    'snowid.advance_shard(1)', 'snowid_uuidv7()', 'objectid_next()', q(snowid_segment_next('segment')), q(snowid_segment_next('segment', 5)),
    q(snowid_segment_batch('segment', 10)), q(snowid_segment_batch('segment', 10, 5)), q(snowid_segment_attach('segment', 'central', 'segment')),
    q(snowid_segment_detach('segment')), q(snowid_section_next('section', 1)), q(snowid_watermark('pg_class')))
{
    is(ask($session, "BEGIN; SELECT writable(); SELECT $call"), 'ERROR 25006', "refused: $call");
    like($session->{err}, qr/during recovery/, 'and it is said why');
    ask($session, 'ROLLBACK');
}
is(ask($session, q(BEGIN; SELECT writable(); SELECT snowid_section_current('section', 1) IS NULL)), "\nt", 'what only reads goes on');
ask($session, 'ROLLBACK');

$standby->promote;
is(ask($session, "SELECT count($_) > 0"), 't', "promoted, the session draws: $_")
  foreach 'snowid_next(1)', 'snowid_uuidv7()', 'objectid_next()', q(snowid_segment_next('segment')),
  q(snowid_section_next('section', 1));
end_test($primary, $standby);
