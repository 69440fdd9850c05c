# A shard that was released stays closed through crashes, a fail-over, dump and restore, and a new extension in the same database;
# a release that a crash undoes leaves it as it was.
# Runs in make test-all: it starts and crashes servers often.

use Snowid;

my $node = ready_server('node', allows_streaming => 1, conf => "wal_writer_delay = '10s'\n");
my $standby = new_standby($node, 'standby');
$standby->start;
$node->safe_psql('postgres', q(SELECT snowid.release_shard(7, moved_to => 'server b'), snowid_next(5)));

# What was committed stays, whatever the session thinks of its own commits; what was not is undone.
foreach my $how ('kill', 'immediate')
{
    my $shard = $how eq 'kill' ? 2 : 3;
    my ($mover, $other) = map { open_session($node) } 1, 2;
    my $open = ask($mover, 'SELECT snowid_next(4)');
    ask($mover, 'BEGIN; SELECT snowid.release_shard(4)');
    my $id = ask($other, "SET synchronous_commit = off; SELECT snowid.release_shard($shard, 'twitter', 'elsewhere')");
    crash_and_start($node, $how);
    close_session($mover, $other);
    cmp_ok(attempt($node, 'SELECT snowid_next(4)'), '>', $open, "$how: one that was not committed goes on");
    is(attempt($node, "SELECT snowid_next($_)"), 'ERROR 55000', "$how: shard $_ stays closed") foreach "$shard, 'twitter'", 7;
    is(attempt($node, "SELECT snowid.release_shard($shard, 'twitter')"), $id, "$how: with the same ID");
}

$node->wait_for_catchup($standby);
is(attempt($standby, "SELECT snowid.$_"), 'ERROR 25006', "on a standby: $_") foreach 'release_shard(5)', 'accept_shard(0, 1)', 'advance_past(now())';
is(attempt($standby, 'SELECT snowid_ceiling()'), $node->safe_psql('postgres', 'SELECT snowid_ceiling()'), 'on a standby: the ceiling');
crash($node, 'kill');
$standby->promote;
is(attempt($standby, $_->[0]), $_->[1], "promoted: $_->[0]") foreach [ 'SELECT snowid_next(7)', 'ERROR 55000' ], [ 'SELECT snowid_next(5) > 0', 't' ];
$standby->stop;
start_server($node);

# A restored copy, and a copy of that.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'restored', 'used';
system_or_bail('pg_dump', '-f', $dump, '-d', $node->connstr('postgres'));
system_or_bail('psql', '-XAtq1', '-v', 'ON_ERROR_STOP=1', '-o', "$dump.out", '-d', $node->connstr('restored'), '-f', $dump);
$node->safe_psql('postgres', 'CREATE DATABASE cloned TEMPLATE restored');
foreach my $dbname ('restored', 'cloned')
{
    is(attempt($node, $_->[0], dbname => $dbname), $_->[1], "$dbname: $_->[0]") foreach [ 'SELECT snowid_next(7)', 'ERROR 55000' ], [ 'SELECT snowid_next(5) > 0', 't' ];
}
# Where sessions have drawn before the rows come; and a new extension, as long as the server runs.
$node->safe_psql('used', 'CREATE EXTENSION snowid');
my $user = open_session($node, dbname => 'used');
like(ask($user, 'SELECT snowid_next(7)'), qr/^\d+$/, 'a session has drawn');
$node->safe_psql('used', q(INSERT INTO snowid_internal.moved_shards VALUES (7, 'instagram', 7 << 10, false, 'server b', now())));
like(ask($user, 'SELECT snowid_next(7)') . $user->{err}, qr/shard 7 .* was released\n.*It has moved to: server b/, 'it is refused once the row is there');
my $last = ask($user, 'SELECT snowid_next(6)');
is(ask($user, 'SELECT snowid.release_shard(6) > 0; DROP EXTENSION snowid; CREATE EXTENSION snowid'), 't', 'the extension made anew');
is(ask($user, "SELECT snowid_next($_)"), 'ERROR 55000', "shard $_ stays closed") foreach 6, 7;
like($user->{err}, qr/was released\nHINT:  Generate its IDs on the server/, 'and says why');
cmp_ok(my $id = ask($user, 'SELECT snowid.release_shard(6)'), '>', $last, 'released again: above all');
is(ask($user, "SELECT snowid.accept_shard(6, snowid_encode(snowid_timestamp($id) + '5 ms', 6, 0)); SELECT snowid_next(6) > $id"), "\nt", 'and it can come back');
is(ask($user, 'SELECT snowid.accept_shard(7, 7 << 10); SELECT snowid_next(7) > 0'), "\nt", 'the other one, too');
end_test($node);
