# Sections where the system has no more shared memory to give (a container's /dev/shm may be small): a section
# that cannot grow evicts keys, as one that is full does, until there is memory. The fault: the system's
# refusal is an error that no flag of PostgreSQL's allocator covers, and from then on every new key of the
# section failed.
# Runs in make test-all: it fills shared memory.

use Snowid;
use Time::HiRes qw(time);

my $dir = PostgreSQL::Test::Utils::tempdir();
my ($node, $refuse) = full_server($dir, 'CREATE SEQUENCE counted INCREMENT 1000; CREATE TABLE numbers (key int, number bigint)');
my $session = open_session($node);

# Has the section give a number to each of the keys, all in one transaction with what is kept of them.
sub fill { my ($from, $to) = @_; return ask($session, "INSERT INTO numbers SELECT k, snowid_section_next('counted', k) FROM generate_series($from, $to) k") }
sub known { return ask($session, q(SELECT count(snowid_section_current('counted', k)) FROM generate_series(1, 300000) k)) }

is(fill(1, 20_000), '', 'there is memory');
is(known(), 20_000, 'all keys are known');

# No more, while the section may have 100,000 keys: ENOSPC.
$refuse->(28);
my $began = time;
is(fill(20_001, 140_000), '', 'full: all are served');
my $lasted = time - $began;
my $known = known();
ok($known >= 20_000 && $known < 100_000, 'full: no fewer keys are known, but others had to leave') or diag($known);
my $refused = -s "$dir/refused";
ok($refused > 0 && $refused <= $lasted + 2, 'full: the system was asked, but not for each key') or diag($refused);
is(fill(1, 20_000), '', 'full: keys that left come back');

# In a transaction that does other things, too.
ask($session, 'BEGIN; CREATE TABLE works AS SELECT 1 AS n; DECLARE c CURSOR FOR TABLE works; SAVEPOINT s');
is(fill(140_001, 150_000), '', 'full: in a transaction');
is(ask($session, 'FETCH c; RELEASE s; INSERT INTO works VALUES (2); COMMIT; SELECT sum(n) FROM works'), "1\n3", 'full: its cursor goes on, and it commits');
is(ask($session, q(SET statement_timeout = '100ms'; SELECT pg_sleep(60))), 'ERROR 57014', 'full: the session can be cancelled');
ask($session, 'RESET statement_timeout');

# Others draw at the same time, and cannot grow either.
my @drawing = map { draw($node, "generate_series, snowid_section_next('counted', generate_series)", 30_000) } 1 .. 3;
finish(@drawing);
is((check_keys('full: sessions at once', 0, @drawing))[0], 90_000, 'full: all sessions are served');

# Another kind of refusal, EPERM, is an error, and nothing but that.
$refuse->(1);
my $key = 300_000;
wait_for(sub { $key += 50_000; fill($key - 49_999, $key) eq 'ERROR 42501' }, 'the section to ask for memory again');
my $known_key = ask($session, "SELECT max(k) FROM generate_series(1, $key) k WHERE snowid_section_current('counted', k) IS NOT NULL");
is(fill($known_key, $known_key), '', 'no right: a key that is known goes on');
$refuse->();
wait_for(sub { fill(150_001, 300_000); ask($session, 'SELECT counters_memory >= 100000 * 24 FROM snowid.stat_database') eq 't' }, 'the section to grow again');
is(fill(1, 300_000), '', 'there is memory again: all are served');
cmp_ok(known(), '>=', 50_000, 'and as many keys are known as before');

# Each key's numbers, in the order in which they came.
is(ask($session, <<'SQL'), 0, 'no key went back');
SELECT count(*) FROM (SELECT number <= lag(number) OVER (PARTITION BY key ORDER BY ctid) AS is_wrong FROM numbers) n WHERE is_wrong
SQL
end_test($node);
