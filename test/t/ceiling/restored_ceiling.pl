# No ID below what the sequence of the ceiling says, and none that it does not cover, whoever has set the
# sequence: a restore in the transaction that made it, a restore over a running server, a database that
# was made again with the oid of another one. A session that draws numbers of a sequence, too, in whichever order it has
# begun to, notices what others do to either.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('node');
start_server($node);

# An ID's time, in Unix milliseconds as the ceiling has it. The clock never forbids it.
my $ahead = "SET snowid.max_lead = '1d'; SET snowid.max_wait = '1d'";
my $time = 'SELECT (extract(epoch FROM snowid_timestamp(%s)) * 1000)::bigint';
my $next = sprintf $time, 'snowid_next(1)';

# A ceiling of so many hours from now.
sub hours_on
{
    my ($hours) = @_;
    return int(time * 1000) + $hours * 3_600_000;
}

# 1. One transaction makes the extension, sets the ceiling, and draws.
$node->safe_psql('postgres', 'CREATE DATABASE restored');
my $session = open_session($node, dbname => 'restored');
ask($session, $ahead);
ask($session, 'BEGIN; CREATE EXTENSION snowid');
ask($session, $next);
my $set = hours_on(1);
foreach my $draw (
    $next,
    sprintf($time, 'snowid_next(2)'),
    sprintf($time, 'snowid_reserve(1, 5)'),
    sprintf($time, '(SELECT min(id) FROM snowid_next_batch(3, 2) id)'),
    q(SELECT ('x0' || translate(left(snowid_uuidv7()::text, 13), '-', ''))::bit(52)::bigint),
    q(SELECT ('x' || left(objectid_next()::text, 8))::bit(32)::bigint * 1000))
{
    # Whole seconds, since an ObjectID has no more.
    $set = int($set / 1000) * 1000 + 60_000;
    ask($session, "SELECT setval('snowid_internal.ceiling', $set)");
    cmp_ok(ask($session, $draw), '>', $set, "one transaction: above what was set: $draw");
    cmp_ok(ask($session, 'SELECT last_value FROM snowid_internal.ceiling'), '>', $set, "one transaction: and covered");
}
my $last = ask($session, $next);
is(ask($session, 'COMMIT'), '', 'one transaction: committed');
cmp_ok(ask($session, $next), '>', $last, 'one transaction: it goes on above');
cmp_ok($node->safe_psql('restored', "$ahead; $next"), '>', $last, 'one transaction: so do others');

# 2. A dump is restored over a running server, as a superuser would: who comes next sees it.
my $known = ask($session, $next);
$set = hours_on(6);
$node->safe_psql('restored', "SELECT setval('snowid_internal.ceiling', $set)");
cmp_ok($node->safe_psql('restored', "$ahead; $next"), '>', $set, 'running server: the next session draws above');
cmp_ok($known = ask($session, $next), '>', $set, 'running server: so do those of before');
$node->safe_psql('restored', "SELECT setval('snowid_internal.ceiling', " . hours_on(0) . ')');
cmp_ok($node->safe_psql('restored', "$ahead; $next"), '>=', $known, 'running server: an old dump sets nothing back');
cmp_ok($node->safe_psql('restored', 'SELECT last_value FROM snowid_internal.ceiling'), '>', $known,
    'running server: and the ceiling covers what was drawn');
# So it is where the sequence itself is set back, by who alters it: a session that only knows what another one
# has learned before is told, too. It needs no more room below the ceiling, since the clock is behind.
set_clock(-60);
my $second = open_session($node, dbname => 'restored');
ask($second, $ahead);
like(ask($second, $next), qr/^\d+$/, 'set back: another session draws');
$node->safe_psql('restored', 'ALTER SEQUENCE snowid_internal.ceiling RESTART WITH 1');
$known = ask($second, $next);
cmp_ok(ask($second, 'SELECT last_value FROM snowid_internal.ceiling'), '>=', $known, 'set back: it covers what it draws then');
close_session($second);
set_clock(0);
close_session($session);

# 3. A database that is made again with the same oid, from the same template, has the very sequence that
# the server has written to; but it says what it said before. There is room below the ceiling for long,
# since the clock is behind.
$node->safe_psql('postgres', 'CREATE DATABASE pattern');
$node->safe_psql('pattern', 'CREATE EXTENSION snowid; SELECT snowid_next(1)');
my $make_again = 'CREATE DATABASE again OID = 70000 TEMPLATE pattern';
my $drop = 'DROP DATABASE again';
set_clock(3600);
$node->safe_psql('postgres', $make_again);
$node->safe_psql('again', 'SELECT snowid_next(1)');
my $covered = $node->safe_psql('again', 'SELECT last_value FROM snowid_internal.ceiling');
$node->safe_psql('postgres', $_) foreach $drop, $make_again;
cmp_ok($node->safe_psql('again', 'SELECT last_value FROM snowid_internal.ceiling'), '<', $covered,
    'same oid: the sequence is that of the template');
