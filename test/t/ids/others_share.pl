# A database that has used up its own share of shards, segments and sections is refused more, and what others have in use or at
# rest stays as it was: idle counters lose nothing, and layouts whose units are long, where a shard that starts anew may have to
# wait for the next unit, serve on. Of shards, only those whose last unit has ended are cleared.
# Runs in make test-all: make test has the main tests of its module.

use POSIX qw(floor);
use Snowid;
use Time::HiRes qw(sleep time);

my $day = 'time:20 shard:30 seq:13 unit:1d epoch:2020-01-01T00:00:00Z';
my $node = ready_server('share', sql => 'CREATE ROLE mallory LOGIN');
# At noon, so that no day ends while the test runs.
my $noon = (floor(time / 86400) + 0.5) * 86400 - time;
set_clock($noon);
make_bounded($node, [qw(victim attacked)], max_shards => 80, max_shards_of_database => 20, max_counters => 80, max_counters_of_database => 20);
$node->safe_psql('victim', 'CREATE SEQUENCE invoice_seq INCREMENT 1000; CREATE SEQUENCE inbox_seq INCREMENT 10000');
$node->safe_psql('attacked', 'GRANT CREATE ON SCHEMA public TO mallory');
my %drawn;

# Draws from shards of days, and returns how many served it. No ID comes twice.
sub take
{
    my ($session, @shards) = @_;
    my @ids = grep { /^\d+$/ } map { ask($session, "SELECT snowid_next($_, '$day')") } @shards;
    is(scalar(grep { $drawn{$_}++ } @ids), 0, 'no ID twice');
    return scalar @ids;
}

# What a client of the victim's gets, in a session that ends with it.
sub serve
{
    my ($name, $number) = @_;
    my $session = open_session($node, dbname => 'victim');
    is(ask($session, q(SELECT snowid_segment_next('invoice_seq'), snowid_section_next('inbox_seq', 7))), "$number|$number", "$name: counters go on");
    is(take($session, 1, 100 + $number), 2, "$name: shards of a layout with days");
    close_session($session);
    return;
}
serve('before', 1);

# One database takes all that it can, keeps it, and goes on asking for more.
set_clock($noon + 10);
my $mallory = open_session($node, dbname => 'attacked', user => 'mallory');
is(take_shards($mallory, 'twitter', 1, 24, {}), 20, 'a database has its shards and no more');
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

# A database at its bound clears its own shards of units that have ended, and no others.
sub fill
{
    my (@shards) = @_;
    my $session = open_session($node, dbname => 'victim');
    my $count = take($session, @shards);
    close_session($session);
    return $count;
}
is(fill(1000 .. 1039), 17, 'the database has 20 shards, of this day');
sleep 0.15;
is(fill(2000 .. 2039), 0, 'none of which goes while the day lasts');
set_clock($noon + 86400 + 10);
wait_for(sub { fill(2000 .. 2019) == 20 }, 'those of the day before to go');
set_clock($noon + 2 * 86400 + 20);
wait_for(sub { fill(1000 .. 1019) == 20 }, 'them to come back');
end_test($node);
