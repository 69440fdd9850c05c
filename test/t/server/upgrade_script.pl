# ALTER EXTENSION snowid UPDATE, from every version that was released: an upgraded extension is the one that
# CREATE EXTENSION makes, in objects, definitions, rights, comments and memberships (upgrade_compared.pl shows what the comparison
# sees). What is stored stays, the library serves the old script's objects until then, sessions go on, and
# nothing repeats. Whoever may create the extension can upgrade it, nobody else.
#
# What was released is in src/upgrade/released, byte for byte, the steps between versions in src/upgrade. Beside
# it, and while there is none, a version that is made up here goes the same way.

use PostgreSQL::Test::Cluster;
use Snowid;
use SnowidUpgrades;

my $current = current_version();
my ($install_path, $scripts) = new_prefix();

# What was released does not change any more; nor do tables that C opens: what it made of them it finds again, in each version.
my %released = map { m{/snowid--(.*)[.]sql$} ? ($1 => slurp_file($_)) : () } glob 'src/upgrade/released/snowid--*.sql';
is(script_of($current), $released{$current}, "the script of $current is the one that was released") if exists $released{$current};
my @old = grep { $_ ne $current } sort keys %released;
add_version($scripts, $_, $released{$_}) foreach @old;
my $before = add_version_before($scripts);
sub tables_of_c { my ($of) = @_; return join '', $of =~ /^(CREATE TABLE snowid_internal[.](?:membership|moved_shards|segment_sources) .*?;\n)/msg }
is(scalar(() = tables_of_c($before) =~ /CREATE/g), 3, 'tables that C opens');
is(tables_of_c($_), tables_of_c(script_of($current)), 'they are as they were') foreach $before, @released{@old};

my $node = versions_server($install_path);
sub as { return as_role($node, @_) }

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
    my $joined = as('postgres', $dbname, "SELECT snowid.join('registry', '$dbname')");
    like($joined, qr/^\d+$/, "$dbname: joined");
    is(as('postgres', $dbname, q(CREATE SEQUENCE remote), q(DO 'BEGIN PERFORM snowid_segment_attach($$remote$$, $$registry$$, $$central$$); END')), '', "$dbname: attached");
    return $joined;
}

my $stored = q(SELECT (SELECT string_agg(p::text, ' ' ORDER BY id) FROM photos p WHERE n <= 100), (SELECT count(*) FROM recent WHERE n <= 100),
  (SELECT string_agg(id::text, ' ') FROM posts), (SELECT string_agg(s::text, ' ') FROM snowid_internal.segment_sources s),
  (SELECT string_agg(m::text, ' ') FROM snowid_internal.membership m), (SELECT string_agg(r::text, ' ') FROM snowid_internal.moved_shards r));
my $insert = 'INSERT INTO photos (n) VALUES (101) RETURNING id';
my @draws = (q(SELECT snowid_section_next('keyed', 7)), q(SELECT snowid_segment_next('numbers')));
my $advance = q(SELECT snowid.advance_past(timestamptz '2020-01-01Z'));

# What there is of the extension, with all roles that may be its owner called by one name.
sub described { my ($dbname) = @_; return as('postgres', $dbname, describing(), q(SELECT pg_temp.describe('snowid'))) =~ s/\b(?:alice|bob)\b/owner/gr }

# From a version that `creator` has created, by `upgrader`; `heir` is who has got the extension in between.
sub check_upgrade
{
    my ($version, $creator, $upgrader, $heir) = @_;
    my $name = "$version, of $creator, " . ($heir ? "of $heir, " : '') . "by $upgrader";
    my $fresh = database_of($node, $creator, $current);
    my $dbname = database_of($node, $creator, $version);
    my $number = fill($creator, $dbname);
    $node->safe_psql($_, $heir ? "REASSIGN OWNED BY $creator TO $heir" : 'SELECT') foreach $fresh, $dbname;
    my $before = as('postgres', $dbname, $stored);
    is(as('plain', $dbname, 'ALTER EXTENSION snowid UPDATE'), 'ERROR 42501', "$name: not by just anybody");
    is(as($creator, $dbname, 'ALTER EXTENSION snowid UPDATE'), 'ERROR 42501', "$name: nor by who had it") if $heir;

    # Sessions that are open meanwhile: one with a plan, one that draws all the time.
    my $open = open_session($node, dbname => $dbname, user => 'plain');
    ask($open, "PREPARE draw AS $insert");
    my $last = ask($open, 'EXECUTE draw');
    is($last =~ /^\d+$/ && $last >> 10 & 8191, $number, "$name: an open session draws");
    my ($section, $segment) = map { ask($open, $_) } @draws;
    my @drawing = map { draw($node, "$_()", undef, dbname => $dbname, pause_every => 1000) } 'snowid_next', 'snowid_uuidv7';
    wait_to_draw(100_000, @drawing);
    is(as($upgrader, $dbname, 'ALTER EXTENSION snowid UPDATE'), '', "$name: upgraded");
    wait_to_go_on(@drawing);
    stop_drawing([$node], @drawing);
    my ($count) = check_round("$name: drawn meanwhile", $last, $drawing[0]);
    cmp_ok($count, '>', 1000, "$name: so many");
    check_text_round("$name: UUIDs", '', $drawing[1]);

    is_deeply([ differences(map { described($_) } $fresh, $dbname) ], [], "$name: as it is created");
    is(as('postgres', $dbname, $stored), $before, "$name: what is stored stays");
    foreach my $session ($open, my $new = open_session($node, dbname => $dbname, user => 'plain'))
    {
        my $id = ask($session, $session == $open ? 'EXECUTE draw' : $insert);
        cmp_ok($id, '>', $last, "$name: the next ID is above those of before");
        $last = $id;
        is(join(' ', map { ask($session, $_) } @draws), join(' ', ++$section, ++$segment), "$name: the next numbers of a section and a segment");
        is(ask($session, 'SELECT node_number, source, (SELECT count(*) > 5 FROM snowid.layouts) FROM snowid.node_status'), "$number|joined|t", "$name: what everyone may read");
        is(ask($session, 'SELECT snowid_next(4095)'), 'ERROR 55000', "$name: the released shard stays so");
        is(ask($session, $advance), 'ERROR 42501', "$name: what not everyone may do");
        close_session($session);
    }
    is(as('postgres', $dbname, q(SELECT snowid_segment_next('remote') > 0)), 't', "$name: central sources");
    # What was granted to who had it is his still.
    is(as($heir ? 'postgres' : $creator, $dbname, $advance), '', "$name: what the owner may do");
    is(as('postgres', $dbname, q(SELECT snowid.accept_shard(shard, snowid_encode(clock_timestamp() + interval '1 s', shard, 0)) FROM snowid.released_shards),
            'SELECT snowid_shard(snowid_next(4095))'), '4095', "$name: the released shard can be taken back");

    my $member = database_of($node, 'postgres', $current);
    add_source($node, $node, name => 'registry', dbname => $member);
    $node->safe_psql($member, "ALTER SERVER registry OPTIONS (SET dbname '$dbname')");
    is(as('postgres', $member, q(SELECT snowid.join('registry', 'a member'))), '1', "$name: a registry");
    return;
}

foreach my $version (@old, 'before')
{
    isnt($node->safe_psql('postgres', "SELECT path FROM pg_extension_update_paths('snowid') WHERE source = '$version' AND target = '$current'"),
        '', "$version: there is a way from it");
    check_upgrade($version, 'alice', 'postgres');
    check_upgrade($version, 'alice', 'bob', 'bob');
}

end_test($node);
