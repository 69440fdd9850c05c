# The owner of a schema may have it renamed, and another one in its place, while a superuser's script puts the extension into it. An
# extension of which a part is in the other one, or goes by what is there, does not come to be.

use Snowid;

my $node = ready_server('node', sql => 'CREATE ROLE mallory LOGIN; CREATE DATABASE his OWNER mallory');
my ($creator, @mallory) = map { open_session($node, dbname => 'his', user => 'mallory') } 1 .. 3;
backend_of($_) foreach $creator, $mallory[1];
my ($first, $second) = ('snowid_to_base62(bigint)', 'snowid_from_base62(text)');
sub make { my ($signature) = @_; return "CREATE FUNCTION $signature RETURNS int LANGUAGE sql AS 'SELECT 1'" }

# Whoever makes a function of the same name and arguments has to be waited for.
is(ask($mallory[0], 'CREATE SCHEMA s; BEGIN; ' . make("s.$first")), '', 'the first place where the script waits');
start_asking($creator, 'CREATE EXTENSION snowid SCHEMA s');
wait_until_waiting($node, $creator, 'Lock');
is(ask($mallory[1], 'ALTER SCHEMA s RENAME TO aside; CREATE SCHEMA s; ' . make("s.$first") . '; BEGIN; ' . make("s.$second")), '', 'there is another schema, and a second place');
ask($mallory[0], 'ROLLBACK');
wait_for(sub { ask($mallory[0], "SELECT pg_blocking_pids($creator->{backend})") eq "{$mallory[1]{backend}}" }, 'the script to wait there');
is(ask($mallory[0], 'ALTER SCHEMA s RENAME TO other; ALTER SCHEMA aside RENAME TO s; ' . make("s.$second")), '', 'the first schema is back');
ask($mallory[1], 'ROLLBACK');
is(answer($creator), 'ERROR 55000', 'the extension is not created');
like($creator->{err}, qr/schema of extension "snowid" was replaced.*HINT:  Try again/s, 'and says why');
is(ask($creator, "DROP FUNCTION s.$second; CREATE EXTENSION snowid SCHEMA s"), '', 'it is when nobody does so');
close_session($creator, @mallory);
end_test($node);
