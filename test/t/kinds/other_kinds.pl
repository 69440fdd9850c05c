# UUIDs and ObjectIDs on real servers: one order for all sessions of all databases, through crashes,
# fail-over and clocks set back. And what nobody should send, as the types and functions get it over the
# wire.
#
# Runs in make test-all: the regression tests have most of it.

use strict;
use warnings;

use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::Local qw(timegm);

my @calls = ('snowid_uuidv7()', 'objectid_next()');
my %time_of = ('snowid_uuidv7()' => 'snowid_uuid_timestamp', 'objectid_next()' => 'objectid_timestamp');
my @databases = qw(one two);

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";

# Whoever would have to wait is refused: proof that nobody waits.
my $no_wait = 'SET snowid.max_wait = 0';

# The greatest that was seen of each kind.
my %greatest = map { $_ => '' } @calls;

# Draws in open sessions, in turns; each must get something greater than any before it.
sub check_in_turns
{
    my ($name, $call, @sessions) = @_;
    my $wrong = 0;
    foreach my $session (@sessions)
    {
        my $id = ask($session, "SELECT $call");
        $wrong++ unless $id =~ /^[0-9a-f-]{24,36}$/ && $id gt $greatest{$call};
        $greatest{$call} = $id if $id gt $greatest{$call} && $id !~ /ERROR/;
    }
    is($wrong, 0, "$name: above all those of before: $call") or diag("greatest $greatest{$call}");
    return;
}

# The 3 bytes of an ObjectID that count, and the 5 before them.
sub counter_of { return hex substr $_[0], 18, 6 }
sub process_of { return substr $_[0], 8, 10 }

sub new_databases
{
    my ($node) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $_") foreach @databases;
    $node->safe_psql($_, 'CREATE EXTENSION snowid') foreach @databases;
    return;
}

my $node = new_server('kinds', allows_streaming => 1);
$node->append_conf('postgresql.conf', "max_connections = 60\n");
start_server($node);
new_databases($node);

# 1. Sessions of two databases at once.
my %drawing;
foreach my $call (@calls)
{
    $drawing{$call} = [ map { draw($node, $call, 4_000, dbname => $databases[ $_ % 2 ]) } 1 .. 8 ];
}
my %processes;
foreach my $call (@calls)
{
    finish(@{ $drawing{$call} });
    (my $count, $greatest{$call}) = check_text_round("two databases, $call", '', @{ $drawing{$call} });
    is($count, 32_000, "two databases: as many as asked for of $call");
}
$processes{ process_of($_) }++ foreach map { @{ ids($_) } } @{ $drawing{'objectid_next()'} };
is(scalar(keys %processes), 1, 'one process to all sessions of all databases');
is(scalar(() = grep { !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ }
          map { @{ ids($_) } } @{ $drawing{'snowid_uuidv7()'} }),
    0, 'UUIDs are of version 7');

# In turns, with a clock that is set back a little after each, so that the order is not the clock's.
my @sessions = map { open_session($node, dbname => $_) } @databases;
foreach my $call (@calls)
{
    ask($_, $far) foreach @sessions;
    foreach my $turn (1 .. 10)
    {
        set_clock(-60 * $turn, $node);
        check_in_turns("turn $turn", $call, @sessions[ $turn % 2, 1 - $turn % 2 ]);
    }
    set_clock(0, $node);
    is(
        ask($sessions[0], "SELECT abs(extract(epoch FROM $time_of{$call}($call) - clock_timestamp())) < 300"),
        't', "time of now: $call");
}

# What a clock set back does as the settings come: a little goes unnoticed, much is refused. The clock is
# far ahead of what was drawn.
ask($_, "RESET snowid.max_lead; $no_wait") foreach @sessions;
set_clock(3600, $node);
check_in_turns('an hour on', $_, @sessions) foreach @calls;
set_clock(3600 - 0.2, $node);
check_in_turns('200 ms back', $_, @sessions) foreach @calls;
set_clock(0, $node);
foreach my $call (@calls)
{
    is(ask($_, "SELECT $call"), 'ERROR SN001', "1 h back: refused: $call") foreach @sessions;
    like($sessions[0]{err}, qr/clock is (?:00:5\d:\d\d|01:00:0[012]) behind/, "1 h back: by how much: $call");
}
set_clock(3600, $node);
check_in_turns('the clock is right', $_, @sessions) foreach @calls;

# A ceiling that is restored while sessions draw: they go on above it from its next raise on. In the
# other database they do, since there is one order for all.
set_clock(4000, $node);
check_in_turns('before a restore', $_, @sessions) foreach @calls;
my $restored = $node->safe_psql('one',
    q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 600000)));
