# Where memory for shards is not to be had, callers get a clear error, and nothing else is harmed: what
# was in use goes on, IDs can be read, the session lives, and there is service again once there is
# memory. Three ways to run out: the bound on shards, the server's main shared memory, dynamic shared
# memory.
#
# Runs in make test-all: it uses shared memory up.

use strict;
use warnings;

use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('exhaustion');
# With mmap dynamic shared memory consists of files, and an ordinary user can see to it that there can
# be no more of them.
$node->append_conf('postgresql.conf', "dynamic_shared_memory_type = mmap\n");
$node->start;
my @databases = qw(postgres other);
my @more_databases = qw(third fourth);
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach 'other', @more_databases, 'fifth';
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach @databases, @more_databases, 'fifth';

# All the IDs there ever were, by database.
my %drawn;

# Has a session draw IDs, in an expression that may name n, one for each n. Returns the SQLSTATE of
# its error, or how many it got.
sub take
{
    my ($session, $dbname, $expression, $from, $to) = @_;
    my $answer = ask($session, "SELECT $expression FROM generate_series($from, $to) n");
    return $answer if $answer =~ /^ERROR/;
    my @ids = split /\n/, $answer;
    push @{ $drawn{$dbname} }, @ids;
    return scalar @ids;
}

# Checks that nothing but drawing is harmed for a session that was just refused.
sub check_unharmed
{
    my ($name, $session) = @_;
    is(ask($session, 'SELECT snowid_shard(snowid_encode(now(), 77, 5)), snowid_sequence(11637205501278089)'),
        '77|905', "$name: it reads IDs");
    is(ask($session, 'CREATE TABLE works AS SELECT 1 AS n'), '', "$name: it writes");
    is(ask($session, 'DROP TABLE works'), '', "$name: it changes the schema");
    return;
}

# 1. The bounds on shards of other layouts than the default one: of the server, and of one database. Here they are low,
# and all shards are in use.
my %low = (max_shards => 100, max_shards_of_database => 25);
my $next = q(snowid_next(n, 'twitter'));
lower_bounds($node, $_, %low) foreach @databases, @more_databases, 'fifth';
$node->restart;
my %session = map { $_ => open_session($node, dbname => $_) } @databases;

# Checks that a database gets no other shard, in whatever way, and goes on with those that it has.
sub check_bound
{
    my ($dbname, $has) = @_;
    is(take($session{$dbname}, $dbname, $_, $has, $has), 'ERROR 53400', "bound: no more in $dbname: $_")
      foreach $next, q(snowid_reserve(n, 5, 'twitter')), q(snowid_next(0, 'discord'));
    like(
        $session{$dbname}{err},
        qr/too many shards of layouts other than "instagram" are in use\nDETAIL:  This database has 25, .*\nHINT:  End the sessions/,
        "bound: with a clear message in $dbname");
    check_unharmed("bound, $dbname", $session{$dbname});
    is(take($session{$dbname}, $dbname, $next, 0, $has - 1), $has, "bound: $dbname goes on");
    return;
}
is(take($session{$_}, $_, $next, 0, 9), 10, "bound: 10 shards of $_") foreach @databases;
is(take($session{postgres}, 'postgres', $next, 10, 24), 15, 'bound: 15 more of one database');
check_bound('postgres', 25);
is(take($session{other}, 'other', $next, 10, 23), 14, 'bound: another one has its own share');
is(ask($session{postgres}, 'SELECT snowid_uuidv7() < snowid_uuidv7()'), 't', 'bound: UUIDs need none of it');
is(ask($session{postgres}, 'SELECT count(snowid_next(n)) FROM generate_series(0, 99) n'), '100', 'bound: nor the default layout');
my $another = open_session($node);
is(take($another, 'postgres', $next, 0, 24), 25, 'bound: another session goes on');

# Four databases with a quarter each leave a fifth nothing.
$session{$_} = open_session($node, dbname => $_) foreach @more_databases;
is(take($session{$_}, $_, $next, 0, 24), 25, "bound: a quarter for $_") foreach @more_databases;
is(take($session{other}, 'other', $next, 24, 24), 1, 'bound: the last shard of all');
is(ask(open_session($node, dbname => 'fifth'), q(SELECT snowid_next(1, 'twitter'))), 'ERROR 53400', 'bound: none is left');
check_bound($_, 25) foreach @databases;
$node->restart;
%session = map { $_ => open_session($node, dbname => $_) } @databases;
is(take($session{postgres}, 'postgres', $next, 50, 74), 25, 'bound: a restart makes room');
lower_bounds($node, $_) foreach @databases, @more_databases, 'fifth';

