# A refill takes numbers from the source whatever others do there: who holds the advisory lock that it tries for, alters the sequence meanwhile,
# or has made operators for all operands that it could have, none of which is run.
# Runs in make test-all: it makes 200 operators.

use Snowid;

my ($source, $node) = ready_source({ locked => 'INCREMENT 2', altered => 'INCREMENT 100', trapped => 'INCREMENT 100' });
my ($session, $holder) = map { open_session($_) } $node, $source;
ask($session, q(SET snowid.segment_adapt = off; SET statement_timeout = '1min'));

attach($session, 'locked');
my $oid = $source->safe_psql('postgres', q(SELECT 'locked'::regclass::oid));
ask($holder, "SELECT pg_advisory_lock((1936617335::bigint << 32) | $oid)");
is(batch($session, 'locked', 6), '1 2 3 4 5 6', 'the lock is held by another');
# And refills do hold it.
ask($holder, 'SELECT pg_advisory_unlock_all(); BEGIN; ALTER SEQUENCE locked INCREMENT 3');
give_up($session, 'locked');
start_asking($session, q(SELECT snowid_segment_next('locked')));
wait_for(sub {
    $source->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = $oid AND granted") eq '1';
}, 'a refill to have the lock');
ask($holder, 'ROLLBACK');
unlike(answer($session), qr/ERROR/, 'a refill has the lock');

ask($session, 'SET snowid.segment_adapt = on');
attach($session, 'altered');
ask($holder, 'BEGIN; ALTER SEQUENCE altered INCREMENT 5');
start_asking($session, q(SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('altered', 12) AS n));
wait_for_waiting($source, 1, 'Lock', 'nextval');
ask($holder, 'COMMIT');
my %drawn = map { $_ => 1 } split / /, answer($session);
is(scalar(keys %drawn), 12, 'altered meanwhile: numbers');
is(scalar(grep { $drawn{$_} } map { $source->safe_psql('postgres', q(SELECT nextval('altered'))) } 1 .. 5), 0, 'which the sequence there does not give again');

my ($made, $traps) = (0, '');
my @types = qw(numeric bigint integer oid regclass);
foreach my $name (qw(* - = | << / + <))
{
    foreach my $operands (map { my $left = $_; map { "$left, $_" } @types } @types)
    {
        my ($left, $right) = split /, /, $operands;
        my ($result, $value) = $name =~ /^[=<]$/ ? ('boolean', 'true') : ('numeric', '1::numeric');
        $traps .= "CREATE FUNCTION trap_$made($operands) RETURNS $result LANGUAGE sql AS \$\$ INSERT INTO ran VALUES ('$name'); SELECT $value \$\$;"
          . "CREATE OPERATOR public.$name (FUNCTION = trap_$made, LEFTARG = $left, RIGHTARG = $right);\n";
        $made++;
    }
}
$source->safe_psql('postgres', "CREATE TABLE ran (operator text); $traps");
attach($session, 'trapped');
is(batch($session, 'trapped', 1), '1', 'operators of others in the way');
is($source->safe_psql('postgres', q(SELECT count(*), (SELECT count(*) FROM ran) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace)), "$made|0", 'none was run');
end_test($node, $source);
