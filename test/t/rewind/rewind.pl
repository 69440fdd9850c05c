# Promise 1 where a clock ran wild ahead and was put right: a superuser states which times it has used
# (snowid.return_to_clock), IDs go on by the right clock at once, and step over those times when it comes to them. By a minute,
# a month, ten years; through crashes, and a clock that jumps about. What contradicts what is known is refused; it is
# done with the database alone, and durable whatever becomes of the transaction.
#
# Runs in make test-all: it goes through every kind of clock, with crashes.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use SnowidRewinding;
use Test::More;

my $node = start_rewinding('rewinding', allows_streaming => 1,
    conf => "max_prepared_transactions = 5\nsynchronous_commit = off\n");

# 1. The tables refuse what comes twice. Units of a microsecond, a millisecond, ten, and a second.
my @layouts = (
    'instagram', 'twitter', 'sonyflake',
    'time:35 shard:10 seq:18 unit:1s epoch:2020-01-01T00:00:00Z',
    'time:50 shard:6 seq:7 unit:1us epoch:2020-01-01T00:00:00Z');
my $schema = join ' ', 'CREATE EXTENSION snowid;', (map { "CREATE TABLE ids$_ (id bigint PRIMARY KEY);" } 0 .. $#layouts),
  'CREATE TABLE uuids (id uuid PRIMARY KEY); CREATE TABLE oids (id objectid PRIMARY KEY)';
my $found = join ' + ',
  map { "snowid.future_times('public.ids$_'::regclass, 'id'::name, '$layouts[$_]'::public.snowid_layout, '5 s'::interval)" } 0 .. $#layouts;

# Makes IDs of all kinds, and checks that they are there. Returns by how many seconds one of instagram's is ahead of
# the clock.
sub made
{
    my ($database, $name, $shard) = @_;
    # Layouts of long units wait for the next one.
    # They are in the tables after a crash.
    my $sql = "SET synchronous_commit = on; SET snowid.max_wait = '20s';";
    $sql .= "INSERT INTO ids$_ SELECT snowid_next($shard, '$layouts[$_]') FROM generate_series(1, 20);"
      foreach 0 .. $#layouts;
    $sql .= 'INSERT INTO uuids SELECT snowid_uuidv7() FROM generate_series(1, 20);'
      . 'INSERT INTO oids SELECT objectid_next() FROM generate_series(1, 20);';
    my $ahead = attempt($node, "$sql SELECT extract(epoch FROM snowid_timestamp(snowid_next($shard)) - clock_timestamp())", dbname => $database);
    like($ahead, qr/^-?\d/, $name);
    return $ahead =~ /^-?\d/ ? $ahead : 0;
}

my $day = 86_400;
my %ahead = (minute => 90, month => 30 * $day, years => 3652 * $day);
foreach my $name (sort { $ahead{$a} <=> $ahead{$b} } keys %ahead)
{
    my $ahead = $ahead{$name};
    set_clock(0);
    # UUIDs of all databases are where the last one's clock was. And no checkpointer bears a clock that goes back by
    # years while it runs.
    $node->stop;
    start_server($node);
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, $schema);
    made($name, "a $name: before, shard $_", $_) foreach 1, 2;

    # Wild. Shard 3 has its first IDs now, shard 2 none.
    set_clock($ahead);
    made($name, "a $name ahead: shard $_", $_) foreach 1, 3;
    if ($name ne 'minute') { crash($node, 'kill'); set_clock(5); start_server($node) }
    set_clock(5);
    is(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(1)', dbname => $name),
        'ERROR SN001', "a $name ahead, and put right: refused");
    told($name, 'told', $found);
    cmp_ok(made($name, "a $name: IDs go on at once", $_), '<', 15, "a $name: by the clock, shard $_") foreach 1 .. 4;

    # A crash loses none of it.
    crash($node, 'kill');
    start_server($node);
    cmp_ok(made($name, "a $name: after a crash", $_), '<', 15, "a $name: by the clock, shard $_") foreach 1, 5;
    is($node->safe_psql($name, 'SELECT count(*) FROM snowid.skipped_times'), 1, "a $name: it is known which times are wild");

    # The right clock comes to them.
    my ($from, $length) = split /\|/, $node->safe_psql($name,
            'SELECT extract(epoch FROM lower(skipped)) - extract(epoch FROM clock_timestamp()),'
          . ' extract(epoch FROM upper(skipped) - lower(skipped)) FROM snowid.skipped_times');
    my $right = 5 + $from;
    my $inside = sub {
        return $node->safe_psql($name, 'SELECT count(*) FROM ids0, snowid.skipped_times WHERE skipped @> snowid_timestamp(id)');
    };
    my $before = $inside->();
    cmp_ok($before, '>', 0, "a $name: there are wild IDs");
    foreach my $at (-30, -12, -11, -3, -1.2, -0.5, 0, 0.5, $length / 2, $length - 0.2, $length, $length + 1, -1, $length + 3, -7)
    {
        set_clock($right + $at);
        made($name, "a $name: at the wild times, $at s", $_) foreach 1, 2, 6;
    }
    is($inside->(), $before, "a $name: no ID more has a wild time");
    crash($node, 'kill');
    set_clock($right + 0.5);
    start_server($node);
    made($name, "a $name: after a crash among the wild times", $_) foreach 1, 2;
    set_clock($right + $length + 60);
    cmp_ok(made($name, "a $name: past them", $_), '<', 15, "a $name: IDs are by the clock again") foreach 1, 7;
    is($inside->(), $before, "a $name: still no ID more has a wild time");
    check_log($node);
}


