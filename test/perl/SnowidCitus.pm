# A stand-in for Citus: an extension of that name with the tables that tell a node its number, and a cluster
# that fills them as Citus does. It is made by catalog entries alone, so it needs no files, and goes as an
# extension does.
package SnowidCitus;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;

our @EXPORT = qw(citus_sql create_citus create_citus_commands citus_distribute citus_place citus_cluster citus_add_node citus_remove_node citus_update_node
  citus_stop_sync citus_start_sync citus_set_group);

# SQL that installs it, as a session may do in a transaction of its own. The tables are made in another schema
# and moved, and the trigger fires after updates alone, as in Citus' scripts. That trigger has the relation
# invalidated, and nothing else: a change of its row in pg_attribute does that.
sub citus_sql
{
    return <<'SQL';
INSERT INTO pg_catalog.pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  VALUES (pg_catalog.pg_nextoid('pg_extension', 'oid', 'pg_extension_oid_index'), 'citus', 10, 11, false, '14.0');
CREATE SCHEMA citus;
ALTER EXTENSION citus ADD SCHEMA citus;
CREATE TABLE citus.pg_dist_local_group (groupid int NOT NULL PRIMARY KEY);
ALTER EXTENSION citus ADD TABLE citus.pg_dist_local_group;
CREATE TABLE citus.pg_dist_node (nodeid int PRIMARY KEY, groupid int NOT NULL, nodename text NOT NULL, nodeport int NOT NULL,
  noderole text NOT NULL DEFAULT 'primary');
ALTER EXTENSION citus ADD TABLE citus.pg_dist_node;
CREATE TABLE citus.pg_dist_partition (logicalrelid regclass NOT NULL PRIMARY KEY);
ALTER EXTENSION citus ADD TABLE citus.pg_dist_partition;
INSERT INTO citus.pg_dist_local_group VALUES (0);
CREATE FUNCTION citus.invalidate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE pg_catalog.pg_attribute SET attname = attname WHERE attrelid = TG_RELID AND attnum = 1;
  RETURN NULL;
END $$;
ALTER EXTENSION citus ADD FUNCTION citus.invalidate();
CREATE TRIGGER invalidate AFTER UPDATE ON citus.pg_dist_local_group FOR EACH ROW EXECUTE FUNCTION citus.invalidate();
ALTER TABLE citus.pg_dist_local_group SET SCHEMA pg_catalog;
GRANT SELECT ON pg_catalog.pg_dist_local_group TO PUBLIC;
ALTER TABLE citus.pg_dist_node SET SCHEMA pg_catalog;
GRANT SELECT ON pg_catalog.pg_dist_node TO PUBLIC;
ALTER TABLE citus.pg_dist_partition SET SCHEMA pg_catalog;
GRANT SELECT ON pg_catalog.pg_dist_partition TO PUBLIC;
SQL
}

