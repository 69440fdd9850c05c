# The runbook, docs/runbook.md, followed word by word where an extension was dropped, whose defaults come back; and for a copy of a
# joined node, which leaves while no registry is to be had.
# Runs in make test-all: it takes each step of the page.

use Snowid;

my $page = 'docs/runbook.md';
my $node = ready_server('dropped', sql => 'CREATE DATABASE staging', databases => [qw(app registry)]);
sub try_app { return attempt($node, $_[0], dbname => 'app') }

my $dropped = 'The extension was dropped';
my ($list, $again) = blocks_of($page, $dropped);
my $statements = $list =~ s/^-->.*\n//mgr;
add_source($node, $node, name => 'registry', dbname => 'app');
$node->safe_psql('app', q(ALTER SERVER registry OPTIONS (SET dbname 'registry')));
is(try_app(q(SELECT snowid.join('registry', 'berlin'))), '1', 'a node');
$node->safe_psql('app', <<'SQL');
CREATE FUNCTION next_of_text() RETURNS bigint LANGUAGE sql AS 'SELECT snowid_next(3)';
CREATE FUNCTION next_parsed() RETURNS bigint RETURN snowid_next(4);
CREATE DOMAIN key AS bigint DEFAULT snowid_next(6);
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);
CREATE TABLE "Albums" (id bigint PRIMARY KEY DEFAULT snowid_next(7, 'twitter'), n int);
CREATE TABLE notes (id bigint PRIMARY KEY DEFAULT next_of_text(), n int);
CREATE TABLE marks (id bigint PRIMARY KEY DEFAULT next_parsed(), n int);
CREATE TABLE keyed (id key, n int);
CREATE TABLE objects (object objectid DEFAULT objectid_next(), layout snowid_layout, n int);
INSERT INTO photos (n) VALUES (1);
INSERT INTO "Albums" (n) VALUES (1);
INSERT INTO keyed (n) VALUES (1);
INSERT INTO objects (n) VALUES (1);
SELECT snowid.release_shard(42);
SQL
my @before = split /\n/, try_app($statements);
is_deeply(\@before, [
        'ALTER TABLE "Albums" ALTER COLUMN id SET DEFAULT public.snowid_next((7)::bigint, \'twitter\'::public.snowid_layout);',
        'ALTER TABLE marks ALTER COLUMN id SET DEFAULT public.next_parsed();',
        'ALTER TABLE notes ALTER COLUMN id SET DEFAULT public.next_of_text();',
        'ALTER TABLE objects ALTER COLUMN object SET DEFAULT public.objectid_next();',
        'ALTER TABLE photos ALTER COLUMN id SET DEFAULT public.snowid_next();' ],
    'the statements that restore the defaults');

# As far ahead of the clock as IDs can be.
my $last = $node->safe_psql('app', 'SELECT max(snowid_next_batch) FROM snowid_next_batch(1, 1000000)');
my (undef, undef, $notice) = $node->psql('app', 'DROP EXTENSION snowid CASCADE');
like($notice, qr/DETAIL:  (?:drop cascades to .*\n)+/, 'the NOTICE names what is dropped');
is(try_app('INSERT INTO photos (n) VALUES (2)'), 'ERROR 23502', 'the symptom: no default');
is(try_app('INSERT INTO notes (n) VALUES (2)'), 'ERROR 42883', 'or no function');
is(try_app('SELECT n FROM photos'), '1', 'rows are there');
is(try_app($again), '', 'created again');
my $retire = said_in($page, $dropped, q(SELECT snowid.retire_node(7))) =~ s{7}{1}r;
my ($join) = said_in($page, $dropped, q(SELECT snowid.join('registry', 'berlin')));
is(attempt($node, $retire, dbname => 'registry'), '', 'retired there');
is(try_app($join), '2', 'a new number');
is(try_app('SELECT snowid.release_shard(42) > 0'), 't', 'released again');
$node->safe_psql('app', 'CREATE FUNCTION next_parsed() RETURNS bigint RETURN snowid_next(4); ALTER TABLE objects ADD object objectid');
is(try_app(join("\n", @before)), '', 'the defaults are restored');
cmp_ok($node->safe_psql('app', 'SELECT snowid_next(1)'), '>', $last, 'IDs are above those of before');
is(try_app('INSERT INTO photos (n) VALUES (3) RETURNING snowid_shard(id)'), '2', 'a default');
is(try_app($statements), join("\n", @before), 'verified: the same list');

# A copy of a node: for tests it needs no registry, and else it joins.
my $restored = 'A dump was restored';
my ($dump) = run_command([ 'pg_dump', '-d', $node->connstr('app') ]);
$node->safe_psql('staging', $dump);
$node->safe_psql('staging', q(ALTER SERVER registry OPTIONS (SET host '/nowhere')));
is(attempt($node, 'SELECT snowid_next()', dbname => 'staging'), 'ERROR 55000', 'a restored node');
my $join_staging = said_in($page, $restored, q(SELECT snowid.join('registry', 'another name')));
is(attempt($node, $join_staging, dbname => 'staging'), 'ERROR 08006', 'no registry to join');
is(attempt($node, said_in($page, $restored, 'ALTER DATABASE restored SET snowid.default_shard = 0') =~ s/restored/staging/r, dbname => 'staging'), '', 'it needs none');
my $verify = said_in($page, $restored, 'SELECT node_number, source, problem FROM snowid.node_status');
is(attempt($node, $verify, dbname => 'staging'), '0|setting (database)|', 'verified');
$node->safe_psql('staging', 'ALTER DATABASE staging RESET snowid.default_shard');
point_at($node, $node, name => 'registry', dbname => 'staging');
is(attempt($node, $join_staging, dbname => 'staging'), '3', 'or it joins');
is(attempt($node, $verify, dbname => 'staging'), '3|joined|', 'verified');
is(try_app('SELECT snowid.check_node()'), '2', 'the original keeps its number');
end_test($node);
