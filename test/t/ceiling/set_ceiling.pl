# No ID is below what the ceiling's sequence says, and none is above what it says then, whoever has set it: by setval, as a restore
# does, by ALTER SEQUENCE, in a database that was made again with the OID of another, or as another sequence. Sessions that are
# open notice, whatever else they draw.

use Snowid;

my $node = ready_server('set_ceiling', conf => "snowid.max_lead = '1d'\nsnowid.max_wait = '1d'\n", sql => <<'SQL');
CREATE SEQUENCE numbers INCREMENT 1000;
CREATE DATABASE pattern;
SQL
my $ceiling = 'SELECT last_value FROM snowid_internal.ceiling';
my $next = 'SELECT (extract(epoch FROM snowid_timestamp(snowid_next(1))) * 1000)::bigint';
sub sql { my ($sql, $dbname) = @_; return $node->safe_psql($dbname // 'postgres', $sql) }
sub set { my ($value) = @_; sql("SELECT setval('snowid_internal.ceiling', $value)"); return }

my ($session, $second) = map { open_session($node) } 1 .. 2;
my $known = ask($session, $next);
my $set = int(time * 1000) + 6 * 3_600_000;
set($set);
cmp_ok(sql($next), '>', $set, 'set forward: the next session draws above');
cmp_ok($known = ask($session, $next), '>', $set, 'so do those of before');
set($set - 6 * 3_600_000);
cmp_ok(sql($next), '>=', $known, 'set back: IDs are not');
cmp_ok(sql($ceiling), '>', $known, 'and the ceiling covers what was drawn');
# A session that only knows what another one has learned before is told, too. It needs no more room below the ceiling, since the
# clock is behind.
set_clock(-60);
ask($second, $next);
sql('ALTER SEQUENCE snowid_internal.ceiling RESTART WITH 1');
$known = ask($second, $next);
cmp_ok(ask($second, $ceiling), '>=', $known, 'altered: it covers what is drawn then');
set_clock(0);
close_session($session, $second);

# A database that is made again with the same OID, from the same template, has the very sequence that the server has written to; but
# it says what it said before. There is room below the ceiling for long, since the clock is behind.
sql('CREATE EXTENSION snowid; SELECT snowid_next(1)', 'pattern');
my $make = 'CREATE DATABASE again OID = 70000 TEMPLATE pattern';
set_clock(3600);
sql($make);
sql($next, 'again');
my $covered = sql($ceiling, 'again');
sql("DROP DATABASE again; $make");
cmp_ok(sql($ceiling, 'again'), '<', $covered, 'same OID: the sequence is that of the template');
set_clock(0);
my $greatest = 0;
foreach my $time ('before the crash', 'after it')
{
    my $drawn = draw($node, 'snowid_next(1)', 1000, dbname => 'again');
    finish($drawn);
    (my $count, $greatest) = check_round("same OID, $time", $greatest, $drawn);
    is($count, 1000, "same OID, $time: drawn");
    next if $time eq 'after it';
    crash_and_start($node, 'kill', -3600);
}
set_clock(0);

# A superuser takes the sequence out of the extension and makes that anew: the sequence of now holds the ceiling.
sql($next, 'pattern');
my $taken = sql($ceiling, 'pattern');
sql('ALTER EXTENSION snowid DROP SEQUENCE snowid_internal.ceiling; ALTER SEQUENCE snowid_internal.ceiling SET SCHEMA public; DROP EXTENSION snowid;'
      . 'CREATE EXTENSION snowid', 'pattern');
cmp_ok(sql($ceiling, 'pattern'), '>=', $taken, 'taken out of the extension: the one of now holds the ceiling');

# Who draws IDs and numbers of a sequence, in either order, notices what others do to either.
my $id = 'SELECT snowid_next(1) > 0';
my $number = q(SELECT snowid_segment_next('numbers'));
foreach my $begins ([ $id, $number ], [ $number, $id ])
{
    my $drawing = open_session($node);
    ask($drawing, $_) foreach @$begins;
    foreach (
        [ 'ALTER SEQUENCE numbers RESTART WITH 700001', $number, '700001', 'numbers go on where the sequence was set to' ],
        [ 'ALTER SEQUENCE snowid_internal.ceiling SET UNLOGGED', $id, 'ERROR 55000', 'no ID where the ceiling would not survive a crash' ],
        [ 'SELECT', $number, '700002', 'which does not stop numbers' ],
        [ 'ALTER SEQUENCE snowid_internal.ceiling SET LOGGED', $id, 't', 'IDs go on when it would' ])
    {
        my ($change, $draw, $answer, $name) = @$_;
        sql($change);
        is(ask($drawing, $draw), $answer, "$begins->[0] first: $name");
    }
    close_session($drawing);
}
end_test($node);
