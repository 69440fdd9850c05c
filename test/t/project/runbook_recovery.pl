# The runbook, docs/operations.md, followed to the letter where something is to come back: an old primary after a
# fail-over, an extension that was dropped, and a copy of a joined node that leaves while no registry is to be had.
#
# Runs in make test-all: it takes each step of the page, with restores.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/operations.md';
my $dir = PostgreSQL::Test::Utils::tempdir();

# 1. The old primary comes back. Until the new one has written a checkpoint, pg_rewind of PostgreSQL 15 finds nothing to
# do; its checkpointer is held, so that this does not depend on how quick it is.
my $back = 'The old primary comes back';
my $old = new_server('old', allows_streaming => 1);
$old->append_conf('postgresql.conf', "wal_log_hints = on\nwal_keep_size = '64MB'\n");
start_server($old);
$old->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(5), n int);'
      . ' INSERT INTO photos (n) VALUES (1)');
my $new = new_standby($old, 'new');
$new->append_conf('postgresql.conf', 'checkpoint_timeout = 1h');
start_server($new);
$old->wait_for_catchup($new);
my $checkpointer = $new->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'));
kill 'STOP', $checkpointer or die "checkpointer: $!";
$new->promote;
$old->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (2)');
$old->stop;
$new->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (3)');

my ($checkpoint, $command, $streams) = blocks_of($page, $back);
my $source = 'host=' . $new->host . ' port=' . $new->port . ' user=postgres dbname=postgres';
my $data = $old->data_dir;
my @rewind = split / /, $command =~ s/\n\z//r =~ s/--source-server='.*'//r =~ s/DATADIR/$data/r;
# It brings the new primary's configuration, which a test has in the data directory.
sub rewound
{
    my $settings = slurp_file("$data/postgresql.conf");
    my ($out, $err) = run_command([ @rewind, "--source-server=$source" ]);
    unlink "$data/postgresql.conf";
    append_to_file("$data/postgresql.conf", $settings);
    return "$out$err";
}

if ($old->pg_version < 16)
{
    my ($symptom) = section_of($page, $back) =~ /prints\n?\s*`(no rewind required)`/;
    like(rewound(), qr/\Q$symptom\E/, 'before a checkpoint: the symptom');
    $old->append_conf('postgresql.conf', "primary_conninfo = '$source'");
    $old->set_standby_mode;
    my $from = -s $old->logfile;
    start_server($old);
    wait_for(sub { slurp_file($old->logfile, $from) =~ /forked off current database system timeline/ }, 'the old primary to say that it cannot follow');
    is($old->safe_psql('postgres', q(SELECT string_agg(n::text, ' ' ORDER BY n) FROM photos)), '1 2', 'and it does not follow');
    $old->stop;
}
kill 'CONT', $checkpointer;
follow($new, 'the new primary', $checkpoint);
like(rewound(), qr/Done!/, 'after a checkpoint: rewound');
start_server($old);
wait_for(sub { $new->safe_psql('postgres', 'SELECT state FROM pg_stat_replication') eq 'streaming' }, 'the old primary to follow');
follow($new, 'the new primary', $streams);
$new->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (4)');
wait_for(sub { $old->safe_psql('postgres', q(SELECT string_agg(n::text, ' ' ORDER BY n) FROM photos)) eq '1 3 4' }, 'the rows of the new primary');
is(attempt($old, 'SELECT snowid_next(5)'), 'ERROR 25006', 'and makes no IDs');
$old->stop;

# 2. The extension was dropped.
my $dropped = 'The extension was dropped';
my ($list, $again) = blocks_of($page, $dropped);
my $statements = $list =~ s/^-->.*\n//mgr;
$new->safe_psql('postgres', 'CREATE DATABASE app; CREATE DATABASE registry');
$new->safe_psql('registry', 'CREATE EXTENSION snowid');
$new->safe_psql('app', 'CREATE EXTENSION snowid');
add_source($new, $new, name => 'registry', dbname => 'app');
$new->safe_psql('app', q(ALTER SERVER registry OPTIONS (SET dbname 'registry')));
is(attempt($new, q(SELECT snowid.join('registry', 'berlin')), dbname => 'app'), '1', 'a node');
$new->safe_psql('app', <<'SQL');
CREATE FUNCTION next_of_text() RETURNS bigint LANGUAGE sql AS 'SELECT snowid_next(3)';
CREATE FUNCTION next_parsed() RETURNS bigint RETURN snowid_next(4);
CREATE DOMAIN key AS bigint DEFAULT snowid_next(6);
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);
CREATE TABLE "Albums" (id bigint PRIMARY KEY DEFAULT snowid_next(7, 'twitter'), n int);
CREATE TABLE notes (id bigint PRIMARY KEY DEFAULT next_of_text(), n int);
CREATE TABLE marks (id bigint PRIMARY KEY DEFAULT next_parsed(), n int);
CREATE TABLE keyed (id key, n int);
CREATE TABLE objects (object objectid DEFAULT objectid_next(), layout snowid_layout, n int);
CREATE VIEW seen AS SELECT snowid_timestamp(id) FROM photos;
CREATE INDEX photos_at ON photos (snowid_timestamp(id));
CREATE FUNCTION at(bigint) RETURNS timestamptz RETURN snowid_timestamp($1);
INSERT INTO photos (n) VALUES (1);
INSERT INTO "Albums" (n) VALUES (1);
INSERT INTO keyed (n) VALUES (1);
INSERT INTO objects (n) VALUES (1);
SELECT snowid.release_shard(42);
SQL
my @before = split /\n/, attempt($new, $statements, dbname => 'app');
is_deeply(\@before, [
        'ALTER TABLE "Albums" ALTER COLUMN id SET DEFAULT public.snowid_next((7)::bigint, \'twitter\'::public.snowid_layout);',
        'ALTER TABLE marks ALTER COLUMN id SET DEFAULT public.next_parsed();',
        'ALTER TABLE notes ALTER COLUMN id SET DEFAULT public.next_of_text();',
        'ALTER TABLE objects ALTER COLUMN object SET DEFAULT public.objectid_next();',
        'ALTER TABLE photos ALTER COLUMN id SET DEFAULT public.snowid_next();' ],
    'the statements that restore the defaults');

