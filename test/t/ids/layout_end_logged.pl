# Within a year of a layout's end the log has one warning a day in each database, for the log alone, whoever draws from whichever
# shards; none earlier, none of layouts that go on, and no other because the clock was set.
# Runs in make test-all: it starts many sessions.

use Snowid;
use Time::Local qw(timegm);

my $day = 24 * 3600;
my $also = 'shard:10 time:28 seq:12 unit:1s epoch:2016-05-19T16:00:00Z';
my $node = new_server('layout_end_logged');

# The clock is so many days before the end of Baidu's layout.
sub days_before { set_clock(timegm(16, 24, 13, 20, 10, 2024) - $_[0] * $day - time, $node); return }
days_before(366);
start_server($node);
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach qw(postgres other);

# How many warnings there are of the ends of layouts.
sub warnings_of
{
    my @lines = grep { /LOG:.*expires within a year/ } split /\n/, slurp_file($node->logfile);
    return scalar grep { my $line = $_; grep { index($line, "\"$_\"") >= 0 } @_ } @lines;
}

# Has many sessions draw from several shards of layouts in two databases.
sub draw_late
{
    my (@layouts) = @_;
    my @sessions = map {
        my $shard = $_ % 4;
        draw($node, join(' + ', map { "sum(snowid_next($shard, '$_') % 2)" } @layouts) . ' FROM generate_series(1, 10)', 1,
            setup => "SET snowid.max_wait = '1min'", dbname => $_ % 2 ? 'postgres' : 'other')
    } 1 .. 6;
    finish(@sessions);
    is(scalar(map { @{ ids($_) } } @sessions), 6, 'drawn from ' . @layouts . ' layouts');
    return;
}

draw_late('baidu', $also, 'twitter');
is(warnings_of('baidu', $also), 0, 'more than a year before the end: none');
days_before(300);
draw_late('baidu', $also, 'twitter');
is(warnings_of('baidu', $also), 2, 'within a year: one in each database');
is(warnings_of('twitter'), 0, 'none of a layout that does not end');
days_before(298);
draw_late($also, 'baidu');
is(warnings_of('baidu', $also), 2, 'no other because the clock was set');

# Its time has come where the day is over at once.
lower_bounds($node, 'postgres', log_every => 0);
$node->stop;
start_server($node);
my (undef, undef, $heard) = $node->psql('postgres', join ';', 'SET client_min_messages = log', map { "SELECT snowid_next(3, '$_')" } 'baidu', $also, $also);
is(warnings_of('baidu', $also), 5, 'another each time that one is due');
unlike($heard, qr/within a year/, 'for the log alone');
end_test($node);
