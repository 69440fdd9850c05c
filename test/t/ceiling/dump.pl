# Promise 1 through dump and restore: a dump carries the ceiling, and wherever it is restored (a new
# server whose clock is behind, a database that has issued IDs of its own, one that is at work), IDs go
# on above all that were issued in either place. Who owns the database can dump and restore it, and who may read all of
# it can dump it. What uses layouts and the other kinds of ID is the same afterwards.
#
# Runs in make test-all: it dumps and restores a score of databases.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();

# Lets a superuser's session issue IDs however far the clock is behind.
my $far = "SET snowid.max_lead = '1d'";
my $insert = 'INSERT INTO photos SELECT FROM generate_series(1, 1000)';

# The greatest ID, of all shards, with a time in Unix milliseconds.
sub max_of
{
    my ($ms) = @_;
    return ($ms - 1314220021721) << 23 | 0x7FFFFF;
}

sub ceiling_of
{
    my ($node, $dbname) = @_;
    return $node->safe_psql($dbname, 'SELECT last_value FROM snowid_internal.ceiling');
}

# Makes a database that belongs to an ordinary user.
sub new_database
{
    my ($node, $dbname, $owner) = @_;
    $node->safe_psql('postgres', "CREATE ROLE $owner LOGIN; CREATE DATABASE $dbname OWNER $owner");
    return;
}

sub dump_to
{
    my ($file, $node, $dbname, @options) = @_;
    system_or_bail('pg_dump', '-d', $node->connstr($dbname), '-f', $file, @options);
    return;
}

sub restore_plain
{
    my ($name, $file, $node, $connection) = @_;
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-f', $file ],
        "$name: restored");
    return;
}

sub restore_custom
{
    my ($name, $file, $node, $dbname) = @_;
    command_ok(
        [
            'pg_restore', '--clean', '--if-exists', '--exit-on-error',
            '-d', $node->connstr($dbname), $file
        ],
        "$name: restored");
    return;
}

# Checks that a database, whose clock may be behind, goes on above an ID. Returns the greatest ID that
# it has then issued.
sub check_above
{
    my ($name, $node, $dbname, $floor) = @_;
    my @sessions = map { draw($node, 'snowid_next()', 5000, dbname => $dbname, setup => $far) } 1 .. 2;
    finish(@sessions);
    my ($count, $max) = check_round($name, $floor, @sessions);
    is($count, 10_000, "$name: as many as asked for");
    is(attempt($node, "$far; $insert", dbname => $dbname), '', "$name: no duplicate key");
    return $node->safe_psql($dbname, "$far; SELECT snowid_next()");
}

# The server that dumps are made of, one database of which belongs to an ordinary user.
my $source = new_server('source');
$source->start;
new_database($source, 'owned', 'alice');
my %setup = (
    postgres => $source->connstr('postgres'),
    owned => $source->connstr('owned') . ' user=alice');
foreach my $dbname (sort keys %setup)
{
    command_ok(
        [
            'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $setup{$dbname}, '-c',
            'CREATE EXTENSION snowid', '-c', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())',
            '-c', $insert
        ],
        "$dbname: made");
}

# Into a new server whose clock is ten minutes behind.
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
new_database($target, 'owned', 'alice');
my %issued;
foreach my $dbname (sort keys %setup)
{
    my $name = $dbname eq 'owned' ? 'by the owner' : 'by a superuser';
    my $file = "$dir/$dbname.sql";
    my $greatest = $source->safe_psql($dbname, 'SELECT max(id) FROM photos');
    my $ceiling = ceiling_of($source, $dbname);
    cmp_ok(max_of($ceiling), '>', $greatest, "$name: the ceiling is above all rows");
    my $connection = $target->connstr($dbname);
    if ($dbname eq 'owned')
    {
        system_or_bail('pg_dump', '-d', $setup{owned}, '-f', $file);
        $connection .= ' user=alice';
    }
    else
    {
        dump_to($file, $source, $dbname);
    }
    restore_plain($name, $file, $target, $connection);
    is(ceiling_of($target, $dbname), $ceiling, "$name: so is the ceiling");
    is($target->safe_psql($dbname, 'SELECT count(*), max(id) FROM photos'), "1000|$greatest",
        "$name: so are the rows");
    is(attempt($target, 'SELECT snowid_next()', dbname => $dbname), 'ERROR SN001',
        "$name: refused while the clock is behind");
    is(attempt($target, $insert, dbname => $dbname), 'ERROR SN001', "$name: as a default, too");
    $issued{$dbname} = check_above("$name, clock behind", $target, $dbname, max_of($ceiling));
}
# Layouts and the other kinds of ID, to the same server.
my $seconds = 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z';
my $shard_on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $hours = 'time:24 shard:10 seq:12 unit:1h epoch:2020-01-01T00:00:00Z';
my $no_wait = 'SET snowid.max_wait = 0;';
$source->safe_psql('postgres', 'CREATE DATABASE layouts');
$source->safe_psql('layouts', <<SQL);
CREATE EXTENSION snowid;
CREATE TABLE tweets (
  id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'),
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id, 'twitter')) STORED,
  leaf bigint UNIQUE DEFAULT snowid_next(5, 'leaf'),
  instagram bigint UNIQUE DEFAULT snowid_next(5),
  js53 bigint UNIQUE DEFAULT snowid_next(5, 'js53'),
  top bigint UNIQUE DEFAULT snowid_next(5, '$shard_on_top'),
  CHECK (snowid_in_range(id, '2020-01-01Z', '2080-01-01Z', 'twitter')));
