# Two servers that go by one number would make the same IDs. Whatever copies a database, it is found out: by
# itself where it is another server or another database than the one that joined, and else by the exchange
# of tokens, whichever of the two comes second. From then on, durably, it refuses to draw from the number.
# A promoted standby is no copy: it goes on as its primary, and where both live the check finds one of them.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $registry = new_server('registry');
$registry->start;
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $original = new_server('original', allows_streaming => 1);
$original->start;
add_source($original, $registry, name => 'registry');

sub number_of { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())', dbname => $dbname) }
sub check { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_check()', dbname => $dbname) }
sub take_over { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_check(take_over => true)', dbname => $dbname) }
sub join_as { my ($node, $name, $dbname) = @_; return attempt($node, "SELECT snowid_join('registry', '$name')", dbname => $dbname) }

# Checks that a server has been found to be a copy, for good, and in all sessions.
sub check_found
{
    my ($node, $session, $name) = @_;
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '1', "$name: draws until then");
    # Which looks at no catalog, and takes no lock, once it runs.
    my $busy = new_session($node);
    ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next())');
    ask($busy, 'BEGIN');
    is(ask($busy, 'EXECUTE draw'), '1', "$name: and in a transaction") foreach 1 .. 8;
    is(check($node), 'ERROR 55000', "$name: found");
    ask($busy, 'SAVEPOINT before');
    foreach my $refused ('also in the middle of a transaction', 'again, who has caught that')
    {
        is(ask($busy, 'EXECUTE draw'), 'ERROR 55000', "$name: refuses, $refused");
        ask($busy, 'ROLLBACK TO before');
    }
    close_session($busy);
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 55000', "$name: refuses");
    like($session->{err}, qr/\b(?:1|copy|state)\b/, "$name: says why");
    is(ask($session, 'SELECT snowid_next(7) > 0'), 't', "$name: but not a shard that is named");
    close_session($session);
    crash($node, 'kill');
    $node->start;
    is(number_of($node), 'ERROR 55000', "$name: also after a crash");
    is(check($node), 'ERROR 55000', "$name: and does not ask again");
    return;
}

sub new_session
{
    my ($node) = @_;
    my $session = open_session($node);
    ask($session, 'SELECT snowid_next()');
    return $session;
}

# A copy of all files, not started.
my $copies = 0;
sub new_copy
{
    my ($node) = @_;
    my $name = 'copy' . $copies++;
    $node->backup($name);
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($node, $name);
    return $copy;
}

is(join_as($original, 'the node'), '1', 'joined');
is(check($original), '1', 'checked');
my $copy = new_copy($original);
$copy->start;
is(number_of($copy), '1|1', 'a copy of all files: takes itself for the node');
is(check($original), '1', 'the original comes first');
check_found($copy, new_session($copy), 'the copy comes second');
is(check($original), '1', 'the original: goes on');
is(number_of($original), '1|1', 'and draws');

# The copy goes on as a node of its own, and again where that is copied.
is(join_as($copy, 'the node'), 'ERROR 42710', 'not by the same name');
is(number_of($copy), 'ERROR 55000', 'still a copy');
is(join_as($copy, 'the copy'), '2', 'it joins as a node of its own');
is(number_of($copy), '2|2', 'and draws');
is(check($_->[0]), $_->[1], "node $_->[1]: checked") foreach [ $original, 1 ], [ $copy, 2 ];
$copy->stop;

# The copy comes first: then it is the original that stops.
$copy = new_copy($original);
$copy->start;
is(check($copy), '1', 'the copy comes first');
check_found($original, new_session($original), 'the original comes second');
is(check($copy), '1', 'the copy: goes on');
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.register RENAME TO away');
is(take_over($original), 'ERROR 42883', 'the original would take over');
is(number_of($original), 'ERROR 55000', 'and refuses as long as nobody has agreed');
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.away RENAME TO register');
my $moment = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
# If something else comes in between, it is not forgotten that the copy has gone on.
my $note = q(UPDATE snowid.nodes SET last_id_time = now() + interval '%d s' WHERE number = 1);
$registry->safe_psql('postgres', sprintf($note, 9));
is(take_over($original), 'ERROR SN001', 'the original would take over, with its clock behind');
$registry->safe_psql('postgres', sprintf($note, 0));
my $taking = open_session($original);
backend_of($taking);
start_asking($taking, 'SELECT snowid_check(take_over => true)');
wait_for(sub { is_answered($taking); $taking->{err} =~ /NOTICE:.* waiting until .*\nDETAIL:.*gone on with number 1.* 10 seconds ahead/ },
    'the NOTICE');
