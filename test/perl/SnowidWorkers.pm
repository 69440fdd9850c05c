# Parallel workers.
package SnowidWorkers;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;
use SnowidSessions;

our @EXPORT = qw(make_parallel objects_for_workers make_by_workers);

# Has a session's plans be parallel, however small the tables, and workers alone make the rows.
sub make_parallel
{
    my ($session) = @_;
    ask($session, "SET $_") foreach 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
      'min_parallel_table_scan_size = 0', 'max_parallel_workers_per_gather = 3',
      'parallel_leader_participation = off';
    return;
}

# What workers draw for: a table `rows`, and `backend()`, since pg_backend_pid() is not allowed in a worker,
# but a function that calls it is.
sub objects_for_workers
{
    return <<'SQL';
CREATE TABLE rows AS SELECT generate_series(1, 20000) AS n;
ANALYZE rows;
CREATE FUNCTION backend() RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN pg_backend_pid(); END';
SQL
}

# Has workers make a table `drawn` of these columns, and of `pid`, who made the row, for each of `rows`. How
# many workers come to take part is the server's to decide, so until several have. Returns what it was
# answered: nothing, or an error.
sub make_by_workers
{
    my ($session, $columns) = @_;
    my $answer;
    wait_for(
        sub {
            $answer = ask($session, 'DROP TABLE IF EXISTS drawn;'
                  . " CREATE TABLE drawn AS SELECT $columns, backend() AS pid FROM rows");
            return $answer ne '' || ask($session, 'SELECT count(DISTINCT pid) > 1 FROM drawn') eq 't';
        },
        'several workers to take part');
    return $answer;
}

1;
