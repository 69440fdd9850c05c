# Two servers that go by one number would make the same IDs. A copy is found out: by itself if it is another server or
# another database than the one that joined, and else by the exchange of tokens, whichever of the two comes second. From
# then on, durably, it refuses all IDs, those of shards that are named, too. A server that was promoted or restored since
# unseats nobody by asking, nor is it stopped: both are told, until somebody states which one is the node.
#
# Runs in make test-all: it has five servers.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidNodes;
use Test::More;

# All clocks go on together by what they are set to.
my $clock = 0;
sub pass_time { set_clock($clock += 14); return }
sub start { my ($node) = @_; set_clock($clock, $node); start_server($node); return $node }

my $registry = start(new_server('registry'));
$registry->safe_psql('postgres', 'CREATE EXTENSION snowid');
my $original = new_server('original', allows_streaming => 1, has_archiving => 1);
$original->append_conf('postgresql.conf', "wal_sender_timeout = 0\nwal_receiver_timeout = 0\n");
start($original);
add_source($original, $registry, name => 'registry');

sub number_of { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())', dbname => $dbname) }
sub check { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid.check_node()', dbname => $dbname) }
sub join_as { my ($node, $name, $dbname) = @_; return attempt($node, "SELECT snowid.join('registry', '$name')", dbname => $dbname) }
sub message_of { my ($node, $sql, $dbname) = @_; return ($node->psql($dbname // 'postgres', $sql))[2] }
sub problem { my ($node) = @_; return attempt($node, 'SELECT problem FROM snowid.node_status') }
sub stated { return take_over($_[0], \&pass_time, $_[1]) }

# Checks that a server has been found to be a copy, for good, and in all sessions.
my @drawn = ('EXECUTE draw', 'EXECUTE draw_named', 'SELECT snowid_next(7)', q(SELECT snowid_next(7, 'twitter')), 'SELECT snowid_next_batch(7, 2)',
    'SELECT snowid_next()');
my $others = 'SELECT snowid_uuidv7() IS NOT NULL, objectid_next() IS NOT NULL';
sub check_found
{
    my ($node, $name) = @_;
    # Which looks at no catalog, and takes no lock, once it runs.
    my $busy = open_session($node);
    ask($busy, 'PREPARE draw AS SELECT snowid_shard(snowid_next()); PREPARE draw_named AS SELECT snowid_shard(snowid_next(7))');
    ask($busy, 'BEGIN');
    is(ask($busy, "EXECUTE $_->[0]"), $_->[1], "$name: draws until then") foreach ([ 'draw', 1 ], [ 'draw_named', 7 ]) x 8;
    is(check($node), 'ERROR 55000', "$name: found");
    ask($busy, 'SAVEPOINT before');
    foreach my $sql (@drawn, @drawn)
    {
        is(ask($busy, $sql), 'ERROR 55000', "$name: refuses in the middle of a transaction: $sql");
        ask($busy, 'ROLLBACK TO before');
    }
    is(ask($busy, $others), 't|t', "$name: but no UUIDs");
    close_session($busy);
    crash($node, 'kill');
    start($node);
    is(attempt($node, $_), 'ERROR 55000', "$name: also after a crash: $_") foreach @drawn[ 2 .. 5 ];
    is(check($node), 'ERROR 55000', "$name: and does not ask again");
    like(problem($node), qr/another server has replaced this one as node/, "$name: and says so");
    return;
}

# A copy of all files, not started. It has no part in the archive.
my $copies = 0;
sub new_copy
{
    my ($node, %options) = @_;
    my $name = 'copy' . $copies++;
    $node->backup($name);
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($node, $name, %options);
    $copy->append_conf('postgresql.conf', "archive_mode = off\n");
    return $copy;
}

is(join_as($original, 'the node'), '1', 'joined');
my $copy = start(new_copy($original));
is(number_of($copy), '1|1', 'a copy of all files: takes itself for the node');
is(check($original), '1', 'the original comes first');
check_found($copy, 'the copy comes second');
is(check($original), '1', 'the original: goes on') for 1, 2;
is(number_of($original), '1|1', 'and draws');
# What is rolled back has been nothing; and who leaves is no original.
is(attempt($copy, 'SELECT snowid.leave(); SELECT snowid_shard(snowid_next(7))'), "\n7", 'it leaves');
is(check($original), '1', 'which takes nothing from the original');
is(join_as($copy, 'the node'), '2', 'it joins as a node of its own');
is(number_of($copy), '2|2', 'and draws');
is(check($_->[0]), $_->[1], "node $_->[1]: checked") foreach [ $original, 1 ], [ $copy, 2 ];
$copy->stop;

# The copy comes first: then it is the original that stops. Until somebody states that it is the node.
$copy = start(new_copy($original));
is(check($copy), '1', 'the copy comes first');
check_found($original, 'the original comes second');
my $moment = $registry->safe_psql('postgres', 'SELECT clock_timestamp()');
my $taking = open_session($original);
backend_of($taking);
start_asking($taking, 'SELECT snowid.take_over_node()');
wait_for(sub { is_answered($taking); $taking->{err} =~ /NOTICE:.* waiting until .*\nDETAIL:.* 10 seconds ahead/ }, 'the NOTICE');
$original->safe_psql('postgres', "SELECT pg_cancel_backend($taking->{backend})");
is(answer($taking), 'ERROR 57014', 'the original takes over, and does not wait for the end of it');
close_session($taking);
is(number_of($original), 'ERROR 55000', 'it has not the number yet');
is(stated($original), '1', 'the original takes over');
is(attempt($original, q(SET snowid.max_wait = '1min'; SELECT snowid_shard(snowid_next()), snowid_shard(snowid_next(7)))), '1|7', 'and draws');
is($original->safe_psql('postgres', "SELECT snowid_timestamp(snowid_next()) > '$moment'::timestamptz + interval '11 s'"),
    't', 'above what the copy can have made since');
check_found($copy, 'the copy comes second');
is(check($original), '1', 'the original goes on');
# Who leaves, and is a copy, takes nothing from the node.
is(stated($copy), '1', 'the copy takes over');
$original->psql('postgres', 'SELECT snowid.leave()');
is(check($copy), '1', 'the original has left: the copy goes on');
is(join_as($original, 'the node'), 3, 'and the original joins anew');
is(stated($original), 3, 'who is the node may state it');
$copy->stop;

# Of two that state it at once one gets the number.
$copy = start(new_copy($original));
stand_between($registry, "IF request = 'take over' THEN UPDATE snowid_internal.nodes AS n SET token = 5, exchange = n.exchange + 1 WHERE n.claim = register.claim; END IF;");
is(stated($copy), 'ERROR 55000', 'a token that is another one by then: refused');
stand_aside($registry);
is(attempt($copy, q(SET snowid.max_lead = '1d'; SELECT snowid_default_shard(), snowid_shard(snowid_next()))), '3|3', 'nothing has changed, but that its IDs wait');
is(stated($original), 3, 'the original states it');
is(check($original), 3, 'and is who it is');
check_copy_asked();

# Copied while an exchange is under way, or was broken off: both know the token that comes next.
sub check_copy_asked
{
    $copy->stop;
    foreach my $first ('original', 'copy')
    {
        stand_between($registry, '', "RAISE 'lost';") if $first eq 'copy';
        stand_between($registry, "RAISE 'not asked';") if $first eq 'original';
        is(check($original), 'ERROR P0001', 'a check that is broken off');
        my $twin = start(new_copy($original));
        stand_aside($registry);
        my ($one, $other) = $first eq 'copy' ? ($twin, $original) : ($original, $twin);
        is(check($one), 3, "copied while an exchange is under way: the $first comes first");
        is(check($other), 'ERROR 55000', 'the other one is found');
        is(check($one), 3, 'who came first goes on');
        is(stated($original), 3, 'the original is stated');
        $twin->stop;
    }
    return;
}

# Copied while a claim was under way: one gets the number, and the other one another.
stand_between($registry, '', "IF request = 'exchange' THEN RAISE 'lost'; END IF;");
$original->safe_psql('postgres', 'CREATE DATABASE late');
add_source($original, $registry, name => 'registry', dbname => 'late');
is(join_as($original, 'late', 'late'), 'ERROR P0001', 'a claim whose answer is lost');
$original->safe_psql('postgres', 'CREATE DATABASE later TEMPLATE late');
stand_aside($registry);
is(join_as($original, 'later', 'later'), '4', 'CREATE DATABASE meanwhile: one gets the number');
is(join_as($original, 'late', 'late'), 'ERROR 55000', 'the other one is told that its claim is lost');
is(number_of($original, 'late'), '0|0', 'and has joined nothing');
is(join_as($original, 'late', 'late'), '5', 'it gets another');

# Another database, or another server: it finds out by itself.
$original->safe_psql('postgres', 'CREATE DATABASE shop TEMPLATE later');
is(attempt($original, $_, dbname => 'shop'), 'ERROR 55000', "CREATE DATABASE: $_") foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()';
like(message_of($original, 'SELECT snowid_next()', 'shop'), qr/not the server that has joined as node "later"\nDETAIL:.*\nHINT:.*snowid\.take_over_node\(\).*snowid\.join\(\)/, 'and says what to do');
is(attempt($original, 'SELECT snowid_shard(snowid_next(7))', dbname => 'shop'), '7', 'but named shards');
is(join_as($original, 'shop', 'shop'), '6', 'it joins');
is(check($original, 'later'), '4', 'and the original has not noticed');
# A dump has no number, and the restored database does not go by 0, as if it had never joined.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
command_ok([ 'pg_dump', '-d', $original->connstr('later'), '-f', $dump ], 'dumped');
unlike(slurp_file($dump), qr/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/, 'no claim is in the dump');
$original->safe_psql('postgres', 'CREATE DATABASE restored');
my $restoring = open_session($original, dbname => 'restored');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $original->connstr('restored'), '-f', $dump ], 'restored');
is(ask($restoring, 'SELECT snowid_next()'), 'ERROR 55000', 'restored: refused');
like($restoring->{err}, qr/restored from a dump of a node/, 'and says why');
is(ask($restoring, "SELECT snowid.$_()"), 'ERROR 55000', "nor $_") foreach qw(check_node take_over_node accept_registry leave);
is(ask($restoring, 'SET snowid.shard = 0; SELECT snowid_shard(snowid_next()); RESET snowid.shard'), '0', 'unless it is said');
# Its own transaction sees that the row was deleted, other sessions do not.
my $deleting = open_session($original, dbname => 'restored');
is(ask($deleting, 'BEGIN; DELETE FROM snowid_internal.membership; SELECT snowid_default_shard()'), '0', 'who has deleted the row draws');
is(ask($restoring, 'SELECT snowid_default_shard()'), 'ERROR 55000', 'and others do not');
is(ask($deleting, 'ROLLBACK; SELECT snowid_default_shard()'), 'ERROR 55000', 'rolled back: refused again');
close_session($deleting);
is(ask($restoring, q(SELECT snowid.join('registry', 'restored'))), '7', 'it joins');
close_session($restoring);
# Another server that has got the files and a tag of its own.
$original->append_conf('postgresql.conf', "snowid.instance_tag = 'a'\n");
$original->reload;
wait_for(sub { attempt($original, q(SELECT current_setting('snowid.instance_tag', true) FROM snowid_next(7))) eq 'a' }, 'the tag');
is(number_of($original), '3|3', 'a number that was got without a tag');
is(stated($original), '3', 'stated with the tag');
$copy = new_copy($original);
$copy->append_conf('postgresql.conf', "snowid.instance_tag = 'b'\n");
start($copy);
is(attempt($copy, $_), 'ERROR 55000', "another tag: $_") foreach 'SELECT snowid_next()', 'SELECT snowid.check_node()';
is(check($original), '3', 'and the original has not noticed');
$copy->stop;

# A promoted standby goes on, and unseats nobody; nor does what was restored from an archive. Both are told.
my $standby = new_standby($original, 'standby');
start($standby);
$original->wait_for_catchup($standby);
is(number_of($standby), 'ERROR 25006', 'a standby draws nothing');
is(check($standby), 'ERROR 25006', 'and does not check');
is(check($original), '3', 'the primary goes on');
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
is(check($original), '3', 'the primary checks, which the standby does not hear of') for 1, 2;
$standby->promote;
wait_for(sub { $standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the promotion');
is(number_of($standby), '3|3', 'promoted: it goes on');
foreach my $round (1, 2)
{
    like(message_of($standby, 'SELECT snowid.check_node()'), qr/WARNING:.*not confirmed number 3.*\nDETAIL:  This server was promoted.*\nHINT:.*take_over_node/, "promoted: warned, $round");
    is(check($standby), '3', 'and goes on');
    like(problem($standby), qr/this server was promoted or restored/, 'and shows it');
    like(message_of($original, 'SELECT snowid.check_node()'), qr/WARNING:.*\nDETAIL:  Another server, which was promoted.*\nHINT:.*take_over_node/, "so is the old primary, $round");
    is(number_of($original), '3|3', 'which goes on, too');
    like(problem($original), qr/another server, which was promoted/, 'and shows it');
}
isnt($registry->safe_psql('postgres', 'SELECT promoted_seen FROM snowid.registry WHERE node_number = 3'), '', 'the registry shows it');
# Who states that the registry is his does not say that he is the node; also where it is another one by then.
$registry->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');
$registry->safe_psql('template1', 'CREATE DATABASE moved TEMPLATE postgres');
$registry->safe_psql('moved', 'SELECT snowid.recover_registry(numbers_used) FROM snowid.registry_usage');
sub ask_at { $_->safe_psql('postgres', "ALTER SERVER registry OPTIONS (SET dbname '$_[0]')") foreach $original, $standby; return }
foreach my $dbname ('postgres', 'moved', 'postgres')
{
    ask_at($dbname);
    is(attempt($standby, 'SELECT snowid.take_over_node()'), 'ERROR 55000', 'the promoted one: another registry is none to take over at') if $dbname eq 'moved';
    like(message_of($standby, 'SELECT snowid.accept_registry()'), qr/WARNING:.*not confirmed number 3.*\nDETAIL:  This server was promoted.*\nHINT:.*take_over_node/, "accepts $dbname: warned");
    is(attempt($standby, 'SELECT snowid.accept_registry()'), '3', "accepts $dbname: goes on");
    is(attempt($original, 'SELECT snowid.accept_registry()'), '3', "the old primary accepts $dbname");
    is(check($original), '3', 'is not replaced');
    is(number_of($original), '3|3', 'and goes on');
}
# Who is the node is stated: the old primary, the promoted one, and the old one once more.
is(stated($original), '3', 'the old primary is stated to be the node');
is(problem($original), '', 'nothing is wrong');
is(check($original), '3', 'it goes on');
like(message_of($standby, 'SELECT snowid.check_node()'), qr/WARNING:/, 'the promoted one is warned as before');
is(stated($standby), '3', 'the promoted one is stated');
is(check($standby), '3', 'it goes on');
is(problem($standby), '', 'nothing is wrong');
check_stopped($original, 'the old primary');
is(stated($original), '3', 'the old one is stated again');
is(check($original), '3', 'it goes on');
check_stopped($standby, 'the promoted one');
sub check_stopped
{
    my ($node, $name) = @_;
    is(check($node), 'ERROR 55000', "$name: learns it at its check");
    is(attempt($node, $_), 'ERROR 55000', "$name: has stopped: $_") foreach 'SELECT snowid_next()', 'SELECT snowid_next(7)';
    return;
}
$standby->stop;
# After pg_upgrade timelines begin anew.
my %is_at = (claim => claim_of(9), node_number => 8);
sub at_registry { return attempt($registry, request(@_, %is_at)) }
is(at_registry('claim', timeline => 3), 'held|8', 'a node on timeline 3');
is(at_registry('take over', timeline => 1, system_identifier => 2, next => 5), 'held|8', 'is upgraded');
is(at_registry('exchange', timeline => 2, system_identifier => 2, exchange => 1, token => 5, next => 6), 'promoted|8', 'and promoted: replaces nobody');
is(at_registry('exchange', timeline => 1, system_identifier => 2, exchange => 1, token => 5, next => 7), 'held|8', 'the upgraded one goes on');
check_log($registry);
$_->stop foreach $original, $registry;
done_testing();
