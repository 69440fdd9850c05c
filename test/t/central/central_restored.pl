# A central source that has lost what it had allocated: its standby is promoted without the last WAL, it is restored from
# a base backup or a dump, or its sequence is made anew. It would allocate numbers to one server that another one has.
# Each server is refused, until an administrator has followed the steps of the runbook, which the test does; then all go
# on, and no number comes twice. A source that was restarted, or has crashed, is the same one. What a server knows of its
# source stays through crashes, rollbacks, dumps and copies of its database.
#
# Runs in make test-all: it loses a source in six ways.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/operations.md';
my $section = 'A central source was restored or promoted';
my $dir = PostgreSQL::Test::Utils::tempdir();

my $hub = new_server('hub', allows_streaming => 1);
$hub->start;
$hub->safe_psql('postgres', 'CREATE SEQUENCE shipment_seq INCREMENT 1000');
my @servers = map { new_server($_) } 'north', 'south';
foreach my $server (@servers)
{
    $server->start;
    add_source($server, $hub, name => 'hub');
    $server->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE shipment_seq;
CREATE TABLE shipments (no bigint);
SELECT snowid_segment_attach('shipment_seq', 'hub', 'public.shipment_seq');
SQL
}
my ($north, $south) = @servers;

# Has a server store so many numbers. Returns '', or its error.
sub issue
{
    my ($server, $count) = @_;
    return attempt($server, "INSERT INTO shipments SELECT snowid_segment_batch('shipment_seq', $count)");
}

# Has it ask its source for the next number: what was allocated before is given up.
sub forget { return $_[0]->safe_psql('postgres', q(SELECT setval('shipment_seq', last_value, is_called) FROM shipment_seq)) }

sub check_no_repeat
{
    my ($name) = @_;
    my %times;
    $times{$_}++ foreach map { split /\n/, $_->safe_psql('postgres', 'SELECT no FROM shipments') } @servers;
    is(scalar(grep { $_ > 1 } values %times), 0, "$name: numbers that came twice, of " . keys %times);
    return;
}

