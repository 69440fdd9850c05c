# ALTER EXTENSION snowid UPDATE, from every version that was released: an upgraded extension is the one that
# CREATE EXTENSION makes, in objects, definitions, rights, comments and memberships (upgrade_compared.pl shows what the comparison
# sees). What is stored stays, the library serves the old script's objects until then, sessions go on, and
# nothing repeats. Whoever may create the extension can upgrade it, nobody else.
#
# What was released is in src/upgrade/released, byte for byte, the steps between versions in src/upgrade. Beside
# it, and while there is none, a version that is made up here goes the same way.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $current = current_version();
my $script = script_of($current);
my ($install_path, $scripts) = new_prefix();

# What was released does not change any more.
my %released = map { m{/snowid--(.*)[.]sql$} ? ($1 => slurp_file($_)) : () } glob 'src/upgrade/released/snowid--*.sql';
is($script, $released{$current}, "the script of $current is the one that was released") if exists $released{$current};
my @old = grep { $_ ne $current } sort keys %released;
add_version($scripts, $_, $released{$_}) foreach @old;

# The script's statements that match.
sub statements
{
    my ($pattern) = @_;
    my @found = grep { $_ =~ $pattern } map { "$_;\n" } split /;\n/, $script =~ s/^(?:--|\\echo).*\n//mgr;
    die "no statement matches $pattern" unless @found;
    return join '', @found;
}

# Tables that C opens: what it made of them it finds again, in each version.
sub tables_of_c
{
    my ($of) = @_;
    my @tables = $of =~ /^(CREATE TABLE snowid_internal[.](?:membership|moved_shards|segment_sources) .*?;\n)/msg;
    return join '', @tables;
}
is(scalar(() = tables_of_c($script) =~ /CREATE/g), 3, 'tables that C opens');

# A version before the current one: a function, a column, a CHECK and a right less, another view, comment and
# volatility, a table that is not dumped; and the step that puts it right.
my $dumped = statements(qr/^SELECT.*'snowid_internal[.]moved_shards'/);
my $column = statements(qr/^COMMENT ON COLUMN snowid(?:_internal[.]nodes|[.]registry)[.]retired /);
my $view = statements(qr/^\n?CREATE VIEW snowid[.]registry /);
my $before = $script;
foreach my $less (quotemeta $dumped, (map { quotemeta "$_;\n" } split /;\n/, $column), ', n[.]retired(?= FROM snowid_internal[.]nodes)',
    ',\n  retired pg_catalog[.]timestamptz(?=\n\) USING heap;)')
{
    $before =~ s/$less// or die "the script has no $less";
}
$before .= <<'SQL';
DROP FUNCTION snowid.advance_past(pg_catalog.timestamptz);
ALTER TABLE snowid_internal.nodes DROP CONSTRAINT nodes_node_number_check;
CREATE OR REPLACE VIEW snowid.node_status AS SELECT node_number, source, node_name, registry, checked, problem FROM snowid.get_node_status() LIMIT 1;
COMMENT ON FUNCTION @extschema@.snowid_next() IS 'as it was';
ALTER FUNCTION @extschema@.snowid_lastval() PARALLEL UNSAFE;
REVOKE SELECT ON snowid.layouts FROM PUBLIC;
SQL
is(tables_of_c($_), tables_of_c($script), 'they are as they were') foreach $before, @released{@old};
my $step = join '', $dumped, statements(qr{FUNCTION snowid[.]advance_past\((?:moment |pg_catalog[.]timestamptz)}), "ALTER TABLE snowid_internal.nodes ADD COLUMN retired pg_catalog.timestamptz;\n",
  $view =~ s/CREATE/CREATE OR REPLACE/r, $column, 'ALTER TABLE snowid_internal.nodes ADD CONSTRAINT nodes_node_number_check'
  . " CHECK (node_number OPERATOR(pg_catalog.>=) 1::bigint AND node_number OPERATOR(pg_catalog.<=) 8191::bigint);\n",
  statements(qr/^COMMENT ON CONSTRAINT nodes_node_number_check/), statements(qr/^\n?CREATE VIEW snowid[.]node_status /) =~ s/CREATE/CREATE OR REPLACE/r,
  statements(qr/^COMMENT ON FUNCTION [@]extschema[@][.]snowid_next\(\)/),
  "ALTER FUNCTION \@extschema\@.snowid_lastval() PARALLEL RESTRICTED;\n", "GRANT SELECT ON snowid.layouts TO PUBLIC;\n",
  "REVOKE ALL ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) FROM PUBLIC;\n"
  . "GRANT EXECUTE ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) TO pg_database_owner WITH GRANT OPTION;\n";
add_version($scripts, 'before', $before, $step);

my $node = new_server('script', install_path => $install_path);
$node->append_conf('postgresql.conf', "client_min_messages = error\ntimezone = 'UTC'");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE plain LOGIN;'
      . ' CREATE EXTENSION snowid; CREATE SEQUENCE central INCREMENT 100');
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# Runs statements as a role, up to the first that fails. Returns the answer to the last.
sub as
{
    my ($role, $dbname, @sql) = @_;
    my $session = open_session($node, dbname => $dbname, user => $role);
    my $answer;
    foreach my $sql (@sql)
    {
        $answer = ask($session, $sql);
        last if $answer =~ /^ERROR/;
    }
    note($session->{err}) if $session->{err};
    close_session($session);
    return $answer;
}

