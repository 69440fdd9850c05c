# Settings of portable/snowid.sql are a database's own: its node's number, and how far IDs may run ahead. Logical
# replication brings none of another server. Without their row there are the defaults.
#
# Runs in make test-all: it starts many sessions.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('own_settings', allows_streaming => 'logical');
$node->start;
create_portable($node, 'first', shards => [7]);
create_portable($node, 'second', shards => [3]);

# Replicated is all that there is: rows that were there before, and changes. What comes last says when all has come.
$node->safe_psql($_, 'CREATE TABLE things (id int PRIMARY KEY)') foreach 'first', 'second';
$node->safe_psql('first', 'UPDATE snowid.settings SET shard = 7; INSERT INTO things VALUES (1); CREATE PUBLICATION everything FOR ALL TABLES');
$node->safe_psql('first', q(SELECT pg_create_logical_replication_slot('everything', 'pgoutput')));
$node->safe_psql('second', q(CREATE SUBSCRIPTION everything CONNECTION $$) . $node->connstr('first')
      . '$$ PUBLICATION everything WITH (create_slot = false)');
$node->wait_for_subscription_sync(undef, undef, 'second');
$node->safe_psql('first', 'UPDATE snowid.settings SET shard = 7, max_lead = 5; INSERT INTO things VALUES (2)');
wait_for(sub { $node->safe_psql('second', 'SELECT count(*) FROM things') eq '2' }, 'a change');
is($node->safe_psql('second', 'SELECT shard, max_lead FROM snowid.settings'), '0|1000', 'no settings came along');
is($node->safe_psql('second', 'UPDATE snowid.settings SET shard = 3 RETURNING shard'), '3', 'its own can be changed');
$node->safe_psql('second', 'DROP SUBSCRIPTION everything');

# PostgreSQL takes any value of a setting that it does not know; the first draw raises an error, also where it would not
# have used the setting.
my %invalid = (
    'snowid.shard' => [ 'two', '-2', '9223372036854775808', '0x1', '1.5' ],
    'snowid.max_wait' => [ 'long', '5 S', '-1', '25d', '2147483648', '1 s s', 's' ]);
foreach my $setting (sort keys %invalid)
{
    foreach my $value (@{ $invalid{$setting} })
    {
        my ($status, $out, $err) = $node->psql('second', "SET $setting = '$value'; SELECT 'set'; SELECT snowid_next()", on_error_stop => 0);
        is($out, 'set', "$setting is set to $value");
        like($err, qr/ERROR:  (?:invalid value for parameter "$setting": "$value"\nHINT:  \w|-1 ms is outside the valid range for parameter "$setting")/,
            'the draw says so');
    }
}
is(attempt($node, q(SET snowid.max_wait = 'long'; SELECT snowid_next(0)), dbname => 'second'), 'ERROR 22023', 'with a shard, too');
$node->safe_psql('postgres', q(ALTER DATABASE second SET snowid.shard = 'two'));
is(attempt($node, 'SELECT snowid_next()', dbname => 'second'), 'ERROR 22023', 'an invalid setting of a database');
is(attempt($node, 'SELECT snowid_shard(snowid_next(0))', dbname => 'second'), '0', 'which is not used where a shard is named');
$node->safe_psql('postgres', 'ALTER DATABASE second RESET ALL');
# The table takes none.
is(attempt($node, "UPDATE snowid.settings SET $_", dbname => 'second'), 'ERROR 23514', $_)
  foreach 'shard = -1', 'shard = 8192', 'max_lead = -1', 'max_wait = -1';

# Who has deleted the row has the defaults, and no null as an ID.
$node->safe_psql('second', 'DELETE FROM snowid.settings');
is($node->safe_psql('second', 'SELECT snowid_shard(snowid_next())'), '0', 'without settings it is shard 0');
$node->safe_psql('second', q(SELECT setval('snowid_shards.instagram_0', last_value + (3600000::bigint << 10)) FROM snowid_shards.instagram_0));
is(attempt($node, q(SET statement_timeout = '1min'; SELECT snowid_next(0)), dbname => 'second'), 'ERROR SN001', 'and an hour ahead is too far');
$node->safe_psql('second', 'SELECT snowid.create_shard(0)');
is($node->safe_psql('second', 'SELECT shard FROM snowid.settings'), '0', 'the next shard that is made brings them back');

$node->stop;
done_testing();
