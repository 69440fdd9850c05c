# Databases of one server that have different owners: what one does to its ceiling or to its shards
# harms no other, although UUIDs and ObjectIDs have one order for all. And that order through crashes,
# where one database had run ahead of the clock and another comes first.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(time);

my @calls = ('snowid_uuidv7()', 'objectid_next()');
my $node = new_server('tenants');
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE tenant LOGIN;
CREATE DATABASE tenant OWNER tenant;
CREATE DATABASE other;
CREATE EXTENSION snowid;
SQL
$node->safe_psql('other', 'CREATE EXTENSION snowid');
$node->safe_psql('tenant', 'CREATE EXTENSION snowid', extra_params => [ '-U', 'tenant' ]);

# 1. The crash, after which the server is back at once, as its clock has it.
my %greatest = map { $_ => '' } @calls;
my $clock = 0;
foreach my $how ('kill', 'immediate')
{
    my ($first, $second) = $how eq 'kill' ? ('postgres', 'other') : ('other', 'postgres');
    foreach my $call (@calls)
    {
        # Ahead of the clock by most of what snowid.max_lead allows.
        $node->safe_psql($first, "SELECT $call");
        set_clock($clock -= 0.9, $node);
        my $last = $node->safe_psql($first, "SELECT $call");
        my $crashed = time;
        cmp_ok($last, 'gt', $greatest{$call}, "$how: above those of before: $call");
        $greatest{$call} = $last;
        crash($node, $how);
        $clock -= time - $crashed;
        set_clock($clock, $node);
        start_server($node);
        foreach my $dbname ($second, $first)
        {
            my $next = $node->safe_psql($dbname, "SELECT $call");
            cmp_ok($next, 'gt', $greatest{$call}, "$how: in $dbname above those of before: $call");
            $greatest{$call} = $next;
        }
    }
}

# 2. A ceiling that its owner sets to the end of time.
my @before = map { open_session($node, dbname => $_) } qw(postgres other);
is(ask($_, 'SELECT snowid_uuidv7() IS NOT NULL AND objectid_next() IS NOT NULL'), 't', 'both are served')
  foreach @before;
my $tenant = open_session($node, dbname => 'tenant');
ask($tenant, 'SET ROLE tenant');
foreach my $how ('set', 'in a transaction that is rolled back')
{
    ask($tenant, 'DROP EXTENSION snowid; BEGIN; CREATE EXTENSION snowid') if $how ne 'set';
    ask($tenant, q(SELECT setval('snowid_internal.ceiling', 253402300799000)));
    foreach my $call ('snowid_next(1)', @calls)
    {
        ask($tenant, 'SAVEPOINT attempt') if $how ne 'set';
        like(ask($tenant, "SELECT $call"), qr/^ERROR (?:SN001|2200H)$/, "a ceiling $how: its own database is refused: $call");
        ask($tenant, 'ROLLBACK TO attempt') if $how ne 'set';
    }
    ask($tenant, 'ROLLBACK') if $how ne 'set';
    foreach my $session (@before, map { open_session($node, dbname => $_) } qw(postgres other))
    {
        is(ask($session, "SELECT $_ IS NOT NULL"), 't', "a ceiling $how: the others go on: $_")
          foreach 'snowid_next(1)', @calls;
    }
}
$node->stop;
done_testing();
