# Imported rows, and IDs for old rows, as docs/converting.md has them: an ID of the row's own time in a shard that
# issues none, whatever is there already and whoever chooses the same one at the same time; by the page's function, and by a
# trigger as the page describes it.
# Runs in make test-all: it goes through many forms of tables.

use Snowid;

my $node = ready_server('own_times', conf => "timezone = 'UTC'\n");
follow($node, '', $_) foreach map { blocks_of('docs/converting.md', $_) } 'IDs for old rows', 'Imported rows';
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION give_id_of_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  FOR try IN 0 .. 7999 LOOP
    NEW.id := snowid_encode(NEW.created_at + try / 8 * interval '1 ms', 8190, floor(random() * 1024)::bigint);
    IF NOT EXISTS (SELECT FROM notes WHERE id = NEW.id) THEN RETURN NEW; END IF;
  END LOOP;
  RAISE 'no free ID in a second from %', NEW.created_at;
END $$;
CREATE TRIGGER id_of_time BEFORE INSERT ON notes FOR EACH ROW
  WHEN (NEW.created_at < now() - interval '1 minute') EXECUTE FUNCTION give_id_of_time();
INSERT INTO notes (created_at, body) SELECT '2019-05-02Z', 'federated' FROM generate_series(1, 2000);
SQL
is(attempt($node, q(INSERT INTO notes (body) VALUES ('written here') RETURNING snowid_timestamp(id) > now() - interval '1 minute')), 't', 'a new row');
is(attempt($node, q(SELECT body, count(*), count(DISTINCT id), max(snowid_timestamp(id) - created_at) < '1 s' FROM notes GROUP BY body ORDER BY body)),
    "federated|2000|2000|t\nimported|3000|3000|t\nwritten here|1|1|t", 'all have their times');

# The shard issues no ID of its own, also after a crash, nor in a database that was restored from a dump.
my @issuing = ('snowid_next(8190)', 'snowid_next_batch(8190, 2)', 'snowid_reserve(8190, 1)');
is(attempt($node, "SELECT $_"), 'ERROR 55000', "refused: $_") foreach @issuing;
crash_and_start($node, 'kill');
my ($dump) = run_command([ 'pg_dump', $node->connstr('postgres') ]);
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->safe_psql('restored', $dump);
foreach my $call (@issuing)
{
    is(attempt($node, "SELECT $call", dbname => $_), 'ERROR 55000', "$_, after a crash: $call") foreach 'postgres', 'restored';
}

# Without the trigger, which would choose for the function, too.
$node->safe_psql('postgres', 'ALTER TABLE notes DISABLE TRIGGER id_of_time');

# Two sessions that choose the same ID: the second one waits for the first, and takes another if that commits.
my ($first, $second) = map { open_session($node) } 1 .. 2;
my $import = q(SELECT import_note('2018-07-01Z', 'together'));

# Lets both choose, the second one while the first has not ended. Returns what each has got.
sub import_together
{
    my ($statement, $end) = @_;
    ask($_, 'SELECT setseed(0.25)') foreach $first, $second;
    ask($first, 'BEGIN');
    my $one = ask($first, $statement);
    start_waiting($second, $statement);
    ask($first, $end);
    return ($one, answer($second));
}

my ($one, $other) = import_together($import, 'COMMIT');
like($_, qr/^[0-9]+$/, 'function: an ID') foreach $one, $other;
isnt($one, $other, 'function: the first one commits, the other takes another ID');
is($node->safe_psql('postgres', "SELECT count(*), bool_and(snowid_timestamp(id) = '2018-07-01Z') FROM notes WHERE body = 'together'"), '2|t',
    'function: both have the time');
$node->safe_psql('postgres', q(DELETE FROM notes WHERE body = 'together'));
($one, $other) = import_together($import, 'ROLLBACK');
is($one, $other, 'function: an ID of what was rolled back is free');

$node->safe_psql('postgres', 'ALTER TABLE notes ENABLE TRIGGER id_of_time');

# A trigger cannot wait for it: the second one gets an error, and the INSERT works when it is run again.
my $insert = q(INSERT INTO notes (created_at, body) VALUES ('2018-07-02Z', 'by trigger') RETURNING id);
($one, $other) = import_together($insert, 'COMMIT');
like($one, qr/^[0-9]+$/, 'trigger: an ID');
is($other, 'ERROR 23505', 'trigger: the first one commits, the other fails');
like(ask($second, $insert), qr/^[0-9]+$/, 'trigger: works again');

# A millisecond that is full: the next one has the ID.
$node->safe_psql('postgres', <<'SQL');
ALTER TABLE notes DISABLE TRIGGER id_of_time;
INSERT INTO notes (id, created_at, body) SELECT snowid_encode('2018-07-03Z', 8190, n), '2018-07-03Z', 'full' FROM generate_series(0, 1023) AS n;
SQL
my $next = '2018-07-03 00:00:00.001+00';
is(ask($first, q(SELECT snowid_timestamp(import_note('2018-07-03Z', 'next')))), $next, 'full: function');
$node->safe_psql('postgres', 'ALTER TABLE notes ENABLE TRIGGER id_of_time');
is(ask($first, q(INSERT INTO notes (created_at, body) VALUES ('2018-07-03Z', 'next') RETURNING snowid_timestamp(id))), $next,
    'full: trigger');
end_test($node);
