# pg_cron makes each month's partition before it is needed, and drops those that nobody needs any more: the
# The recipe of docs/partitions.md as a job, run by pg_cron itself, as months go by on the server's clock.
#
# Up to its version 1.4 it runs jobs when a minute begins: that takes up to a minute.
#
# Needs: postgresql-MAJOR-cron

use strict;
use warnings;

use Snowid;
use Test::More;
use Time::Local;

my $node = new_server('cron');
my $host = $node->host;
$node->append_conf('postgresql.conf', <<"CONF");
shared_preload_libraries = 'pg_cron'
cron.host = '$host'
max_connections = 20
timezone = 'UTC'
CONF

# Sets the clock to a moment so many months on, in UTC. The launcher may have the true clock all the same, as
# what PostgreSQL 15 starts from a signal's handler has; the sessions that run its jobs have the set one.
my @start = gmtime;
sub go_to
{
    my ($months, $day, $hour, $minute, $second) = @_;
    my $month = $start[4] + $months;
    set_clock(timegm($second, $minute, $hour, $day, $month % 12, $start[5] + 1900 + int($month / 12)) - time, $node);
    return;
}

go_to(0, 15, 12, 0, 0);
start_server($node);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE EXTENSION pg_cron; CREATE ROLE app LOGIN;'
      . ' GRANT USAGE ON SCHEMA cron TO app; GRANT CREATE ON SCHEMA public TO app');
my $app = open_session($node, user => 'app');
is(ask($app, <<'SQL'), '', 'the table');
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), title text) PARTITION BY RANGE (id)
SQL

# The partitions of the table, by how many months on they are.
sub months
{
    my $names = $node->safe_psql('postgres', q(SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'photos'::regclass ORDER BY 1));
    return join ' ', map { /^photos_(\d+)_(\d+)$/ ? 12 * ($1 - 1900 - $start[5]) + $2 - 1 - $start[4] : $_ } split /\n/, $names;
}

# The recipe: by hand for now, and by jobs from then on. The page has them run every night.
my $insert = q(INSERT INTO photos DEFAULT VALUES RETURNING tableoid::regclass);
my $schedule = $node->safe_psql('postgres', q(SELECT substring(extversion from '^\d+[.]\d+')::numeric >= 1.5 FROM pg_extension WHERE extname = 'pg_cron')) eq 't'
  ? '2 seconds' : '* * * * *';
like(ask($app, q(SELECT snowid.create_partitions('photos', '1 month', now() + interval '1 month'))), qr/^photos_\S+\nphotos_\S+$/, 'by hand');
is(months(), '0 1', 'this month and the next');
like(ask($app, $insert), qr/^photos_/, 'a row');
is(ask($app, q(INSERT INTO photos VALUES (snowid_first_at(now() + interval '2 months')))), 'ERROR 23514', 'without the jobs the months run out');
go_to(1, 1, 0, 0, 1);
like(ask($app, $insert), qr/^photos_/, 'a row of the next month');
is(ask($app, <<"SQL"), "1\n2", 'the jobs');
SELECT cron.schedule('make partitions of photos', '$schedule',
  \$\$SELECT snowid.create_partitions('photos', '1 month', now() + interval '1 month')\$\$);
SELECT cron.schedule('drop partitions of photos', '$schedule',
  \$\$SELECT snowid.drop_partitions('photos', now() - interval '14 days')\$\$)
SQL
# They run while the clock is three days before the month's end.
go_to(1, 28, 3, 0, 0);
wait_for(sub { $node->safe_psql('postgres', q(SELECT count(*) FROM cron.job_run_details WHERE status IN ('succeeded', 'failed'))) >= 2 },
    'the jobs to run');
is(months(), '1 2', 'the next month is there before it begins; what ended two weeks ago is gone');
go_to(2, 1, 0, 0, 1);
like(ask($app, $insert), qr/^photos_/, 'a row of that month has its place');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT tableoid) FROM photos'), '2|2', 'the rows of what was kept are there');
is($node->safe_psql('postgres', q(SELECT DISTINCT username, status FROM cron.job_run_details WHERE status <> 'running')), 'app|succeeded',
    'the jobs have succeeded, as their owner');
is($node->safe_psql('postgres', q(SELECT DISTINCT tableowner FROM pg_tables WHERE tablename ~ '^photos')), 'app', 'whose the partitions are');

close_session($app);
check_log($node);
$node->stop;
done_testing();
