# What a careful reader has tried on sequences with a central source, and must not get: code of others
# run by the source's role, the owner's connection, the sequence's options and its numbers of two
# different times, locks on what is another's, and a new source that counts as down since the old one
# was.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 100;
CREATE SEQUENCE altered_seq INCREMENT 100;
CREATE TABLE ran (operator text);
SQL
my $node = new_server('node');
$node->start;
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE bob LOGIN;
CREATE SEQUENCE orders_seq;
CREATE SEQUENCE altered_seq;
CREATE TABLE rows (n int);
SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq');
SELECT snowid_segment_attach('altered_seq', 'central', 'altered_seq');
GRANT USAGE ON SEQUENCE orders_seq TO bob;
SQL
my $next = q(SELECT snowid_segment_next('orders_seq'));
my $admin = open_session($node);
my $bob = open_session($node);
ask($bob, 'SET ROLE bob');

# 1. Operators that anybody may have made on the source, for all operands that a refill could have.
my @types = qw(numeric bigint integer oid regclass);
my $made = 0;
my $traps = '';
foreach my $name (qw(* - = | << / + <))
{
    foreach my $left (@types)
    {
        foreach my $right (@types)
        {
            my $result = $name =~ /[=<]$/ && $name ne '<<' ? 'boolean' : 'numeric';
            my $value = $result eq 'boolean' ? 'true' : '1::numeric';
            $traps .= <<"SQL";
CREATE FUNCTION trap_$made($left, $right) RETURNS $result LANGUAGE sql
  AS \$\$ INSERT INTO ran VALUES ('$name'); SELECT $value \$\$;
CREATE OPERATOR public.$name (FUNCTION = trap_$made, LEFTARG = $left, RIGHTARG = $right);
SQL
            $made++;
        }
    }
}
$source->safe_psql('postgres', $traps);
is(ask($admin, $next), '1', 'a refill with operators of others in its way');
is($source->safe_psql('postgres', 'SELECT count(*) FROM ran'), '0', 'of which none was run');
is($source->safe_psql('postgres', 'SELECT count(*) FROM pg_operator WHERE oprnamespace = $$public$$::regnamespace'),
    $made, 'though they were all there');

# 2. The options of the sequence there change while a refill waits for it.
my $altering = open_session($source);
ask($altering, 'BEGIN; ALTER SEQUENCE altered_seq INCREMENT 5');
my $refiller = open_session($node);
backend_of($refiller);
start_asking($refiller, q(SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('altered_seq', 12) AS n));
wait_for_waiting($source, 1, 'Lock', 'nextval');
ask($altering, 'COMMIT');
my %drawn = map { $_ => 1 } split / /, answer($refiller);
is(scalar(keys %drawn), 12, 'it gets its numbers');
my @there = map { $source->safe_psql('postgres', q(SELECT nextval('altered_seq'))) } 1 .. 5;
is(scalar(grep { $drawn{$_} } @there), 0, 'which the sequence there does not give again') or diag("@there");

# 3. A caller who cancels all the time never gets the connection.
my $victim = backend_of($bob);
my $canceller = open_session($node);
start_asking($canceller, <<"SQL");
DO \$\$ BEGIN FOR i IN 1 .. 1500 LOOP PERFORM pg_cancel_backend($victim), pg_sleep(0.0005); END LOOP; END \$\$
SQL
my $left_open = 0;
foreach my $round (1 .. 30)
{
    ask($admin, q(SELECT setval('orders_seq', 1)));
    ask($bob, $next);
    my $open = ask($bob, 'SELECT coalesce(array_length(dblink_get_connections(), 1), 0)');
    $left_open++ if $open =~ /^\d+$/ && $open > 0;
}
answer($canceller);
is($left_open, 0, 'no connection of the owner is left to one who cancels');
ask($bob, 'SELECT 1');
like(ask($bob, $next), qr/^\d+$/, 'who is served when he lets it be');

# 4. Whose own it is not, he may not even lock.
ask($admin, 'BEGIN');
ask($admin, 'INSERT INTO rows VALUES (1)');
is(ask($bob, q(SELECT snowid_segment_attach('rows', 'central', 'orders_seq'))), 'ERROR 42809', 'a table');
ask($admin, q(SELECT snowid_segment_next('altered_seq')));
is(ask($bob, q(SELECT snowid_segment_attach('altered_seq', 'central', 'orders_seq'))),
    'ERROR 42501', 'a sequence of another, drawn from at the time: refused without waiting');
ask($admin, 'COMMIT');

# Nor may he, though he owns the extension or restores a dump, give it a source.
ask($admin, 'GRANT SELECT, INSERT ON snowid.segment_sources TO bob');
is(ask($bob, q(INSERT INTO snowid.segment_sources VALUES ('rows', 'central', 'x'))), 'ERROR 42809', 'no sequence');
ask($admin, 'CREATE SEQUENCE admins_seq; CREATE SEQUENCE bobs_seq; ALTER SEQUENCE bobs_seq OWNER TO bob');
is(ask($bob, q(INSERT INTO snowid.segment_sources VALUES ('admins_seq', 'central', 'x'))),
    'ERROR 42501', 'nor a source of a sequence of another');
is(ask($bob, q(INSERT INTO snowid.segment_sources VALUES ('bobs_seq', 'central', 'x'))), '', 'but of his own');

# 5. Another source than the one that is down.
ask($admin, q(CREATE SERVER dead FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '/nowhere', connect_timeout '2')));
ask($admin, q(CREATE USER MAPPING FOR postgres SERVER dead));
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'dead', 'orders_seq')));
is(ask($admin, $next), 'ERROR 08006', 'a source that is down');
ask($admin, q(SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq')));
like(ask($admin, $next), qr/^\d+$/, 'is not the one that is attached then');

close_session($admin, $bob, $refiller, $altering, $canceller);
check_log($node);
$node->stop;
$source->stop;
done_testing();
