# How many keys all sections of a database, and of a server, have room for together: 50 and 200 times as
# many as one section. Past that keys leave early, but nobody is refused: who comes back goes on above
# every number that he was given. Room that dropped sections leave is
# used again.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A section has 1,000 keys by default, so a database 50,000, the server 200,000. A section begins with
# room for 100, come what may.
my $low = build_library('low', '-DSNOWID_SECTION_KEYS=1000');
my ($keys, $first, $sections) = (1000, 100, 60);
my $node = new_server('keys');
$node->start;
my @databases = map { "d$_" } 1 .. 5;
foreach my $dbname (@databases)
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    use_library($node, $dbname, $low);
    $node->safe_psql($dbname, join '; ', 'CREATE TABLE drawn (section int, key int, number bigint)',
        map { "CREATE SEQUENCE s$_ INCREMENT 100000" } 1 .. $sections);
}
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
is(join(' ', known_in('d1')), "@known", 'as many are known as before');

# What is dropped makes room, as soon as somebody makes a section.
$node->safe_psql('d1', join ';', map { "DROP SEQUENCE s$_; CREATE SEQUENCE s$_ INCREMENT 100000; DELETE FROM drawn WHERE section = $_" } 1 .. 9);
check_no_connection($node, 'those who have used them go');
fill('d1', 1, 53 .. 59);
is(scalar(grep { $_ == $keys } (known_in('d1'))[ 0, 52 .. 58 ]), 8, 'a dropped section leaves its room to others');
check_order('sections that grow at last', 'd1');

# 2. The server, of which each of four databases has a quarter.
fill($_) foreach @databases;
cmp_ok(sum(map { known_in($_) } @databases), '<=', 200 * $keys + $first * $sections * @databases, 'the server: no more than it has room for');
cmp_ok(sum(map { known_in($_) } @databases[ 1 .. 3 ]), '>=', 3 * 49 * $keys, 'three have what they may have');
my $last = sum(known_in('d5'));
cmp_ok($last, '<', 10 * $keys, 'the last one finds the server full');
cmp_ok($last, '>=', $first * $sections, 'but is served');
fill($_) foreach @databases;
check_order('on a full server', $_) foreach @databases;
$node->safe_psql('postgres', 'DROP DATABASE d2');
$node->safe_psql('d5', q(CREATE SEQUENCE another; SELECT snowid_section_next('another', 1)));
fill('d5');
cmp_ok(sum(known_in('d5')), '>=', 49 * $keys, 'with a database dropped there is room');
check_order('with a database dropped', 'd5');

$node->stop;
check_log($node);
done_testing();