CREATE INDEX tweets_shard ON tweets (snowid_shard(top, '$shard_on_top'));
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next(6, 'twitter')) PARTITION BY RANGE (id);
CREATE TABLE posts_early PARTITION OF posts
  FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2026-01-01Z', 'twitter'));
CREATE TABLE posts_late PARTITION OF posts
  FOR VALUES FROM (snowid_first_at('2026-01-01Z', 'twitter')) TO (MAXVALUE);
CREATE TABLE layouts (layout snowid_layout DEFAULT 'js53', n int);
CREATE INDEX layouts_hash ON layouts USING hash (layout);
CREATE TABLE documents (id objectid PRIMARY KEY DEFAULT objectid_next(), key uuid UNIQUE DEFAULT snowid_uuidv7());
INSERT INTO tweets SELECT FROM generate_series(1, 1000);
INSERT INTO posts SELECT snowid_encode('2025-12-31 23:59Z'::timestamptz + n * interval '1 s', 6, n, 'twitter')
  FROM generate_series(1, 100) n;
INSERT INTO posts SELECT FROM generate_series(1, 100);
INSERT INTO layouts SELECT name::snowid_layout FROM snowid.layouts;
INSERT INTO layouts VALUES ('$seconds'), ('$shard_on_top'), ('$hours'), (NULL);
INSERT INTO documents SELECT FROM generate_series(1, 1000);
SQL

# All that the tables of a database hold, and where.
my @tables = qw(tweets posts posts_early posts_late layouts documents);
my $contents = sub {
    my ($node, $dbname) = @_;
    return map { $node->safe_psql($dbname, "SET timezone = 'UTC'; SELECT t FROM ONLY $_ t ORDER BY t::text") }
      @tables;
};
my %column = (
    tweets => [qw(id leaf instagram js53 top)],
    posts => ['id'],
    documents => [ 'id', 'key' ]);
dump_to("$dir/plain.sql", $source, 'layouts');
dump_to("$dir/custom.dump", $source, 'layouts', '-Fc');
my @before = $contents->($source, 'layouts');
my %greatest;
foreach my $table (sort keys %column)
{
    foreach my $column (@{ $column{$table} })
    {
        $greatest{"$table.$column"} =
          $source->safe_psql('layouts', "SELECT $column FROM $table ORDER BY 1 DESC LIMIT 1");
    }
}

