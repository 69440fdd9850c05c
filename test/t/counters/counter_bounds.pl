# How many segments and sections one database and the server may have in use, and what becomes of who wants more: 53400, with
# what the bound is and what helps. What is there goes on meanwhile. What nobody uses makes room, and goes on above all that it may
# have given.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A database may have 24, the server 96.
my %low = (max_counters => 96, max_counters_of_database => 24);
my $node = new_server('counters');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
my @databases = map { "d$_" } 1 .. 5;
foreach my $dbname (@databases)
{
    $node->safe_psql('postgres', "CREATE DATABASE $dbname");
    $node->safe_psql($dbname, 'CREATE EXTENSION snowid');
    lower_bounds($node, $dbname, %low);
    $node->safe_psql($dbname, join '; ', (map { "CREATE SEQUENCE c$_ INCREMENT 100" } 1 .. 60),
        'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO PUBLIC');
}
# So that nothing is left of the other library.
$node->restart;

# Every other one is a section.
sub next_of { my ($number) = @_; return $number % 2 ? "snowid_segment_next('c$number')" : "snowid_section_next('c$number', 7)" }

# The last number of each counter, and how many were not above the one before, or skipped some while
# the counter was in use.
my (%last, %skipping);
my $wrong = 0;

# Has a session draw from counters, one after another, up to the first error. Returns how many served it.
sub take
{
    my ($session, $from, $to) = @_;
    foreach my $number ($from .. $to)
    {
        my $counter = "$session->{dbname} $number";
        my $next = ask($session, 'SELECT ' . next_of($number));
        return $number - $from unless $next =~ /^\d+$/;
        my $last = $last{$counter} // 0;
        $wrong++ if $skipping{$counter} ? $next <= $last : $next != $last + 1;
        delete $skipping{$counter};
        $last{$counter} = $next;
    }
    return $to - $from + 1;
}

sub open_in
{
    my ($dbname, $role) = @_;
    my $session = open_session($node, dbname => $dbname, ($role ? (user => $role) : ()));
    $session->{dbname} = $dbname;
    return $session;
}

sub check_refused
{
    my ($name, $session, $number, $detail, $hint) = @_;
    is(ask($session, 'SELECT ' . next_of($_)), 'ERROR 53400', "$name: refused") foreach $number, $number + 1;
    like($session->{err}, qr/^ERROR:  53400: too many segments and sections are in use\nDETAIL:  \Q$detail\E\nHINT:  \Q$hint\E\n/,
        "$name: and told why");
    return;
}
my @database_bound = ('This database has 24, which is all that one database can have.',
    'End the sessions that no longer need theirs, in this database.');
my @server_bound = ('The server has 96, which is all that it can have.',
    'End the sessions that no longer need theirs, in any database.');

# 1. A database, whoever has its counters.
my %mallory = map { $_ => open_in($_, 'mallory') } @databases;
my %admin = map { $_ => open_in($_) } @databases;
is(take($mallory{d1}, 1, 12), 12, 'one role has some');
is(take($admin{d3}, 1, 40), 24, 'all that the database may have');
check_refused('the database', $admin{d3}, 41, @database_bound);
is(take($admin{d1}, 13, 30), 12, 'or what others have left');
check_refused('the database, for a role', $mallory{d1}, 41, @database_bound);
is(ask($mallory{d1}, q(SELECT snowid_segment_batch('c37', 2))), 'ERROR 53400', 'a batch is refused, too');
my $second = open_in('d1', 'mallory');
is(take($second, 1, 24), 24, 'another session has a part in those that are there');
close_session($second);
is(take($mallory{d1}, 1, 12), 12, 'those that are there go on');
is(take($mallory{d2}, 1, 12), 12, 'another database has as many');

# 2. The server: 96 are in use.
is(take($admin{d2}, 13, 24), 12, 'the rest of a database');
is(take($admin{d4}, 1, 24), 24, 'another one');
check_refused('the server', $admin{d5}, 41, @server_bound);
foreach my $session (map { $admin{$_} } @databases[ 0 .. 3 ])
{
    my @ranges = { d1 => [ 13, 24 ], d2 => [ 13, 24 ] }->{ $session->{dbname} } // [ 1, 24 ];
    is(take($session, @{ $ranges[0] }), $ranges[0][1] - $ranges[0][0] + 1, "those of $session->{dbname} go on");
}
is($wrong, 0, 'no counter in use has skipped or repeated a number');

# 3. Room is made by those who leave: in any database for the server's bound.
close_session(@mallory{qw(d1 d2)});
foreach my $number (1 .. 24)
{
    wait_for(sub { take($admin{d5}, $number, $number) }, 'what nobody uses to make room');
}
check_refused('the fifth database has all that it may have', $admin{d5}, 41, @database_bound);
# What was cleared has lost the rest of its block, and a section the rest of what it was raised by.
close_session($admin{d4});
$mallory{d1} = open_in('d1', 'mallory');
$skipping{"d1 $_"} = 1 foreach 1 .. 12;
foreach my $number (1 .. 12)
{
    wait_for(sub { take($mallory{d1}, $number, $number) }, 'room for those who come back');
}
is(scalar(grep { $last{"d1 $_"} != 101 } 1 .. 12), 0, 'above all that they may have given, and no further');
is(take($mallory{d1}, 1, 12), 12, 'and go on');
is($wrong, 0, 'no number came twice, and no counter in use was cleared');

close_session(values %mallory, values %admin);
$node->stop;
check_log($node);
done_testing();
