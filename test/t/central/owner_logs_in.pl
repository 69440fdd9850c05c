# Numbers come with the rights of the sequence's owner: by his user mapping, with its password unless he is a superuser, and as long as he may use
# the server. A rejected login tells neither the password nor the host, unless to who administers the database; the log has more.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $source = new_server('source');
$source->append_conf('postgresql.conf', "password_encryption = 'scram-sha-256'\n");
my $hba = $source->data_dir . '/pg_hba.conf';
my $trust = slurp_file($hba);
unlink $hba;
append_to_file($hba, "local all numbers scram-sha-256\nlocal all rejected reject\nlocal all peer peer\n$trust");
$source->start;
$source->safe_psql('postgres', <<'SQL');
CREATE ROLE numbers LOGIN PASSWORD 'secret';
CREATE SEQUENCE alices START 5000000000001 INCREMENT 100;
GRANT USAGE, SELECT ON SEQUENCE alices TO numbers;
SQL
my $node = ready_server('node', sql => 'CREATE ROLE alice; CREATE ROLE bob');
add_source($node, $source);
$node->safe_psql('postgres', <<'SQL');
GRANT CREATE ON SCHEMA public TO alice;
GRANT USAGE ON FOREIGN SERVER central TO alice;
CREATE USER MAPPING FOR alice SERVER central OPTIONS (user 'numbers', password 'secret');
CREATE SEQUENCE admins;
SQL
my ($admin, $alice, $bob) = map { open_session($node) } 1 .. 3;
ask($alice, 'SET ROLE alice; CREATE SEQUENCE alices; GRANT USAGE ON SEQUENCE alices TO bob');
ask($bob, 'SET ROLE bob');
my $attach = q(SELECT snowid_segment_attach('alices', 'central', 'alices'));
is(ask($_, $attach), '', 'attached by a user, or by a superuser with the rights of the owner') foreach $alice, $admin;
my $draw = q(SELECT snowid_segment_next('alices'));

sub check_refused
{
    my ($name, $session, $sql, $sqlstate) = @_;
    my $from = -s $node->logfile;
    is(ask($session, $sql), "ERROR $sqlstate", "$name: $sqlstate");
    like($session->{err}, qr/server "central" rejected the login\nHINT:  See to the user and the password/, "$name: says so");
    unlike($session->{err}, qr/wrong|\Q@{[ $source->host ]}/, "$name: and no more");
    like(slurp_file($node->logfile, $from), qr/rejected the login\n.*DETAIL:  .*(?:FATAL|password)/, "$name: the log has more");
    return;
}
sub alter_mapping { return ask($alice, "ALTER USER MAPPING FOR alice SERVER central OPTIONS ($_[0])") }
alter_mapping(q(SET password 'wrong'));
check_refused('the wrong password', $alice, $draw, '28P01');
check_refused('the wrong password, attaching', $alice, $attach, '28P01');
alter_mapping(q(SET password 'secret'));
like(ask($_, $draw), qr/^5\d{12}$/, 'the right one: all who may draw do') foreach $alice, $bob, $admin;
give_up($alice, 'alices');
foreach my $user ('postgres', 'nosuch', 'rejected', 'peer')
{
    alter_mapping("SET user '$user'");
    check_refused("as $user", $alice, $draw, '28000');
}
alter_mapping(q(SET user 'numbers', DROP password));
check_refused('no password', $alice, $draw, '28000');
alter_mapping(q(ADD password 'secret'));
like(ask($alice, $draw), qr/^5\d{12}$/, 'the role with the password');
ask($admin, q(CREATE USER MAPPING FOR CURRENT_USER SERVER central OPTIONS (user 'numbers')));
is(ask($admin, q(SELECT snowid_segment_attach('admins', 'central', 'alices'))), 'ERROR 28P01', 'a superuser without a password');
like($admin->{err}, qr/rejected the login\nDETAIL:  connection to server .*no password supplied\nHINT:/, 'who is told why');
ask($admin, 'ALTER USER MAPPING FOR CURRENT_USER SERVER central OPTIONS (DROP user)');
is(ask($admin, q(SELECT snowid_segment_attach('admins', 'central', 'alices'))), '', 'a superuser, where the server asks for none');
check_no_connection($source, 'no connection is left');
ask($admin, 'REVOKE USAGE ON FOREIGN SERVER central FROM alice');
give_up($alice, 'alices');
is(ask($bob, $draw), 'ERROR 42501', 'the owner may use the server no more');
end_test($node, $source);
