# What the role that draws from a central source needs there: USAGE on the sequence, and nothing else; and
# what its sessions here say when it lacks that, or the schema's: 42501, and numbers as soon as it has it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->start;
# Nobody there has a right that he was not given.
$source->safe_psql('postgres', <<'SQL');
CREATE ROLE numbers LOGIN;
REVOKE ALL ON DATABASE postgres FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT CONNECT ON DATABASE postgres TO numbers;
CREATE SCHEMA hub;
CREATE SEQUENCE hub.ship INCREMENT 10;
SQL
my $node = new_server('node');
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\n");
$node->start;
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (ADD user 'numbers');
CREATE ROLE clerk LOGIN;
CREATE SEQUENCE ship;
GRANT USAGE ON SEQUENCE ship TO clerk;
SELECT snowid_segment_attach('ship', 'central', 'hub.ship');
SQL
my $clerk = open_session($node, user => 'clerk');
my $next = q(SELECT snowid_segment_next('ship'));

# What is refused, until all that is granted there is: the schema's USAGE, and the sequence's.
sub check_refused
{
    my ($name, $message) = @_;
    is(ask($clerk, $next), 'ERROR 42501', "$name: refused");
    like($clerk->{err}, $message, "$name: and told what is lacking");
    return;
}
check_refused('no right to the schema', qr/permission denied for schema hub/);
$source->safe_psql('postgres', 'GRANT USAGE ON SCHEMA hub TO numbers');
check_refused('no right to the sequence', qr/permission denied for sequence ship/);
$source->safe_psql('postgres', 'GRANT SELECT ON SEQUENCE hub.ship TO numbers');
check_refused('SELECT alone', qr/permission denied for sequence ship/);
is(last_value($source, 'hub.ship'), '1', 'nothing was taken');

# USAGE alone. Several blocks, so that all that is asked for at a refill is asked for more than once;
# and those that are allocated ahead, of which no session would be told that they fail.
$source->safe_psql('postgres', 'REVOKE SELECT ON SEQUENCE hub.ship FROM numbers; GRANT USAGE ON SEQUENCE hub.ship TO numbers');
is($source->safe_psql('postgres', <<'SQL'), 't|f|f', 'USAGE alone');
SELECT has_sequence_privilege('numbers', 'hub.ship', 'USAGE'), has_sequence_privilege('numbers', 'hub.ship', 'SELECT'),
  has_sequence_privilege('numbers', 'hub.ship', 'UPDATE')
SQL
my $from = -s $node->logfile;
is(join(' ', map { ask($clerk, $next) } 1 .. 35), join(' ', 1 .. 35), 'USAGE alone: numbers');
unlike(slurp_file($node->logfile, $from), qr/numbers from server/, 'USAGE alone: no refill has failed');
# Many at once, for ten minutes ahead.
ask($clerk, 'SET snowid.segment_adapt = on');
is(ask($clerk, q(SELECT count(DISTINCT n) FROM snowid_segment_batch('ship', 5000) AS n)), '5000', 'USAGE alone: many');

# Taken away it is not missed before the numbers are used up, and then it is.
$source->safe_psql('postgres', 'REVOKE USAGE ON SEQUENCE hub.ship FROM numbers');
like(ask($clerk, $next), qr/^\d+$/, 'no right any more: numbers that are there');
$node->safe_psql('postgres', q(SELECT setval('ship', last_value, is_called) FROM ship));
check_refused('no right any more', qr/permission denied for sequence ship/);
$source->safe_psql('postgres', 'GRANT USAGE ON SEQUENCE hub.ship TO numbers');
like(ask($clerk, $next), qr/^\d+$/, 'given back: at once');

# Refused the login, who has numbers goes on, and the log says why there are no more.
# After a restart the recent rate is not known, so that a block is allocated, of ten.
close_session($clerk);
$node->restart;
$clerk = open_session($node, user => 'clerk');
like(ask($clerk, $next), qr/^\d+$/, 'the first of a block');
$node->safe_psql('postgres', q(ALTER USER MAPPING FOR PUBLIC SERVER central OPTIONS (SET user 'nosuch')));
$from = -s $node->logfile;
is(scalar(grep { !/^\d+$/ } map { ask($clerk, $next) } 2 .. 10), 0, 'refused the login: the rest of the block');
like(slurp_file($node->logfile, $from), qr/LOG:  could not allocate numbers from server "central".*\n.*DETAIL:  .*role "nosuch" does not exist/,
    'refused the login: the log says why');
is(ask($clerk, $next), 'ERROR 28000', 'refused the login: then an error');
like($clerk->{err}, qr/server "central" has refused the login/, 'refused the login: that says so');

close_session($clerk);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
