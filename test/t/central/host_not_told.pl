# The address of a source that is down: the log has it, and the DETAIL for who administers the database. No other client is told,
# whatever messages it asks for.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({ quiet => 'INCREMENT 100' });
my $admin = open_session($node);
attach($admin, 'quiet');
ask($admin, 'GRANT USAGE ON SEQUENCE quiet TO PUBLIC; GRANT USAGE ON FOREIGN SERVER central TO PUBLIC');
foreach my $role ('app', 'dba')
{
    ask($admin, "CREATE ROLE $role LOGIN; CREATE SEQUENCE ${role}_seq; ALTER SEQUENCE ${role}_seq OWNER TO $role");
    # Without a password no role but a superuser gets as far as to connect.
    ask($admin, "CREATE USER MAPPING FOR $role SERVER central OPTIONS (user '$role', password 'secret')");
}
ask($admin, 'ALTER DATABASE postgres OWNER TO dba');
my ($app, $dba) = map { open_session($node, user => $_) } 'app', 'dba';
ask($app, q(SELECT snowid_segment_batch('quiet', 2)));
$source->stop;
my ($answer, $told) = ('', '');
foreach my $level ('log', 'debug5')
{
    ask($app, "SET client_min_messages = $level");
    foreach (1 .. 30) { $answer = ask($app, q(SELECT snowid_segment_next('quiet'))); $told .= $app->{err} }
}
until ($answer =~ /ERROR/) { $answer = ask($app, q(SELECT snowid_segment_next('quiet'))); $told .= $app->{err} }
is($answer, 'ERROR 08006', 'an error when numbers have run out');
my $attach = sub { my ($role) = @_; return "SELECT snowid_segment_attach('${role}_seq', 'central', 'quiet')" };
is(ask($app, $attach->('app')), 'ERROR 08006', 'and when attaching');
$told .= $app->{err};
my $host = $source->host;
unlike($told, qr/\Q$host\E/, 'no client is told');
like(slurp_file($node->logfile), qr/LOG:  could not allocate numbers from server "central" for sequence "quiet"\n.*DETAIL:.*\Q$host\E/, 'the log is');
my $why = qr/could not reach server "central"\nDETAIL:  connection to server on socket "\Q$host\E.* failed: /;
is(ask($dba, $attach->('dba')), 'ERROR 08006', 'an error for the owner of the database');
like($dba->{err}, $why, 'who is told why');
is(ask($admin, $attach->('app')), 'ERROR 08006', 'an error for a superuser');
like($admin->{err}, $why, 'who is told, too');
end_test($node);