set_clock(4300, $node);
ask($_, $far) foreach @sessions;
foreach my $call (@calls)
{
    check_in_turns('a ceiling restored', $call, @sessions);
    is(ask($_, "SELECT $time_of{$call}($call) >= date_trunc('second', to_timestamp($restored / 1000.0))"),
        't', "a ceiling restored: above it: $call") foreach @sessions;
}
close_session(@sessions);

# 2. Crashes, with the clock set back by ten minutes before the restart. In the last round only one
# database has drawn for an hour; it alone has to wait for the clock, and once it has got its next, the
# other goes on above that too.
my $clock = 5400;
foreach my $round (1 .. 3)
{
    my $how = $round % 2 ? 'kill' : 'immediate';
    my @drawing_in = $round == 3 ? ('one') : @databases;
    my $name = "$how, drawing in @drawing_in";
    $clock += 3600 if $round == 3;
    set_clock($clock, $node);
    foreach my $call (@calls)
    {
        $drawing{$call} = [ map { draw($node, $call, undef, dbname => $drawing_in[ $_ % @drawing_in ]) } 1 .. 4 ];
    }
    my @all = map { @$_ } values %drawing;
    wait_to_draw(20_000, @all);
    crash($node, $how);
    finish(@all);
    unlike(errors_of(@all), qr/ERROR/, "$name: no session failed");
    foreach my $call (@calls)
    {
        (undef, $greatest{$call}) = check_text_round("$name, $call", $greatest{$call}, @{ $drawing{$call} });
    }
    my $process = process_of($greatest{'objectid_next()'});
    set_clock($clock - 600, $node);
    start_server($node);
    @sessions = map { open_session($node, dbname => $_) } $round == 2 ? reverse @databases : @databases;
    foreach my $call (@calls)
    {
        is(ask($_, "$no_wait; SELECT $call"), 'ERROR SN001', "$name: refused while the clock is behind: $call")
          foreach $round == 3 ? $sessions[0] : @sessions;
    }
    ask($_, $far) foreach @sessions;
    check_in_turns("$name, clock set back", $_, @sessions, @sessions) foreach @calls;
    isnt(process_of($greatest{'objectid_next()'}), $process, "$name: another process after the restart");
    close_session(@sessions);
    $clock += 60;
}
set_clock($clock, $node);

# 3. A standby, with a clock that is ten minutes behind the primary's.
my $standby = new_standby($node, 'kinds_standby');
set_clock($clock - 600, $standby);
start_server($standby);
$node->wait_for_catchup($standby);
foreach my $call (@calls, q(snowid_next(1, 'twitter')), q(snowid_next_batch(1, 10, 'sonyflake')),
    q(snowid.advance_shard(1, 'js53')))
{
    is(attempt($standby, "SELECT $call", dbname => $_), 'ERROR 25006', "on a standby, $_: $call") foreach @databases;
}
foreach my $call (@calls)
{
    $drawing{$call} = [ map { draw($node, $call, 1_000, dbname => $databases[ $_ % 2 ]) } 1 .. 4 ];
}
foreach my $call (@calls)
{
    finish(@{ $drawing{$call} });
    (my $count, $greatest{$call}) = check_text_round("on the primary, $call", $greatest{$call}, @{ $drawing{$call} });
    is($count, 4_000, "on the primary: as many as asked for of $call");
}
$node->wait_for_catchup($standby);
crash($node, 'kill');
$standby->promote;
@sessions = map { open_session($standby, dbname => $_) } @databases;
foreach my $call (@calls)
{
    is(ask($_, "$no_wait; SELECT $call"), 'ERROR SN001', "promoted, clock behind: refused: $call") foreach @sessions;
}
ask($_, $far) foreach @sessions;
check_in_turns('promoted, clock behind', $_, @sessions, @sessions) foreach @calls;
set_clock($clock + 60, $standby);
ask($_, "RESET snowid.max_lead; $no_wait") foreach @sessions;
check_in_turns('promoted, clock right', $_, @sessions, @sessions) foreach @calls;

# ObjectIDs have 32 bits of seconds, which are used up in 2106. The server starts there: PostgreSQL's checkpointer, with
# assertions, does not survive a step of 68 years.
close_session(@sessions);
$standby->stop;
set_clock(timegm(16, 28, 6, 7, 1, 2106) - time, $standby);
start_server($standby);
@sessions = map { open_session($standby, dbname => $_) } @databases;
is(ask($_, 'SELECT objectid_next()'), 'ERROR 2200H', 'no ObjectID past the end') foreach @sessions;
is(ask($_, 'SELECT snowid_uuid_timestamp(snowid_uuidv7()) > \'2106-01-01\''), 't', 'but UUIDs') foreach @sessions;
close_session(@sessions);
$standby->stop;