$original->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
is(answer($taking), 'ERROR 57014', 'the original takes over, and does not wait for the end of it');
like($original->safe_psql('postgres', 'SELECT problem FROM snowid.node'), qr/is being taken over/, 'it has not the number yet');
close_session($taking);
wait_for(sub { take_over($original) eq '1' }, 'the original to take over');
is(attempt($original, q(SET snowid.max_wait = '1min'; SELECT snowid_shard(snowid_next()))), '1', 'and draws');
is($original->safe_psql('postgres', "SELECT snowid_timestamp(snowid_next()) > '$moment'::timestamptz + interval '11 s'"),
    't', 'above what the copy can have made since');
check_found($copy, new_session($copy), 'the copy comes second');
is(attempt($copy, 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'it can forget that it was a node');
is(check($original), '1', 'which takes nothing from the original');
$copy->stop;

# Copied while an exchange is under way, or was broken off: then both know the token that comes next.
# The clock is asked first: so only the second connection is to fail.
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.register RENAME TO away');
is(check($original), 'ERROR 42883', 'a check that is broken off');
is($original->safe_psql('postgres', <<'SQL'), 't', 'an exchange is under way');
SELECT m.last_value <> t.last_value FROM snowid.membership_mark m, snowid.membership_token t
SQL
$copy = new_copy($original);
$copy->start;
$registry->safe_psql('postgres', 'ALTER FUNCTION snowid.away RENAME TO register');
is(check($original), '1', 'copied while an exchange is under way: the original comes first');
check_found($copy, new_session($copy), 'copied while an exchange is under way');
is(check($original), '1', 'the original: goes on');
$copy->stop;

# Copied while a claim was under way.
$original->safe_psql('postgres', 'CREATE DATABASE late');
add_source($original, $registry, name => 'registry', dbname => 'late');
is(attempt($original, q(BEGIN; SELECT snowid_join('registry', 'late'); ROLLBACK), dbname => 'late'), '3', 'a claim that is rolled back');
$original->safe_psql('postgres', 'CREATE DATABASE later TEMPLATE late');
is(join_as($original, 'as it was', 'later'), '4', 'CREATE DATABASE meanwhile: another number');
$copy = new_copy($original);
$copy->start;
is(join_as($original, 'late', 'late'), '3', 'the original joins');
is(join_as($copy, 'late', 'late'), 'ERROR 42710', 'the copy does not get the same');
is(join_as($copy, 'later', 'late'), '5', 'but another');
is(check($original, 'late'), '3', 'the original: goes on');
$copy->stop;

# Other databases, other servers: these know by themselves.
sub check_moved
{
    my ($node, $dbname, $name) = @_;
    is(number_of($node, $dbname), 'ERROR 55000', "$name: refuses");
    my (undef, undef, $message) = $node->psql($dbname, 'SELECT snowid_check()');
    like($message, qr/this is not the database that has joined as node "the node".*HINT:.*take_over.*snowid_join/s, "$name: is told what to do");
    return;
}
$original->safe_psql('template1', 'CREATE DATABASE twin TEMPLATE postgres');
check_moved($original, 'twin', 'CREATE DATABASE');
is(join_as($original, 'twin', 'twin'), '6', 'CREATE DATABASE: a new node');
is(number_of($original, 'twin'), '6|6', 'CREATE DATABASE: draws');
$original->safe_psql('template1', 'CREATE DATABASE triplet TEMPLATE postgres');
is(attempt($original, 'SELECT snowid_leave(); SELECT snowid_default_shard()', dbname => 'triplet'), "\n0", 'CREATE DATABASE: no node');
is(check($original), '1', 'CREATE DATABASE: the node has not noticed');

my $dump = "$dir/dump.sql";
command_ok([ 'pg_dump', '-d', $original->connstr('postgres'), '-f', $dump ], 'dumped');
my $restored = new_server('restored');
$restored->start;
sub restore
{
    my ($node, $dbname) = @_;
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($dbname), '-f', $dump ], 'restored');
    return;
}
restore($restored, 'postgres');
check_moved($restored, 'postgres', 'dump and restore');
# pg_upgrade carries more than a dump.
foreach my $word ('mark', 'token')
{
    my $value = last_value($original, "snowid.membership_$word");
    $restored->safe_psql('postgres', "SELECT setval('snowid.membership_$word', $value)");
}
check_moved($restored, 'postgres', 'upgrade');
is(attempt($restored, 'BEGIN; SELECT snowid_check(take_over => true); ROLLBACK'), '1', 'taking over, and rolled back');
is(number_of($restored), 'ERROR 55000', 'refuses again');
is(take_over($restored), '1', 'taking over');
is(number_of($restored), '1|1', 'and draws');
check_found($original, new_session($original), 'the one that was dumped');
is(check($restored), '1', 'who has taken over goes on');
# Into the same database: what is restored there need not be true any more.
is(attempt($original, 'SELECT snowid_leave(); SELECT snowid_default_shard()'), "\n0", 'left');
is(join_as($original, 'once more'), '7', 'a new node');
my $row = $original->safe_psql('postgres', 'COPY snowid.membership TO STDOUT');
attempt($original, 'SELECT snowid_leave()');
is(join_as($original, 'and again'), '8', 'another one');
attempt($original, 'SELECT snowid_leave()');
$original->safe_psql('postgres', "COPY snowid.membership FROM STDIN;\n$row\n\\.\n");
is(number_of($original), 'ERROR 55000', 'the row of a number that was given back, restored: refuses');
is(take_over($original), 'ERROR 55000', 'what was given back is not taken over');
is(join_as($original, 'and again'), '9', 'a new node');

