# A section gives back the memory of keys that it has forgotten: when its sequence is set, snowid.section_keys lowered, or it is
# dropped. snowid.stat_database counts what is allocated.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('freed', sql => 'CREATE SEQUENCE keyed INCREMENT 1000');
my $session = open_session($node);

sub memory { return ask($session, 'SELECT counters_memory FROM snowid.stat_database') }
my $fill = q(SELECT count(snowid_section_next('keyed', k)) FROM generate_series(1, 20000) k);

ask($session, q(SELECT snowid_section_next('keyed', 1)));
my $least = memory();
is(ask($session, $fill), 20_000, 'many keys');
cmp_ok(memory(), '>=', $least + 20_000 * 27, 'take memory');

ask($session, q(SELECT setval('keyed', 5000); SELECT snowid_section_next('keyed', 1)));
is(memory(), $least, 'the sequence set');

ask($session, $fill);
reload_with($node, 'snowid.section_keys', 10, $session);
ask($session, q(SELECT snowid_section_next('keyed', 20001)));
is(memory(), $least, 'the setting lowered');
reload_with($node, 'snowid.section_keys', 100_000, $session);

ask($session, $fill);
ask($session, q(DROP SEQUENCE keyed; CREATE SEQUENCE keyed; SELECT snowid_section_next('keyed', 1)));
is(memory(), $least, 'dropped');

end_test($node);
