# The owner of a database restores its dump, whoever created the extension there: the owner, the bootstrap superuser (as
# in template1 or a container's script), or another superuser; into an empty database, or one that has the extension; by
# psql and pg_restore with the options people use. Afterwards IDs are above those of the dump, and a shard that was released
# stays so.
#
# Runs in make test-all: it restores fifty databases.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = new_server('restoring');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE alice LOGIN; CREATE ROLE boss LOGIN SUPERUSER');

sub run_as
{
    my ($role, $dbname, $sql) = @_;
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($dbname) . " user=$role", '-c', $sql);
    return;
}

# Each restores a dump of the database `source` into another one, which has the extension already or not.
my %restore = (
    'psql -1' => [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-1', '-f', 'plain' ],
    'pg_restore -1' => [ 'pg_restore', '-1', 'custom' ],
    'pg_restore --no-owner' => [ 'pg_restore', '--exit-on-error', '--no-owner', 'custom' ],
    'pg_restore -j2' => [ 'pg_restore', '--exit-on-error', '-j2', 'custom' ],
    'pg_restore --clean' => [ 'pg_restore', '--exit-on-error', '--clean', '--if-exists', 'custom' ],
    'pg_restore --data-only' => [ 'pg_restore', '--exit-on-error', '--data-only', 'custom' ]);
my $table = 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())';
my $databases = 0;
foreach my $creator ('alice', 'postgres', 'boss')
{
    my $source = "source_$creator";
    $node->safe_psql('postgres', "CREATE DATABASE $source OWNER alice");
    run_as($creator, $source, 'CREATE EXTENSION snowid');
    run_as('alice', $source, "$table; INSERT INTO photos SELECT FROM generate_series(1, 100); SELECT snowid.release_shard(4000)");
    my $greatest = $node->safe_psql($source, 'SELECT max(id) FROM photos');
    my $ceiling = $node->safe_psql($source, 'SELECT last_value FROM snowid_internal.ceiling');
    my %file = (plain => "$dir/$source.sql", custom => "$dir/$source.dump");
    my $connection = $node->connstr($source) . ' user=alice';
    system_or_bail('pg_dump', '-d', $connection, '-f', $file{plain});
    system_or_bail('pg_dump', '-d', $connection, '-Fc', '-f', $file{custom});
    foreach my $has_it ('', 'alice', 'postgres')
    {
        foreach my $how (sort keys %restore)
        {
            # What drops the extension is for who owns it.
            next if $how =~ /clean/ && ($has_it ne '' && $has_it ne 'alice');
            my $name = "of $creator, " . ($has_it ? "into one of $has_it" : 'into an empty one') . ", $how";
            my $dbname = 'restored' . $databases++;
            $node->safe_psql('postgres', "CREATE DATABASE $dbname OWNER alice");
            run_as($has_it || 'alice', $dbname, 'CREATE EXTENSION snowid') if $has_it || $how =~ /data-only/;
            run_as('alice', $dbname, $table) if $how =~ /data-only/;
            my @command = map { $file{$_} // $_ } @{ $restore{$how} };
            command_ok([ $command[0], '-d', $node->connstr($dbname) . ' user=alice', @command[ 1 .. $#command ] ], "$name: restored");
            is($node->safe_psql($dbname, 'SELECT count(*), max(id) FROM photos'), "100|$greatest", "$name: the rows");
            is($node->safe_psql($dbname, "SELECT last_value >= $ceiling FROM snowid_internal.ceiling"), 't', "$name: the ceiling");
            is(attempt($node, 'SELECT snowid_next(4000)', dbname => $dbname), 'ERROR 55000', "$name: the released shard");
            cmp_ok($node->safe_psql($dbname, 'SELECT snowid_next()'), '>', $greatest, "$name: IDs go on above");
            $node->safe_psql('postgres', "DROP DATABASE $dbname");
        }
    }
}

# What the owner of a database cannot do is drop an extension that a superuser created: all else is restored.
$node->safe_psql('postgres', 'CREATE DATABASE cleaned OWNER alice');
run_as('postgres', 'cleaned', 'CREATE EXTENSION snowid');
my ($out, $err);
IPC::Run::run([ 'pg_restore', '--clean', '--if-exists', '-d', $node->connstr('cleaned') . ' user=alice', "$dir/source_postgres.dump" ], '>', \$out, '2>', \$err);
is(join(' ', $err =~ /ERROR:  (.*)/g), 'must be owner of extension snowid', 'what a superuser created stays');
is($node->safe_psql('cleaned', 'SELECT count(*), snowid_next() > max(id) FROM photos'), '100|t', 'and the rest is restored');
$node->stop;
done_testing();
