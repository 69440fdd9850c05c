# Room for keys that dropped sections leave is used again; and so is that of sections that nobody uses, in other databases too, which
# go on as after a start of the server. None of those in use goes. The fault: a role that had used all of it up, and gone, had it for
# ever.
# Runs in make test-all: it fills shared memory.

use Snowid;

my $node = few_keys('d1' .. 'd4');
my $d1 = [ $node, 'd1' ];

# What is dropped makes room, as soon as somebody makes a section.
fill_sections($d1, 1 .. 60);
$node->safe_psql('d1', join ';', map { "DROP SEQUENCE s$_; CREATE SEQUENCE s$_ INCREMENT 100000; DELETE FROM drawn WHERE section = $_" } 1 .. 9);
check_no_connection($node, 'those who have used them go');
fill_sections($d1, 1, 53 .. 59);
is(scalar(grep { $_ == 1000 } (known_in(@$d1))[ 0, 52 .. 58 ]), 8, 'a dropped section leaves its room to others');
check_order('sections that grow at last', $node, 'd1');

# What nobody uses makes room: no more of it than is needed, and that first whose limit was raised longest ago; but what has no more
# than any section may have stays.
$node->restart;
$node->safe_psql('d1', q(TRUNCATE drawn; SELECT count(snowid_section_next('s53', k)) FROM generate_series(1, 50) k));
fill_sections($d1, $_) foreach 1 .. 52;
check_no_connection($node, 'those who have used all there is go');
my $limit = $node->safe_psql('d1', 'SELECT last_value FROM s1');
my $newcomer = open_session($node, dbname => 'd1');
wait_for(sub { fill_sections($newcomer, 60); (known_in(@$d1))[59] == 1000 }, 'a new section to have the room of those that nobody uses');
my @known = known_in(@$d1);
cmp_ok(scalar(grep { $_ == 1000 } @known[ 0 .. 51 ]), '>=', 47, 'few are forgotten, for no more room than is needed');
is($known[0], 0, 'first the one whose limit was raised longest ago');
is(scalar(grep { $_ == 0 } @known[ 30 .. 51 ]), 0, 'and none of the later ones');
is($known[52], 50, 'nor one that has few keys');
fill_sections($d1, $_) foreach grep { $known[ $_ - 1 ] == 0 } 1 .. 52;
is($node->safe_psql('d1', 'SELECT min(number) FROM (SELECT DISTINCT ON (key) number FROM drawn WHERE section = 1 ORDER BY key, ctid DESC) AS l'),
    $limit + 1, 'who is forgotten goes on above what the sequence said, as after a start of the server');
close_session($newcomer);
check_order('sections that nobody used and that come back', $node, 'd1');

# None of those in use goes, whoever wants more.
$node->restart;
my $holder = open_session($node, dbname => 'd1');
fill_sections($holder, 1 .. 52);
my @held = known_in(@$d1);
fill_sections($d1, 60) foreach 1 .. 2;
is(join(' ', (known_in(@$d1))[ 0 .. 51 ]), join(' ', @held[ 0 .. 51 ]), 'what is in use stays');
fill_sections($holder, 1, 49);
check_order('sections in use', $node, 'd1');

# Of other databases on a full server.
my @users = ($holder, map { open_session($node, dbname => $_) } 'd2' .. 'd4');
fill_sections($_, 1 .. 60) foreach @users;
close_session(@users);
check_no_connection($node, 'those who have used the server go');
make_sections($node, 'd5');
my $newest = open_session($node, dbname => 'd5');
wait_for(sub { fill_sections($newest, 1 .. 60); sum_of(known_in($node, 'd5')) >= 45_000 }, 'what nobody uses in other databases to make room');
close_session($newest);
fill_sections([ $node, $_ ], 1 .. 60) foreach 'd1', 'd3';
check_order('others that nobody used come back', $node, 'd1', 'd3', 'd5');
end_test($node);
