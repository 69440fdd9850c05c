# Segments and sections that no session uses make room for others, in any database where the server is full. They lose the rest
# of their block or limit, and nothing else; those in use lose nothing.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my @databases = 'd1' .. 'd5';
my $node = few_counters(@databases);
my %in = map { $_ => open_session($node, dbname => $_) } @databases;
is(draws($in{$_}, 1 .. 4), '1 1 1 1', "the server is full: $_") foreach @databases[ 0 .. 3 ];
is(draws($in{d5}, 1), 'ERROR 53400', 'there is no room');

close_session($in{d4});
wait_for(sub { draws($in{d5}, 1) eq '1' }, 'what nobody uses to make room');
is(draws($in{d5}, 2 .. 4), '1 1 1', 'for all that follow');
is(draws($in{d5}, 1 .. 5), '2 2 2 2 ERROR 53400', 'for as many as a database may have');

close_session($in{d5});
$in{d4} = open_session($node, dbname => 'd4');
wait_for(sub { draws($in{d4}, $_) eq '101' }, 'room for those who come back') foreach 1 .. 4;
is(draws($in{d4}, 1 .. 4), '102 102 102 102', 'they go on above what was allocated, and no further');
is(draws($in{$_}, 1 .. 4), '2 2 2 2', "those in use go on: $_") foreach @databases[ 0 .. 2 ];
end_test($node);
