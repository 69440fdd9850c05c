# The role that draws needs USAGE on the sequence at the source, and on its schema, and nothing else, where nobody has a right that he was not
# given. What it lacks the caller is told; numbers go on as soon as it has it, and before as long as they last.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({}, node => { conf => "snowid.segment_adapt = off\n" });
$source->safe_psql('postgres', 'CREATE ROLE clerks LOGIN; CREATE DATABASE strict');
$source->safe_psql('strict', <<'SQL');
REVOKE ALL ON DATABASE strict FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CONNECT ON DATABASE strict TO clerks;
CREATE SCHEMA hub;
CREATE SEQUENCE hub.ship INCREMENT 10;
GRANT USAGE ON SCHEMA hub TO clerks;
GRANT USAGE ON SEQUENCE hub.ship TO clerks;
SQL
$node->safe_psql('postgres', <<'SQL');
ALTER SERVER central OPTIONS (SET dbname 'strict');
ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (ADD user 'clerks');
CREATE ROLE clerk LOGIN;
CREATE SEQUENCE ship;
GRANT USAGE ON SEQUENCE ship TO clerk;
SELECT snowid_segment_attach('ship', 'central', 'hub.ship');
SQL
my $clerk = open_session($node, user => 'clerk');
my $ship = q(SELECT snowid_segment_next('ship'));

foreach my $case (
    [ 'REVOKE USAGE ON SCHEMA hub FROM clerks; REVOKE USAGE ON SEQUENCE hub.ship FROM clerks', qr/permission denied for schema hub/ ],
    [ 'GRANT USAGE ON SCHEMA hub TO clerks', qr/permission denied for sequence ship/ ],
    [ 'GRANT SELECT ON SEQUENCE hub.ship TO clerks', qr/permission denied for sequence ship/ ])
{
    my ($sql, $message) = @$case;
    $source->safe_psql('strict', $sql);
    is(ask($clerk, $ship), 'ERROR 42501', "$sql: an error");
    like($clerk->{err}, $message, "$sql: says what is lacking");
}
is($source->safe_psql('strict', 'SELECT last_value, is_called FROM hub.ship'), '1|f', 'nothing was taken, nor when it was attached');

# USAGE alone: several blocks, and those that are allocated ahead, of whose failure no session would be told.
$source->safe_psql('strict', 'REVOKE SELECT ON SEQUENCE hub.ship FROM clerks; GRANT USAGE ON SEQUENCE hub.ship TO clerks');
my $from = -s $node->logfile;
is(join(' ', map { ask($clerk, $ship) } 1 .. 35), join(' ', 1 .. 35), 'USAGE alone: numbers');
unlike(slurp_file($node->logfile, $from), qr/numbers from server/, 'USAGE alone: no refill has failed');
is(ask($clerk, q(SET snowid.segment_adapt = on; SELECT count(DISTINCT n) FROM snowid_segment_batch('ship', 5000) AS n)), '5000', 'USAGE alone: many');

$source->safe_psql('strict', 'REVOKE USAGE ON SEQUENCE hub.ship FROM clerks');
like(ask($clerk, $ship), qr/^\d+$/, 'no right any more: numbers that are there');
$node->safe_psql('postgres', q(SELECT setval('ship', last_value, is_called) FROM ship));
is(ask($clerk, $ship), 'ERROR 42501', 'no right any more: then an error');
$source->safe_psql('strict', 'GRANT USAGE ON SEQUENCE hub.ship TO clerks');
like(ask($clerk, $ship), qr/^\d+$/, 'given back: at once');

# Refused the login, who has numbers goes on. After a restart the recent rate is not known, so that a block is allocated, of ten.
close_session($clerk);
$node->restart;
$clerk = open_session($node, user => 'clerk');
like(ask($clerk, $ship), qr/^\d+$/, 'the first of a block');
$node->safe_psql('postgres', q(ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (SET user 'nosuch')));
$from = -s $node->logfile;
is(scalar(grep { !/^\d+$/ } map { ask($clerk, $ship) } 2 .. 10), 0, 'refused the login: the rest of the block');
like(slurp_file($node->logfile, $from), qr/LOG:  could not allocate numbers from server "central".*\n.*DETAIL:  .*role "nosuch" does not exist/, 'refused the login: the log says why');
is(ask($clerk, $ship), 'ERROR 28000', 'refused the login: then an error');
end_test($node, $source);
