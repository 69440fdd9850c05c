# A source that has lost what it had allocated would allocate it to another server: its standby is promoted without the last WAL, it is restored
# from a base backup or a dump, or is another server, database or sequence. Each server gets an error, with nothing taken, until an administrator
# has followed the steps of the page; then all go on, and no number comes twice. A source that was restarted, or has crashed, is the same one.
# Runs in make test-all: it loses a source in six ways.

use Snowid;

my ($page, $section) = ('docs/runbook.md', 'A remote sequence was restored or promoted');
my ($look, $set, $attach) = blocks_of($page, $section);
my $verify = said_in($page, $section, q(SELECT snowid_segment_next('shipment_seq')));
my $dir = PostgreSQL::Test::Utils::tempdir();
my $hub = new_server('hub', allows_streaming => 1);
$hub->start;
my $create = 'CREATE SEQUENCE shipment_seq INCREMENT 1000';
$hub->safe_psql('postgres', $create);
my @servers = map { ready_server($_) } 'north', 'south';
foreach my $server (@servers)
{
    add_source($server, $hub, name => 'hub');
    $server->safe_psql('postgres', "CREATE SEQUENCE shipment_seq; CREATE TABLE shipments (no bigint); SELECT snowid_segment_attach('shipment_seq', 'hub', 'public.shipment_seq')");
}
my ($north, $south) = @servers;
sub issue { my ($server, $count) = @_; return attempt($server, "INSERT INTO shipments SELECT snowid_segment_batch('shipment_seq', $count)") }
# Has it ask its source for the next number: what was allocated before is given up.
sub ask_anew { return $_[0]->safe_psql('postgres', q(SELECT setval('shipment_seq', last_value, is_called) FROM shipment_seq)) }
sub identity { return $_[0]->safe_psql('postgres', 'SELECT source_identity FROM snowid.segment_sources') }

sub check_no_repeat
{
    my ($name) = @_;
    my %times;
    $times{$_}++ foreach map { split /\n/, $_->safe_psql('postgres', 'SELECT no FROM shipments') } @servers;
    is(scalar(grep { $_ > 1 } values %times), 0, "$name: numbers that came twice, of " . keys %times);
    return;
}

# `begin` is called before numbers are drawn that are lost, `lose` afterwards: it returns the server and the database that are the source from then on.
sub check_lost
{
    my ($name, $begin, $lose) = @_;
    $begin->();
    foreach my $server ($north, $south, $north)
    {
        ask_anew($server);
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
        is(issue($server, 10), '', "$name: what was allocated before is issued on " . $server->name);
        ask_anew($server);
        my ($status, $out, $message) = $server->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowid_segment_batch('shipment_seq', 2000)");
        leads_to($page, $section, $message);
        like($message, qr/^(?:.* )?ERROR:  55000: sequence "public.shipment_seq" on server "hub" is not the one to which sequence "shipment_seq" was attached\nDETAIL:.*\nHINT:.*last_allocated.*setval.*snowid_segment_attach/, "$name: then there is an error, as the page has it");
        unlike($message, qr{/0000}, "$name: and no more");
        like(slurp_file($server->logfile, $from), qr{The source was "\S+/0000\w+" when it was attached, and is "\S+/0000\w+"}, "$name: the log has the two identities");
    }
    is($source->safe_psql($dbname, 'SELECT last_value, is_called FROM shipment_seq'), $position, "$name: nothing was allocated meanwhile");

    # The steps of the page. The greatest number that the servers have takes the place of the page's.
    my ($greatest) = sort { $b <=> $a } map { attempt($_, $look) } @servers;
    my ($used) = sort { $b <=> $a } map { $_->safe_psql('postgres', 'SELECT max(no) FROM shipments') } @servers;
    cmp_ok($greatest, '>=', $used, "$name: the page finds the greatest number");
    my ($before) = split /\|/, $position;
    # As long as nobody has set the source.
    is(attempt($_, $attach), 'ERROR 55000', "$name: attached again to a source that is behind: " . $_->name) foreach grep { attempt($_, $look) > $before + 999 } @servers;
    like(attempt($source, $set =~ s/\b1234000\b/$greatest/r, dbname => $dbname), qr/^\d+$/, "$name: the source is set");
    is(attempt($_, $attach) =~ s/^\n//r, '', "$name: attached again: " . $_->name) foreach @servers;
    cmp_ok(attempt($_, $verify), '>', $greatest, "$name: the first number is above: " . $_->name) foreach @servers;
    is(issue($_, 2_000), '', "$name: numbers afterwards: " . $_->name) foreach $south, $north, $south, $north;
    check_no_repeat("$name: followed the page");
    $hub = $source;
    return;
}

my $before = identity($north);
like($before, qr{^\d+/\d+/\d+/[0-9A-F]{8}$}, 'server, database, sequence, and timeline');
foreach my $how ('restart', 'kill', 'immediate')
{
    is(issue($_, 2_000), '', "numbers before $how") foreach @servers;
    if ($how eq 'restart') { $hub->restart }
    else { crash($hub, $how); $hub->start }
    ask_anew($_) foreach @servers;
    is(issue($_, 2_000), '', 'and after it') foreach @servers;
}
is(identity($_), $before, 'the source is the same') foreach @servers;
check_no_repeat('restarted and crashed');

my $new;
check_lost('another server', sub { }, sub {
    $new = new_server('fresh', allows_streaming => 1);
    $new->start;
    $new->safe_psql('postgres', $create);
    my @oids = map { $_->safe_psql('postgres', q(SELECT 'shipment_seq'::regclass::oid)) } $hub, $new;
    is($oids[0], $oids[1], 'another server: by all else it is the same one');
    $hub->stop;
    return ($new, 'postgres');
});
check_lost('promoted', sub {
    $new = new_standby($hub, 'promoted');
    $new->start;
    $hub->wait_for_catchup($new);
    $new->stop('immediate');
}, sub { crash($hub, 'kill'); $new->start; $new->promote; return ($new, 'postgres') });
check_lost('base backup', sub { $hub->backup('before') }, sub {
    $new = PostgreSQL::Test::Cluster->new('restored');
    $new->init_from_backup($hub, 'before');
    $new->append_conf('postgresql.conf', "restore_command = 'false'\n");
    append_to_file($new->data_dir . '/recovery.signal', '');
    $hub->stop('immediate');
    $new->start;
    wait_for(sub { $new->safe_psql('postgres', 'SELECT pg_is_in_recovery()') eq 'f' }, 'the recovery to end');
    return ($new, 'postgres');
});
check_lost('copied database', sub { $hub->safe_psql('postgres', 'CREATE DATABASE twin TEMPLATE postgres') }, sub { return ($hub, 'twin') });
check_lost('dump', sub { system_or_bail('pg_dump', '-d', $hub->connstr('twin'), '-f', "$dir/hub.sql") }, sub {
    $hub->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE template0');
    system_or_bail('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/out", '-d', $hub->connstr('again'), '-f', "$dir/hub.sql");
    return ($hub, 'again');
});
check_lost('made anew', sub { }, sub { $hub->safe_psql('again', "DROP SEQUENCE shipment_seq; $create"); return ($hub, 'again') });
end_test(@servers, $hub);