# 2. Main shared memory, used up before snowid is used for the first time since the start.
my $hog = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/hog.so';
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $include = qx($pg_config --includedir-server));
system_or_bail('gcc', '-shared', '-fPIC', '-O1', "-I$include", '-o', $hog, 'test/modules/hog/hog.c');
$node->safe_psql('postgres', "CREATE FUNCTION hog() RETURNS bigint AS '$hog' LANGUAGE C");
$node->restart;
my $session = open_session($node);
cmp_ok(ask($session, 'SELECT hog()'), '>', 2048, 'main: there was some');
is(ask($session, 'SELECT hog()'), 0, 'main: now there is none');
foreach my $who ('a session', 'the same session', 'another session')
{
    $session = open_session($node) if $who eq 'another session';
    is(take($session, 'postgres', 'snowid_next(n)', 1, 1), 'ERROR 53200', "main: $who is refused");
    like($session->{err}, qr/not enough shared memory for data structure "snowid"/,
        "main: $who is told why");
    check_unharmed("main, $who", $session);
}
$node->restart;
$session = open_session($node);
is(take($session, 'postgres', 'snowid_next(n)', 0, 999), 1000, 'main: served after a restart');

# 3. Dynamic shared memory, first for the area that holds the shards, and then for more of them.
my $files = $node->data_dir . '/pg_dynshmem';
my $deny = sub { chmod 0500, $files or die "$files: $!" };
my $allow = sub { chmod 0700, $files or die "$files: $!" };
$node->restart;
$deny->();
my @sessions = map { open_session($node) } 1 .. 2;
foreach my $round (1 .. 2)
{
    foreach my $number (0, 1)
    {
        my $name = "dynamic, session $number, round $round";
        is(take($sessions[$number], 'postgres', 'snowid_next(n)', 1, 1), 'ERROR 42501', "$name: refused");
        like($sessions[$number]{err}, qr/could not open shared memory segment .*: Permission denied/,
            "$name: told why");
        check_unharmed($name, $sessions[$number]);
    }
}
$allow->();
is(take($_, 'postgres', 'snowid_next(n)', 0, 999), 1000, 'dynamic: the same session is served now')
  foreach @sessions;

# Four databases with all their shards need more than the two mebibytes that there are at first.
%session = map { $_ => open_session($node, dbname => $_) } @databases, @more_databases;
is(take($session{postgres}, 'postgres', 'snowid_next(n)', 0, 8191), 8192, 'more: all shards of a database');
is(take($session{$_}, $_, 'snowid_next(n)', 0, 0), 1, "more: one of $_") foreach 'other', @more_databases;
$deny->();
my $short;
foreach my $dbname ('other', @more_databases)
{
    next if $short || take($session{$dbname}, $dbname, 'snowid_next(n)', 0, 8191) eq 8192;
    $short = $dbname;
}
ok(defined $short, 'more: not all of all databases');
foreach my $round (1 .. 2)
{
    is(take($session{$short}, $short, 'snowid_next(n)', 0, 8191), 'ERROR 42501', "more, round $round: refused");
    like($session{$short}{err}, qr/could not open shared memory segment .*: Permission denied/,
        "more, round $round: told why");
    check_unharmed("more, round $round", $session{$short});
    is(take($session{$short}, $short, 'snowid_next(n)', 0, 0), 1, "more, round $round: the one goes on");
    is(take($session{postgres}, 'postgres', 'snowid_next(n)', 0, 8191),
        8192, "more, round $round: so do all of the first database");
    my $newcomer = open_session($node);
    is(take($newcomer, 'postgres', 'snowid_next(n)', 0, 8191),
        8192, "more, round $round: for a session that comes now, too");
    close_session($newcomer);
}
$allow->();
foreach my $dbname (@databases, @more_databases)
{
    is(take($session{$dbname}, $dbname, 'snowid_next(n)', 0, 8191), 8192, "more: now all of $dbname")
      foreach 1 .. 2;
}

# No ID came twice through all this.
foreach my $dbname (@databases, @more_databases)
{
    my %count;
    $count{$_}++ foreach @{ $drawn{$dbname} };
    is(scalar(keys %count), scalar(@{ $drawn{$dbname} }), "no ID twice in $dbname");
}

$node->stop;
done_testing();