# A standby: alone it takes over without ado, be its last exchange that of its primary or the one before.
my $primary = $original;
sub promote
{
    my ($standby) = @_;
    $standby->promote;
    wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
    return;
}
foreach my $lag (0, 1)
{
    my $standby = new_standby($primary, "standby$lag");
    $standby->start;
    is(check($primary), '9', 'the primary: checked');
    $primary->wait_for_catchup($standby);
    is(attempt($standby, 'SELECT snowid_next()'), 'ERROR 25006', 'a standby draws nothing');
    is(check($standby), 'ERROR 25006', 'nor does it ask');
    if ($lag)
    {
        $standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
        $standby->reload;
        wait_for(sub { $primary->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_replication') eq '0' }, 'the standby to be cut off');
        is(check($primary), '9', 'the primary: checked again');
    }
    promote($standby);
    is(attempt($standby, 'SELECT snowid_shard(snowid_next())'), '9', "promoted, lag $lag: draws");
    is(check($standby), '9', "promoted, lag $lag: is the node");
    is(check($standby), '9', "promoted, lag $lag: and stays so");
    my $session = new_session($primary);
    is(check($primary), 'ERROR 55000', "promoted, lag $lag: the primary that lives on is found");
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 55000', "promoted, lag $lag: and refuses");
    close_session($session);
    $primary->stop;
    $primary = $standby;
}

# A standby hears of it with its primary's WAL, which tells its sessions nothing.
my $standby = new_standby($primary, 'bystander');
$standby->start;
my $reader = open_session($standby);
is(ask($reader, 'SELECT snowid_default_shard()'), '9', 'a standby knows the number');
$registry->safe_psql('postgres', 'UPDATE snowid.nodes SET token = 1, previous_token = 1 WHERE number = 9');
is(check($primary), 'ERROR 55000', 'its primary is found');
$primary->wait_for_catchup($standby);
is(ask($reader, 'SELECT snowid_default_shard()'), 'ERROR 55000', 'the standby knows that, too');
close_session($reader);
$standby->stop;

# What a take-over has left that came to no end is not taken for a claim: the number would be that of both.
$restored->safe_psql('postgres', 'CREATE DATABASE first');
add_source($restored, $registry, name => 'registry', dbname => 'first');
my $number = join_as($restored, 'first', 'first');
$restored->safe_psql('postgres', 'CREATE DATABASE second TEMPLATE first');
is(attempt($restored, 'BEGIN; SELECT snowid_check(take_over => true); ROLLBACK', dbname => 'second'), $number,
    'taking over, and rolled back');
cmp_ok(join_as($restored, 'second', 'second'), '>', $number, 'then joining: another number');
is(take_over($restored, 'first'), $number, 'the original can take its number back');
is(number_of($restored, 'first'), "$number|$number", 'and draws from it');

check_log($_) foreach $registry, $restored;
$_->stop foreach $registry, $restored, $primary;
done_testing();
