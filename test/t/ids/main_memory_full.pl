# Where the server's main shared memory is used up before snowid is used for the first time, callers get a clear error, the
# session is not harmed, and a restart of the server makes room.
# Runs in make test-all: it uses shared memory up.

use Snowid;

my $node = ready_server('main_memory_full');
my $hog = build_module('hog');
$node->safe_psql('postgres', "CREATE FUNCTION hog() RETURNS bigint AS '$hog' LANGUAGE C");
$node->restart;
cmp_ok($node->safe_psql('postgres', 'SELECT hog()'), '>', 2048, 'there was some');
is($node->safe_psql('postgres', 'SELECT hog()'), 0, 'now there is none');
foreach my $number (1 .. 2)
{
    my $session = open_session($node);
    foreach my $time ('first', 'second')
    {
        is(ask($session, 'SELECT snowid_next(1)'), 'ERROR 53200', "session $number: refused the $time time");
        like($session->{err}, qr/not enough shared memory for data structure "snowid"/, 'and told why');
        is(ask($session, 'CREATE TABLE works AS SELECT snowid_sequence(11637205501278089) AS n; DROP TABLE works'), '', 'it reads IDs, and writes');
    }
    close_session($session);
}
$node->restart;
is($node->safe_psql('postgres', 'SELECT count(snowid_next(n)) FROM generate_series(0, 999) n'), 1000, 'served after a restart');
end_test($node);
