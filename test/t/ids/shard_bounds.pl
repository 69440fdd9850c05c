# Bounds on shards of other layouts than the default one, which callers choose: those of the server, and of a database. Whoever
# meets one is told so, and goes on with what is in use; all else works as ever. What nobody uses any more comes back.

use Snowid;

my $node = ready_server('shard_bounds', sql => 'CREATE ROLE mallory LOGIN; CREATE ROLE alice LOGIN; CREATE DATABASE fresh');
my @databases = map { "d$_" } 1 .. 5;
make_bounded($node, [@databases], max_shards => 100, max_shards_of_database => 25);

sub open_as { my ($role, $dbname) = @_; return open_session($node, dbname => $dbname, user => $role) }
sub take { my ($session, $from, $to) = @_; return take_shards($session, 'twitter', $from, $to, {}) }

my %mallory = map { $_ => open_as('mallory', $_) } @databases;
is(take($mallory{$_}, 0, 30), 25, "mallory gets what $_ may have") foreach @databases[ 0 .. 3 ];
is(take($mallory{d5}, 0, 0), 0, 'where the server has no more, the fifth database gets none');
my $too_many = qr/^ERROR:  53400: too many shards of layouts other than "instagram" are in use\nDETAIL:  /;
like($mallory{d1}{err}, qr/${too_many}This database has 25, .*\nHINT:  End unused sessions/, 'he is told of the bound of a database');
like($mallory{d5}{err}, qr/${too_many}The server has 100, .*\nHINT:  End unused sessions of any database/, 'and of the server');
my ($alice, $superuser) = map { open_as($_, 'd1') } 'alice', 'postgres';
foreach my $call (q(snowid_next(25, 'twitter')), q(snowid_reserve(25, 5, 'twitter')), q(snowid_next(0, 'discord')))
{
    is(ask($_->[1], "SELECT $call"), 'ERROR 53400', "$_->[0] gets no more: $call")
      foreach [ 'mallory', $mallory{d1} ], [ 'who comes now', $alice ], [ 'a superuser', $superuser ];
}

my %works = (
    'SELECT snowid_shard(snowid_encode(now(), 77, 5)), snowid_sequence(11637205501278089)' => '77|905',
    'CREATE TEMP TABLE works AS SELECT 1 AS n; DROP TABLE works' => '',
    'SELECT snowid_uuidv7() < snowid_uuidv7()' => 't',
    'SELECT count(snowid_next(n)) FROM generate_series(0, 99) n' => '100');
is(ask($mallory{d1}, $_), $works{$_}, "who was refused: $_") foreach sort keys %works;
is(take($_->[1], 0, 24), 25, "$_->[0] goes on") foreach [ 'mallory', $mallory{d1} ], [ 'alice, with the same shards,', $alice ];
is(attempt($node, 'CREATE EXTENSION snowid; SELECT snowid_next(1) > 0', dbname => 'fresh'), 't', 'the extension can be created');

close_session(@mallory{qw(d2 d3 d4 d5)}, $superuser, $alice);
$alice = open_as('alice', 'd2');
wait_for(sub { take($alice, 400, 424) == 25 }, 'shards that nobody uses to come back');
is(take($mallory{d1}, 0, 24), 25, 'who stays keeps his own');
end_test($node);