# A new database with a version of the extension, in a schema other than public.
my $databases = 0;

sub new_database
{
    my ($owner, $version) = @_;
    my $dbname = 'db' . $databases++;
    $node->safe_psql('postgres', "CREATE DATABASE $dbname OWNER $owner");
    $node->safe_psql('postgres', qq(ALTER DATABASE $dbname SET search_path = "Its own", public));
    is(as($owner, $dbname, 'CREATE SCHEMA "Its own"; GRANT USAGE ON SCHEMA "Its own" TO plain',
            qq(CREATE EXTENSION snowid SCHEMA "Its own" VERSION '$version')), '', "$dbname: $version, created by $owner");
    return $dbname;
}

sub described { my ($dbname) = @_; return as($superuser, $dbname, describing(), q(SELECT pg_temp.describe('snowid'))) }

# Something of everything that is stored.
sub fill
{
    my ($owner, $dbname) = @_;
    is(as($owner, $dbname, <<'SQL'), '', "$dbname: filled");
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int, layout snowid_layout DEFAULT 'twitter',
  doc objectid DEFAULT objectid_next(), key uuid DEFAULT snowid_uuidv7(),
  made timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED, CHECK (snowid_shard(id) < 9000));
CREATE INDEX ON photos (doc);
CREATE INDEX ON photos USING hash (doc);
CREATE INDEX ON photos (snowid_timestamp(id));
CREATE VIEW recent AS SELECT * FROM photos WHERE snowid_in_range(id, now() - interval '1 day', now() + interval '1 day');
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE bounded PARTITION OF posts FOR VALUES FROM (snowid_first_at('2020-01-01Z')) TO (MAXVALUE);
CREATE SEQUENCE numbers INCREMENT 1000;
CREATE SEQUENCE keyed INCREMENT 1000;
INSERT INTO photos (n) SELECT generate_series(1, 100);
INSERT INTO posts SELECT FROM generate_series(1, 100);
DO 'BEGIN PERFORM snowid_segment_next($$numbers$$), snowid_section_next($$keyed$$, 7), snowid.release_shard(4095); END';
GRANT ALL ON photos, recent, numbers, keyed TO plain
SQL
    add_source($node, $node, name => 'registry', dbname => $dbname);
    my $joined = as($superuser, $dbname, "SELECT snowid.join('registry', '$dbname')");
    like($joined, qr/^\d+$/, "$dbname: joined");
    is(as($superuser, $dbname, q(CREATE SEQUENCE remote), q(DO 'BEGIN PERFORM snowid_segment_attach($$remote$$, $$registry$$, $$central$$); END')), '', "$dbname: attached");
    return $joined;
}

my $stored = q(SELECT (SELECT string_agg(p::text, ' ' ORDER BY id) FROM photos p WHERE n <= 100), (SELECT count(*) FROM recent WHERE n <= 100),
  (SELECT string_agg(id::text, ' ') FROM posts), (SELECT string_agg(s::text, ' ') FROM snowid_internal.segment_sources s),
  (SELECT string_agg(m::text, ' ') FROM snowid_internal.membership m), (SELECT string_agg(r::text, ' ') FROM snowid_internal.moved_shards r));
my $insert = 'INSERT INTO photos (n) VALUES (101) RETURNING id';

# What there is of the extension, with all roles that may be its owner called by one name.
sub of_owner { return $_[0] =~ s/\b(?:alice|bob)\b/owner/gr }

