# Joining and releasing are durable once they are heard of, whatever synchronous_commit says, and are not put off by two-phase commit.
# Rows that are restored, and older than what was drawn since, do not set a shard back.
# Runs in make test-all: it draws for long.

use Snowid;

my $registry = ready_server('registry');
# Nobody but who has to flushes anything.
my $node = ready_server('node', conf => "wal_writer_delay = '10s'\nmax_prepared_transactions = 2\n");
add_source($node, $registry, name => 'registry');
sub here { my ($sql) = @_; return attempt($node, $sql) }

is(here(q(SET synchronous_commit = off; SELECT snowid.join('registry', 'a node'))), '1', 'joined, without waiting');
crash_and_start($node, 'kill');
is(here('SELECT snowid_default_shard(), snowid_shard(snowid_next())'), '1|1', 'a node after a crash');
is(here("BEGIN; SELECT $_; PREPARE TRANSACTION 'p'"), 'ERROR 0A000', "not put off: $_") foreach 'snowid.check_node()', 'snowid.release_shard(5)';
is(here('SELECT snowid.check_node()'), '1', 'the next check is right');

# Rows of before, which somebody restores.
my $drawn = here('SELECT max(snowid_next(42)) FROM generate_series(1, 3000000)');
my $old = q(INSERT INTO snowid_internal.moved_shards VALUES (%d, 'instagram', snowid_encode('2020-01-01Z', %d, 0), false, NULL, now()));
is(here(sprintf($old, 42, 42)), '', 'a release of 2020 is restored');
cmp_ok(here('SELECT snowid.release_shard(42)'), '>', $drawn, 'what is handed over is above all that was drawn');
is(here(q(SELECT snowid.accept_shard(42, snowid_encode(snowid_timestamp(id) + '5 ms', 42, 0)) FROM snowid.released_shards)), '', 'accepted');
cmp_ok(here('SELECT snowid_next(42)'), '>', $drawn, 'what is drawn is, too');
crash_and_start($node, 'kill');
is(here(sprintf($old, 43, 43)), '', 'the same after a restart');
cmp_ok(here('SELECT id FROM snowid.released_shards'), '>', $drawn, 'is above all that may have been drawn before');

# A shard that is closed in memory alone is released durably, too.
is(here('SELECT snowid.leave(); DROP EXTENSION snowid; CREATE EXTENSION snowid'), '', 'the extension is made anew');
is(here('SELECT snowid.release_shard(44) > 0; DROP EXTENSION snowid; CREATE EXTENSION snowid'), 't', 'and again, with a shard released');
is(here('SET synchronous_commit = off; SELECT snowid.release_shard(44) > 0'), 't', 'released once more, without waiting');
crash_and_start($node, 'kill');
is(here('SELECT snowid_next(44)'), 'ERROR 55000', 'also after a crash');
end_test($node, $registry);
