# Where a source is that is down, no client is told, whatever messages it asks for; the log is.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({ quiet => 'INCREMENT 100' });
my $session = open_session($node);
attach($session, 'quiet');
ask($session, q(SELECT snowid_segment_batch('quiet', 2)));
$source->stop;
my ($answer, $told) = ('', '');
foreach my $level ('log', 'debug5')
{
    ask($session, "SET client_min_messages = $level");
    foreach (1 .. 30) { $answer = ask($session, q(SELECT snowid_segment_next('quiet'))); $told .= $session->{err} }
}
until ($answer =~ /ERROR/) { $answer = ask($session, q(SELECT snowid_segment_next('quiet'))); $told .= $session->{err} }
is($answer, 'ERROR 08006', 'an error when numbers have run out');
my $host = $source->host;
unlike($told, qr/\Q$host\E/, 'no client is told');
like(slurp_file($node->logfile), qr/LOG:  could not allocate numbers from server "central" for sequence "quiet"\n.*DETAIL:.*\Q$host\E/, 'the log is');
end_test($node);