set_clock(0);
$node->stop;
start_server($node);

# A database where shard 1, and nobody else, drew IDs of a clock that was ahead by so many seconds.
sub run_wild
{
    my ($name, $ahead) = @_;
    make($name);
    set_clock($ahead);
    my $wild = at($name, 'INSERT INTO ids SELECT snowid_next(1) RETURNING id');
    set_clock(0);
    return $wild;
}

# What a range from and until so many seconds ahead of the clock is.
sub ahead { my @at = map { "clock_timestamp() + interval '$_ s'" } @_; return "tstzmultirange(tstzrange($at[0], $at[1]))" }

# 2. Who may say it, and what contradicts what is known. Nothing of that has any effect.
my $wild = run_wild('who', 3600);
$node->safe_psql('who', 'CREATE ROLE owner; CREATE ROLE monitor IN ROLE pg_monitor; GRANT ALL ON DATABASE who TO owner;'
      . 'ALTER DATABASE who OWNER TO owner; GRANT ALL ON SCHEMA public TO owner');
foreach my $role ('owner', 'monitor')
{
    is(at('who', "SET ROLE $role; SELECT snowid.return_to_clock('{[2040-01-01,2041-01-01]}')"), 'ERROR 42501', "not for $role");
    is(at('who', "SET ROLE $role; SELECT snowid.future_times('ids', 'id', 'instagram')"), 'ERROR 42501', "nor looked for");
}
is(at('who', 'SET ROLE owner; CREATE FUNCTION snowid.return_to_clock(tstzrange) RETURNS void RETURN NULL'), 'ERROR 42501',
    'nobody else makes functions in its schema');
my $used = "snowid_timestamp($wild)";
my %refused = (
    'no times' => "'{}'",
    'times that are past' => ahead(-7200, -3600),
    'a range that holds now' => ahead(-60, 7200),
    'one from ever on' => "'{(,)}'",
    'one that begins at once' => ahead(5, 7200),
    'one that leaves out the ceiling' => "tstzmultirange(tstzrange($used - interval '10 min', $used - interval '1 s'))",
    'one that leaves out a slot' => "tstzmultirange(tstzrange($used + interval '1.5 s', $used + interval '1 h'))");
foreach my $what (sort keys %refused)
{
    is(say_wild('who', $refused{$what}), 'ERROR 22023', "refused: $what");
}
is(at('who', 'SELECT snowid.return_to_clock(null) IS NULL'), 't', 'null for null');
is(at('who', 'SET default_transaction_read_only = on; SELECT snowid.return_to_clock(' . ahead(1000, 7200) . ')'),
    'ERROR 25006', 'not in a read-only transaction');
is(at('who', 'BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 1; SELECT snowid.return_to_clock(' . ahead(1000, 7200) . ')'),
    'ERROR 55000', 'not where the transaction has made the ceiling anew');