# The target has made UUIDs and ObjectIDs of its own.
$target->safe_psql('postgres', "$far; SELECT snowid_uuidv7(), objectid_next()");
foreach my $dbname (qw(plain custom))
{
    $target->safe_psql('postgres', "CREATE DATABASE $dbname");
    my $connection = $target->connstr($dbname);
    command_ok(
        $dbname eq 'plain'
        ? [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $connection, '-f', "$dir/plain.sql" ]
        : [ 'pg_restore', '--exit-on-error', '-j2', '-d', $connection, "$dir/custom.dump" ],
        "$dbname: restored");
    my @after = $contents->($target, $dbname);
    ok($after[$_] eq $before[$_], "$dbname: $tables[$_] holds the same") foreach 0 .. $#tables;
    # A default of an ID as such: each in a session of its own, which a clock behind refuses.
    foreach my $call ("snowid_next(5, 'twitter')", "snowid_next(7, 'leaf')", "snowid_next(5, '$shard_on_top')",
        "snowid_next(5, '$seconds')", 'snowid_uuidv7()', 'objectid_next()')
    {
        is(attempt($target, "$no_wait SELECT $call", dbname => $dbname), 'ERROR SN001',
            "$dbname: refused while the clock is behind: $call");
    }
    foreach my $table (sort keys %column)
    {
        is(attempt($target, "$far; INSERT INTO $table SELECT FROM generate_series(1, 500)", dbname => $dbname),
            '', "$dbname: defaults of $table work");
        foreach my $column (@{ $column{$table} })
        {
            is(
                attempt($target,
                    "SELECT count(*) FROM $table WHERE $column > '" . $greatest{"$table.$column"} . q('),
                    dbname => $dbname),
                '500', "$dbname: $table.$column goes on above");
        }
    }
    my $lookup = "SET enable_seqscan = off; SET enable_bitmapscan = off;";
    is(attempt($target, "$lookup SELECT count(*) FROM tweets WHERE snowid_shard(top, '$shard_on_top') = 5",
            dbname => $dbname), '1500', "$dbname: the index on the shard serves");
    is(attempt($target, "$lookup SELECT count(*) FROM layouts a JOIN layouts b USING (layout)", dbname => $dbname),
        '21', "$dbname: the index on the layout serves");
    is(attempt($target, 'SELECT count(*) FROM tweets WHERE created_at <> snowid_timestamp(id, \'leaf\')',
            dbname => $dbname), '0', "$dbname: the generated column is right");
    is(attempt($target, 'SELECT (SELECT count(*) FROM posts_early), (SELECT count(*) FROM posts_late)',
            dbname => $dbname), '59|641', "$dbname: the partitions have what is theirs");
}

set_clock(0, $target);
foreach my $dbname (sort keys %setup)
{
    cmp_ok(attempt($target, 'SELECT snowid_next()', dbname => $dbname),
        '>', $issued{$dbname}, "$dbname: served when the clock is right, above what was there");
}
my $owner = $target->connstr('owned') . ' user=alice';
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $owner, '-c', $insert, '-c',
        'SELECT snowid.advance_shard(snowid_next())' ], 'the owner has kept the rights');

# A dump of the schema alone makes the same schema, and a database that works.
dump_to("$dir/schema.sql", $source, 'postgres', '--schema-only');
unlike(slurp_file("$dir/schema.sql"), qr/setval/, 'the schema alone has no ceiling');
$target->safe_psql('postgres', 'CREATE DATABASE bare');
restore_plain('schema', "$dir/schema.sql", $target, $target->connstr('bare'));
dump_to("$dir/again.sql", $target, 'bare', '--schema-only');
my ($once, $again) = map { join '', grep { !/^\\(?:un)?restrict / } split /^/, slurp_file("$dir/$_.sql") }
  qw(schema again);
is($again, $once, 'schema: the same when dumped again');
check_above('schema', $target, 'bare', 0);

# Over a database that has issued IDs since, and has run ahead of the dump's ceiling by an hour.
dump_to("$dir/old.dump", $source, 'postgres', '-Fc');
my $ahead = sub {
    my ($node, $interval) = @_;
    return $node->safe_psql('postgres', "$far; SELECT snowid.advance_shard("
          . "snowid_encode(clock_timestamp() + interval '$interval', 0, 0)); SELECT snowid_next()") =~ /(\d+)/
      ? $1
      : undef;
};
my $last = $ahead->($target, '1 hour');
my $session = open_session($target);
ask($session, $far);
cmp_ok(ask($session, 'SELECT snowid_next()'), '>', $last, 'a session draws');
restore_custom('old dump', "$dir/old.dump", $target, 'postgres');
cmp_ok(max_of(ceiling_of($target, 'postgres')), '<', $last, 'old dump: its ceiling is lower');
cmp_ok(ask($session, 'SELECT snowid_next()'), '>', $last, 'old dump: the session goes on above its own IDs');
$last = check_above('old dump', $target, 'postgres', ask($session, 'SELECT snowid_next()'));
crash($target, 'kill');
close_session($session);
set_clock(-600, $target);
start_server($target);
$last = check_above('old dump, after a crash', $target, 'postgres', $last);

