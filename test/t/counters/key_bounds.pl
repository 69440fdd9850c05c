# How many keys all sections of a database, and of a server, have room for together: 50 and 200 times as
# many as one section. Past that keys leave early, but nobody is refused: who comes back goes on above
# every number that he was given. Room that dropped sections leave is used again; and so is that of sections
# that nobody uses, which go on as after a start of the server. The fault: a role that had used all of it up, and
# gone, had it for ever.
#
# Runs in make test-all: it fills shared memory.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A section has 1,000 keys, so a database 50,000, the server 200,000. A section begins with
# room for 100, come what may.
my %low = (least_section_keys => 1000);
my ($keys, $first, $sections) = (1000, 100, 60);
my $node = new_server('keys');
$node->append_conf('postgresql.conf', "snowid.section_keys = $keys\n");
$node->start;
my @databases = map { "d$_" } 1 .. 5;

sub make_database
{
    my ($dbname) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    lower_bounds($node, $dbname, %low);
    $node->safe_psql($dbname, join '; ', 'CREATE TABLE drawn (section int, key int, number bigint)',
        map { "CREATE SEQUENCE s$_ INCREMENT 100000" } 1 .. $sections);
    return;
}
make_database($_) foreach @databases;
# So that nothing is left of the other library.
$node->restart;

# Has each section of a database, or those given, give a number to each of its keys.
sub fill
{
    my ($dbname, @sections) = @_;
    $node->safe_psql($dbname, join ';',
        map { "INSERT INTO drawn SELECT $_, k, snowid_section_next('s$_', k) FROM generate_series(1, $keys) k" }
          @sections ? @sections : 1 .. $sections);
    return;
}

# How many keys of each section memory knows.
sub known_in
{
    my ($dbname) = @_;
    return split /\n/, $node->safe_psql($dbname, join ';',
        map { "SELECT count(snowid_section_current('s$_', k)) FROM generate_series(1, $keys) k" } 1 .. $sections);
}

sub sum { my $sum = 0; $sum += $_ foreach @_; return $sum }

# Numbers of a key that did not come in the order in which they are kept.
sub check_order
{
    my ($name, $dbname) = @_;
    is($node->safe_psql($dbname, <<'SQL'), 0, "$name: each key's numbers increase");
SELECT count(*) FROM (SELECT number <= lag(number) OVER (PARTITION BY section, key ORDER BY ctid) AS is_wrong FROM drawn) AS n
WHERE is_wrong
SQL
    return;
}

# 1. A database.
fill('d1');
my @known = known_in('d1');
is(scalar(grep { $_ == $keys } @known[ 0 .. 47 ]), 48, 'within the bound all keys are known');
cmp_ok(sum(@known), '<=', 50 * $keys + $first * $sections, 'a database: no more than it has room for');
cmp_ok(sum(@known), '>=', 49 * $keys, 'nor much less');
is(scalar(grep { $_ >= $first && $_ < $keys } @known[ 51 .. $sections - 1 ]), $sections - 51, 'past the bound keys leave early');
fill('d1') foreach 1 .. 2;
check_order('keys that left early and came back', 'd1');
@known = known_in('d1');
cmp_ok(sum(@known), '<=', 50 * $keys + $first * $sections, 'no more are known than before');
cmp_ok(sum(@known), '>=', 48 * $keys, 'nor much fewer');

# What is dropped makes room, as soon as somebody makes a section.
$node->safe_psql('d1', join ';', map { "DROP SEQUENCE s$_; CREATE SEQUENCE s$_ INCREMENT 100000; DELETE FROM drawn WHERE section = $_" } 1 .. 9);
check_no_connection($node, 'those who have used them go');
fill('d1', 1, 53 .. 59);
is(scalar(grep { $_ == $keys } (known_in('d1'))[ 0, 52 .. 58 ]), 8, 'a dropped section leaves its room to others');
check_order('sections that grow at last', 'd1');

# What nobody uses makes room, though nothing is dropped: no more of it than is needed, and that first whose
# limit was raised longest ago; but what has no more than any section may have stays.
$node->restart;
$node->safe_psql('d1', 'TRUNCATE drawn');
$node->safe_psql('d1', q(SELECT count(snowid_section_next('s53', k)) FROM generate_series(1, 50) k));
fill('d1', $_) foreach 1 .. 52;
check_no_connection($node, 'those who have used all there is go');
my %limit = map { split /\|/ } split /\n/, $node->safe_psql('d1',
    "SELECT sequencename, last_value FROM pg_sequences WHERE sequencename ~ '^s\\d+\$'");