is(at('who', "SELECT snowid.future_times('$_->[0]'::regclass, '$_->[1]'::name, 'instagram'::public.snowid_layout)"),
    'ERROR 42809', "no times of $_->[0]") foreach [ 'snowid.skipped_times', 'skipped' ], [ 'ids', 'no' ], [ 'pg_class', 'relname' ];
is(at('who', "SELECT snowid.future_times('ids'::regclass, 'id'::name, 'instagram'::public.snowid_layout, '-1 s'::interval)"),
    'ERROR 22023', 'no margin below a second');
# A shard that had an ID of the wrong clock in a transaction that was rolled back.
set_clock(7200);
at('who', 'BEGIN; SELECT snowid_next(77); ROLLBACK');
set_clock(0);
is(say_wild('who', ahead(3500, 3700) . ' + ' . ahead(7201.5, 7300)), 'ERROR 22023', 'refused: what no row tells of, but memory');
# What advance_all has said.
is(at('who', "SET snowid.max_lead = '1h'; SELECT snowid.advance_past(now() + interval '20 min')"), '', 'all advanced');
is(say_wild('who', ahead(2000, 7300)), 'ERROR 22023', 'refused: what all were advanced to');
is(at('who', 'SELECT snowid_next(1)'), 'ERROR SN001', 'nothing of that has had any effect');

# 3. Alone. Who is connected is named, and is not ended; others do not wait for who tries.
my $rewinder = open_session($node, dbname => 'who');
ask($rewinder, 'BEGIN; SELECT count(*) FROM pg_stat_activity');
my $other = open_session($node, dbname => 'who');
backend_of($other);
ask($rewinder, 'SELECT snowid.return_to_clock(' . ahead(1000, 7300) . ')');
like($rewinder->{err}, qr/ERROR:  55006: .*Other sessions: 1 \(process IDs: $other->{backend}\)\. Prepared transactions: 0\./s,
    'refused while another is connected, who is named');
is(ask($other, 'SELECT 1'), '1', 'who goes on');
ask($other, q(BEGIN; INSERT INTO ids VALUES (1); PREPARE TRANSACTION 'prepared'));
close_session($rewinder, $other);
my ($status, $out, $err) = $node->psql('who', '\set VERBOSITY verbose' . "\nSELECT snowid.return_to_clock(" . ahead(1000, 7300) . ')');
like($err, qr/ERROR:  55006: .*Prepared transactions: 1\./s, 'refused while a transaction is prepared');
$node->safe_psql('who', q(ROLLBACK PREPARED 'prepared'));
# A lock that is his who asked for it first: nobody who connects waits behind who tries.
my $holder = open_session($node);
ask($holder, 'BEGIN; COMMENT ON DATABASE who IS NULL');
$rewinder = open_session($node, dbname => 'who');
backend_of($rewinder);
start_asking($rewinder, 'SELECT snowid.return_to_clock(' . ahead(1000, 7300) . ')');
wait_for(sub { $node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $rewinder->{backend}") eq 'PgSleep' }, 'who tries');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE pid = $rewinder->{backend} AND NOT granted"), 0, 'it is in no queue');
is(at('who', 'SELECT 1'), '1', 'others connect meanwhile');
is(answer($rewinder), 'ERROR 55P03', 'it gives up');
ask($holder, 'ROLLBACK');
close_session($holder, $rewinder);