# 4. The process and where its counter starts are by chance: each start has others.
my $fresh = new_server('fresh');
$fresh->start;
new_databases($fresh);
my @first = $fresh->safe_psql('one', 'SELECT objectid_next()');
foreach (1 .. 2)
{
    $fresh->restart;
    push @first, $fresh->safe_psql('two', 'SELECT objectid_next()');
}
foreach my $part ([ 'process', \&process_of ], [ 'counter', \&counter_of ])
{
    my ($name, $of) = @$part;
    my %seen = map { $of->($_) => 1 } @first, $greatest{'objectid_next()'};
    is(scalar(keys %seen), 4, "each start has another $name");
}

# The counter comes round to 0. The order stays, and no number is left out.
my $session = open_session($fresh, dbname => 'one');
# Another database may have IDs go on with the next second, whose counter begins at 0.
my $left = 0x1000000 - counter_of(ask($session, 'SELECT objectid_next()')) - 500;
ask($session, "SELECT count(objectid_next()) FROM generate_series(1, $left)") if $left > 0;
my @round = split /\n/, ask($session, 'SELECT objectid_next() FROM generate_series(1, 1000)');
is(scalar(grep { $round[$_] le $round[ $_ - 1 ] } 1 .. $#round), 0, 'the counter comes round: in order');
is(scalar(grep { counter_of($round[$_]) != (counter_of($round[ $_ - 1 ]) + 1) % 0x1000000 } 1 .. $#round),
    0, 'the counter comes round: no number is left out');
cmp_ok(counter_of($round[0]), '>', counter_of($round[-1]), 'the counter comes round: it did');
cmp_ok($round[0], 'gt', $first[-1], 'the counter comes round: above the first');

# 5. Garbage as binary input. Each value comes as a file of COPY.
my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# Has a session's client send values of a type, each by itself. Returns how many were taken, and the
# SQLSTATEs of the errors of others.
sub copy_all
{
    my ($type, @values) = @_;
    my $script = "\\set VERBOSITY verbose\nDROP TABLE IF EXISTS received;\nCREATE TABLE received (value $type);\n";
    foreach my $number (0 .. $#values)
    {
        my $file = "$dir/$type.$number";
        open my $out, '>:raw', $file or die "$file: $!";
        print $out "PGCOPY\n\xFF\r\n\0", pack('N N n N/a* n', 0, 0, 1, $values[$number], 0xFFFF);
        close $out or die "$file: $!";
        $script .= "\\copy received FROM '$file' (FORMAT binary)\n";
    }
    my ($status, $out, $err) = $fresh->psql('one', $script, on_error_stop => 0);
    my %states;
    $states{$1}++ while $err =~ /^(?:psql:\S+: )?(?:ERROR|FATAL|PANIC):  (\w{5}):/gm;
    return ($fresh->safe_psql('one', 'SELECT count(*) FROM received'), \%states);
}

# Checks that as many of them were taken, and all others refused as malformed.
sub check_copied
{
    my ($name, $taken, $type, @values) = @_;
    my ($count, $states) = copy_all($type, @values);
    my $refused = ($states->{'22P03'} // 0) + ($states->{'08P01'} // 0);
    $taken //= $count;
    is("$count, $refused", "$taken, " . (@values - $taken), "$name: taken, refused")
      or diag(join ' ', %$states);
    return;
}

# Epoch and unit in microseconds, widths of time, shard and sequence, order of the fields.
sub layout_bytes { return pack 'q> q> C4', @_ }

my $epoch = 1_577_836_800_000_000;
check_copied('layouts in each order', 6, 'snowid_layout', map { layout_bytes($epoch, 1000, 41, 10, 12, $_) } 0 .. 5);
is($fresh->safe_psql('one', 'SELECT count(DISTINCT value::text) FROM received'), '6', 'layouts in each order: all differ');
check_copied('layouts with an empty field', 3, 'snowid_layout',
    map { layout_bytes($epoch, 1000, @$_, 5) } [ 41, 10, 0 ], [ 41, 0, 12 ], [ 63, 0, 0 ]);
is($fresh->safe_psql('one', q(SELECT count(*) FROM received WHERE value = value::text::snowid_layout)), '3',
    'layouts with an empty field: in the form that text has');
my $day = 86_400_000_000;
check_copied(
    'layouts with invalid fields', 0, 'snowid_layout',
    (map { layout_bytes($epoch, 1000, 41, 10, 12, $_) } 6, 7, 127, 128, 255),
    (map { layout_bytes($epoch, $_, 41, 10, 12, 0) } 0, -1, $day + 1, 2 * $day, 2**62, -2**63),
    (map { layout_bytes($epoch, 1000, @$_, 0) } [ 0, 10, 12 ], [ 64, 0, 0 ], [ 0, 0, 0 ], [ 0, 32, 32 ],
        [ 41, 13, 11 ], [ 65, 0, 1 ], [ 1, 255, 64 ], [ 64, 64, 64 ], [ 255, 255, 255 ], [ 128, 64, 128 ], [ 64, 0, 1 ]),
    (map { layout_bytes($_, 1000, 41, 10, 12, 0) } 2**63 - 1, -2**63));
my $valid = layout_bytes($epoch, 1000, 41, 10, 12, 0);
check_copied('layouts of any length', 1, 'snowid_layout',
    map { substr $valid . $valid . $valid, 0, $_ } 0 .. 41);
srand 1;
my @garbage;
foreach my $byte (0 .. 19)
{
    foreach my $value (0x00, 0x01, 0x3F, 0x7F, 0x80, 0xFF)
    {
        push @garbage, $valid;
        substr $garbage[-1], $byte, 1, chr $value;
    }
}
push @garbage, join '', map { chr int rand 256 } 1 .. 20 foreach 1 .. 50;
check_copied('layouts with wrong bytes', undef, 'snowid_layout', @garbage);
is(
    $fresh->safe_psql('one',
        'SELECT count(*) FROM received WHERE value::text::snowid_layout <> value'
          . ' OR (snowid_layout_describe(value)).specification IS NULL'),
    '0', 'layouts with wrong bytes: what was taken is a layout');
check_copied('ObjectIDs of any length', 1, 'objectid', map { 'x' x $_ } 0 .. 25, 255, 100_000);
check_copied('ObjectIDs of any bytes', 20, 'objectid',
    map { join '', map { chr int rand 256 } 1 .. 12 } 1 .. 20);
is(ask($session, 'SELECT 1'), '1', 'garbage: other sessions go on');

# 7. Functions get a null for each argument in turn, and give none but null. What only the server calls
# with values of its own is left out.
my %sample = (
    bigint => '1', integer => '1', boolean => 'true', text => 'x', bytea => '\x00', cstring => 'x',
    'timestamp with time zone' => '2026-01-01Z', uuid => '00000000-0000-7000-8000-000000000000',
    snowid_layout => 'twitter', objectid => '0' x 24, regclass => 'pg_class', name => 'x',
    interval => '1 month', oid => '1259', smallint => '1', 'timestamp without time zone' => '2026-01-01',
    'oid[]' => '{1259}', 'text[]' => '{ACCESS SHARE}', 'snowid_internal.nodes' => '(' . ',' x 15 . ')');
# Which arguments may be null.
my %optional = ('snowid."join"' => 1, 'snowid.release_shard' => 2);
my @functions = split /\n/, $fresh->safe_psql('one', <<'SQL');
SELECT p.oid::regproc, array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) t), ',')
  FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
 WHERE p.prokind = 'f' AND p.pronargs > 0 AND 'internal'::regtype <> ALL (p.proargtypes)
   -- Some of those that manage tables fail, so that nobody takes a table for done.
   AND (p.proisstrict OR p.prolang <> (SELECT oid FROM pg_language WHERE lanname = 'plpgsql'))
   AND p.proname NOT IN ('drop_partitions', 'detach_partitions')
   -- Of a range a null is unknown, as in a comparison; and nobody makes trees.
   AND p.proname !~ '_in_range$' AND 'pg_node_tree'::regtype <> ALL (p.proargtypes)
SQL
my ($calls, @not_null) = (0);
foreach my $function (@functions)
{
    my ($name, $types) = split /\|/, $function;
    my @types = map { s{^any.*}{bigint}r } split /,/, $types;
    foreach my $null (grep { $_ != ($optional{$name} // -1) } 0 .. $#types)
    {
        my $arguments = join ', ',
          map { ($_ == $null ? 'NULL' : "'$sample{$types[$_]}'") . "::$types[$_]" } 0 .. $#types;
        $calls++;
        push @not_null, "$name($arguments)" unless ask($session, "SELECT $name($arguments)") eq '';
    }
}
cmp_ok($calls, '>', 90, "$calls calls with a null");
is(join("\n", @not_null), '', 'a null gives a null');
close_session($session);
$fresh->stop;
done_testing();