set_clock(0);
my $drawn = draw($node, 'snowid_next(1)', 1000, dbname => 'again', setup => $ahead);
finish($drawn);
my ($count, $greatest) = check_round('same oid, before the crash', 0, $drawn);
is($count, 1000, 'same oid: drawn');
crash($node, 'kill');
set_clock(-3600);
start_server($node);
$drawn = draw($node, 'snowid_next(1)', 1000, dbname => 'again', setup => $ahead);
finish($drawn);
($count) = check_round('same oid, after the crash', $greatest, $drawn);
is($count, 1000, 'same oid: drawn again');
set_clock(0);

# 4. A superuser takes the sequence out of the extension and makes that anew: the sequence of now holds the
# ceiling, and not the one that was, of which the server still knows.
$node->safe_psql('pattern', 'SELECT snowid_next(1)');
my $taken = $node->safe_psql('pattern', 'SELECT last_value FROM snowid_internal.ceiling');
$node->safe_psql('pattern', <<'SQL');
ALTER EXTENSION snowid DROP SEQUENCE snowid_internal.ceiling;
ALTER SEQUENCE snowid_internal.ceiling SET SCHEMA public;
DROP EXTENSION snowid;
SQL
$node->safe_psql('pattern', 'CREATE EXTENSION snowid');
cmp_ok($node->safe_psql('pattern', 'SELECT last_value FROM snowid_internal.ceiling'), '>=', $taken,
    'taken out of the extension: the one of now holds the ceiling');

# 5. The data of an earlier day is restored into a database that is in use, and the server crashes before
# anybody has drawn: it starts with what was raised, and not with what was restored.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/data.sql';
set_clock(-86400);
$node->safe_psql('postgres', 'CREATE DATABASE used');
$node->safe_psql('used', 'CREATE EXTENSION snowid; SELECT snowid_next(1)');
command_ok([ 'pg_dump', '--data-only', '-f', $dump, '-d', $node->connstr('used') ], 'dumped');
set_clock(0);
$greatest = 0;
foreach my $how ('at once', 'once more', 'after a checkpoint')
{
    $drawn = draw($node, 'snowid_next(1)', 1000, dbname => 'used', setup => $ahead);
    finish($drawn);
    ($count, $greatest) = check_round("restored data, $how: before", $greatest, $drawn);
    is($count, 1000, "restored data, $how: drawn");
    $covered = $node->safe_psql('used', 'SELECT snowid_ceiling()');
    command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('used') ], "restored data, $how");
    is($node->safe_psql('used', "SELECT last_value < extract(epoch FROM '$covered'::timestamptz) * 1000 FROM snowid_internal.ceiling"),
        't', "restored data, $how: the sequence is set back");
    is($node->safe_psql('used', 'SELECT snowid_ceiling()'), $covered, "restored data, $how: the ceiling is not");
    $node->safe_psql('used', 'CHECKPOINT') if $how =~ /checkpoint/;
    crash($node, 'kill');
    set_clock(-3600);
    start_server($node);
    is($node->safe_psql('used', 'SELECT snowid_ceiling()'), $covered, "restored data, $how: nor after a crash");
    $drawn = draw($node, 'snowid_next(1)', 1000, dbname => 'used', setup => $ahead);
    finish($drawn);
    ($count, $greatest) = check_round("restored data, $how: after", $greatest, $drawn);
    is($count, 1000, "restored data, $how: drawn again");
    is($node->safe_psql('used', "SELECT last_value >= extract(epoch FROM '$covered'::timestamptz) * 1000 FROM snowid_internal.ceiling"),
        't', "restored data, $how: and the sequence says so again");
    set_clock(0);
}
# To others the sequence is one, of a row.
is($node->safe_psql('used', 'SELECT count(*), count(DISTINCT ctid) FROM snowid_internal.ceiling'), '1|1', 'a sequence has one row');
$node->safe_psql('used', 'CREATE EXTENSION amcheck');
is($node->safe_psql('used', q(SELECT count(*) FROM verify_heapam('snowid_internal.ceiling'))), '0', 'and sound pages');

# 6. Who draws IDs and numbers notices what others do to the sequence of the ceiling, and to that of the numbers.
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE numbers INCREMENT 1000');
my $id = 'SELECT snowid_next(1) > 0';
my $number = q(SELECT snowid_segment_next('numbers'));
my $changer = open_session($node);

foreach my $order ([ids => $id, $number], [numbers => $number, $id])
{
    my ($first, @begins) = @$order;
    my $drawing = open_session($node);
    ask($drawing, $_) foreach @begins;

    ask($changer, 'ALTER SEQUENCE numbers RESTART WITH 700001');
    is(ask($drawing, $number), '700001', "$first first: numbers go on where the sequence was set to");
    ask($changer, 'ALTER SEQUENCE snowid_internal.ceiling SET UNLOGGED');
    is(ask($drawing, $id), 'ERROR 55000', "$first first: no ID where the ceiling would not survive a crash");
    is(ask($drawing, $number), '700002', "$first first: which does not stop numbers");
    ask($changer, 'ALTER SEQUENCE snowid_internal.ceiling SET LOGGED');
    is(ask($drawing, $id), 't', "$first first: IDs go on when it would");
    close_session($drawing);
}
close_session($changer);
check_log($node);
$node->stop;
done_testing();
