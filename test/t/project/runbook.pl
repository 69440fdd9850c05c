# The runbook, docs/operations.md, is searched for what somebody has read in a client or a log: so each message on it is
# one that a server prints, with its SQLSTATE. Of snowid's the sources are asked; those that can be had of two servers
# are had, all of PostgreSQL's own among them. Numbers and times in them may be others.
#
# Runs in make test-all: it takes each step of the page.

use strict;
use warnings;

use File::Basename;
use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/operations.md';

# 1. What the sources say. The text of each message, detail and hint, with "…" for what is filled in, and the
# SQLSTATEs of the messages.
sub messages_of_sources
{
    my %sqlstate = (LOG_SERVER_ONLY => '', kClockBehind => 'SN001');
    open my $codes, '<', `$ENV{PG_CONFIG} --sharedir` =~ s/\n//r . '/errcodes.txt' or die "errcodes.txt: $!";
    while (<$codes>) { $sqlstate{$2} = $1 if /^(\w{5})\s+\w\s+(ERRCODE_\w+)/ }
    close $codes;
    my (%messages, @others);
    foreach my $file (glob 'src/pg/{,*/}*.cpp')
    {
        # An INT64_FORMAT stands between two literals; a file's own names of SQLSTATEs and texts are in it or its room.
        my $text = slurp_file($file) =~ s/"\s*U?INT64_FORMAT\s*"?/%d/gr =~ s/"\s*\n\s*"//gr;
        foreach my $report (split /\bereport\(/, $text)
        {
            my ($code) = $report =~ /\berrcode\((\w+)\)/;
            # All of them, lest a text be sought between two.
            my @texts = map { s/\\"/"/gr =~ s/%[a-z]+/…/gr } grep { length > 8 } $report =~ /"((?:[^"\\]|\\.)*)"/g;
            push @{ $messages{$_} }, $sqlstate{ $code // 'LOG_SERVER_ONLY' } // $code foreach @texts;
            # A detail may be another message, as a sentence.
            push @others, @texts, map { ucfirst "$_." } @texts;
        }
    }
    foreach my $file (glob 'src/pg/{,*/}*.sql')
    {
        my $text = slurp_file($file);
        while ($text =~ /RAISE\s+'((?:[^']|'')*)'[^;]*?ERRCODE = '(\w+)'/g)
        {
            my ($message, $condition) = ($1, $2);
            push @{ $messages{ $message =~ s/''/'/gr =~ s/%/…/gr } }, $sqlstate{ 'ERRCODE_' . uc $condition };
        }
        push @others, map { s/''/'/gr =~ s/%s?/…/gr } $text =~ /\b(?:DETAIL|HINT) = (?:format\()?'((?:[^']|'')*)'/g;
    }
    return (\%messages, \@others);
}
my ($messages, $others) = messages_of_sources();

# What is filled in of a text may be anything.
sub pattern_of { return join '.+', map { quotemeta } split /…/, $_[0], -1 }

# What else servers have printed, below: severity, SQLSTATE and message.
my @printed;

# The messages in blocks of code.
sub check_quoted
{
    my $quoted = 0;
    foreach my $line (slurp_file($page) =~ /^((?:ERROR|WARNING|LOG|DETAIL|HINT):  .*)$/mg)
    {
        my ($severity, $code, $text) = $line =~ /^(\w+):  (?:(\w{5}): )?(.*)$/;
        next if $severity eq 'ERROR' && grep { $_->[1] eq $code && $_->[2] eq $text } @printed;
        $quoted++;
        # Where a message ends in what another function says, it is at the end: so the whole line has to match.
        my @found = grep { $text =~ /^@{[ pattern_of($_) ]}$/ } $severity =~ /DETAIL|HINT/ ? @$others : keys %$messages;
        my @codes = map { @{ $messages->{$_} // [] } } @found;
        ok(@found && ($severity ne 'ERROR' || grep { $_ eq $code } @codes), $line) or diag("of the sources: @found @codes");
    }
    cmp_ok($quoted, '>', 15, 'messages are quoted');
    return;
}

# Those in the table by which an entry is found: the beginning of one, after its SQLSTATEs or its severity.
sub check_table
{
    my $named = 0;
    foreach my $cell (section_of($page, 'Where to look') =~ /^\| (.*?) \| /mg)
    {
        foreach my $part (split /; /, $cell)
        {
            my ($codes, $texts) = $part =~ /^([^`]*), (`.*)$/ or next;
            my %code = map { $_ => 1 } split /, /, $codes;
            foreach my $text ($texts =~ /`([^`]*)`/g)
            {
                $named++;
                my $pattern = pattern_of($text);
                my @found = grep { $_->[2] =~ /^(?:.*: )?$pattern/ } @printed;
                foreach my $message (grep { /^$pattern/ || $text =~ /^@{[ pattern_of($_) ]}$/ } keys %$messages)
                {
                    push @found, map { [ '', $_, $message ] } @{ $messages->{$message} };
                }
                ok((grep { $code{ $_->[0] } || $code{ $_->[1] } } @found), "where to look: $codes, $text")
                  or diag(join "\n", map { "@$_" } @found);
            }
        }
    }
    cmp_ok($named, '>', 15, 'messages are named');
    return;
}

# 2. What servers print.
my ($install_path, $scripts) = new_prefix();
my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my $node = new_server('runbook', install_path => $install_path, allows_streaming => 1, extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nlog_timezone = 'UTC'\nlog_error_verbosity = verbose\n"
      . "min_wal_size = 2MB\nmax_wal_size = 2MB\n");
system_or_bail('gcc', '-shared', '-fPIC', '-O1', '-o', "$dir/full.so", 'test/modules/full/full.c', '-ldl');
{
    local %ENV = (%ENV, LD_PRELOAD => "$dir/full.so", SNOWID_FULL => "$dir/full", SNOWID_FULL_OF => $node->data_dir);
    start_server($node);
}
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(registry berlin bare late other restored);
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach qw(postgres registry late other restored);

sub note_printed
{
    my ($text) = @_;
    push @printed, [ $1, $2 // '', $3 ] while $text =~ /(ERROR|FATAL|PANIC|LOG|WARNING):  (?:(\w{5}): )?(.*)/g;
    return;
}

# What a statement prints, in a session of its own.
sub printed_by
{
    my ($server, $dbname, $sql) = @_;
    my $session = open_session($server, dbname => $dbname);
    ask($session, $sql);
    close_session($session);
    note_printed($session->{err});
    return $session->{err};
}

# That it has all lines of the section's block of messages that begin so.
sub has_lines
{
    my ($printed, $heading, $lines) = @_;
    my @lines = grep { /^$lines:  / } map { split /\n/ } blocks_of($page, $heading);
    cmp_ok(scalar(@lines), '>', 0, "$heading: messages");
    foreach my $line (@lines)
    {
        my $pattern = quotemeta($line) =~ s/\d+/[\\d.]+/gr;
        like($printed, qr/^(?:.* )?$pattern$/m, "$heading: $line");
    }
    return;
}

ok(printed_by($node, 'postgres', 'SELECT snowid_next(0)') eq '', 'all is well');
set_clock(-50);
has_lines(printed_by($node, 'postgres', 'SELECT snowid_next(0)'), 'The clock went back', 'ERROR|DETAIL|HINT');
set_clock(0);

has_lines(printed_by($node, 'postgres', q(SELECT snowid_next(0, 'baidu'))), 'A layout is used up', 'ERROR|DETAIL|HINT');
my $from = -s $node->logfile;
my $ahead = $node->safe_psql('late', q(SELECT floor(extract(epoch FROM positive_until - now())) - 100 * 86400 FROM snowid.layouts WHERE name = 'instagram'));
set_clock($ahead);
is(printed_by($node, 'late', 'SELECT snowid_next(0)'), '', 'a hundred days before the end');
set_clock(0);
has_lines(slurp_file($node->logfile, $from) =~ s/00000: //gr, 'A layout is used up', 'LOG');

$node->safe_psql('postgres', q(SELECT snowid.release_shard(42, moved_to => 'cairo')));
has_lines(printed_by($node, 'postgres', 'SELECT snowid_next(42)'), 'A closed shard', 'ERROR|DETAIL|HINT');

my ($host, $port) = ($node->host, $node->port);
foreach my $server ('registry', 'central')
{
    add_source($node, $node, dbname => 'berlin', name => $server);
    $node->safe_psql('berlin', "ALTER SERVER $server OPTIONS (SET dbname 'registry')");
}
$node->safe_psql('registry', 'CREATE SEQUENCE orders_seq INCREMENT 100');
is(printed_by($node, 'berlin', q(SELECT snowid.join('registry', 'berlin'); CREATE SEQUENCE orders_seq; SELECT snowid_segment_attach('orders_seq', 'central', 'orders_seq'))),
    '', 'a node, and a segment of a central source');
$node->safe_psql('postgres', 'CREATE DATABASE copied TEMPLATE berlin');
$node->safe_psql('registry', 'UPDATE snowid_internal.nodes SET token = 1, exchange = exchange + 1');
my $found = 'A clone is found';
has_lines(join("\n", printed_by($node, 'berlin', said_in($page, $found, 'SELECT snowid.check_node()')), printed_by($node, 'copied', 'SELECT snowid_next()')),
    $found, 'ERROR|DETAIL|HINT');

# What the page says to do, where it says it.
is(attempt($node, said_in($page, $found, 'SELECT snowid.take_over_node()'), dbname => 'berlin'), '1', 'the node takes over');
is(attempt($node, said_in($page, $found, q(SELECT snowid.join('registry', 'another name'))), dbname => 'copied'), '2', 'and the copy joins');
is(attempt($node, said_in($page, $found, 'SELECT node_number, problem FROM snowid.node_status'), dbname => $_->[0]), $_->[1], "$_->[0]: verified") foreach [ 'berlin', '1|' ], [ 'copied', '2|' ];

# A registry that may have lost numbers, and one that has given all.
my $lost = 'The registry may have lost numbers';
$node->safe_psql('registry', q(UPDATE snowid_internal.registry_identities SET identity = 'before'; UPDATE snowid_internal.nodes SET token = 1, exchange = 0 WHERE node_number = 1));
add_source($node, $node, dbname => 'late', name => 'registry');
$node->safe_psql('late', q(ALTER SERVER registry OPTIONS (SET dbname 'registry')));
my $join_late = q(SELECT snowid.join('registry', 'late'));
has_lines(join("\n", printed_by($node, 'late', $join_late), printed_by($node, 'berlin', 'SELECT snowid.check_node()')) =~ s/01000: //r,
    $lost, 'ERROR|WARNING|DETAIL|HINT');
is(attempt($node, said_in($page, $lost, 'SELECT snowid.recover_registry(8)'), dbname => 'registry'), '', 'recovered');
is(attempt($node, said_in($page, $lost, 'SELECT snowid.accept_registry()'), dbname => 'berlin'), '1', 'accepted');
is(printed_by($node, 'berlin', said_in($page, $lost, 'SELECT snowid.check_node()')), '', 'a check without a WARNING');
is(attempt($node, $join_late, dbname => 'late'), '9', 'and another node joins');
$node->safe_psql('registry', 'SELECT snowid.recover_registry(8191)');
$node->safe_psql('late', 'SELECT snowid.leave()');
my $all_assigned = 'All numbers are assigned';
has_lines(printed_by($node, 'late', $join_late), $all_assigned, 'ERROR|DETAIL|HINT');
is(attempt($node, said_in($page, $all_assigned, 'SELECT numbers_left FROM snowid.registry_usage'), dbname => 'registry'), '0', 'none is left');

my ($larger) = grep { /CREATE TABLE events/ } blocks_of($page, $all_assigned);
my ($larger_layout) = $larger =~ /'(time:[^']*)'/;
is(attempt($node, $larger, dbname => 'berlin'), '', 'a layout with more shards');
is(attempt($node, "INSERT INTO events DEFAULT VALUES RETURNING snowid_shard(id, '$larger_layout')", dbname => 'berlin'), '8193', 'for a second registry');

# A dump of data alone.
my $restored = 'A dump is restored';
system_or_bail('pg_dump', '-h', $host, '-p', $port, '-a', '-d', 'berlin', '-f', "$dir/data.sql");
$node->psql('restored', slurp_file("$dir/data.sql"), on_error_stop => 0);
has_lines(printed_by($node, 'restored', 'SELECT snowid_next()'), $restored, 'ERROR|DETAIL|HINT');
is(attempt($node, said_in($page, $restored, 'ALTER DATABASE restored SET snowid.shard = 0'), dbname => 'restored'), '', 'it is for tests');
is(attempt($node, 'SELECT snowid_shard(snowid_next())', dbname => 'restored'), '0', 'and draws from 0');
is(attempt($node, 'SELECT snowid.check_node()', dbname => 'berlin'), '1', 'and the original keeps its number');
my ($attach) = grep { /^SELECT snowid_segment_attach/ } blocks_of($page, 'pg_upgrade');
is(attempt($node, $attach, dbname => 'berlin'), '', 'segments are attached again');
my ($accept) = grep { /^SELECT snowid.accept_shard/ } blocks_of($page, 'A closed shard');
my $layout = 'time:41 shard:16 seq:7 unit:1ms epoch:2026-01-01T00:00:00Z';
$node->safe_psql('other', "SELECT snowid.release_shard(42, '$layout')");
is(attempt($node, $accept, dbname => 'other'), '', 'a shard of another layout is accepted');
is(attempt($node, "SELECT snowid_shard(snowid_next(42, '$layout'), '$layout')", dbname => 'other'), '42', 'and is open');

my $long = 'Long units of time';
my $far = q(SELECT snowid.advance_past(clock_timestamp() + interval '12 s'));
has_lines(printed_by($node, 'postgres', $far), $long, 'ERROR');
my $patience = said_in($page, $long, q(SET snowid.max_wait = '1min'));
my $waiting = open_session($node);
backend_of($waiting);
ask($waiting, $patience);
start_asking($waiting, $far);
wait_until_waiting($node, $waiting, 'Extension');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($waiting->{backend})");
is(answer($waiting), 'ERROR 57014', 'with patience it waits');
close_session($waiting);
my ($lead) = grep { /snowid.max_lead/ } blocks_of($page, $long);
follow($node, '', $lead);
wait_for(sub { $node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.max_lead)) eq '70min' }, 'the setting');
$node->safe_psql('postgres', $_) foreach said_in($page, $long, 'ALTER SYSTEM RESET snowid.max_lead'), 'SELECT pg_reload_conf()';

my $joining = 'docs/many-servers.md';
my ($must_join) = grep { /require_node_number/ } blocks_of($joining, 'Joining');
is(attempt($node, $must_join), 't', 'every server must join');
wait_for(sub { attempt($node, 'SELECT snowid_next()') eq 'ERROR 55000' }, 'the setting');
printed_by($node, 'postgres', 'SELECT snowid_next()');
is(attempt($node, 'SELECT snowid.check_node()', dbname => 'berlin'), '1', 'a node draws on');
attempt($node, 'ALTER SYSTEM RESET snowid.require_node_number');
$node->reload;
wait_for(sub { attempt($node, 'SELECT snowid_next() > 0') eq 't' }, 'the setting');

# A sequence that is used up.
my $enlarge = said_in('docs/monitoring.md', 'SnowidSequenceRunsOut', 'ALTER SEQUENCE orders_seq AS bigint NO MAXVALUE;');
$node->safe_psql('other', q(CREATE SEQUENCE orders_seq AS integer; SELECT setval('orders_seq', 2147483647)));
like(printed_by($node, 'other', q(SELECT snowid_segment_next('orders_seq'))), qr/ERROR:  2200H: reached maximum value of sequence/, 'used up');
is(attempt($node, "$enlarge SELECT snowid_segment_next('orders_seq')", dbname => 'other'), '2147483648', 'and enlarged');

# Ranges of wild times, of which one has begun: those that another database can be given.
my $wild = 'The clock jumped forward';
my $ranges = said_in($page, $wild, q(SELECT range_agg(skipped) FROM snowid.skipped_times WHERE lower(skipped) > clock_timestamp() + interval '10 s'));
my ($state) = grep { /tstzrange/ } blocks_of($page, $wild);
$state =~ s/'2026[^']*', '[^']*'/now() + interval '20 d', now() + interval '21 d'/;
$node->safe_psql('other', 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(7))');
# It is further ahead just after it was raised, and would be a range of its own.
wait_for(sub { $node->safe_psql('other', q(SELECT snowid_ceiling() < clock_timestamp() + interval '1900 ms')) eq 't' }, 'the ceiling to be near');
is(attempt($node, $state, dbname => 'other'), '', 'what the wrong clock showed is stated');
my $given = attempt($node, $ranges, dbname => 'other');
like($given, qr/^\{\[.+\}$/, 'ranges that are yet to come');
is(attempt($node, "SELECT snowid.return_to_clock('$given')", dbname => 'copied'), '', 'are given to another database');
set_clock(20.5 * 86400);
is(attempt($node, $ranges, dbname => 'other'), '', 'but not one that has begun');
is(attempt($node, "SELECT snowid.return_to_clock('$given')", dbname => 'postgres'), 'ERROR 22023', 'which is refused');
set_clock(0);
my $other = open_session($node, dbname => 'copied');
ask($other, 'SELECT 1');
like(printed_by($node, 'copied', "SELECT snowid.return_to_clock('$given')"), qr/ERROR:  55006: database "copied" is being accessed by others/, 'somebody is connected');
close_session($other);

$node->safe_psql('registry', 'ALTER DATABASE registry SET default_transaction_read_only = on');
like(printed_by($node, 'berlin', 'SELECT snowid.check_node()'), qr/ERROR:  25006: server "registry" is read-only/, 'a registry that is read-only');
$node->safe_psql('berlin', "ALTER USER MAPPING FOR PUBLIC SERVER registry OPTIONS (ADD user 'nosuch')");
like(printed_by($node, 'berlin', 'SELECT snowid.check_node()'), qr/ERROR:  28000: server "registry" has refused the login/, 'a registry that refuses');
$node->safe_psql('berlin', "ALTER SERVER $_ OPTIONS (SET host '/nowhere')") foreach 'registry', 'central';
my $down = 'The registry, or a central source, is down';
my ($registry_down, $source_down) = blocks_of($page, $down);
my $all = join "\n", map { printed_by($node, 'berlin', "SELECT $_") } 'snowid.check_node()', q(snowid_segment_next('orders_seq'));
like($all, qr/^\Q$_\E/m, "$down: $_") foreach map { split /\n/ } $registry_down, $source_down;

# 3. PostgreSQL's own.
$node->safe_psql('berlin', 'CREATE ROLE app; ALTER SERVER registry OWNER TO app');
like(printed_by($node, 'berlin', 'SELECT snowid.check_node()'), qr/ERROR:  42501: owner of foreign server "registry" is not a superuser/, 'called by another role');
$node->safe_psql('berlin', 'ALTER SERVER registry OWNER TO CURRENT_USER; DROP USER MAPPING FOR PUBLIC SERVER registry');
printed_by($node, 'berlin', 'SELECT snowid.check_node()');
printed_by($node, 'postgres', 'SET ROLE app; SELECT snowid.advance_past(now())');
my $standby = new_standby($node, 'standby');
$standby->start;
printed_by($standby, 'postgres', 'SELECT snowid_next()');
$standby->stop;
printed_by($node, 'bare', 'SELECT snowid_next()');

# The library is gone: in place of the link to where it is, a directory that has all but it.
my $gone = 'The library is gone';
my ($in_call, $at_start) = map { s/\n\z//r } blocks_of($page, $gone);
$in_call =~ s/\$libdir\///
  if $node->pg_version >= 18;
my $lib = `'$install_path/bin/pg_config' --pkglibdir` =~ s/\n//r;
mkdir "$lib.without" or die "$lib.without: $!";
symlink $_, "$lib.without/" . basename($_) or die "$_: $!" foreach grep { basename($_) ne 'snowid.so' } glob "$lib/*";
my $before = open_session($node);
like(ask($before, 'SELECT snowid_next(0)'), qr/^\d+$/, 'a session has loaded it');
rename $lib, "$lib.with" and rename "$lib.without", $lib or die "$lib: $!";
like(printed_by($node, 'postgres', 'SELECT snowid_next(0)'), qr/^\Q$in_call\E$/m, "$gone: $in_call");
like(ask($before, 'SELECT snowid_next(0)'), qr/^\d+$/, 'that session draws on');
close_session($before);

$node->append_conf('postgresql.conf', "session_preload_libraries = 'snowid'\n");
$node->reload;
my $refused = sub { return ($node->psql('postgres', 'SELECT 1'))[2] };
wait_for(sub { $refused->() ne '' }, 'sessions to be refused');
like($refused->(), qr/\Q$at_start\E$/m, "$gone: no session begins: $at_start");
my ($way_in) = said_in($page, $gone, q(PGOPTIONS='-c session_preload_libraries=')) =~ /'(.*)'/;
{
    local $ENV{PGOPTIONS} = $way_in;
    is($node->safe_psql('postgres', 'SELECT 1'), '1', 'but that of a superuser, as the page has it');
}
$node->append_conf('postgresql.conf', "session_preload_libraries = ''\nshared_preload_libraries = 'snowid'\n");
$node->stop;
$from = -s $node->logfile;
is($node->start(fail_ok => 1), 0, 'preloaded, the server does not start');
my $log = slurp_file($node->logfile, $from);
note_printed($log);
like($log =~ s/FATAL:  \w{5}: /FATAL:  /r, qr/\Q$at_start\E$/m, "$gone: $at_start");
rename $lib, "$lib.without" and rename "$lib.with", $lib or die "$lib: $!";
{
    local %ENV = (%ENV, LD_PRELOAD => "$dir/full.so", SNOWID_FULL => "$dir/full", SNOWID_FULL_OF => $node->data_dir);
    start_server($node);
}
like($node->safe_psql('postgres', 'SELECT snowid_next(0)'), qr/^\d+$/, 'installed again');

# The disk is full, so that no segment of WAL can be made. The server ends, and does not restart in tests.
$from = -s $node->logfile;
append_to_file("$dir/full", '');
$node->psql('postgres', q(SELECT pg_logical_emit_message(false, '', repeat('x', 100000)) FROM generate_series(1, 1000)));
my $postmaster = $node->data_dir . '/postmaster.pid';
wait_for(sub { !-e $postmaster }, 'the server to end');
unlink "$dir/full";
$log = slurp_file($node->logfile, $from);
note_printed($log);
my $panic = said_in($page, 'Disk full', 'PANIC: could not write to file "pg_wal/…": No space left on device') =~ s/^PANIC: //r;
like($log, qr/PANIC:  53100: @{[ pattern_of($panic) ]}$/m, "Disk full: $panic");
$node->{_pid} = undef;
start_server($node);
like($node->safe_psql('postgres', 'SELECT snowid_next(0)'), qr/^\d+$/, 'there is room: it starts');

# The page has the message of servers up to 17; later ones leave out where the library was looked for.
push @printed, map { [ @$_[ 0, 1 ], $_->[2] =~ s/file "snowid"/file "\$libdir\/snowid"/r ] } grep { $_->[0] eq 'ERROR' } @printed
  if $node->pg_version >= 18;
check_quoted();
check_table();
$node->stop;
done_testing();
