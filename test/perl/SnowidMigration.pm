# Converting tables under load: the steps of docs/converting.md, four tables with 100,000 rows, and sessions
# that insert, update and delete meanwhile and note what they were given. They are of the role app, which owns nothing and
# has some grants; the tables are published. Not part of Snowid: the tests of these pages use it.
package SnowidMigration;

use strict;
use warnings;

use Exporter 'import';
use File::Spec;
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(@TABLES new_migration_server page_steps step_of steps_of set_up start_load wait_for_load stop_load attempt_step run_step run_until_locked
  take mark check_above check_rows files_of_tables locks_of setvals with_default);

our @TABLES = qw(customers orders items payments);
my $sessions = 3;
my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# The examples of the page by their names, which are comments on their first lines: "WAY: STEP", or STEP alone where
# all ways share it. One of these, "list", sets psql's variables for the others. A script that an example runs by \i
# stands in its place, and so do those that it runs by \ir.
my (%step, @names);

# The tables of the examples.
my $tables = <<'SQL';
CREATE TABLE customers (id bigserial PRIMARY KEY, name text NOT NULL, visits int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE items (id bigserial PRIMARY KEY, order_id bigint NOT NULL REFERENCES orders, sku text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE payments (id bigserial PRIMARY KEY, order_id bigint NOT NULL REFERENCES orders, cents int NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON orders (customer_id);
CREATE INDEX ON items (order_id);
CREATE INDEX ON payments (order_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON customers, orders, items, payments TO app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app;
SQL

sub page_steps
{
    return @names if @names;
    foreach my $example (slurp_file('docs/converting.md') =~ /^```sql\n(.*?)^```$/msg)
    {
        $example =~ s/^\\i (\S+)\n/slurp_file($1)/mge;
        $example =~ s/^\\ir (\S+)\n/slurp_file("converting\/$1")/mge;
        my ($name) = $example =~ /\A-- (.*)\n/ or die "an example without a name: $example";
        die "two examples are called $name" if $step{$name};
        $step{$name} = $example;
        push @names, $name;
    }
    return @names;
}

# The text of a step.
sub step_of
{
    my ($name) = @_;
    page_steps();
    return $step{$name} // die "the page has no step $name";
}

# A server, started, with the clients' role, that can publish tables.
sub new_migration_server
{
    my ($name) = @_;
    my $node = new_server($name);
    $node->append_conf('postgresql.conf', "timezone = 'UTC'\nwal_level = logical\nmax_wal_senders = 4\n");
    $node->start;
    $node->safe_psql('postgres', 'CREATE ROLE app LOGIN');
    return $node;
}

# The names of a way's steps, in the order of the page, and of what they have after "WAY: ".
sub steps_of
{
    my ($way) = @_;
    return map { /^\Q$way\E: (.*)/ ? $1 : () } page_steps();
}

# Makes a database that is called after the way, with the tables and their rows. Options: key, the type of keys in the
# tables, bigserial by default; old, an expression for the key of row n, made at the time t, of
# table tbl; first, SQL to run before; then, SQL to run when the rows are there; type, that of clients' variables; looks_up,
# whether sessions look for both keys of a row: the one that they hold, and what load.now() gives for it.
sub set_up
{
    my ($node, $way, %options) = @_;
    my $type = $options{type} // 'bigint';
    my $key = $options{key} // 'bigserial';
    my $own = $tables =~ s/\bbigserial\b/$key/gr;
    my $reference = $key eq 'serial' ? 'integer' : $type;
    my $either = sub { $options{looks_up} ? "IN ($_[1], load.now('$_[0]', $_[1]::text)::$type)" : "= $_[1]" };
    my $look_up = $options{looks_up} ? <<"SQL" : '';
  SELECT id INTO STRICT old.customer FROM customers WHERE id @{[ $either->('customers', 'old.customer') ]} FOR KEY SHARE;
  SELECT id INTO STRICT old.ordered FROM orders WHERE id @{[ $either->('orders', 'old.ordered') ]} FOR KEY SHARE;
SQL
    $own =~ s/_id bigint/_id $reference/g;
    $node->safe_psql('postgres', "CREATE DATABASE $way");
    $node->safe_psql($way, 'CREATE EXTENSION snowid; ' . ($options{first} // ''));
    $node->safe_psql($way, $own . <<"SQL" . ($options{then} // ''));
CREATE SCHEMA load;
CREATE FUNCTION load.moment(n int) RETURNS timestamptz IMMUTABLE RETURN '2024-01-01Z'::timestamptz + n * interval '17 s';
CREATE FUNCTION load.key(tbl text, n int, t timestamptz) RETURNS $type IMMUTABLE RETURN $options{old};
SET session_replication_role = replica;
INSERT INTO customers (id, name, created_at) OVERRIDING SYSTEM VALUE
  SELECT load.key('customers', n, load.moment(n)), 'old ' || n, load.moment(n) FROM generate_series(1, 10000) n;
INSERT INTO orders (id, customer_id, created_at) OVERRIDING SYSTEM VALUE
  SELECT load.key('orders', n, load.moment(n)), load.key('customers', c, load.moment(c)), load.moment(n)
  FROM generate_series(1, 30000) n, LATERAL (SELECT n % 10000 + 1) AS _(c);
INSERT INTO items (id, order_id, sku, created_at) OVERRIDING SYSTEM VALUE
  SELECT load.key('items', n, load.moment(n)), load.key('orders', o, load.moment(o)), 'old', load.moment(n)
  FROM generate_series(1, 50000) n, LATERAL (SELECT n % 30000 + 1) AS _(o);
INSERT INTO payments (id, order_id, cents, created_at) OVERRIDING SYSTEM VALUE
  SELECT load.key('payments', n, load.moment(n)), load.key('orders', o, load.moment(o)), n, load.moment(n)
  FROM generate_series(1, 10000) n, LATERAL (SELECT n % 30000 + 1) AS _(o);
RESET session_replication_role;
-- What there was, as session 0, and what sessions were given; what they have deleted; how far each of them is.
CREATE TABLE load.given (tbl text, id text, who int, n int);
CREATE TABLE load.gone (tbl text, id text);
CREATE TABLE load.progress (who int PRIMARY KEY, n int);
CREATE TABLE load.stopped ();
-- What has become of a key.
CREATE FUNCTION load.now(tbl text, id text) RETURNS text STABLE RETURN id;
-- Whoever changes rows of customers or orders, save the clients, is noted by a trigger.
CREATE TABLE load.touched (tbl text, key text);
CREATE FUNCTION load.touch() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
  IF session_user <> 'app' THEN INSERT INTO load.touched VALUES (TG_TABLE_NAME, OLD.id); END IF;
  RETURN NEW;
END \$\$;
CREATE TRIGGER touch BEFORE UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION load.touch();
CREATE TRIGGER touch BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION load.touch();
CREATE PUBLICATION changes FOR TABLE customers, orders, items, payments;
-- Old rows for the sessions to change, and whom they gave the order to.
CREATE TABLE load.stock (k int PRIMARY KEY, customer $type, ordered $type, item $type, owner $type);
INSERT INTO load.given SELECT 'customers', id, 0, 0 FROM customers UNION ALL SELECT 'orders', id, 0, 0 FROM orders
  UNION ALL SELECT 'items', id, 0, 0 FROM items UNION ALL SELECT 'payments', id, 0, 0 FROM payments;
INSERT INTO load.progress SELECT who, 0 FROM generate_series(1, $sessions) who;
INSERT INTO load.stock SELECT k, load.key('customers', k, load.moment(k)), load.key('orders', k, load.moment(k)),
    load.key('items', k, load.moment(k)) FROM generate_series(0, 9998) _(i), LATERAL (SELECT i + 1) AS __(k);
-- One transaction of a session. Sessions have old rows of their own: 9999 is divisible by $sessions. Says whether to stop.
CREATE FUNCTION load.work(me int) RETURNS bool LANGUAGE plpgsql AS \$\$
DECLARE
  step int; old load.stock; c $type; o $type; i $type; p $type;
BEGIN
  UPDATE load.progress SET n = n + 1 WHERE who = me RETURNING n INTO step;
  SELECT * INTO STRICT old FROM load.stock WHERE k = ($sessions * step + me) % 9999 + 1;
$look_up  INSERT INTO customers (name) VALUES (me || '/' || step) RETURNING id INTO c;
  INSERT INTO orders (customer_id) VALUES (c) RETURNING id INTO o;
  INSERT INTO items (order_id, sku) VALUES (old.ordered, 'new') RETURNING id INTO i;
  INSERT INTO payments (order_id, cents) VALUES (o, step) RETURNING id INTO p;
  INSERT INTO load.given VALUES ('customers', c, me, step), ('orders', o, me, step), ('items', i, me, step),
    ('payments', p, me, step);
  UPDATE customers SET visits = visits + 1 WHERE id = old.customer;
  IF NOT FOUND THEN RAISE 'customer % is lost', old.customer; END IF;
  UPDATE orders SET customer_id = c WHERE id = old.ordered;
  IF NOT FOUND THEN RAISE 'order % is lost', old.ordered; END IF;
  UPDATE load.stock SET owner = c WHERE k = old.k;
  DELETE FROM items WHERE id @{[ $either->('items', 'old.item') ]};
  IF FOUND THEN INSERT INTO load.gone VALUES ('items', old.item); END IF;
  -- The newest, too, so that the greatest key of a table says little.
  IF step % 4 > 0 THEN
    DELETE FROM payments WHERE id = p;
    INSERT INTO load.gone VALUES ('payments', p);
  END IF;
  PERFORM pg_sleep(0.002);
  RETURN EXISTS (SELECT FROM load.stopped);
END \$\$;
GRANT USAGE ON SCHEMA load TO app;
GRANT ALL ON ALL TABLES IN SCHEMA load TO app;
SQL
    $node->safe_psql($way, 'VACUUM ANALYZE');
    return;
}

# Starts the sessions. Each keeps its connection, and its plans; one that is told of an error ends.
sub start_load
{
    my ($node, $way) = @_;
    my $script = "$scratch/load.sql";
    append_to_file($script, "SELECT load.work(:me) AS stopped \\gset\n\\if :stopped\n\\q\n\\endif\n" x 100_000)
      unless -e $script;
    my $load = { node => $node, way => $way };
    foreach my $me (1 .. $sessions)
    {
        my $err = "$scratch/load.$way.$me";
        my @psql = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-v', "me=$me", '-U', 'app');
        my $run = IPC::Run::start([ @psql, '-f', $script, '-d', $node->connstr($way) ],
            '<', \undef, '>', "$err.out", '2>', $err);
        push @{ $load->{runs} }, $run;
        push @{ $load->{errs} }, $err;
    }
    wait_for_load($load);
    return $load;
}

sub errors_of_load { return join '', map { slurp_file($_) } @{ $_[0]{errs} } }

# Waits until each session has committed some more transactions.
sub wait_for_load
{
    my ($load) = @_;
    my $least = sub { $load->{node}->safe_psql($load->{way}, 'SELECT min(n) FROM load.progress') };
    my $until = $load->{node}->safe_psql($load->{way}, 'SELECT max(n) FROM load.progress') + 20;
    wait_for(sub { errors_of_load($load) ne '' || $least->() >= $until }, 'the sessions to go on');
    return;
}

# Ends the sessions, and checks that none was told of an error.
sub stop_load
{
    my ($load) = @_;
    $load->{node}->safe_psql($load->{way}, 'INSERT INTO load.stopped DEFAULT VALUES');
    $_->finish foreach @{ $load->{runs} };
    is(errors_of_load($load), '', "$load->{way}: no session was told of an error");
    return;
}

# Runs a step once. Returns its output, or its error as "ERROR 55P03".
sub attempt_step
{
    my ($node, $way, $name) = @_;
    return attempt($node, step_of('list') . step_of($name), dbname => $way);
}

# Runs a step, and again where it gives up waiting for a lock, as the page says. Checks that it ends with the results
# that the page shows, and lets the sessions of the load go on.
sub run_step
{
    my ($load, $name) = @_;
    my $out = run_until_locked($load, step_of($name), "the locks of $name");
    unlike($out, qr/^ERROR/, "$load->{way}, $name") or die "$name: $out";
    my @expected = $step{$name} =~ /^--> (.*)$/mg;
    is_deeply([ split /\n/, $out ], \@expected, "$load->{way}, results of $name") if @expected;
    wait_for_load($load);
    return;
}

# Runs SQL, and again where it gives up waiting for a lock. Returns its output, or its error.
sub run_until_locked
{
    my ($load, $sql, $what) = @_;
    my $out;
    wait_for(sub { ($out = attempt($load->{node}, step_of('list') . $sql, dbname => $load->{way})) ne 'ERROR 55P03' }, $what // 'the locks');
    return $out;
}

# Takes all steps of a way, in the order of the page, or those of the option `steps`, by their whole names. `before` and `after`
# have what to do at each; `back`, the way back if it is no step of the page.
sub take
{
    my ($node, $way, %options) = @_;
    my $load = start_load($node, $way);
    my $files = files_of_tables($node, $way, @TABLES);
    my @names = $options{steps} ? @{ $options{steps} } : map { "$way: $_" } grep { $_ ne 'function' } steps_of($way);
    is($names[-1], "$way: " . ($options{back} ? 'check' : 'back'), "$way: there is a way back") if !$options{steps};
    foreach my $whole (@names)
    {
        my ($name) = $whole =~ /: (.*)/;
        $options{before}{$name}->($load) if $options{before}{$name};
        run_step($load, $whole);
        $options{after}{$name}->($load) if $options{after}{$name};
        mark($load, $name) if $name eq 'adopt' || $name eq 'back';
    }
    if ($options{back})
    {
        unlike(run_until_locked($load, $options{back}), qr/ERROR/, "$way: back");
        mark($load, 'back');
    }
    stop_load($load);
    check_above($load, 'adopt', 'adopting');
    check_above($load, 'back', 'going back');
    is(files_of_tables($node, $way, @TABLES), $files, "$way: no table was rewritten");
    check_rows($node, $way);
    return;
}

# SQL that has the serials' sequences go on above the rows.
sub setvals { return join '', map { "SELECT setval(pg_get_serial_sequence('$_', 'id'), max(id)) FROM $_;\n" } @TABLES }

# SQL that has the tables' keys be given by a call, for each table.
sub with_default
{
    my ($call) = @_;
    return join '', map { "ALTER TABLE $_ ALTER COLUMN id SET DEFAULT " . $call->($_) . ";\n" } @TABLES;
}

# The locks on the tables that a step takes, or a statement, save those that all take who read. It is rolled back.
sub locks_of
{
    my ($load, $sql) = @_;
    $sql = $step{$sql} =~ s/^(?:BEGIN|COMMIT);\n//mgr if $step{$sql};
    return run_until_locked($load, <<"SQL");
BEGIN;
SET LOCAL lock_timeout = '200ms';
\\o /dev/null
$sql;
\\o
SELECT string_agg(relation::regclass || ' ' || replace(mode, 'Lock', ''), ', ' ORDER BY relation::regclass::text, mode)
  FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text = ANY ('{@{[ join ', ', @TABLES ]}}')
   AND mode <> 'AccessShareLock';
ROLLBACK;
SQL
}

# Notes how far the sessions are, under a name.
sub mark
{
    my ($load, $name) = @_;
    $load->{node}->safe_psql($load->{way},
        "CREATE TABLE load.\"$name\" AS SELECT *, clock_timestamp() AS at FROM load.progress");
    wait_for_load($load);
    return;
}

# Checks that in each table all keys of after the mark are above all that there were before. The transaction of each
# session that was on its way at the mark counts for neither.
sub check_above
{
    my ($load, $mark, $name) = @_;
    my $way = $load->{way};
    is($load->{node}->safe_psql($way, <<"SQL"), '0|t', "$way: keys of after $name are above those of before");
WITH keys AS (
    SELECT tbl, id::bigint, CASE WHEN who = 0 OR g.n <= m.n THEN 'before' WHEN g.n > m.n + 1 THEN 'after' END AS part
      FROM load.given g LEFT JOIN load."$mark" m USING (who)),
  tops AS (SELECT tbl, max(id) AS top FROM keys WHERE part = 'before' GROUP BY tbl)
SELECT count(*) FILTER (WHERE id <= top), count(*) > 100 FROM keys JOIN tops USING (tbl) WHERE part = 'after'
SQL
    return;
}

# Checks what has come of all rows, when the load has stopped.
sub check_rows
{
    my ($node, $way) = @_;
    my $query = sub { $node->safe_psql($way, $_[0]) };
    is($query->('SELECT count(*) - count(DISTINCT (tbl, id)) FROM load.given'), 0, "$way: no ID came twice");
    my $there = join ' UNION ALL ', map { "SELECT '$_', id::text FROM $_" } @TABLES;
    my $due = 'SELECT tbl, load.now(tbl, id) FROM load.given EXCEPT SELECT tbl, load.now(tbl, id) FROM load.gone';
    is($query->("SELECT count(*) FROM (($due) EXCEPT ($there)) s"), 0, "$way: no row is lost");
    is($query->("SELECT count(*) FROM (($there) EXCEPT ($due)) s"), 0, "$way: there is none besides");
    is($query->('SELECT (SELECT sum(visits) FROM customers) - (SELECT sum(n) FROM load.progress)'), 0,
        "$way: no update is lost");
    is($query->(<<'SQL'), '9999|0|0', "$way: old rows are what they were, or what they were made");
SELECT count(*) FILTER (WHERE c.name = 'old ' || k), count(*) FILTER (WHERE o.customer_id <> owner),
       count(*) FILTER (WHERE owner IS NULL
         AND o.customer_id <> load.key('customers', k % 10000 + 1, load.moment(k % 10000 + 1)))
  FROM load.stock JOIN customers c ON c.id = customer JOIN orders o ON o.id = ordered
SQL
    # By themselves, and not by what the catalogs say of the constraints.
    is($query->(<<'SQL'), '0', "$way: every reference leads to a row");
SELECT (SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT FROM customers WHERE id = o.customer_id))
     + (SELECT count(*) FROM items i WHERE NOT EXISTS (SELECT FROM orders WHERE id = i.order_id))
     + (SELECT count(*) FROM payments p WHERE NOT EXISTS (SELECT FROM orders WHERE id = p.order_id))
SQL
    is($query->(q(SELECT count(*), bool_and(convalidated) FROM pg_constraint WHERE contype = 'f')), '3|t',
        "$way: three valid foreign keys");
    foreach my $reference (qw(orders.customer_id items.order_id payments.order_id))
    {
        my ($table, $column) = split /[.]/, $reference;
        my $to_nobody = "UPDATE $table SET $column = load.key('customers', 99999, '2024-02-02Z')"
          . " WHERE ctid = (SELECT max(ctid) FROM $table)";
        is(attempt($node, $to_nobody, dbname => $way), 'ERROR 23503', "$way: the foreign key of $reference is enforced");
    }
    return;
}

# The files that the tables are in: others when they are rewritten.
sub files_of_tables
{
    my ($node, $way, @tables) = @_;
    return $node->safe_psql($way, 'SELECT ' . join ' || ', map { "pg_relation_filepath('$_')" } @tables);
}

1;
