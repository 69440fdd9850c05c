# How many keys all sections of a database, and of a server, have room for together: 50 and 200 times as many as one section. Past
# that keys leave early, but nobody is refused: who comes back goes on above every number that he was given.
# Runs in make test-all: it fills shared memory.

use Snowid;

my @databases = 'd1' .. 'd5';
my $node = few_keys(@databases);
my %in = map { $_ => [ $node, $_ ] } @databases;

# A database.
fill_sections($in{d1}, 1 .. 60);
my @known = known_in(@{ $in{d1} });
is(scalar(grep { $_ == 1000 } @known[ 0 .. 47 ]), 48, 'within the bound all keys are known');
is(scalar(grep { $_ >= 100 && $_ < 1000 } @known[ 51 .. 59 ]), 9, 'past the bound keys leave early');
foreach my $least (49_000, 48_000)
{
    my $sum = sum_of(known_in(@{ $in{d1} }));
    ok($sum <= 56_000 && $sum >= $least, 'a database knows as many as it has room for') or diag($sum);
    fill_sections($in{d1}, 1 .. 60) foreach 1, 2;
    check_order('keys that left early and came back', $node, 'd1');
}

# The server, of which each of four databases has a quarter, as long as they use it.
$node->restart;
$node->safe_psql('d1', 'TRUNCATE drawn');
my @users = map { open_session($node, dbname => $_) } @databases[ 0 .. 3 ];
fill_sections($_, 1 .. 60) foreach @users;
fill_sections($in{d5}, 1 .. 60);
my %sum = map { $_ => sum_of(known_in($node, $_)) } @databases;
cmp_ok(sum_of(values %sum), '<=', 200_000 + 100 * 60 * 5, 'the server: no more than it has room for');
cmp_ok(sum_of(@sum{qw(d2 d3 d4)}), '>=', 3 * 49_000, 'three have what they may have');
ok($sum{d5} < 10_000 && $sum{d5} >= 6_000, 'the last one finds the server full, but is served') or diag($sum{d5});
fill_sections($_, 1 .. 60) foreach values %in;
check_order('on a full server', $node, @databases);
close_session($users[1]);
$node->safe_psql('postgres', 'DROP DATABASE d2');
$node->safe_psql('d5', q(CREATE SEQUENCE another; SELECT snowid_section_next('another', 1)));
fill_sections($in{d5}, 1 .. 60);
cmp_ok(sum_of(known_in($node, 'd5')), '>=', 49_000, 'with a database dropped there is room');
check_order('with a database dropped', $node, 'd5');
end_test($node);
