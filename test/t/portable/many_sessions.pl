# portable/snowid.sql: no ID comes twice and all are in order, whoever draws beside whom, also where statements are cancelled. Many
# sessions that make the same shards all succeed.
# Runs in make test-all: sessions draw for long.

use IPC::Run;
use Snowid;

my $node = new_server('many_sessions');
$node->append_conf('postgresql.conf', 'max_connections = 60');
# With the real clock: what fakes one is not safe where a timeout's signal asks for the time.
$node->start;
create_portable($node, 'app', shards => [ 2, 3 ]);
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');

foreach my $round (1 .. 3)
{
    my @rush = map { open_session($node, dbname => 'app', user => portable_owner()) } 1 .. 12;
    start_asking($_, "SELECT snowid.create_shard(n) FROM generate_series($round * 200, $round * 200 + 9) AS n") foreach @rush;
    is(join('', map { answer($_) =~ s/\n//gr } @rush), '', 'twelve sessions make the same ten shards');
    close_session(@rush);
}

# Sessions whose statements each are a transaction; IDs of those that were cancelled are nobody's. As often as it takes until enough
# were cancelled, which is a matter of chance.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/draws", "SELECT snowid_next(3);\n" x 150 . "SELECT snowid_next_batch(3, 20);\nSELECT snowid_reserve(3, 3) + 2;\n" x 3);
my ($count, $latest, $rounds) = (0, 0, 0);
my %errors;
until (($errors{57014} // 0) > 10 || $rounds++ == 20)
{
    my @sessions = map {
        my $file = "$dir/drawn$rounds.$_";
        # Some are ended by their own clock, most are cancelled.
        my @setup = $_ % 4 ? () : ('-c', q(SET statement_timeout = '4ms'));
        { file => $file, run => IPC::Run::start(
                [ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-U', 'clerk', '-d', $node->connstr('app'), @setup, '-f', "$dir/draws" ],
                '<', \undef, '>', $file, '2>', "$file.err") }
    } 1 .. 32;
    my $cancel = q(SELECT count(*) FILTER (WHERE random() > 0.2 OR pg_cancel_backend(pid)) FROM pg_stat_activity WHERE usename = 'clerk');
    wait_for(sub { $node->safe_psql('postgres', $cancel) eq '0' }, 'the sessions to end');
    finish(@sessions);
    (my $drawn, $latest) = check_round('32 sessions that are cancelled', $latest, @sessions);
    $count += $drawn;
    $errors{$_}++ foreach errors_of(@sessions) =~ /ERROR:  (\w{5}):/g;
}
cmp_ok($count, '>', 1000, 'they have drawn');
cmp_ok($errors{57014} // 0, '>', 10, 'statements were cancelled');
is(join(' ', sort keys %errors), '57014', 'and nothing else went wrong');
is($node->safe_psql('app', q(SELECT count(*) FROM pg_locks WHERE relation::regclass::text ~ '_gate')), '0', 'no gate is held');

# Without cancels, as fast as they can, and batches beside them.
my @fast = ((map { draw($node, 'snowid_next(2)', 1500, dbname => 'app') } 1 .. 16), map { draw($node, 'snowid_next_batch(2, 3000)', 1, dbname => 'app') } 1 .. 4);
finish(@fast);
is(errors_of(@fast), '', 'nobody was refused');
($count) = check_round('20 sessions', 0, @fast);
is($count, 16 * 1500 + 4 * 3000, 'all that they have asked for');
end_test($node);