# 4. It counts at once, whatever becomes of the transaction; and is durable. Others begin as soon as it is done.
$rewinder = open_session($node, dbname => 'who');
ask($rewinder, 'BEGIN');
is(ask($rewinder, "SELECT 'told' FROM snowid.return_to_clock(" . ahead(1000, 7300) . ')'), 'told', 'told in a transaction');
goes_on('who', 'others begin at once, and IDs go on');
like(ask($rewinder, 'ROLLBACK; SELECT snowid_next(1)'), qr/^\d+$/, 'rolled back: IDs go on');
close_session($rewinder);
$wild = run_wild('durable', 3600);
$rewinder = open_session($node, dbname => 'durable');
ask($rewinder, 'BEGIN; SET synchronous_commit = off');
is(ask($rewinder, "SELECT 'told' FROM snowid.return_to_clock(" . ahead(1000, 7300) . ')'), 'told', 'told');
crash($node, 'kill');
start_server($node);
goes_on('durable', 'after a crash');
is($node->safe_psql('durable', "SELECT count(*) FROM snowid.skipped_times WHERE skipped @> snowid_timestamp($wild)"), 1, 'durable: known');
# A wait for a standby that does not answer, cancelled: it has happened all the same.
$wild = run_wild('waiting', 3600);
my $held = hold_commits($node);
$rewinder = open_session($node, dbname => 'waiting');
backend_of($rewinder);
start_asking($rewinder, 'SELECT snowid.return_to_clock(' . ahead(1000, 7300) . ')');
wait_until_waiting($node, $rewinder, 'SyncRep');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($rewinder->{backend})");
is(answer($rewinder), 'ERROR 57014', 'who waits for a standby can be cancelled');
close_session($rewinder);
release_commits($node, $held);
goes_on('waiting', 'it has happened all the same');

# 5. A standby has it, too, and shows it.
my $standby = new_standby($node, 'replica');
start_server($standby);
$wild = run_wild('standby', 3600);
told('standby', 'told');
goes_on('standby', 'on the primary');
$node->wait_for_catchup($standby);
is($standby->safe_psql('standby', 'SELECT count(*) FROM snowid.skipped_times'), 1, 'a standby shows the times');
is(attempt($standby, "SELECT snowid.return_to_clock('{[2040-01-01,2041-01-01]}')", dbname => 'standby'), 'ERROR 25006', 'and takes none');
crash($node, 'kill');
$standby->promote;
cmp_ok(attempt($standby, q(SET snowid.max_wait = '9s'; SELECT snowid_next(1)), dbname => 'standby'), '<', $wild, 'promoted: by the right clock');
$standby->stop;
start_server($node);


# 6. A clock that jumps twice, and falls back in two steps, with a start in between; shards that draw below a ceiling
# that is wild already. All of it is in the rows.
make('steps');
foreach my $at (7200, 86_400, 3600)
{
    set_clock($at);
    at('steps', "SET synchronous_commit = on; SET snowid.max_lead = '1d'; INSERT INTO ids SELECT snowid_next($at / 100)");
}
crash($node, 'kill');
set_clock(0);
start_server($node);
my $steps = $node->safe_psql('steps', 'SELECT string_agg(id::text, chr(10)) FROM ids');
told('steps', 'two jumps, two steps back');
goes_on('steps', 'by the clock');
is($node->safe_psql('steps', 'SELECT count(*) FROM snowid.skipped_times'), 3, 'steps: each is a range of its own');
foreach my $at (3600, 3500, 7200, 43_200, 86_400)
{
    set_clock($at);
    check_apart("steps: at $at s", $steps, at('steps', 'SELECT snowid_next(s) FROM unnest(ARRAY[36, 72, 864, 1]) AS s'));
    goes_on('steps', "at $at s: but for a minute or two by the clock") if $at == 43_200;
}

# 7. As many ranges as there is room for; those that are past by a day are forgotten, at a call.
set_clock(0);
make('many');
sub hours { return join ' + ', map { ahead($_ * 86_400 - 3600, $_ * 86_400) } @_ }
is(say_wild('many', hours(1 .. 33)), 'ERROR 22023', 'many: more than there is room for');
told('many', 'as many as there is room for', hours(1 .. 32));
is(say_wild('many', hours(40)), 'ERROR 22023', 'many: not one more');
set_clock(3.5 * 86_400);
told('many', 'when some are past', hours(30 .. 31));
is($node->safe_psql('many', 'SELECT count(*) FROM snowid.skipped_times WHERE upper(skipped) < now()'), 1, 'many: what is past by less than a day stays');
is($node->safe_psql('many', 'SELECT count(*) FROM snowid.skipped_times'), 32, 'many: with those that are known');
goes_on('many', 'by the clock');
set_clock(4 * 86_400 - 3601);
is(at('many', 'SELECT snowid_timestamp(snowid_next(1)) > now() + interval \'1 min\''), 't', 'many: the next one is stepped over');

