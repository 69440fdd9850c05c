# What one database has left in the server's memory is not taken for another's that gets its OID; and what one
# holder of a number, or a session that had it, leaves behind is not taken for the next one's.
#
# Runs in make test-all: it has many databases.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $registry = new_server('registry', allows_streaming => 1);
$registry->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $node = new_server('node');
# Nobody but who has to flushes anything.
$node->append_conf('postgresql.conf', "wal_writer_delay = '10s'\nmax_prepared_transactions = 2\n");
$node->start;

sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub number_of { my ($member) = @_; return at($member, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())') }
sub join_as { my ($member) = @_; return at($member, "SELECT snowid.join('registry', '$member')") }
sub on_registry { my ($sql) = @_; return attempt($registry, $sql) }
sub new_member
{
    my ($member) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $member");
    add_source($node, $registry, name => 'registry', dbname => $member);
    return;
}

# CREATE DATABASE may be told the OID of one that was dropped.
$node->safe_psql('postgres', 'CREATE DATABASE open_one; CREATE DATABASE closed_one');
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach 'open_one', 'closed_one';
$node->safe_psql('closed_one', q(SELECT snowid.release_shard(42); SELECT snowid.release_shard(43, 'twitter', 'elsewhere')));
add_source($node, $registry, name => 'registry', dbname => 'open_one');
my $again = 'CREATE DATABASE again OID = 50010 TEMPLATE';
$node->safe_psql('postgres', "$again open_one");
is(join_as('again'), '1', 'the first one has joined');
is(number_of('again'), '1|1', 'and draws from its number');
is(at('again', q(SELECT snowid_next(42) > 0, snowid_next(43, 'twitter') > 0, snowid_next(44) > 0)), 't|t|t', 'and from other shards');
$node->safe_psql('postgres', $_) foreach 'DROP DATABASE again', "$again open_one";
is(number_of('again'), '0|0', 'the second has no number');
$node->safe_psql('postgres', $_) foreach 'DROP DATABASE again', "$again closed_one";
is(at('again', $_), 'ERROR 55000', "the third has released that: $_") foreach 'SELECT snowid_next(42)', q(SELECT snowid_next(43, 'twitter'));
is(at('again', 'SELECT snowid_next(44) > 0'), 't', 'but not that');
is(at('again', q(SELECT snowid.accept_shard(42, snowid_encode(clock_timestamp() + '5 ms', 42, 0)))), '', 'and gets it back');
is(at('again', 'SELECT snowid_next(42) > 0'), 't', 'and draws from it');
$node->safe_psql('postgres', $_) foreach 'ALTER DATABASE again CONNECTION LIMIT 100', 'ALTER DATABASE again SET work_mem = 128';
is(at('again', 'SELECT snowid_next(42) > 0, snowid_next(44) > 0, snowid_default_shard()'), 't|t|0', 'altered, it is the same');
is(at('again', q(SELECT snowid_next(43, 'twitter'))), 'ERROR 55000', 'also in what it has released');
# Whoever is the first after that need not wait for who moves a shard.
my $mover = open_session($node, dbname => 'again');
is(ask($mover, q(BEGIN; SELECT snowid.accept_shard(43, snowid_encode(clock_timestamp() + '5 ms', 43, 0, 'twitter'), 'twitter'))), '', 'a shard is moved');
$node->safe_psql('postgres', 'ALTER DATABASE again CONNECTION LIMIT 99');
is(at('again', q(SET lock_timeout = '30s'; SELECT snowid_next(44) > 0)), 't', 'altered meanwhile, others are drawn from');
ask($mover, 'ROLLBACK');
close_session($mover);
# Nor is he led by rows that the table would refuse.
$node->safe_psql('again', <<'SQL');
ALTER TABLE snowid_internal.moved_shards DROP CONSTRAINT moved_shards_pkey;
ALTER TABLE snowid_internal.moved_shards ALTER layout DROP NOT NULL, DISABLE TRIGGER ALL;
INSERT INTO snowid_internal.moved_shards (shard, id, is_open, moved_at) VALUES (400, 1, false, now());
ALTER DATABASE again CONNECTION LIMIT 98;
SQL
is(at('again', 'SELECT snowid_next(44) > 0'), 't', "nor for what is not a shard's");
is(on_registry("SELECT snowid.retire_node(1)"), '', 'who is gone has left');

# Who was found to be a copy is not taken for the one that gets its OID; and the other way round.
$node->safe_psql('postgres', $_) foreach 'DROP DATABASE again', "$again open_one";
is(join_as('again'), '2', 'the next one has joined');
is(at('again', 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(42))'), '2|42', 'and draws');
on_registry('UPDATE snowid_internal.nodes SET token = 1, exchange = exchange + 1 WHERE node_number = 2');
is(at('again', 'SELECT snowid.check_node()'), 'ERROR 55000', 'it is found to be a copy');
is(at('again', $_), 'ERROR 55000', "and refuses: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(42)';
$node->safe_psql('postgres', $_) foreach 'DROP DATABASE again', "$again open_one";
is(at('again', 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(42))'), '0|42', 'the one that gets its OID does not');
is(on_registry("SELECT snowid.retire_node(2)"), '', 'who is gone has left');

# Who joins gets no number of before.
new_member($_) foreach 'north', 'south';
is(join_as('north'), '3', 'north has joined');
is(number_of('north'), '3|3', 'north draws');
is(at('north', 'SELECT snowid.leave()'), '', 'north has left');
is(number_of('south'), '0|0', 'south has drawn, later');
is(join_as('south'), '4', 'south gets another number');
is(number_of('south'), '4|4', 'and draws');

# Joining is durable once it is heard of, and not put off.
new_member('east');
is(at('east', q(SET synchronous_commit = off; SELECT snowid.join('registry', 'east'))), '5', 'east has joined, without waiting');
crash($node, 'kill');
$node->start;
is(number_of('east'), '5|5', 'and is a node after a crash');
is(at('east', q(BEGIN; SELECT snowid.check_node(); PREPARE TRANSACTION 'p')), 'ERROR 0A000', 'checking is not put off');
is(at('east', 'SELECT snowid.check_node()'), '5', 'the next check is right');
is(at('north', q(BEGIN; SELECT snowid.release_shard(5); PREPARE TRANSACTION 'p')), 'ERROR 0A000', 'nor is releasing');

# What another version of the library has stored is not taken for what this one would have.
sub write_version
{
    my ($version) = @_;
    my $file = $node->data_dir . '/' . $node->safe_psql('east', q(SELECT pg_relation_filepath('snowid_internal.membership_page')));
    $node->stop;
    open my $page, '+<:raw', $file or die "$file: $!";
    # At the beginning of the special space of the second page, whose header says where that is.
    seek $page, 8192 + 16, 0;
    read $page, my $special, 2;
    my $place = 8192 + unpack 'S', $special;
    seek $page, $place, 0;
    read $page, my $before, 4;
    seek $page, $place, 0;
    print $page pack 'L', $version;
    close $page;
    $node->start;
    return unpack 'L', $before;
}
is(write_version(2), 1, 'the page is of version 1');
is(at('east', $_), 'ERROR 0A000', "those of version 2: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(42)', 'SELECT snowid.check_node()', 'SELECT snowid.leave()';
is(at('east', 'SELECT snowid_uuidv7() IS NOT NULL'), 't', 'but for UUIDs');
write_version(1);
is(number_of('east'), '5|5', 'version 1 again: as before');

# A shard that is closed in memory alone is released durably, too.
is(at('south', 'SELECT snowid.release_shard(42) > 0; DROP EXTENSION snowid; CREATE EXTENSION snowid'), 't', 'released, and the extension made anew');
is(at('south', 'SET synchronous_commit = off; SELECT snowid.release_shard(42) > 0'), 't', 'released once more, without waiting');
crash($node, 'kill');
$node->start;
is(at('south', 'SELECT snowid_next(42)'), 'ERROR 55000', 'also after a crash');

# Rows that are restored, and that are older than what was drawn since.
my $drawn = at('east', 'SELECT max(snowid_next(42)) FROM generate_series(1, 3000000)');
my $old = q(INSERT INTO snowid_internal.moved_shards VALUES (%d, 'instagram', snowid_encode('2020-01-01Z', %d, 0), false, NULL, now()));
is(at('east', sprintf($old, 42, 42)), '', 'a release of 2020 is restored');
cmp_ok(at('east', 'SELECT snowid.release_shard(42)'), '>', $drawn, 'what is handed over is above all that was drawn');
is(at('east', q(SELECT snowid.accept_shard(42, snowid_encode(snowid_timestamp(id) + '5 ms', 42, 0)) FROM snowid.released_shards)), '', 'accepted');
cmp_ok(at('east', 'SELECT snowid_next(42)'), '>', $drawn, 'what is drawn is, too');
crash($node, 'kill');
$node->start;
is(at('east', sprintf($old, 43, 43)), '', 'the same after a restart');
cmp_ok(at('east', 'SELECT id FROM snowid.released_shards'), '>', $drawn, 'is above all that may have been drawn before');

# A batch of the node's own number ends where that becomes another's.
my $batch = open_session($node, dbname => 'east');
ask($batch, 'BEGIN; DECLARE own CURSOR FOR SELECT snowid_next_batch(snowid_default_shard(), 100000)');
ask($batch, 'DECLARE named CURSOR FOR SELECT snowid_next_batch(7, 100000)');
like(ask($batch, "FETCH $_"), qr/^\d+$/, "a batch has begun: $_") foreach 'own', 'named';
is(ask($batch, 'SELECT snowid.check_node()'), '5', 'the number is confirmed');
is(ask($batch, "MOVE 3000 FROM $_; SELECT"), '', "then it goes on: $_") foreach 'own', 'named';
is(ask($batch, 'SELECT snowid.leave()'), '', 'left');
is(ask($batch, 'MOVE 3000 FROM named; SELECT'), '', 'a batch of another shard goes on');
is(ask($batch, 'MOVE 3000 FROM own'), 'ERROR 55000', 'that of the number does not');
like($batch->{err}, qr/node "east" has left the registry/, 'and says why');
close_session($batch);

# Who has begun to take his number over is still who he was: he draws, checks and leaves.
new_member('west');
is(join_as('west'), '6', 'west has joined');
is(number_of('west'), '6|6', 'west draws');
my $taking = open_session($node, dbname => 'west');
backend_of($taking);
on_registry('ALTER FUNCTION snowid.register RENAME TO away');
is(ask($taking, 'SELECT snowid.take_over_node()'), 'ERROR 42883', 'the registry does not answer');
on_registry('ALTER FUNCTION snowid.away RENAME TO register');
is(number_of('west'), '6|6', 'west draws');
is(at('west', 'SELECT snowid.check_node()'), '6', 'and checks');
# It answers, and the answer is lost. IDs are above the other server's already, which is eleven seconds from now.
$node->safe_psql('west', q(ALTER DATABASE west SET snowid.max_wait = '1min'));
foreach my $then ('SELECT snowid.check_node()', 'SELECT snowid.leave()')
{
    my $held = hold_commits($registry);
    start_asking($taking, 'SELECT snowid.take_over_node()');
    wait_for_waiting($registry, 1, 'SyncRep', 'register');
    $node->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
    is(answer($taking), 'ERROR 57014', 'taking over is cancelled');
    release_commits($registry, $held);
    is(number_of('west'), '6|6', 'west draws');
    unlike(at('west', $then), qr/ERROR/, "$then: as if nothing had been");
}
is(on_registry('SELECT retired IS NOT NULL FROM snowid.registry WHERE node_number = 6'), 't', 'the number is retired');
is(number_of('west'), 'ERROR 55000', 'west is no node');
close_session($taking);

$_->stop foreach $node, $registry;
check_log($_) foreach $node, $registry;
done_testing();