# From a version that `creator` has created, by `upgrader`; `heir` is who has got the extension in between.
sub check_upgrade
{
    my ($version, $creator, $upgrader, $heir) = @_;
    my $name = "$version, of $creator, " . ($heir ? "of $heir, " : '') . "by $upgrader";
    my $fresh = new_database($creator, $current);
    my $dbname = new_database($creator, $version);
    my $number = fill($creator, $dbname);
    if ($heir)
    {
        $node->safe_psql($_, "REASSIGN OWNED BY $creator TO $heir") foreach $fresh, $dbname;
    }
    my $before = as($superuser, $dbname, $stored);
    is(as('plain', $dbname, 'ALTER EXTENSION snowid UPDATE'), 'ERROR 42501', "$name: not by just anybody");
    is(as($creator, $dbname, 'ALTER EXTENSION snowid UPDATE'), 'ERROR 42501', "$name: nor by who had it") if $heir;

    # Sessions that are open meanwhile: one with a plan, one that draws all the time.
    my $open = open_session($node, dbname => $dbname, user => 'plain');
    ask($open, "PREPARE draw AS $insert");
    my $last = ask($open, 'EXECUTE draw');
    is($last =~ /^\d+$/ && $last >> 10 & 8191, $number, "$name: an open session draws");
    my $section = ask($open, q(SELECT snowid_section_next('keyed', 7)));
    my $segment = ask($open, q(SELECT snowid_segment_next('numbers')));
    my @drawing = map { draw($node, "$_()", undef, dbname => $dbname, pause_every => 1000) } 'snowid_next', 'snowid_uuidv7';
    wait_to_draw(100_000, @drawing);
    is(as($upgrader, $dbname, 'ALTER EXTENSION snowid UPDATE'), '', "$name: upgraded");
    wait_to_go_on(@drawing);
    stop_drawing([$node], @drawing);
    my ($count) = check_round("$name: drawn meanwhile", $last, $drawing[0]);
    cmp_ok($count, '>', 1000, "$name: so many");
    check_text_round("$name: UUIDs", '', $drawing[1]);

    is_deeply([ differences(map { of_owner(described($_)) } $fresh, $dbname) ], [], "$name: as it is created");
    is(as($superuser, $dbname, $stored), $before, "$name: what is stored stays");
    foreach my $session ($open, my $new = open_session($node, dbname => $dbname, user => 'plain'))
    {
        my $id = ask($session, $session == $open ? 'EXECUTE draw' : $insert);
        cmp_ok($id, '>', $last, "$name: the next ID is above those of before");
        $last = $id;
        is(ask($session, q(SELECT snowid_section_next('keyed', 7))), ++$section, "$name: the next number of a section");
        is(ask($session, q(SELECT snowid_segment_next('numbers'))), ++$segment, "$name: the next number of a segment");
        is(ask($session, 'SELECT snowid_next(4095)'), 'ERROR 55000', "$name: the released shard stays so");
        is(ask($session, 'SELECT node_number, source FROM snowid.node_status'), "$number|joined", "$name: and the node's number");
        is(ask($session, 'SELECT count(*) > 5 FROM snowid.layouts'), 't', "$name: what everyone may read");
        is(ask($session, q(SELECT snowid.advance_past(timestamptz '2020-01-01Z'))), 'ERROR 42501', "$name: what not everyone may do");
        close_session($session);
    }
    is(as($superuser, $dbname, q(SELECT snowid_segment_next('remote') > 0)), 't', "$name: central sources");
    # What was granted to who had it is his still.
    is(as($heir ? $superuser : $creator, $dbname, q(SELECT snowid.advance_past(timestamptz '2020-01-01Z'))), '', "$name: what the owner may do");
    is(as($superuser, $dbname, 'SELECT snowid.accept_shard(shard, snowid_encode(clock_timestamp() + interval \'1 s\', shard, 0)) FROM snowid.released_shards', 'SELECT snowid_shard(snowid_next(4095))'), '4095',
        "$name: the released shard can be taken back");

    # As a registry of others.
    my $member = new_database($superuser, $current);
    add_source($node, $node, name => 'registry', dbname => $member);
    $node->safe_psql($member, "ALTER SERVER registry OPTIONS (SET dbname '$dbname')");
    is(as($superuser, $member, q(SELECT snowid.join('registry', 'a member'))), '1', "$name: a registry");
    return;
}

foreach my $version (@old, 'before')
{
    isnt($node->safe_psql('postgres', "SELECT path FROM pg_extension_update_paths('snowid') WHERE source = '$version' AND target = '$current'"),
        '', "$version: there is a way from it");
    check_upgrade($version, 'alice', $superuser);
    check_upgrade($version, 'alice', 'bob', 'bob');
}

# Rights that somebody has granted stay, and are nothing of the extension's.
my $fresh = new_database('alice', $current);
my $dbname = new_database('alice', 'before');
is(as('alice', $dbname, 'GRANT EXECUTE ON FUNCTION snowid.advance_shard TO plain', 'ALTER EXTENSION snowid UPDATE'), '', 'granted before: upgraded');
is(as('plain', $dbname, 'SELECT snowid.advance_shard(1)'), '', 'granted before: kept');
my @differences = differences(map { described($_) } $fresh, $dbname);
like("@differences", qr/[+] .*proacl = .*plain=X/, 'granted before: seen');
is(join("\n", grep { !/snowid.advance_shard\(.*(?:proacl =|: concerns)/ } @differences), '', 'granted before: and nothing else');

$node->stop;
done_testing();