my $newcomer = open_session($node, dbname => 'd1');
wait_for(sub { ask($newcomer, qq(INSERT INTO drawn SELECT 60, k, snowid_section_next('s60', k) FROM generate_series(1, $keys) k;
        SELECT count(snowid_section_current('s60', k)) FROM generate_series(1, $keys) k)) == $keys },
    'a new section to have the room of those that nobody uses');
@known = known_in('d1');
cmp_ok(scalar(grep { $_ == $keys } @known[ 0 .. 51 ]), '>=', 47, 'few are forgotten, for no more room than is needed');
is($known[0], 0, 'first the one whose limit was raised longest ago');
is(scalar(grep { $_ == 0 } @known[ 30 .. 51 ]), 0, 'and none of the later ones');
is($known[52], 50, 'nor one that has few keys');
my @forgotten = grep { $known[ $_ - 1 ] == 0 } 1 .. 52;
fill('d1', $_) foreach @forgotten;
is($node->safe_psql('d1', "SELECT min(number) FROM (SELECT DISTINCT ON (key) number FROM drawn WHERE section = 1 ORDER BY key, ctid DESC) AS l"),
    $limit{s1} + 1, 'who is forgotten goes on above what the sequence said, as after a start of the server');
close_session($newcomer);
check_order('sections that nobody used and that come back', 'd1');

# None of those in use goes, whoever wants more.
$node->restart;
my $holder = open_session($node, dbname => 'd1');
ask($holder, "SELECT count(snowid_section_next('s$_', k)) FROM generate_series(1, $keys) k") foreach 1 .. 52;
my @held = known_in('d1');
fill('d1', 60) foreach 1 .. 2;
is(join(' ', (known_in('d1'))[ 0 .. 51 ]), join(' ', @held[ 0 .. 51 ]), 'what is in use stays');
is(ask($holder, "SELECT count(snowid_section_next('s$_', k)) FROM generate_series(1, $keys) k"), $keys, "section $_ goes on") foreach 1, 49;
close_session($holder);
check_order('sections in use', 'd1');
$node->restart;
$node->safe_psql('d1', 'TRUNCATE drawn');

# 2. The server, of which each of four databases has a quarter, as long as they use it.
my @users;
sub fill_and_stay
{
    my ($dbname) = @_;
    push @users, open_session($node, dbname => $dbname);
    ask($users[-1], "INSERT INTO drawn SELECT $_, k, snowid_section_next('s$_', k) FROM generate_series(1, $keys) k") foreach 1 .. $sections;
    return;
}
fill_and_stay($_) foreach @databases[ 0 .. 3 ];
fill('d5');
cmp_ok(sum(map { known_in($_) } @databases), '<=', 200 * $keys + $first * $sections * @databases, 'the server: no more than it has room for');
cmp_ok(sum(map { known_in($_) } @databases[ 1 .. 3 ]), '>=', 3 * 49 * $keys, 'three have what they may have');
my $last = sum(known_in('d5'));
cmp_ok($last, '<', 10 * $keys, 'the last one finds the server full');
cmp_ok($last, '>=', $first * $sections, 'but is served');
fill($_) foreach @databases;
check_order('on a full server', $_) foreach @databases;
close_session($users[1]);
$node->safe_psql('postgres', 'DROP DATABASE d2');
$node->safe_psql('d5', q(CREATE SEQUENCE another; SELECT snowid_section_next('another', 1)));
fill('d5');
cmp_ok(sum(known_in('d5')), '>=', 49 * $keys, 'with a database dropped there is room');
check_order('with a database dropped', 'd5');

# And with others that nobody uses.
close_session(@users[ 0, 2, 3 ]);
check_no_connection($node, 'those who have used the server go');
make_database('d2');
my $newest = open_session($node, dbname => 'd2');
wait_for(sub {
    ask($newest, "INSERT INTO drawn SELECT $_, k, snowid_section_next('s$_', k) FROM generate_series(1, $keys) k") foreach 1 .. $sections;
    return sum(known_in('d2')) >= 49 * $keys;
}, 'what nobody uses in other databases to make room');
close_session($newest);
check_order('with others that nobody uses', $_) foreach 'd2', 'd5';
fill($_) foreach 'd1', 'd3';
check_order('come back', $_) foreach 'd1', 'd3';

$node->stop;
check_log($node);
done_testing();
