# Two hundred claims at once: each gets a number of its own, and none is left out. Who finds too many others at it is told
# to try again.

use Snowid;
use SnowidNodes;

# Each session pins some buffers.
my $node = ready_server('node', conf => "shared_buffers = '64MB'\nmax_connections = 300\n");
my $claim = request('claim');
$claim =~ s/'\Q${\claim_of(1)}\E'/gen_random_uuid()/;
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE got (number bigint);
CREATE FUNCTION claim() RETURNS bigint LANGUAGE plpgsql AS \$\$
BEGIN
  LOOP
    BEGIN
      RETURN (SELECT c.held_number FROM ($claim) AS c);
    EXCEPTION WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
END \$\$;
SQL
my $script = PostgreSQL::Test::Utils::tempdir() . '/claim.sql';
append_to_file($script, 'INSERT INTO got SELECT claim()');
command_ok([ 'pgbench', '-n', '-c', 200, '-j', 2, '-t', 1, '-f', $script, '-d', $node->connstr('postgres') ], '200 at once');
is(attempt($node, 'SELECT count(DISTINCT number) FROM got'), '200', 'each got one of its own');
is(attempt($node, 'SELECT count(*), max(node_number) FROM snowid_internal.nodes'), '200|200', 'and none is left out');
end_test($node);