# As far ahead of the clock as IDs can be.
my $last = $new->safe_psql('app', 'SELECT max(snowid_next_batch) FROM snowid_next_batch(1, 1000000)');
my (undef, undef, $notice) = $new->psql('app', 'DROP EXTENSION snowid CASCADE');
like($notice, qr/DETAIL:  (?:drop cascades to .*\n)+/, 'the NOTICE names what is dropped');
is(attempt($new, 'INSERT INTO photos (n) VALUES (2)', dbname => 'app'), 'ERROR 23502', 'the symptom: no default');
is(attempt($new, 'INSERT INTO notes (n) VALUES (2)', dbname => 'app'), 'ERROR 42883', 'or no function');
is(attempt($new, 'SELECT n FROM photos', dbname => 'app'), '1', 'rows are there');
is($new->safe_psql('app', q(SELECT string_agg(attrelid::regclass || '.' || attname, ' ' ORDER BY attrelid, attnum) FROM pg_attribute
    WHERE attnum > 0 AND NOT attisdropped AND attrelid IN ('photos'::regclass, 'keyed'::regclass, 'objects'::regclass))), 'photos.id photos.n keyed.n objects.n',
    q(gone: the domain's column, and those of the extension's types));
is($new->safe_psql('app', q(SELECT to_regtype('key') IS NULL, to_regclass('seen') IS NULL, to_regclass('photos_at') IS NULL,
    to_regprocedure('at(bigint)') IS NULL, to_regprocedure('next_parsed()') IS NULL, to_regprocedure('next_of_text()') IS NOT NULL)),
    't|t|t|t|t|t', 'gone: domain, view, index, functions with a parsed body');

# The list of more than 100 objects is cut.
$new->safe_psql('postgres', 'CREATE DATABASE many');
$new->safe_psql('many', 'CREATE EXTENSION snowid');
$new->safe_psql('many', "CREATE TABLE t$_ (id bigint DEFAULT snowid_next())") foreach 1 .. 101;
(undef, undef, $notice) = $new->psql('many', 'DROP EXTENSION snowid CASCADE');
is(scalar(() = $notice =~ /drop cascades to default/g), 100, 'the NOTICE names 100');
like($notice, qr/and 1 other object \(see server log for list\)/, 'and no more');

is(attempt($new, $again, dbname => 'app'), '', 'created again');
my ($retire) = said_in($page, $dropped, q(SELECT snowid.retire_node(1)));
my ($join) = said_in($page, $dropped, q(SELECT snowid.join('registry', 'berlin')));
is(attempt($new, $retire, dbname => 'registry'), '', 'retired there');
is(attempt($new, $join, dbname => 'app'), '2', 'a new number');
is(attempt($new, 'SELECT snowid.release_shard(42) > 0', dbname => 'app'), 't', 'released again');
$new->safe_psql('app', 'CREATE FUNCTION next_parsed() RETURNS bigint RETURN snowid_next(4); ALTER TABLE objects ADD object objectid');
is(attempt($new, join("\n", @before), dbname => 'app'), '', 'the defaults are restored');
cmp_ok($new->safe_psql('app', 'SELECT snowid_next(1)'), '>', $last, 'IDs are above those of before');
is(attempt($new, 'INSERT INTO photos (n) VALUES (3) RETURNING snowid_shard(id)', dbname => 'app'), '2', 'a default');
is(attempt($new, $statements, dbname => 'app'), join("\n", @before), 'verified: the same list');

# 3. A copy of a node: for tests it needs no registry, and else it joins.
my $restored = 'A dump is restored';
$new->safe_psql('postgres', 'CREATE DATABASE staging');
system_or_bail('pg_dump', '-d', $new->connstr('app'), '-f', "$dir/app.sql");
system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $new->connstr('staging'), '-f', "$dir/app.sql", '-o', "$dir/out");
$new->safe_psql('staging', q(ALTER SERVER registry OPTIONS (SET host '/nowhere')));
is(attempt($new, 'SELECT snowid_next()', dbname => 'staging'), 'ERROR 55000', 'a restored node');
my $join_staging = said_in($page, $restored, q(SELECT snowid.join('registry', 'another name')));
is(attempt($new, $join_staging, dbname => 'staging'), 'ERROR 08006', 'no registry to join');
is(attempt($new, said_in($page, $restored, 'ALTER DATABASE restored SET snowid.shard = 0') =~ s/restored/staging/r, dbname => 'staging'), '', 'it needs none');
my $verify = said_in($page, $restored, 'SELECT node_number, source, problem FROM snowid.node_status');
is(attempt($new, $verify, dbname => 'staging'), '0|setting (database)|', 'verified');
$new->safe_psql('staging', 'ALTER DATABASE staging RESET snowid.shard');
point_at($new, $new, name => 'registry', dbname => 'staging');
is(attempt($new, $join_staging, dbname => 'staging'), '3', 'or it joins');
is(attempt($new, $verify, dbname => 'staging'), '3|joined|', 'verified');
is(attempt($new, 'SELECT snowid.check_node()', dbname => 'app'), '2', 'the original keeps its number');
$new->stop;
done_testing();
