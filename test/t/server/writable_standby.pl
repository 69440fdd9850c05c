# A standby on which transactions pass for ones that may write: whatever would change the server's state
# is refused as on any other standby (25006), and not only when it comes to lock or to log something.

use strict;
use warnings;

use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $module = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/writable.so';
chomp(my $include = `$ENV{PG_CONFIG} --includedir-server`);
system_or_bail('gcc', '-shared', '-fPIC', '-O1', "-I$include", '-o', $module, 'test/modules/writable/writable.c');

my $primary = new_server('primary', allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', <<"SQL");
CREATE EXTENSION snowid;
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
my @calls = ('snowid_next()', 'snowid_next(1)', "snowid_next(1, 'twitter')", 'snowid_next_batch(1, 10)',
    'snowid_reserve(1, 10)', 'snowid.advance_shard(1)', 'snowid_uuidv7()', 'objectid_next()',
    q(snowid_segment_next('segment')), q(snowid_segment_next('segment', 5)),
    q(snowid_segment_batch('segment', 10)), q(snowid_segment_batch('segment', 10, 5)),
    q(snowid_segment_attach('segment', 'central', 'segment')), q(snowid_segment_detach('segment')),
    q(snowid_section_next('section', 1)));
foreach my $call (@calls, q(snowid_watermark('pg_class')))
{
    ask($session, 'BEGIN; SELECT writable()');
    is(ask($session, "SELECT $call"), 'ERROR 25006', "refused: $call");
    like($session->{err}, qr/during recovery/, 'and it is said why');
    ask($session, 'ROLLBACK');
}
ask($session, 'BEGIN; SELECT writable()');
is(ask($session, q(SELECT snowid_section_current('section', 1) IS NULL)), 't', 'what only reads goes on');
ask($session, 'ROLLBACK');

$standby->promote;
is(ask($session, "SELECT count($_) > 0"), 't', "promoted, the session draws: $_")
  foreach 'snowid_next(1)', 'snowid_uuidv7()', 'objectid_next()', q(snowid_segment_next('segment')),
  q(snowid_section_next('section', 1));
close_session($session);
$primary->stop;
$standby->stop;
check_log($_) foreach $primary, $standby;
done_testing();
