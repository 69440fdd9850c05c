# What an owner does to the ceiling of his database has no effect on UUIDs, ObjectIDs and IDs of other databases, although the first two
# have one order for all databases.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my @calls = ('snowid_next(1)', 'snowid_uuidv7()', 'objectid_next()');
my $node = ready_server('tenants', sql => 'CREATE ROLE tenant LOGIN', databases => ['other']);
$node->safe_psql('postgres', 'CREATE DATABASE tenant OWNER tenant');
my $tenant = open_session($node, dbname => 'tenant', user => 'tenant');
ask($tenant, 'CREATE EXTENSION snowid');
my @before = map { open_session($node, dbname => $_) } qw(postgres other);
unlike(ask($_, "SELECT $calls[1], $calls[2]"), qr/ERROR/, 'a session from before') foreach @before;
foreach my $how ('set', 'in a transaction that is rolled back')
{
    ask($tenant, 'DROP EXTENSION snowid; BEGIN; CREATE EXTENSION snowid') if $how ne 'set';
    ask($tenant, q(SELECT setval('snowid_internal.ceiling', 253402300799000)));
    foreach my $call (@calls)
    {
        ask($tenant, 'SAVEPOINT attempt') if $how ne 'set';
        like(ask($tenant, "SELECT $call"), qr/^ERROR (?:SN001|2200H)$/, "a ceiling $how: its own database gets an error: $call");
        ask($tenant, 'ROLLBACK TO attempt') if $how ne 'set';
    }
    ask($tenant, 'ROLLBACK') if $how ne 'set';
    foreach my $session (@before, map { open_session($node, dbname => $_) } qw(postgres other))
    {
        is(ask($session, "SELECT $_ IS NOT NULL"), 't', "a ceiling $how: the others go on: $_") foreach @calls;
    }
}
end_test($node);
