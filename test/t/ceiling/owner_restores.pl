# The owner of a database restores its dump, whoever created the extension there: the owner, the bootstrap superuser (as in template1
# or a container's script), or another superuser; into an empty database, or one that has the extension; by psql and pg_restore
# with the options people use. Afterwards IDs are above those of the dump, and a shard that was released stays so.
# Runs in make test-all: it restores fifty databases.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = ready_server('restoring', sql => 'CREATE ROLE alice LOGIN; CREATE ROLE boss LOGIN SUPERUSER');
my $table = 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next())';

sub run_as
{
    my ($role, $dbname, $sql) = @_;
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($dbname) . " user=$role", '-c', $sql);
    return;
}

my %restore = (
    'psql -1' => [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-1', '-f', 'plain' ],
    'pg_restore -1' => [ 'pg_restore', '-1', 'custom' ],
    'pg_restore --no-owner' => [ 'pg_restore', '--exit-on-error', '--no-owner', 'custom' ],
    'pg_restore -j2' => [ 'pg_restore', '--exit-on-error', '-j2', 'custom' ],
    'pg_restore --clean' => [ 'pg_restore', '--exit-on-error', '--clean', '--if-exists', 'custom' ],
    'pg_restore --data-only' => [ 'pg_restore', '--exit-on-error', '--data-only', 'custom' ]);
foreach my $creator ('alice', 'postgres', 'boss')
{
    my $source = "source_$creator";
    $node->safe_psql('postgres', "CREATE DATABASE $source OWNER alice");
    run_as($creator, $source, 'CREATE EXTENSION snowid');
    run_as('alice', $source, "$table; INSERT INTO photos SELECT FROM generate_series(1, 100); SELECT snowid.release_shard(4000)");
    my ($greatest, $ceiling) = map { $node->safe_psql($source, $_) } 'SELECT max(id) FROM photos', 'SELECT last_value FROM snowid_internal.ceiling';
    my %file = map { $_ => "$dir/$source.$_" } qw(plain custom);
    system_or_bail('pg_dump', '-d', $node->connstr($source) . ' user=alice', "--format=$_", '-f', $file{$_}) foreach keys %file;
    foreach my $has_it ('', 'alice', 'postgres')
    {
        foreach my $how (sort keys %restore)
        {
            # What drops the extension is for who owns it.
            next if $how =~ /clean/ && $has_it eq 'postgres';
            my $name = "of $creator, " . ($has_it ? "into one of $has_it" : 'into an empty one') . ", $how";
            $node->safe_psql('postgres', 'DROP DATABASE IF EXISTS restored; CREATE DATABASE restored OWNER alice');
            run_as($has_it || 'alice', 'restored', 'CREATE EXTENSION snowid') if $has_it || $how =~ /data-only/;
            run_as('alice', 'restored', $table) if $how =~ /data-only/;
            my ($program, @arguments) = map { $file{$_} // $_ } @{ $restore{$how} };
            command_ok([ $program, '-d', $node->connstr('restored') . ' user=alice', @arguments ], "$name: restored");
            is($node->safe_psql('restored', "SELECT count(*), max(id), (SELECT last_value >= $ceiling FROM snowid_internal.ceiling) FROM photos"),
                "100|$greatest|t", "$name: the rows, and the ceiling");
            is(attempt($node, 'SELECT snowid_next(4000)', dbname => 'restored'), 'ERROR 55000', "$name: the released shard");
            cmp_ok($node->safe_psql('restored', 'SELECT snowid_next()'), '>', $greatest, "$name: IDs go on above");
        }
    }
}

# What the owner of a database cannot do is drop an extension that a superuser created: all else is restored.
$node->safe_psql('postgres', 'CREATE DATABASE cleaned OWNER alice');
run_as('postgres', 'cleaned', 'CREATE EXTENSION snowid');
my ($out, $err) = run_command([ 'pg_restore', '--clean', '--if-exists', '-d', $node->connstr('cleaned') . ' user=alice', "$dir/source_postgres.custom" ]);
is(join(' ', $err =~ /ERROR:  (.*)/g), 'must be owner of extension snowid', 'what a superuser created stays');
is($node->safe_psql('cleaned', 'SELECT count(*), snowid_next() > max(id) FROM photos'), '100|t', 'and the rest is restored');
end_test($node);
