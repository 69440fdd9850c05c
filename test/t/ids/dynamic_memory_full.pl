# Where dynamic shared memory is not to be had, at first or for more shards, callers get a clear error: what was in use goes on,
# IDs can be read, the session lives, there is service again once there is memory, and no ID comes twice.
# Runs in make test-all: it uses shared memory up.

use Snowid;

# With mmap it consists of files, and an ordinary user can see to it that there can be no more of them.
my @databases = qw(postgres one two three);
my $node = ready_server('dynamic_memory_full', conf => "dynamic_shared_memory_type = mmap\n", databases => [ @databases[ 1 .. 3 ] ]);
my $files = $node->data_dir . '/pg_dynshmem';
my $deny = sub { chmod 0500, $files or die "$files: $!" };
my $allow = sub { chmod 0700, $files or die "$files: $!" };

# How often each ID was drawn, by database.
my %drawn;

# Has a session draw IDs of shards. Returns its error, or how many it got.
sub take
{
    my ($session, $dbname, $from, $to) = @_;
    my $answer = ask($session, "SELECT snowid_next(n) FROM generate_series($from, $to) n");
    return $answer if $answer =~ /^ERROR/;
    my @ids = split /\n/, $answer;
    $drawn{$dbname}{$_}++ foreach @ids;
    return scalar @ids;
}

sub is_refused
{
    my ($name, $session, $dbname, $to) = @_;
    is(take($session, $dbname, 0, $to), 'ERROR 42501', "$name: refused");
    like($session->{err}, qr/could not open shared memory segment .*: Permission denied/, "$name: told why");
    is(ask($session, 'CREATE TABLE works AS SELECT snowid_sequence(11637205501278089) AS n; DROP TABLE works'), '', "$name: it reads IDs, and writes");
    return;
}

# For the area that holds the shards.
$node->restart;
$deny->();
my @sessions = map { open_session($node) } 1 .. 2;
foreach my $round (1 .. 2) { is_refused("round $round", $_, 'postgres', 1) foreach @sessions }
$allow->();
is(take($_, 'postgres', 0, 999), 1000, 'the same session is served now') foreach @sessions;
close_session(@sessions);

# For more of them: four databases with all their shards need more than the two mebibytes that there are at first.
my %session = map { $_ => open_session($node, dbname => $_) } @databases;
is(take($session{postgres}, 'postgres', 0, 8191), 8192, 'more: all shards of a database');
is(take($session{$_}, $_, 0, 0), 1, "more: one of $_") foreach @databases[ 1 .. 3 ];
$deny->();
my ($short) = grep { take($session{$_}, $_, 0, 8191) ne 8192 } @databases[ 1 .. 3 ];
ok(defined $short, 'more: not all of all databases');
foreach my $round (1 .. 2)
{
    is_refused("more, round $round", $session{$short}, $short, 8191);
    is(take($session{$short}, $short, 0, 0), 1, "more, round $round: the one goes on");
    is(take($session{postgres}, 'postgres', 0, 8191), 8192, "more, round $round: so do all of the first database");
    my $newcomer = open_session($node);
    is(take($newcomer, 'postgres', 0, 8191), 8192, "more, round $round: for a session that comes now, too");
    close_session($newcomer);
}
$allow->();
is(take($session{$_}, $_, 0, 8191), 8192, "more: now all of $_") foreach @databases;
close_session(values %session);
is(scalar(grep { $_ > 1 } values %{ $drawn{$_} }), 0, "no ID twice in $_") foreach @databases;
end_test($node);
