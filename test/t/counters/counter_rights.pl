# Rights to draw from a segment or a section are those of nextval, rights to ask for the last number those of currval; they are
# looked at for each call, of the role as which it runs.

use Snowid;

my $node = ready_server('rights', sql => 'CREATE ROLE alice; CREATE ROLE clerks; CREATE SEQUENCE numbers INCREMENT 100; CREATE SEQUENCE keyed INCREMENT 100');
my ($changer, $session) = map { open_session($node) } 1 .. 2;
my @calls = (q(snowid_segment_next('numbers')), q(snowid_segment_next('numbers', 10)), q(snowid_segment_batch('numbers', 10)), q(snowid_segment_batch('numbers', 0)),
    q(snowid_section_next('keyed', 1)), q(snowid_section_current('keyed', 1)));

# Which of the calls a session may do.
sub may { return join '', map { { '' => 'x', 'ERROR 42501' => '-' }->{ ask($session, "SELECT WHERE (SELECT count(n) FROM (SELECT $_ AS n) s) < 0") } // '?' } @calls }

is(may(), 'xxxxxx', 'a superuser');
ask($session, 'SET ROLE alice');
is(may(), '------', 'nothing is granted');
foreach my $step (
    [ 'GRANT USAGE ON S TO alice', 'xxxxxx' ], [ 'REVOKE USAGE ON S FROM alice', '------' ], [ 'GRANT UPDATE ON S TO alice', 'xxxxx-' ],
    [ 'REVOKE UPDATE ON S FROM alice', '------' ], [ 'GRANT SELECT ON S TO alice', '-----x' ], [ 'REVOKE SELECT ON S FROM alice', '------' ],
    [ 'GRANT USAGE ON S TO clerks', '------' ], [ 'GRANT clerks TO alice', 'xxxxxx' ], [ 'REVOKE clerks FROM alice', '------' ],
    [ 'GRANT USAGE ON S TO PUBLIC', 'xxxxxx' ], [ 'REVOKE USAGE ON S FROM PUBLIC', '------' ],
    [ 'ALTER SEQUENCE numbers OWNER TO alice; ALTER SEQUENCE keyed OWNER TO alice', 'xxxxxx' ], [ 'REVOKE ALL ON S FROM alice', '------' ],
    [ 'GRANT ALL ON S TO alice', 'xxxxxx' ], [ 'ALTER SEQUENCE numbers OWNER TO clerks; ALTER SEQUENCE keyed OWNER TO clerks', '------' ])
{
    my ($sql, $expected) = @$step;
    is(ask($changer, $sql =~ s/ S / SEQUENCE numbers, keyed /r), '', $sql) or diag($changer->{err});
    is(may(), $expected, "then: $sql");
}

# In one transaction, which has locked the sequences already.
ask($session, 'RESET ROLE; BEGIN; SELECT ' . join ', ', @calls);
ask($session, 'SET LOCAL ROLE alice; SAVEPOINT s');
foreach my $call (@calls)
{
    is(ask($session, "SELECT $call"), 'ERROR 42501', "in a transaction that has drawn as another role: $call");
    ask($session, 'ROLLBACK TO s');
}
ask($session, 'ROLLBACK');

# As part of something else.
ask($changer, <<'SQL');
CREATE FUNCTION invoker() RETURNS bigint LANGUAGE sql AS $$ SELECT snowid_segment_next('numbers') $$;
CREATE FUNCTION definer() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT snowid_segment_next('numbers') $$;
CREATE TABLE rows (id bigint DEFAULT snowid_segment_next('numbers'));
GRANT INSERT ON rows TO alice;
SQL
ask($session, 'SET ROLE alice');
is(ask($session, 'SELECT definer() > 0'), 't', 'a SECURITY DEFINER function has its own rights');
is(ask($session, $_), 'ERROR 42501', "as the caller: $_") foreach 'SELECT invoker()', 'SELECT definer(), invoker()', 'INSERT INTO rows DEFAULT VALUES';
ask($changer, 'GRANT USAGE ON SEQUENCE numbers TO alice');
is(ask($session, $_), '', "with the right: $_") foreach 'INSERT INTO rows DEFAULT VALUES', q(BEGIN; DECLARE c CURSOR FOR SELECT snowid_segment_batch('numbers', 5000); MOVE 1 FROM c; SELECT);
ask($changer, 'REVOKE USAGE ON SEQUENCE numbers FROM alice');
is(ask($session, 'MOVE 5000 FROM c'), 'ERROR 42501', 'revoked while a batch goes on');
end_test($node);