# Of a server that has run ahead by more.
$ahead->($source, '3 hours');
my $ceiling = ceiling_of($source, 'postgres');
cmp_ok(max_of($ceiling), '>', $last, 'new dump: its ceiling is higher');
dump_to("$dir/new.dump", $source, 'postgres', '-Fc');
$session = open_session($target);
ask($session, $far);
cmp_ok(ask($session, 'SELECT snowid_next()'), '>', $last, 'a session draws');
restore_custom('new dump', "$dir/new.dump", $target, 'postgres');
cmp_ok(ask($session, 'SELECT snowid_next()'), '>', max_of($ceiling), 'new dump: the session goes on above it');
$last = check_above('new dump', $target, 'postgres', max_of($ceiling));

# A ceiling restored while a session draws, into the very sequence that it uses. It has nobody to tell
# it: it goes on below the ceiling that it knows, and above the restored one from the next raise on.
ask($session, 'SELECT snowid_next()');
my $known = ceiling_of($target, 'postgres');
my $restored = $known + 600_000;
$target->safe_psql('postgres', "SELECT setval('snowid_internal.ceiling', $restored)");
# Each of these has a millisecond of its own. The ceiling is raised a second ahead.
my @ids = split /\n/, ask($session, 'SELECT snowid_reserve(0, 1024) FROM generate_series(1, 3000)');
is(scalar(@ids), 3000, 'restored in use: the session goes on');
is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'restored in use: in order');
cmp_ok($ids[0], '>', $last, 'restored in use: above those of before');
my @between = grep { $_ > max_of($known) && $_ <= max_of($restored) } @ids;
is(scalar(@between), 0, 'restored in use: none above the old ceiling and not above the restored one');
cmp_ok($ids[1000], '>', max_of($restored), 'restored in use: noticed within a step of the ceiling');
cmp_ok(max_of(ceiling_of($target, 'postgres')), '>', $ids[-1], 'restored in use: the ceiling is above all');
close_session($session);

# Who may dump a database may dump the extension with it, though a superuser made it: the database's owner, and who may
# read all data. The dump carries the ceiling.
my $sequence = 'snowid_internal.ceiling';
$source->safe_psql('postgres', <<'SQL');
CREATE ROLE owner LOGIN;
CREATE ROLE reader LOGIN IN ROLE pg_read_all_data;
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE ROLE anybody LOGIN;
CREATE DATABASE others OWNER owner;
CREATE DATABASE restored;
SQL
$source->safe_psql('others', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next());
GRANT INSERT ON photos TO anybody;
ALTER TABLE photos OWNER TO owner;
INSERT INTO photos DEFAULT VALUES;
SQL
my $value = $source->safe_psql('others', "SELECT last_value FROM $sequence");
foreach my $role ('owner', 'reader')
{
    my $file = "$dir/$role.sql";
    command_ok([ 'pg_dump', '-d', $source->connstr('others') . " user=$role", '-f', $file ], "$role: dumped");
    $source->safe_psql('postgres', 'DROP DATABASE restored');
    $source->safe_psql('postgres', 'CREATE DATABASE restored');
    command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $source->connstr('restored'), '-f', $file ],
        "$role: restored");
    cmp_ok($source->safe_psql('restored', "SELECT last_value FROM $sequence"), '>=', $value, "$role: with the ceiling");
    is($source->safe_psql('restored', 'SELECT snowid_next() > max(id) FROM photos'), 't', "$role: and IDs go on above");
    is($source->safe_psql('others', "SET ROLE $role; SELECT last_value >= $value FROM $sequence"), 't', "$role: may read the ceiling");
}
foreach my $role ('reader', 'watcher', 'anybody')
{
    is($source->safe_psql('others', "SET ROLE $role; SELECT snowid_ceiling() IS NOT NULL"), 't', "$role: may ask for the ceiling");
    my ($status) = $source->psql('others', "SET ROLE $role; SELECT setval('$sequence', 1)");
    isnt($status, 0, "$role: may not set it");
}
# Its owner may, since a restore does, but not below what was issued.
is($source->safe_psql('others', "SET ROLE owner; SELECT snowid_next() AS id \\gset\nSELECT setval('$sequence', 1); SELECT snowid_next() > :id"), "1\nt",
    'owner: IDs go on above, whatever it is set to');
check_log($source);

$source->stop;
$target->stop;
done_testing();