# 8. A clock that was wild for ten minutes: when the right one comes there nobody waits for as long, and there are IDs
# through all of it: as many as may be ahead of the clock each time, in a layout that has 16 IDs a millisecond. The
# ObjectIDs, too, go on by the clock, and differ from those of the wild clock; so do other databases'.
set_clock(0);
make('beside');
make('long');
my $oid = 'substr(objectid_next()::text, 9, 10)';
my $both = q(SELECT snowid_uuid_timestamp(snowid_uuidv7()) < clock_timestamp() + interval '10 s', objectid_timestamp(objectid_next()) < clock_timestamp() + interval '10 s');
my $then;
foreach my $at (86_400, 87_000)
{
    set_clock($at);
    $then = at('long', "INSERT INTO ids SELECT snowid_next(1); SELECT $oid");
}
set_clock(0);
is(at('long', 'SELECT objectid_next()'), 'ERROR SN001', 'long: no ObjectID');
told('long', 'ten minutes', "snowid.future_times('public.ids'::regclass, 'id'::name, 'instagram'::public.snowid_layout, '10 minutes'::interval)");
isnt(at('long', "SELECT $oid"), $then, 'long: ObjectIDs have another random number');
is(at('long', $both), 't|t', 'long: UUIDs and ObjectIDs by the clock');
my $sparse = 'time:41 shard:18 seq:4 unit:1ms epoch:2020-01-01T00:00:00Z';
my ($begin, $end) = split /\|/, $node->safe_psql('long',
    'SELECT extract(epoch FROM lower(skipped) - clock_timestamp()), extract(epoch FROM upper(skipped) - clock_timestamp()) FROM snowid.skipped_times');
foreach my $at ($begin - 9, $begin, $begin + 300, $begin + 310, $end - 10, $end)
{
    set_clock($at);
    is(at('long', "SELECT count(DISTINCT snowid_next(1, '$sparse')) FROM generate_series(1, 14000)"), 14_000, "long: at $at s there are IDs");
    is(at($_, $both), 't|t', "long: at $at s UUIDs and ObjectIDs in database $_ are by the clock") foreach 'long', 'beside';
}
set_clock($end + 30);
goes_on('long', 'by the clock again');

# 9. Long units: one that has a part in a wild time is left out, by all sessions, also such as have drawn before; all
# are lifted before it begins. While they are, a second wild time can be told of.
my $minutes = "'time:28 shard:10 seq:10 unit:1min epoch:2020-01-01T00:00:00Z'";
set_clock(0);
make('units');
my $full_minute = 7200 - time % 60;
set_clock($full_minute + 30);
my $wild_minute = at('units', "INSERT INTO ids SELECT snowid_next(1); SELECT snowid_next(1, $minutes) FROM generate_series(1, 1000)");
set_clock(0);
told('units', 'in the middle of a minute', ahead($full_minute + 20, $full_minute + 40));
set_clock(61);
my $session = open_session($node, dbname => 'units');
like(ask($session, "SELECT snowid_next(1, $minutes)"), qr/^\d+$/, 'units: a session before');
set_clock($full_minute - 40);
like(ask($session, "SET snowid.max_wait = 0; SELECT snowid_next(2)"), qr/^\d+$/, 'units: all are lifted by now');
is(ask($session, 'SELECT snowid_timestamp(snowid_next(2)) > clock_timestamp() + interval \'60 s\''), 't', 'units: before the minute begins');
set_clock($full_minute + 5);
check_apart('units', $wild_minute, ask($session, "SET snowid.max_wait = 0; SELECT snowid_next(1, $minutes) FROM generate_series(1, 1000)"));
check_apart('units, another session', $wild_minute, at('units', "SELECT snowid_next(1, $minutes) FROM generate_series(1, 10)"));
close_session($session);
my $right = at('units', "SELECT snowid_next(1) FROM generate_series(1, 100)");
set_clock(86_400);
at('units', 'SELECT snowid_next(1)');
set_clock($full_minute + 6);
told('units', 'a second one, while the first is stepped over', ahead(79_000, 79_300));
check_apart('units: stepping over', $right, at('units', "SELECT snowid_next(1) FROM generate_series(1, 100)"));