sub create_citus
{
    my ($node, $dbname) = @_;
    $node->safe_psql($dbname // 'postgres', 'BEGIN; ' . citus_sql() . 'COMMIT');
    return;
}

# What runs commands on other nodes, each of which is a server: they are asked for the database of the same name. As in
# Citus whatever goes wrong is an answer, too. Takes dblink, which has no roles without passwords: so all ask as the superuser.
sub create_citus_commands
{
    my ($node, $dbname) = @_;
    $node->safe_psql($dbname // 'postgres', <<'SQL');
CREATE EXTENSION IF NOT EXISTS dblink;
CREATE FUNCTION pg_catalog.master_run_on_worker(worker_name text[], port int[], command text[], parallel boolean,
    OUT node_name text, OUT node_port int, OUT success boolean, OUT result text) RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  FOR node_name, node_port, result IN SELECT * FROM unnest(worker_name, port, command) LOOP
    BEGIN
      SELECT coalesce(answer, '') INTO result FROM public.dblink(format('host=%s port=%s user=%s dbname=%s application_name=%L',
        node_name, node_port, current_user, current_database(), 'citus_run_command gpid=1'), result) AS (answer text);
      success := true;
    EXCEPTION WHEN OTHERS THEN
      success := false;
      result := SQLERRM;
    END;
    RETURN NEXT;
  END LOOP;
END $$;
ALTER EXTENSION citus ADD FUNCTION pg_catalog.master_run_on_worker;
CREATE FUNCTION pg_catalog.run_command_on_coordinator(command text, give_warning_for_connection_errors boolean DEFAULT false,
    OUT nodeid int, OUT success boolean, OUT result text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  name text;
  port int;
BEGIN
  SELECT n.nodeid, n.nodename, n.nodeport INTO nodeid, name, port FROM pg_dist_node AS n WHERE n.groupid = 0;
  IF NOT FOUND AND 0 <> ALL (SELECT g.groupid FROM pg_dist_local_group AS g) THEN
    RAISE 'the coordinator is not added to the metadata';
  ELSIF NOT FOUND THEN
    SELECT 0, current_setting('unix_socket_directories'), current_setting('port') INTO nodeid, name, port;
  END IF;
  SELECT r.success, r.result INTO success, result FROM master_run_on_worker(ARRAY[name], ARRAY[port], ARRAY[command], false) AS r;
  RETURN NEXT;
END $$;
ALTER EXTENSION citus ADD FUNCTION pg_catalog.run_command_on_coordinator;
SQL
    return;
}

# Distributes a table that the coordinator, a database, has without rows: its rows are in tables of the same name of the
# workers, databases of the same server, where queries find them. Statements run on all nodes by Citus' function of that
# name. Takes dblink and postgres_fdw.
sub citus_distribute
{
    my ($node, $coordinator, $table, @workers) = @_;
    my ($host, $port) = ($node->host, $node->port);
    $node->safe_psql($coordinator, "INSERT INTO pg_catalog.pg_dist_partition VALUES ('$table')");
    $node->safe_psql($coordinator, <<"SQL");
CREATE EXTENSION IF NOT EXISTS dblink;
CREATE EXTENSION IF NOT EXISTS postgres_fdw;
CREATE OR REPLACE FUNCTION run_command_on_all_nodes(command text) RETURNS SETOF text LANGUAGE sql AS \$\$
  SELECT answer FROM unnest('{$coordinator, @{[ join ', ', @workers ]}}'::text[]) AS dbname,
    public.dblink(format('host=%s port=%s user=postgres dbname=%s', '$host', '$port', dbname), command) AS (answer text) \$\$;
SQL
    foreach my $worker (@workers)
    {
        $node->safe_psql($coordinator, <<"SQL");
CREATE SERVER IF NOT EXISTS $worker FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$worker');
CREATE USER MAPPING IF NOT EXISTS FOR postgres SERVER $worker OPTIONS (user 'postgres');
CREATE FOREIGN TABLE ${table}_$worker () INHERITS ($table) SERVER $worker OPTIONS (table_name '$table');
SQL
    }
    return;
}

# A database of a server, which may be a node.
sub citus_place
{
    my ($node, $dbname) = @_;
    return { node => $node, dbname => $dbname // 'postgres' };
}

# A cluster whose coordinator is in one place, and which has no workers yet. Citus is there already.
sub citus_cluster
{
    my ($coordinator) = @_;
    my $cluster = { coordinator => $coordinator, groups => {}, last_group => 0 };
    citus_add_node_as($cluster, 'coordinator', $coordinator, 0);
    return $cluster;
}

# citus_add_node: a worker gets a group that no node has had. So does a clone that is promoted, and one that
# was removed and is added again. Returns the group.
sub citus_add_node
{
    my ($cluster, $name, $place) = @_;
    my $group = ++$cluster->{last_group};
    citus_add_node_as($cluster, $name, $place, $group);
    return $group;
}

sub citus_add_node_as
{
    my ($cluster, $name, $place, $group) = @_;
    $cluster->{groups}{$name} = $group;
    $cluster->{places}{$name} = $place;
    citus_start_sync($cluster, $_) foreach sort keys %{ $cluster->{groups} };
    return;
}

# citus_remove_node: what the node keeps is not the cluster's any more.
sub citus_remove_node
{
    my ($cluster, $name) = @_;
    citus_stop_sync($cluster, $name);
    delete $cluster->{groups}{$name};
    delete $cluster->{places}{$name};
    citus_start_sync($cluster, $_) foreach sort keys %{ $cluster->{groups} };
    return;
}

# citus_update_node: the same group has another address, a promoted standby's for one.
sub citus_update_node
{
    my ($cluster, $name, $place) = @_;
    citus_add_node_as($cluster, $name, $place, $cluster->{groups}{$name});
    return;
}

# stop_metadata_sync_to_node.
sub citus_stop_sync
{
    my ($cluster, $name) = @_;
    send_metadata($cluster->{places}{$name}, 0);
    return;
}

# start_metadata_sync_to_node, as also citus_activate_node does.
sub citus_start_sync
{
    my ($cluster, $name) = @_;
    my @nodes = map { [ $cluster->{groups}{$_}, $cluster->{places}{$_} ] } sort keys %{ $cluster->{groups} };
    send_metadata($cluster->{places}{$name}, $cluster->{groups}{$name}, @nodes);
    return;
}

# What Citus sends to a node: its group, and the nodes of the cluster, each a group and a place.
sub send_metadata
{
    my ($place, $group, @nodes) = @_;
    my $rows = join ', ', map { "($_->[0], $_->[0], '@{[ $_->[1]{node}->host ]}', @{[ $_->[1]{node}->port ]})" } @nodes;
    $place->{node}->safe_psql($place->{dbname}, "BEGIN; UPDATE pg_catalog.pg_dist_local_group SET groupid = $group;"
          . ' DELETE FROM pg_catalog.pg_dist_node;'
          . ($rows ? "INSERT INTO pg_catalog.pg_dist_node (nodeid, groupid, nodename, nodeport) VALUES $rows;" : '')
          . ' COMMIT');
    return;
}

# A group by hand, of a node that is alone.
sub citus_set_group
{
    my ($node, $group, $dbname) = @_;
    my $place = citus_place($node, $dbname);
    send_metadata($place, $group, map { [ $_, $place ] } 0, $group || ());
    return;
}

1;
