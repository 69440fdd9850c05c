# How many segments and sections one role, one database and the server may have in use, and what becomes
# of who wants more: 53200, with what the bound is and what helps. What is there goes on meanwhile. A
# superuser has no bound of a role's; another role's name is no way around one's own. On a full server
# each database and each role has its reserve. What nobody uses makes room, and goes on above all that it
# may have given.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

# A database may have 24, a role 12 of them. On a full server a database gets 20 even so, a role 2.
my %low = (max_counters => 96, reserved_counters => 20);
my $node = new_server('counters');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN; CREATE ROLE alice LOGIN; GRANT alice TO mallory');
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
    is(ask($session, 'SELECT ' . next_of($_)), 'ERROR 53200', "$name: refused") foreach $number, $number + 1;
    like($session->{err}, qr/^ERROR:  53200: too many segments and sections are in use\nDETAIL:  \Q$detail\E\nHINT:  \Q$hint\E\n/,
        "$name: and told why");
    return;
}
my @role_bound = ('Role "mallory" has 12 in this database, which is all that one role can have.',
    'End the sessions that no longer need theirs, or let another role use the rest. Superusers have no such bound.');
my @database_bound = ('This database has 24, which is all that one database can have.',
    'End the sessions that no longer need theirs, in this database.');
my @server_bound = ('The server has 96, which is all that it can have; each database may have 20 even so.',
    'End the sessions that no longer need theirs, in any database.');

# 1. A role.
my %mallory = map { $_ => open_in($_, 'mallory') } @databases;
is(take($mallory{d1}, 1, 20), 12, 'a role has half of what its database may have');
check_refused('a role', $mallory{d1}, 31, @role_bound);
my $second = open_in('d1', 'mallory');
check_refused('in another session', $second, 33, @role_bound);
is(take($second, 1, 12), 12, 'which has a part in those that are there');
ask($mallory{d1}, 'SET ROLE alice');
check_refused('in the name of another role', $mallory{d1}, 35, @role_bound);
ask($mallory{d1}, 'RESET ROLE');
$node->safe_psql('d1', q(CREATE FUNCTION more(regclass) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT snowid_segment_next($1)'));
is(ask($mallory{d1}, q(SELECT more('c37'))), 'ERROR 53200', q(or in that of a function's owner));
is(ask($mallory{d1}, q(SELECT snowid_segment_batch('c37', 2))), 'ERROR 53200', 'a batch is refused, too');
is(take($mallory{d1}, 1, 12), 12, 'those that are there go on');
is(take($mallory{d2}, 1, 12), 12, 'in another database he has as many');
close_session($second);

# 2. A database, of which a superuser may have all.
my %admin = map { $_ => open_in($_) } @databases;
is(take($admin{d3}, 1, 40), 24, 'a superuser has all that the database may have');
check_refused('the database', $admin{d3}, 41, @database_bound);
is(take($admin{d1}, 13, 30), 12, 'or what others have left');
check_refused('the database, for a role below its own bound', open_in('d1', 'alice'), 41, @database_bound);
is(take($mallory{d1}, 1, 12), 12, 'those that are there go on');

# 3. The server: 96 are in use.
is(take($admin{d2}, 13, 24), 12, 'the rest of a database');
is(take($admin{d4}, 1, 24), 24, 'another one');
is(take($admin{d5}, 1, 24), 20, 'the fifth has its reserve');
check_refused('the server', $admin{d5}, 41, @server_bound);
is(take($mallory{d5}, 31, 33), 2, 'a role has its own there');
check_refused('the server, for a role', $mallory{d5}, 43, @server_bound);
foreach my $session (map { $admin{$_} } @databases)
{
    my @ranges = { d1 => [ 13, 24 ], d2 => [ 13, 24 ], d5 => [ 1, 20 ] }->{ $session->{dbname} } // [ 1, 24 ];
    is(take($session, @{ $ranges[0] }), $ranges[0][1] - $ranges[0][0] + 1, "those of $session->{dbname} go on");
}
is($wrong, 0, 'no counter in use has skipped or repeated a number');

# 4. Room is made by those who leave: in any database for the server's bound. There are 118.
close_session(@mallory{qw(d1 d2)});
foreach my $number (21, 22)
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
