# Citus copies what ALTER DATABASE and ALTER ROLE set to all of its nodes, and carries SET LOCAL and a function's SET
# clause there: with one snowid.shard all would make the same IDs. So a node of Citus refuses the setting when it is used,
# wherever it comes from.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('citus');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE app LOGIN; CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int);'
      . ' GRANT ALL ON photos TO app;'
      . q( CREATE FUNCTION draw() RETURNS bigint SET snowid.shard = 7 LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END'));

my $shard = 'SELECT snowid_shard(snowid_next())';

# Asks a session that has not loaded the library.
sub ask_anew
{
    my ($sql) = @_;
    my $session = open_session($node, user => 'app');
    my @answer = (ask($session, $sql), $session->{err});
    close_session($session);
    return @answer;
}

# What sets the shard, and undoes that; or what sets it in the session that draws.
my @ways = (
    [ 'ALTER DATABASE postgres SET snowid.shard = 7', 'ALTER DATABASE postgres RESET snowid.shard', $shard ],
    [ 'ALTER ROLE app SET snowid.shard = 7', 'ALTER ROLE app RESET snowid.shard', $shard ],
    [ 'ALTER ROLE app IN DATABASE postgres SET snowid.shard = 7', 'ALTER ROLE app IN DATABASE postgres RESET snowid.shard', $shard ],
    [ '', '', "SET snowid.shard = 7; $shard" ],
    [ '', '', "BEGIN; SET LOCAL snowid.shard = 7; $shard" ],
    [ '', '', 'SELECT snowid_shard(draw())' ],
    [ '', '', 'SET snowid.shard = 7; INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)' ],
    [ '', '', 'SET snowid.shard = 7; SELECT snowid_default_shard()' ],
    [ '', '', "SET snowid.shard = 7; SELECT snowid_shard(snowid_next(snowid_default_shard(), 'twitter'), 'twitter')" ]);

sub each_way
{
    my ($how, $is_citus) = @_;
    foreach my $way (@ways)
    {
        my ($set, $reset, $sql) = @$way;
        $node->safe_psql('postgres', $set) if $set;
        my ($answer, $error) = ask_anew($sql);
        is($answer, $is_citus ? 'ERROR 55000' : '7', "$how: $set $sql");
        like($error, qr/parameter "snowid.shard" is set on a node of Citus\nDETAIL:  .*\nHINT:  Reset it: /, "$how: with the reason") if $is_citus;
        $node->safe_psql('postgres', $reset) if $reset;
    }
    local $ENV{PGOPTIONS} = '-c snowid.shard=7';
    is((ask_anew($shard))[0], $is_citus ? 'ERROR 55000' : '7', "$how: the connection's options");
    return;
}

each_way('without Citus', 0);
create_citus($node);
citus_set_group($node, 3);
each_way('with Citus', 1);

my $session = open_session($node, user => 'app');
is(ask($session, "SET snowid.shard = 7; $shard"), 'ERROR 55000', 'refused');
is(ask($session, q(SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)),
    'null|setting (session)|parameter "snowid.shard" is set on a node of Citus', 'and shown');
is(ask($session, 'SELECT snowid_shard(snowid_next(9))'), '9', 'who names a shard is served');
is(ask($session, "SET snowid.shard = -1; $shard"), '3', "who wants this node's own number, too");
is(ask($session, "SET snowid.shard = 7; RESET snowid.shard; $shard"), '3', 'and who has reset it');
is(ask($session, "BEGIN; SAVEPOINT s; SET snowid.shard = 7; ROLLBACK TO s; $shard"), '3', 'in part');
is(ask($session, "COMMIT; $shard"), '3', 'and after the transaction');

# The configuration file, in a session that is open.
reload_with($node, 'snowid.shard', '7', $session);
is(ask($session, $shard), 'ERROR 55000', 'configuration');
is((ask_anew($shard))[0], 'ERROR 55000', 'configuration: a new session');

# Citus comes and goes under a session that has it set.
$node->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
is(ask($session, $shard), '7', 'Citus is dropped');
create_citus($node);
citus_set_group($node, 3);
is(ask($session, $shard), 'ERROR 55000', 'and installed again');
close_session($session);

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
$node->safe_psql('postgres', 'ALTER SYSTEM RESET snowid.shard');
$node->restart;
each_way('preloaded', 1);

check_log($node);
$node->stop;
done_testing();
