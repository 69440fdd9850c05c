# What one database has left in the server's memory is not taken for another's that gets its OID: neither its node number, nor the
# shards that it has released, nor that it was found to be a copy. Nor is one holder's number taken for the next one's.
# Runs in make test-all: it has many databases.

use Snowid;

my $registry = ready_server('registry');
my $node = ready_server('node', sql => 'CREATE DATABASE open_one; CREATE DATABASE closed_one');
sub at { my ($member, $sql) = @_; return attempt($node, $sql, dbname => $member) }
sub join_as { my ($member) = @_; return at($member, "SELECT snowid.join('registry', '$member')") }
my $number = 'SELECT snowid_default_shard(), snowid_shard(snowid_next())';

# CREATE DATABASE may be told the OID of one that was dropped.
sub again { my ($template) = @_; $node->safe_psql('postgres', "DROP DATABASE IF EXISTS again; CREATE DATABASE again OID = 50010 TEMPLATE $template"); return }
$node->safe_psql('closed_one', q(CREATE EXTENSION snowid; SELECT snowid.release_shard(42); SELECT snowid.release_shard(43, 'twitter', 'elsewhere')));
add_source($node, $registry, name => 'registry', dbname => 'open_one');
again('open_one');
is(join_as('again'), '1', 'the first one has joined');
is(at('again', $number), '1|1', 'and draws from its number');
is(at('again', q(SELECT snowid_next(42) > 0, snowid_next(43, 'twitter') > 0, snowid_next(44) > 0)), 't|t|t', 'and from other shards');
again('open_one');
is(at('again', $number), '0|0', 'the second has no number');
again('closed_one');
is(at('again', $_), 'ERROR 55000', "the third has released that: $_") foreach 'SELECT snowid_next(42)', q(SELECT snowid_next(43, 'twitter'));
is(at('again', 'SELECT snowid_next(44) > 0'), 't', 'but not that');
is(at('again', q(SELECT snowid.accept_shard(42, snowid_encode(clock_timestamp() + '5 ms', 42, 0)))), '', 'and gets it back');
$node->safe_psql('postgres', 'ALTER DATABASE again CONNECTION LIMIT 100; ALTER DATABASE again SET work_mem = 128');
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

$registry->safe_psql('postgres', 'SELECT snowid.retire_node(1)');
again('open_one');
is(join_as('again'), '2', 'the next one has joined');
is(at('again', 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(42))'), '2|42', 'and draws');
$registry->safe_psql('postgres', 'UPDATE snowid_internal.nodes SET token = 1, exchange = exchange + 1 WHERE node_number = 2');
is(at('again', $_), 'ERROR 55000', "it is found to be a copy: $_") foreach 'SELECT snowid.check_node()', 'SELECT snowid_next()', 'SELECT snowid_next(42)';
again('open_one');
is(at('again', 'SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(42))'), '0|42', 'the one that gets its OID draws');

# Who joins gets no number of before.
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE open_one") foreach 'north', 'south';
is(join_as('north'), '3', 'north has joined');
is(at('north', $number), '3|3', 'north draws');
is(at('north', 'SELECT snowid.leave()'), '', 'north has left');
is(at('south', $number), '0|0', 'south has drawn, later');
is(join_as('south'), '4', 'south gets another number');
is(at('south', $number), '4|4', 'and draws');
end_test($node, $registry);