# 10. A shard that was released stays so, also where the clock was beyond its layout's end; others go on there.
set_clock(0);
$node->stop;
start_server($node);
make('released');
$node->safe_psql('released', 'SELECT snowid.release_shard(8)');
set_clock(25 * 365 * 86_400);
$node->safe_psql('released', q(SELECT snowid_next(1, 'twitter')));
is(at('released', 'SELECT snowid_next(1)'), 'ERROR 2200H', 'released: beyond the end of a layout');
$node->stop;
set_clock(0);
start_server($node);
is(at('released', "SELECT snowid_next($_)"), $_ == 8 ? 'ERROR 55000' : 'ERROR 2200H', "released: shard $_, after a start") foreach 8, 1;
told('released', '25 years', ahead(3600, 26 * 365 * 86_400));
goes_on('released', 'where the layout was used up');
is(at('released', 'SELECT snowid_next(8)'), 'ERROR 55000', 'a released shard stays so');
crash($node, 'kill');
start_server($node);
is(at('released', 'SELECT snowid_next(8)'), 'ERROR 55000', 'also after a crash');

# 11. The ceiling set by hand, to its very end: that can be undone.
make('setval');
my $before = at('setval', 'SELECT snowid_next(1)');
$node->safe_psql('setval', q(SELECT setval('snowid_internal.ceiling', 253402300799999)));
$node->stop;
start_server($node);
like(at('setval', 'SELECT snowid_next(1)'), qr/^ERROR (SN001|2200H)$/, 'setval: no more IDs');
told('setval', 'undone', "'{[9000-01-01,)}'");
goes_on('setval', 'undone');

# 12. A dump takes no range along: the same call tells a restored database, whose own ceiling is no later than it ought
# to be. DROP EXTENSION keeps them while the server runs, ALTER SEQUENCE does.
make('dumped');
set_clock(7200);
at('dumped', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(0);
told('dumped', 'told');
goes_on('dumped', 'by the clock');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('dumped'), '-f', $file ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $file ], 'restored');
is($node->safe_psql('restored', 'SELECT count(*) FROM snowid.skipped_times'), 0, 'restored: nothing is known');
told('restored', 'told there, too');
goes_on('restored', 'by the clock');
$node->safe_psql('dumped', 'SELECT snowid_next(1); DROP EXTENSION snowid; CREATE EXTENSION snowid');
at('dumped', 'SELECT snowid_next(1); ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 1');
at('dumped', 'SELECT snowid_next(1)');
crash($node, 'kill');
start_server($node);
set_clock(7200);
foreach my $name ('dumped', 'restored')
{
    is(at($name, 'INSERT INTO ids SELECT snowid_next(1); SELECT snowid_timestamp(snowid_next(1)) > now() + interval \'10 s\''),
        't', "$name: stepped over");
    is($node->safe_psql($name, 'SELECT count(*) FROM snowid.skipped_times'), 1, "$name: known");
}

# 13. Slots that a sweep has removed under the wrong clock. A database has 25.
set_clock(0);
$node->stop;
my %low = (max_shards => 100, max_shards_of_database => 25);
my $hours = "'time:20 shard:10 seq:10 unit:1h epoch:2020-01-01T00:00:00Z'";
my $full_hour = 2 * 3600 - time % 3600;
set_clock($full_hour - 3600);
start_server($node);
make('swept');
lower_bounds($node, 'swept', %low);
$node->stop;
start_server($node);
set_clock($full_hour + 600);
$right = at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)");
set_clock($full_hour + 86_400 * 300);
at('swept', q(SELECT count(snowid_next(s, 'twitter')) FROM generate_series(1, 24) s));
wait_for(sub { at('swept', q(SELECT count(snowid_next(s, 'twitter')) FROM generate_series(100, 120) s)) eq '21' }, 'a sweep');
is(at('swept', q(SELECT count(*) FROM snowid.stat_shards WHERE layout::text ~ '1h')), '0', 'swept: the slot is gone');
set_clock($full_hour + 700);
told('swept', 'told', ahead(4000, 86_400 * 301));
check_apart('swept', $right, at('swept', "SELECT snowid_next(1, $hours) FROM generate_series(1, 3)"));
goes_on('swept', 'by the clock');

$node->stop;
done_testing();
