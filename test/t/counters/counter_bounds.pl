# A database may have so many segments and sections in use, and so may the server: one more is refused, which says what the
# bound is and what helps. Those that are there go on.

use Snowid;

my @databases = 'd1' .. 'd5';
my $node = few_counters(@databases);
my %in = map { $_ => open_session($node, dbname => $_) } @databases;
my $role = open_session($node, dbname => 'd1', user => 'mallory');

sub is_refused
{
    my ($session, $detail, $where) = @_;
    is(draws($session, 5, 6), 'ERROR 53400 ERROR 53400', "refused: $detail");
    like($session->{err}, qr/: too many segments and sections are in use\nDETAIL:  \Q$detail\E\nHINT:  End unused sessions of $where\.\n/, 'why');
    return;
}
is(draws($role, 1, 2), '1 1', 'a role has some');
is(draws($in{d1}, 3, 4), '1 1', 'others have what is left');
is_refused($_, 'This database has 4, the maximum of one database.', 'this database') foreach $in{d1}, $role;
is(ask($role, q(SELECT snowid_segment_batch('c5', 2))), 'ERROR 53400', 'a batch is refused, too');
is(draws($role, 1 .. 4), '2 2 2 2', 'all draw from those that are there');
is(draws($in{$_}, 1 .. 4), '1 1 1 1', "$_ has as many") foreach @databases[ 1 .. 3 ];
is_refused($in{d5}, 'The server has 16, its maximum.', 'any database');
is(draws($in{d1}, 1 .. 4), '3 3 3 3', 'd1 goes on');
is(draws($in{d4}, 1 .. 4), '2 2 2 2', 'so does d4');
end_test($node);
