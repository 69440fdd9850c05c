# Settings of portable/snowid.sql are a database's own: logical replication brings none of another server, without their row there
# are the defaults, and what is no setting is an error at the next draw.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = new_server('own_settings', allows_streaming => 'logical');
$node->start;
create_portable($node, 'first', shards => [7]);
create_portable($node, 'second', shards => [3]);
sub second { my ($sql) = @_; return attempt($node, $sql, dbname => 'second') }

# Replicated is all that there is: rows that were there before, and changes. What comes last says when all has come.
$node->safe_psql($_, 'CREATE TABLE things (id int PRIMARY KEY)') foreach 'first', 'second';
$node->safe_psql('first', 'UPDATE snowid.settings SET shard = 7; INSERT INTO things VALUES (1); CREATE PUBLICATION everything FOR ALL TABLES');
$node->safe_psql('first', q(SELECT pg_create_logical_replication_slot('everything', 'pgoutput')));
$node->safe_psql('second', 'CREATE SUBSCRIPTION everything CONNECTION $$' . $node->connstr('first') . '$$ PUBLICATION everything WITH (create_slot = false)');
$node->wait_for_subscription_sync(undef, undef, 'second');
$node->safe_psql('first', 'UPDATE snowid.settings SET shard = 7, max_lead = 5; INSERT INTO things VALUES (2)');
wait_for(sub { second('SELECT count(*) FROM things') eq '2' }, 'a change');
is(second('SELECT shard, max_lead FROM snowid.settings'), '0|1000', 'no settings came along');
is(second('UPDATE snowid.settings SET shard = 3 RETURNING shard'), '3', 'its own can be changed');
$node->safe_psql('second', 'DROP SUBSCRIPTION everything');

# PostgreSQL takes any value of a setting that it does not know (portable/same_draws tries them).
foreach my $set (q(snowid.default_shard = 'two'), q(snowid.max_wait = 'long'))
{
    my ($name) = $set =~ /(\S+)/;
    my (undef, $out, $err) = $node->psql('second', "SET $set; SELECT 'set'; SELECT snowid_next()", on_error_stop => 0);
    is($out, 'set', "$set is set");
    like($err, qr/ERROR:  invalid value for parameter "$name": "\w+"\nHINT:  \w/, 'the draw says so');
}
is(second(q(SET snowid.max_wait = 'long'; SELECT snowid_next(0))), 'ERROR 22023', 'with a shard, too');
$node->safe_psql('postgres', q(ALTER DATABASE second SET snowid.default_shard = 'two'));
is(second('SELECT snowid_next()'), 'ERROR 22023', 'an invalid setting of a database');
is(second('SELECT snowid_shard(snowid_next(0))'), '0', 'which is not used where a shard is named');
$node->safe_psql('postgres', 'ALTER DATABASE second RESET ALL');
is(second("UPDATE snowid.settings SET $_"), 'ERROR 23514', "the table takes none: $_") foreach 'shard = -1', 'shard = 8192', 'max_lead = -1', 'max_wait = -1';

# Who has deleted the row has the defaults, and no null as an ID.
$node->safe_psql('second', 'DELETE FROM snowid.settings');
is(second('SELECT snowid_shard(snowid_next())'), '0', 'without settings it is shard 0');
second('SELECT setval($$snowid_shards.instagram_0$$, last_value + (3600000::bigint << 10)) FROM snowid_shards.instagram_0');
is(second(q(SET statement_timeout = '1min'; SELECT snowid_next(0))), 'ERROR SN001', 'and an hour ahead is too far');
is(second('SELECT snowid.create_shard(0); SELECT shard FROM snowid.settings'), "\n0", 'the next shard that is made brings them back');
end_test($node);
