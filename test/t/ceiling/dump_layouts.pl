# Defaults of layouts and of the other kinds of ID are restored from dumps of both forms. On a server whose clock is behind, and which
# has issued UUIDs and ObjectIDs of its own, each kind goes on above what it had.
# Runs in make test-all: it dumps and restores with many kinds of IDs.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $on_top = 'shard:10 time:41 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z';
my $far = "SET snowid.max_lead = '1d'";
# What is drawn, by column.
my %draw = (
    twitter => q(bigint DEFAULT snowid_next(5, 'twitter')), leaf => q(bigint DEFAULT snowid_next(5, 'leaf')),
    instagram => 'bigint DEFAULT snowid_next(5)', js53 => q(bigint DEFAULT snowid_next(5, 'js53')), top => "bigint DEFAULT snowid_next(5, '$on_top')",
    uuid => 'uuid DEFAULT snowid_uuidv7()', objectid => 'objectid DEFAULT objectid_next()');
my $columns = join ', ', map { "$_ $draw{$_}" } sort keys %draw;
my $source = ready_server('source', sql => <<"SQL");
CREATE TABLE drawn ($columns, layout snowid_layout DEFAULT '$on_top',
  created_at timestamptz GENERATED ALWAYS AS (snowid_timestamp(twitter, 'twitter')) STORED,
  CHECK (snowid_in_range(twitter, '2020-01-01Z', '2080-01-01Z', 'twitter')));
CREATE INDEX ON drawn (snowid_shard(top, '$on_top'), layout);
INSERT INTO drawn SELECT FROM generate_series(1, 1000);
SQL
my $target = new_server('target');
set_clock(-600, $target);
start_server($target);
$target->safe_psql('postgres', "CREATE EXTENSION snowid; $far; SELECT snowid_uuidv7(), objectid_next()");

my $rows = q(SELECT md5(string_agg(d::text, ' ' ORDER BY twitter)) FROM drawn AS d);
my $above = join ' AND ', map { "$_ > '" . $source->safe_psql('postgres', "SELECT $_ FROM drawn ORDER BY 1 DESC LIMIT 1") . q(') } sort keys %draw;
my %restore = (plain => [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/p" ], custom => [ 'pg_restore', '--exit-on-error', '-j2', "$dir/c" ]);
foreach my $form (sort keys %restore)
{
    system_or_bail('pg_dump', '-d', $source->connstr('postgres'), '-F', substr($form, 0, 1), '-f', "$dir/" . substr $form, 0, 1);
    $target->safe_psql('postgres', "CREATE DATABASE $form");
    my ($program, @arguments) = @{ $restore{$form} };
    command_ok([ $program, '-d', $target->connstr($form), @arguments ], "$form: restored");
    is($target->safe_psql($form, $rows), $source->safe_psql('postgres', $rows), "$form: the same rows");
    # A default of an ID as such: each in a session of its own, which a clock behind refuses.
    is(attempt($target, "SET snowid.max_wait = 0; SELECT $_", dbname => $form), 'ERROR SN001', "$form: refused while the clock is behind: $_")
      foreach q(snowid_next(7, 'leaf')), q(snowid_next(5, 'time:32 shard:10 seq:20 unit:1s epoch:2020-01-01T00:00:00Z')), map { s/.*DEFAULT //r } values %draw;
    is(attempt($target, "$far; INSERT INTO drawn SELECT FROM generate_series(1, 500); SELECT count(*) FROM drawn WHERE $above", dbname => $form),
        '500', "$form: all defaults go on above");
}
end_test($source, $target);
