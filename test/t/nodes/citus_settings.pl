# Citus copies what ALTER DATABASE and ALTER ROLE set to all of its nodes, and carries SET LOCAL and a function's SET clause
# there: with one snowid.default_shard all would make the same IDs. So a node of Citus refuses the setting when it is used, wherever
# it comes from, as long as Citus is there.

use Snowid;

my $node = ready_server('citus', sql => <<'SQL');
CREATE ROLE app LOGIN;
CREATE TABLE photos (id bigint DEFAULT snowid_next(), n int);
GRANT ALL ON photos TO app;
CREATE FUNCTION draw() RETURNS bigint SET snowid.default_shard = 7 LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END'
SQL
my $shard = 'SELECT snowid_shard(snowid_next())';

# Checks, in a session that has not loaded the library, what a statement is answered with Citus and without.
sub check_refused
{
    my ($name, $is_citus, $sql) = @_;
    my $session = open_session($node, user => 'app');
    is(ask($session, $sql), $is_citus ? 'ERROR 55000' : '7', $name);
    like($session->{err}, qr/parameter "snowid.default_shard" is set on a node of Citus\nDETAIL:  .*\nHINT:  Reset it: /, "$name: with the reason") if $is_citus;
    close_session($session);
    return;
}

sub each_way
{
    my ($how, $is_citus) = @_;
    foreach my $whom ('DATABASE postgres', 'ROLE app', 'ROLE app IN DATABASE postgres')
    {
        $node->safe_psql('postgres', "ALTER $whom SET snowid.default_shard = 7");
        check_refused("$how: $whom", $is_citus, $shard);
        $node->safe_psql('postgres', "ALTER $whom RESET snowid.default_shard");
    }
    check_refused("$how: $_", $is_citus, $_) foreach "SET snowid.default_shard = 7; $shard", "BEGIN; SET LOCAL snowid.default_shard = 7; $shard", 'SELECT snowid_shard(draw())',
      'SET snowid.default_shard = 7; INSERT INTO photos (n) VALUES (1) RETURNING snowid_shard(id)', 'SET snowid.default_shard = 7; SELECT snowid_default_shard()',
      q(SET snowid.default_shard = 7; SELECT snowid_shard(snowid_next(snowid_default_shard(), 'twitter'), 'twitter'));
    local $ENV{PGOPTIONS} = '-c snowid.default_shard=7';
    check_refused("$how: the connection's options", $is_citus, $shard);
    return;
}

each_way('without Citus', 0);
create_citus($node);
citus_set_group($node, 3);
each_way('with Citus', 1);
my $session = open_session($node, user => 'app');
is(ask($session, q(SET snowid.default_shard = 7; SELECT concat_ws('|', coalesce(node_number::text, 'null'), source, problem) FROM snowid.node_status)),
    'null|setting (session)|parameter "snowid.default_shard" is set on a node of Citus', 'shown');
is(ask($session, $_->[0]), $_->[1], "who is served: $_->[0]") foreach [ 'SELECT snowid_shard(snowid_next(9))', '9' ], [ "SET snowid.default_shard = -1; $shard", '3' ],
  [ "SET snowid.default_shard = 7; RESET snowid.default_shard; $shard", '3' ], [ "BEGIN; SAVEPOINT s; SET snowid.default_shard = 7; ROLLBACK TO s; $shard; COMMIT; $shard", "3\n3" ];

# The configuration file, and Citus that comes and goes, under a session that is open.
reload_with($node, 'snowid.default_shard', '7', $session);
is(ask($session, $shard), 'ERROR 55000', 'configuration');
check_refused('configuration: a new session', 1, $shard);
$node->safe_psql('postgres', 'DROP EXTENSION citus CASCADE');
is(ask($session, $shard), '7', 'Citus is dropped');
create_citus($node);
citus_set_group($node, 3);
is(ask($session, $shard), 'ERROR 55000', 'and installed again');
close_session($session);

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n");
$node->safe_psql('postgres', 'ALTER SYSTEM RESET snowid.default_shard');
$node->stop;
start_server($node);
each_way('preloaded', 1);
end_test($node);
