# snowid.future_times() finds IDs that are ahead of the clock, with the margin on both sides, but nothing that is too near, and the ceiling where
# no row tells; it runs expressions of a table's owner with his rights, and says the same in every style of dates.

use Snowid;
use SnowidSkippedTimes;

my $node = start_skipping('future');
is(at('postgres', "SELECT snowid.future_times('$_->[0]', '$_->[1]', 'instagram')"), 'ERROR 42809', "no times of $_->[0]")
  foreach [ 'snowid.skipped_times', 'skipped' ], [ 'pg_class', 'no' ], [ 'pg_class', 'relname' ];
new_database('found');
is(at('found', 'SELECT ' . future($_)), 'ERROR 22023', "no margin of $_") foreach '1 month', '-1 s';
my $now = int(time) + 1;
stop_clock($now + 3, $node);
at('found', 'INSERT INTO ids SELECT snowid_next(1)');
stop_clock($now, $node);
is(at('found', 'SELECT ' . future('10 min') . ' @> snowid_timestamp(max(id)) FROM ids'), 't', 'an ID that is three seconds ahead');
set_clock(65);
at('found', 'SELECT snowid_next(1)');
set_clock(5);
check_stated('found', 'no row, and a margin that comes to the present', future('10 min'));
check_by_clock('found', 'by the clock');
set_clock(36_000);
at('found', 'INSERT INTO ids SELECT snowid_next(1)');
set_clock(5);
my $last = '(SELECT snowid_timestamp(max(id)) AS at FROM ids) AS last';
is(at('found', 'SELECT ' . future('10 min') . " @> tstzrange(at - interval '10 min', at + interval '10 min', '[]') FROM $last"), 't', 'with the margin');
# The ceiling is above the last ID.
is(answer_to('found', "(SELECT tstzmultirange(tstzrange(at - interval '1 s', at + interval '10 ms')) FROM $last)"), 'ERROR 22023', 'the ceiling is in no range');
check_stated('found', 'stated', future('10 min'));

# Planning a query of a table evaluates what is constant in its owner's expressions and checks.
new_database('others');
$node->safe_psql('others', <<'SQL');
CREATE ROLE mallory;
CREATE SCHEMA AUTHORIZATION mallory;
SET ROLE mallory;
CREATE SEQUENCE mallory.evaluated;
CREATE SEQUENCE mallory.with_more_rights;
CREATE FUNCTION mallory.five() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('spy.armed', true) = 'yes' THEN
    PERFORM nextval('mallory.evaluated'), CASE WHEN current_user <> 'mallory' THEN nextval('mallory.with_more_rights') END;
  END IF;
  RETURN 5;
END $$;
CREATE TABLE mallory.ids (id bigint DEFAULT snowid_next(), CHECK (id > mallory.five() - 100));
CREATE STATISTICS mallory.estimates ON (id + mallory.five()) FROM mallory.ids;
ALTER TABLE mallory.ids ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
RESET ROLE;
WITH i AS (INSERT INTO mallory.ids VALUES (snowid_first_at(clock_timestamp() + interval '1 h')) RETURNING id) SELECT snowid_timestamp(id) AS at INTO ahead FROM i;
SQL
# A zone whose short name is another one's, too.
is( at('others', "SET timezone = 'Asia/Kolkata'; SET intervalstyle = sql_standard; SET constraint_exclusion = on; SET spy.armed = yes; SET datestyle = '$_'; "
          . "SELECT snowid.future_times('mallory.ids', 'id', margin => '30 s') @> tstzrange(at - interval '30 s', at + interval '30 s', '[]') FROM ahead"),
    't', "what is ahead, $_")
  foreach 'ISO, MDY', 'SQL, DMY', 'German', 'Postgres, DMY';
is($node->safe_psql('others', 'SELECT e.is_called, r.is_called FROM mallory.evaluated AS e, mallory.with_more_rights AS r'), 't|f', "the owner's code has the owner's rights");
end_test($node);
