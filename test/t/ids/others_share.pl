# A database that has used up its own share of the shards, or of the segments and sections, is refused more, and what others
# have in use or at rest stays as it was: idle counters lose nothing, and layouts whose units are long,
# where a shard that starts anew may have to wait for the next unit, serve on. Only what counts for the
# bound that was hit is cleared, and of shards only those whose last unit has ended.

use strict;
use warnings;

use POSIX qw(floor);
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;
use Time::HiRes qw(sleep time);

# A database has 20 of each.
my %low = (max_shards => 80, max_shards_of_database => 20, max_counters => 80, max_counters_of_database => 20);
my $day = 'time:20 shard:30 seq:13 unit:1d epoch:2020-01-01T00:00:00Z';
my $node = new_server('share');
# At noon, so that no day ends while the test runs.
my $noon = (floor(time / 86400) + 0.5) * 86400 - time;
set_clock($noon, $node);
start_server($node);
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
foreach my $dbname (qw(victim attacked))
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid; GRANT CREATE ON SCHEMA public TO mallory');
    lower_bounds($node, $dbname, %low);
    $node->safe_psql($dbname, 'CREATE SEQUENCE invoice_seq INCREMENT 1000; CREATE SEQUENCE inbox_seq INCREMENT 10000');
}
$node->stop;
start_server($node);

my %drawn;
my $repeated = 0;

# What a client of the victim's gets, in a session that ends with it.
sub serve
{
    my ($name, $number) = @_;
    my $session = open_session($node, dbname => 'victim');
    is(ask($session, q(SELECT snowid_segment_next('invoice_seq'), snowid_section_next('inbox_seq', 7))),
        "$number|$number", "$name: counters go on");
    foreach my $shard (1, 100 + $number)
    {
        my $id = ask($session, "SELECT snowid_next($shard, '$day')");
        like($id, qr/^\d+$/, "$name: shard $shard of a layout with days");
        $repeated++ if $drawn{$id}++;
    }
    close_session($session);
    return;
}
serve('before', 1);

# One database takes all that it can, keeps it, and goes on asking for more.
set_clock($noon + 10, $node);
my $mallory = open_session($node, dbname => 'attacked', user => 'mallory');
my $served = grep { ask($mallory, "SELECT snowid_next($_, 'twitter')") =~ /^\d+$/ } 1 .. 24;
is($served, 20, 'a database has its shards and no more');
ask($mallory, "CREATE SEQUENCE own_$_; SELECT snowid_segment_next('own_$_')") foreach 1 .. 20;
ask($mallory, 'CREATE SEQUENCE more_seq');
foreach (1 .. 5)
{
    is(ask($mallory, q(SELECT snowid_next(999, 'twitter'))), 'ERROR 53400', 'no more shards');
    is(ask($mallory, q(SELECT snowid_segment_next('more_seq'))), 'ERROR 53400', 'no more segments');
    sleep 0.15;    # so that each refusal may sweep
}
serve('beside it', 2);
close_session($mallory);

# A database at its bound clears its own slots of units that have ended, and no others; nothing repeats.
my $fill = sub {
    my ($from, $to) = @_;
    my $session = open_session($node, dbname => 'victim');
    my $count = 0;
    foreach my $shard ($from .. $to)
    {
        my $id = ask($session, "SELECT snowid_next($shard, '$day')");
        next unless $id =~ /^\d+$/;
        $count++;
        $repeated++ if $drawn{$id}++;
    }
    close_session($session);
    return $count;
};
is($fill->(1000, 1039), 17, 'the database has 20 shards, of this day');
sleep 0.15;
is($fill->(2000, 2039), 0, 'none of which goes while the day lasts');
set_clock($noon + 86400 + 10, $node);
wait_for(sub { $fill->(2000, 2019) == 20 }, 'those of the day before to go');
set_clock($noon + 2 * 86400 + 20, $node);
wait_for(sub { $fill->(1000, 1019) == 20 }, 'them to come back');
is($repeated, 0, 'no ID twice');

$node->stop;
check_log($node);
done_testing();
