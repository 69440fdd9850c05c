# Sections where the system has no more shared memory to give (a container's /dev/shm may be small): a section
# that cannot grow evicts keys, as one that is full does, until there is memory. The fault: the system's
# refusal is an error that no flag of PostgreSQL's allocator covers, and from then on every new key of the
# section failed. And a session that cannot map the keys of a section that somebody has changed leaves it no
# worse than it was. Here a library put before the C library refuses in the system's place.
#
# Runs in make test-all: it fills shared memory.

use strict;
use warnings;

use Fcntl;
use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

# The server's user must be able to create segments. Elsewhere initdb selects another type of shared memory.
my $segment = "/dev/shm/snowid.$$";
if (sysopen my $file, $segment, O_RDWR | O_CREAT | O_EXCL) { unlink $segment }
else { plan skip_all => 'the user ' . getpwuid($<) . " cannot create files in /dev/shm: $!. Mount a tmpfs there with mode 1777" }

# While the file `refuse` is there, with an errno in it, no shared memory is to be had. Each refusal
# leaves a byte in the file `refused`. While the file `unmappable` is there, none is to be mapped.
my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
append_to_file("$dir/full.c", <<"C");
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_shared_memory(int fd)
{
	char link[64], path[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strncmp(path, "/dev/shm/", 9) == 0;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	if (fd >= 0 && is_shared_memory(fd) && access("$dir/unmappable", F_OK) == 0)
	{
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return ((void *(*)(void *, size_t, int, int, int, off_t)) dlsym(RTLD_NEXT, "mmap"))(
		at, length, protection, flags, fd, offset);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
	FILE *refuse;
	int error = 0;

	if (is_shared_memory(fd) && (refuse = fopen("$dir/refuse", "r")) != NULL)
	{
		if (fscanf(refuse, "%d", &error) != 1)
			error = 0;
		fclose(refuse);
	}
	if (error != 0)
	{
		int refused = open("$dir/refused", O_WRONLY | O_CREAT | O_APPEND, 0600);

		if (write(refused, "x", 1) != 1)
			_exit(3);
		close(refused);
		return error;
	}
	return ((int (*)(int, off_t, off_t)) dlsym(RTLD_NEXT, "posix_fallocate"))(fd, offset, length);
}
C
system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', "$dir/full.so", "$dir/full.c", '-ldl');
my ($enospc, $eperm) = (28, 1);
sub refuse { my ($errno) = @_; unlink "$dir/refuse"; append_to_file("$dir/refuse", $errno) if $errno; return }

my $node = new_server('full');
$node->append_conf('postgresql.conf', "dynamic_shared_memory_type = posix\n");
{
    local $ENV{LD_PRELOAD} = "$dir/full.so";
    $node->start;
}
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE SEQUENCE counted INCREMENT 1000;
CREATE SEQUENCE other INCREMENT 1000;
CREATE SEQUENCE changed INCREMENT 1000;
CREATE TABLE numbers (key int, number bigint);
SQL
my $session = open_session($node);

# Has the section give a number to each of the keys, all in one transaction with what is kept of them.
sub fill
{
    my ($from, $to) = @_;
    return ask($session, "INSERT INTO numbers SELECT k, snowid_section_next('counted', k)"
          . " FROM generate_series($from, $to) k");
}

sub known
{
    return ask($session, q(SELECT count(snowid_section_current('counted', k)) FROM generate_series(1, 300000) k));
}

# Somebody has changed the sequence, and who comes next cannot map the keys that no longer count: he gets
# an error, and the section has begun anew all the same. It must not go on to be half done: who had looked
# at the sequence before it was changed would begin below what was given.
is(ask($session, q(SELECT snowid_section_next('other', 1))), 1, 'a section with few keys');
is(ask($session, q(SELECT count(snowid_section_next('changed', k)) FROM generate_series(1, 100000) k)),
    100_000, 'one with many, in memory of their own');
my $late = open_session($node);
is(ask($late, q(SELECT snowid_section_next('other', 1))), 2, 'a session that has mapped the few alone');
my $changed_to = ask($session, q(SELECT nextval('changed')));
append_to_file("$dir/unmappable", '');
is(ask($late, q(SELECT snowid_section_next('changed', 1))), 'ERROR 53200', 'and cannot map the many');
unlink "$dir/unmappable";
is(last_value($node, 'changed'), $changed_to + 1000, 'but has raised the limit');
is(ask($session, q(SELECT snowid_section_next('changed', 1))), $changed_to + 1001, 'others go on above it');
is(ask($late, q(SELECT snowid_section_next('changed', 1))), $changed_to + 1002, 'and then he does');
close_session($late);

is(fill(1, 20_000), '', 'there is memory');
is(known(), 20_000, 'all keys are known');

# No more, while the section may have 100,000 keys.
refuse($enospc);
my $began = time;
is(fill(20_001, 140_000), '', 'full: all are served');
my $lasted = time - $began;
my $known = known();
cmp_ok($known, '>=', 20_000, 'full: no fewer keys are known');
cmp_ok($known, '<', 100_000, 'full: others had to leave');
cmp_ok(-s "$dir/refused", '>', 0, 'full: the system was asked');
cmp_ok(-s "$dir/refused", '<=', $lasted + 2, 'full: but not for each key');
is(fill(1, 20_000), '', 'full: keys that left come back');

# In a transaction that does other things, too.
ask($session, 'BEGIN; CREATE TABLE works AS SELECT 1 AS n; DECLARE c CURSOR FOR TABLE works; SAVEPOINT s');
is(fill(140_001, 150_000), '', 'full: in a transaction');
is(ask($session, 'FETCH c'), 1, 'full: its cursor goes on');
ask($session, 'RELEASE s; INSERT INTO works VALUES (2); COMMIT');
is(ask($session, 'SELECT sum(n) FROM works'), 3, 'full: it commits');
ask($session, q(SET statement_timeout = '100ms'));
is(ask($session, 'SELECT pg_sleep(60)'), 'ERROR 57014', 'full: the session can be cancelled');
ask($session, 'RESET statement_timeout');

# Others draw at the same time, and cannot grow either.
my @drawing = map { draw($node, "generate_series, snowid_section_next('counted', generate_series)", 30_000) } 1 .. 3;
finish(@drawing);
my ($count) = check_keys('full: sessions at once', 0, @drawing);
is($count, 90_000, 'full: all sessions are served');

# Another kind of refusal is an error, and nothing but that.
refuse($eperm);
my $key = 300_000;
wait_for(sub { $key += 50_000; fill($key - 49_999, $key) eq 'ERROR 42501' }, 'the section to ask for memory again');
my $known_key = ask($session, <<"SQL");
SELECT max(k) FROM generate_series(1, $key) k WHERE snowid_section_current('counted', k) IS NOT NULL
SQL
is(fill($known_key, $known_key), '', 'no right: a key that is known goes on');
refuse();
my $room = q(SELECT counters_memory >= 100000 * 40 FROM snowid.stat_database);
wait_for(sub { fill(150_001, 300_000); ask($session, $room) eq 't' }, 'the section to grow again');
is(fill(1, 300_000), '', 'there is memory again: all are served');
cmp_ok(known(), '>=', 50_000, 'and as many keys are known as before');

# Each key's numbers, in the order in which they came.
is(ask($session, <<'SQL'), 0, 'no key went back');
SELECT count(*) FROM
  (SELECT number <= lag(number) OVER (PARTITION BY key ORDER BY ctid) AS is_wrong FROM numbers) n
WHERE is_wrong
SQL
is(ask($session, q(SELECT snowid_section_next('other', 2))), 1, 'another section');
close_session($session);

$node->stop;
check_log($node);
done_testing();
