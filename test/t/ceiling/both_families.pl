# A session that draws IDs and numbers of a sequence, in whichever order it has begun to, notices what
# others do to either: to the sequence that the ceiling is durable in, and to its own.

use strict;
use warnings;

use Snowid;
use Test::More;

my $node = new_server('both');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE numbers INCREMENT 1000');
my $id = 'SELECT snowid_next(1) > 0';
my $number = q(SELECT snowid_segment_next('numbers'));
my $changer = open_session($node);

foreach my $order ([ids => $id, $number], [numbers => $number, $id])
{
    my ($first, @begins) = @$order;
    my $session = open_session($node);
    ask($session, $_) foreach @begins;

    ask($changer, 'ALTER SEQUENCE numbers RESTART WITH 700001');
    is(ask($session, $number), '700001', "$first first: numbers go on where the sequence was set to");
    ask($changer, 'ALTER SEQUENCE snowid.ceiling SET UNLOGGED');
    is(ask($session, $id), 'ERROR 55000', "$first first: no ID where the ceiling would not survive a crash");
    is(ask($session, $number), '700002', "$first first: which does not stop numbers");
    ask($changer, 'ALTER SEQUENCE snowid.ceiling SET LOGGED');
    is(ask($session, $id), 't', "$first first: IDs go on when it would");
    close_session($session);
}

close_session($changer);
check_log($node);
$node->stop;
done_testing();