sub identity { return $_[0]->safe_psql($_[1] // 'postgres', 'SELECT source_identity FROM snowid.segment_sources') }

# The steps of the page, on these servers. The greatest number that they have takes the place of the page's.
sub follow_page
{
    my ($name, $source, $dbname) = @_;
    my (undef, $look, $set, $attach, $verify) = blocks_of($page, $section);
    my ($greatest) = sort { $b <=> $a } map { attempt($_, $look) } @servers;
    my ($used) = sort { $b <=> $a } map { $_->safe_psql('postgres', 'SELECT max(no) FROM shipments') } @servers;
    cmp_ok($greatest, '>=', $used, "$name: the page finds the greatest number");
    my $before = $source->safe_psql($dbname, 'SELECT last_value FROM shipment_seq');
    # As long as nobody has set the source.
    is(attempt($_, $attach), 'ERROR 55000', "$name: attached again to a source that is behind: " . $_->name)
      foreach grep { attempt($_, $look) > $before + 999 } @servers;
    like(attempt($source, $set =~ s/\b1234000\b/$greatest/r, dbname => $dbname), qr/^\d+$/, "$name: the source is set");
    is(attempt($_, $attach) =~ s/^\n//r, '', "$name: attached again: " . $_->name) foreach @servers;
    cmp_ok(attempt($_, $verify), '>', $greatest, "$name: the first number is above: " . $_->name) foreach @servers;
    return;
}

# A source that has lost what was allocated from it. `begin` is called before that, `lose` afterwards: it returns the
# server and the database that are the source from then on.
sub check_lost
{
    my ($name, $begin, $lose) = @_;
    $begin->();
    foreach my $server ($north, $south, $north)
    {
        forget($server);
        is(issue($server, 2_000), '', "$name: numbers before: " . $server->name);
    }
    my ($source, $dbname) = $lose->();
    foreach my $server (@servers)
    {
        point_at($server, $source, name => 'hub');
        $server->safe_psql('postgres', "ALTER SERVER hub OPTIONS (SET dbname '$dbname')");
    }
    my $position = $source->safe_psql($dbname, 'SELECT last_value, is_called FROM shipment_seq');
    foreach my $server ($south, $north)
    {
        my $from = -s $server->logfile;
        is(issue($server, 10), '', "$name: what was allocated before is given on " . $server->name);
        forget($server);
        is(issue($server, 2_000), 'ERROR 55000', "$name: then it is refused on " . $server->name);
        my ($status, $out, $message) = $server->psql('postgres', q(SELECT snowid_segment_next('shipment_seq')));
        like($message,
            qr/sequence "public.shipment_seq" on server "hub" is not the one that sequence "shipment_seq" was attached to\nDETAIL:.*\nHINT:.*last_allocated.*setval.*snowid_segment_attach/,
            "$name: and told why");
        unlike($message, qr{/0000}, "$name: and no more");
        my ($printed) = blocks_of($page, $section);
        like($message, qr/\Q@{[ $printed =~ s{ERROR:  55000: |\n}{}gr ]}\E/, "$name: as the page has it");
        like(slurp_file($server->logfile, $from), qr{The source was "\S+/0000\w+" when it was attached, and is "\S+/0000\w+"},
            "$name: the log has the two identities");
    }
    is($source->safe_psql($dbname, 'SELECT last_value, is_called FROM shipment_seq'), $position, "$name: nothing was allocated meanwhile");
    check_no_repeat($name);
    follow_page($name, $source, $dbname);
    is(issue($_, 2_000), '', "$name: numbers afterwards: " . $_->name) foreach $south, $north, $south, $north;
    check_no_repeat("$name: followed the page");
    $hub = $source;
    return;
}

# 1. A source that was restarted, or has crashed, is the same one.
my $before = identity($north);
like($before, qr{^\d+/\d+/\d+/[0-9A-F]{8}$}, 'server, database, sequence, and timeline');
is(identity($south), $before, 'the same for all servers');
foreach my $how ('restart', 'kill', 'immediate')
{
    is(issue($_, 2_000), '', "numbers before $how") foreach @servers;
    if ($how eq 'restart') { $hub->restart }
    else { crash($hub, $how); $hub->start }
    forget($_) foreach @servers;
    is(issue($_, 2_000), '', "and after it") foreach @servers;
}
is(identity($_), $before, 'the source is the same') foreach @servers;
check_no_repeat('restarted and crashed');

# 2. The ways to lose what was allocated.
my $new;
check_lost(
    'another server',
    sub { },
    sub {
        $new = new_server('fresh', allows_streaming => 1);
        $new->start;
        $new->safe_psql('postgres', 'CREATE SEQUENCE shipment_seq INCREMENT 1000');
        my @oids = map { $_->safe_psql('postgres', q(SELECT 'shipment_seq'::regclass::oid)) } $hub, $new;
        is($oids[0], $oids[1], 'another server: by all else it is the same one');
        $hub->stop;
        return ($new, 'postgres');
    });
check_lost(
    'promoted',
    sub {
        $new = new_standby($hub, 'promoted');
        $new->start;
        $hub->wait_for_catchup($new);
        $new->stop('immediate');
    },
    sub { crash($hub, 'kill'); $new->start; $new->promote; return ($new, 'postgres') });
check_lost(
    'base backup',
    sub { $hub->backup('before') },
    sub {
        $new = PostgreSQL::Test::Cluster->new('restored');
        $new->init_from_backup($hub, 'before');
        $new->append_conf('postgresql.conf', "restore_command = 'false'\n");
        append_to_file($new->data_dir . '/recovery.signal', '');
        $hub->stop('immediate');
        $new->start;
        wait_for(sub { $new->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the recovery to end');
        return ($new, 'postgres');
    });
check_lost(
    'copied database',
    sub { $hub->safe_psql('postgres', 'CREATE DATABASE twin TEMPLATE postgres') },
    sub { return ($hub, 'twin') });
check_lost(
    'dump',
    sub { system_or_bail('pg_dump', '-d', $hub->connstr('twin'), '-f', "$dir/hub.sql") },
    sub {
        $hub->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE template0');
        system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/out", '-d', $hub->connstr('again'), '-f', "$dir/hub.sql");
        return ($hub, 'again');
    });
check_lost('made anew', sub { },
    sub { $hub->safe_psql('again', 'DROP SEQUENCE shipment_seq; CREATE SEQUENCE shipment_seq INCREMENT 1000'); return ($hub, 'again') });

# 3. What a server knows of its source.
my $known = identity($north);
is(attempt($north, q(BEGIN; SELECT snowid_segment_detach('shipment_seq'); ROLLBACK)) =~ s/^\n//r, '', 'rolled back');
is(identity($north), $known, 'rolled back: as before');
crash($north, 'kill');
$north->start;
is(identity($north), $known, 'after a crash');
is(issue($north, 10), '', 'which numbers are taken from');
system_or_bail('pg_dump', '-d', $north->connstr('postgres'), '-f', "$dir/north.sql");
$north->safe_psql('postgres', 'CREATE DATABASE dumped TEMPLATE template0; CREATE DATABASE copied TEMPLATE postgres');
system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/out", '-d', $north->connstr('dumped'), '-f', "$dir/north.sql");
$hub->safe_psql('again', 'DROP SEQUENCE shipment_seq; CREATE SEQUENCE shipment_seq INCREMENT 1000 START 90000001');
foreach my $dbname ('dumped', 'copied')
{
    is(identity($north, $dbname), $known, "$dbname: as before");
    is(attempt($north, q(SELECT snowid_segment_next('shipment_seq')), dbname => $dbname), 'ERROR 55000', "$dbname: no number of another source");
}

# 4. What last_allocated says: null to who may not read the sequence, nor of one that was dropped.
my $allocated = 'SELECT seq, last_allocated FROM snowid.segment_sources';
$north->safe_psql('postgres', 'CREATE ROLE reader');
is($north->safe_psql('postgres', "SET ROLE reader; $allocated"), 'shipment_seq|', 'no right to the sequence');
is(attempt($north, q(SET ROLE reader; SELECT snowid.last_allocated('shipment_seq'))), 'ERROR 42501', 'nor by the function');
foreach my $case ([ 'INCREMENT 10', 'INCREMENT 10', 0, '0' ], [ 'INCREMENT 10 START 501', 'INCREMENT 10', 1, '510' ],
    [ 'MAXVALUE 15', 'INCREMENT 10', 15, '15' ], [ 'MINVALUE -9223372036854775808 START -9223372036854775808', '', 0, '' ],
    [ 'START 9223372036854775807', '', 1, '9223372036854775807' ])
{
    my ($local, $remote, $count, $expected) = @$case;
    $hub->safe_psql('again', "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s $remote");
    my $sql = "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s $local; ";
    # The second and the last have numbers of their own, which count as allocated.
    my $own = $local =~ /START [59]/;
    $sql .= "SELECT snowid_segment_next('s'); " if $own;
    $sql .= q(SELECT snowid_segment_attach('s', 'hub', 's'); ) if !$own;
    $sql .= "SELECT count(*) FROM snowid_segment_batch('s', $count); " if !$own && $count;
    $north->safe_psql('postgres', $sql);
    is($north->safe_psql('postgres', q(SELECT snowid.last_allocated('s'))), $expected, "$local: last_allocated");
}
$north->safe_psql('postgres', q(DROP SEQUENCE s; CREATE SEQUENCE s; SELECT snowid_segment_attach('s', 'hub', 's'); DROP SEQUENCE s));
like($north->safe_psql('postgres', "$allocated ORDER BY last_allocated"), qr/^shipment_seq\|\d+\n\d+\|$/, 'a sequence that was dropped');

# 5. Attached again while others draw, a source is not taken for one that is behind.
$hub->safe_psql('again', 'CREATE SEQUENCE busy_seq INCREMENT 10');
$north->safe_psql('postgres', q(CREATE SEQUENCE busy_seq; SELECT snowid_segment_attach('busy_seq', 'hub', 'busy_seq')));
$north->safe_psql('postgres', 'CREATE TABLE busy (no bigint PRIMARY KEY)');
my @drawing = map { open_session($north) } 1 .. 2;
start_asking($_, q(DO $$ BEGIN FOR i IN 1 .. 3000 LOOP INSERT INTO busy SELECT snowid_segment_next('busy_seq'); COMMIT; END LOOP; END $$))
  foreach @drawing;
my ($times, %answers) = (0);
until (is_answered($drawing[0]) && is_answered($drawing[1]))
{
    $answers{ attempt($north, q(SELECT snowid_segment_attach('busy_seq', 'hub', 'busy_seq'))) } = 1;
    $times++;
}
is(join(' ', keys %answers), '', "attached again $times times while others draw");
is(answer($_), '', 'who draw without an error') foreach @drawing;
is($north->safe_psql('postgres', 'SELECT count(*) FROM busy'), '6000', 'and get a number each time');
close_session(@drawing);

# 6. A source that cannot be reached, or is a standby, is not attached, and nothing is changed.
my $attach = q(SELECT snowid_segment_attach('busy_seq', 'hub', 'busy_seq'));
my $row = $north->safe_psql('postgres', q(SELECT * FROM snowid_internal.segment_sources WHERE seq = 'busy_seq'::regclass));
my $standby = new_standby($hub, 'standby');
$standby->start;
point_at($north, $standby, name => 'hub');
is(attempt($north, $attach), 'ERROR 25006', 'a standby is not attached');
$standby->stop;
is(attempt($north, $attach), 'ERROR 08006', 'nor a server that is down');
is($north->safe_psql('postgres', q(SELECT * FROM snowid_internal.segment_sources WHERE seq = 'busy_seq'::regclass)), $row, 'the row is as before');

check_log($_) foreach @servers;
$_->stop foreach @servers, $hub;
done_testing();
