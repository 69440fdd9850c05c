-- Node number

CREATE FUNCTION snowid.get_node_status(OUT node_number bigint, OUT source pg_catalog.text, OUT node_name pg_catalog.text,
                                   OUT registry pg_catalog.text, OUT checked pg_catalog.timestamptz, OUT problem pg_catalog.text)
  STABLE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_get_node_status';
COMMENT ON FUNCTION snowid.get_node_status() IS 'implementation of view snowid.node_status';

-- The setting last, because the function loads the library, which defines it.
CREATE VIEW snowid.node_status AS
  SELECT n.node_number, CASE WHEN n.source OPERATOR(pg_catalog.=) 'setting'
      THEN pg_catalog.format('setting (%s)',
        (SELECT s.source FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'snowid.default_shard'))
      ELSE n.source END AS source, n.node_name, n.registry, n.checked, n.problem
    FROM snowid.get_node_status() AS n;
COMMENT ON VIEW snowid.node_status IS 'node number of this session';
COMMENT ON COLUMN snowid.node_status.node_number IS 'node number';
COMMENT ON COLUMN snowid.node_status.source IS 'origin of the number';
COMMENT ON COLUMN snowid.node_status.node_name IS 'node name used to join the registry';
COMMENT ON COLUMN snowid.node_status.registry IS 'foreign server used to join the registry';
COMMENT ON COLUMN snowid.node_status.checked IS 'time of the registry''s last confirmation';
COMMENT ON COLUMN snowid.node_status.problem IS 'error or warning about the number';

-- Whether Citus uses this very server for the group. Copies have the same data; therefore the coordinator, which knows
-- where the group is, has the server there look for a lock held only by this session.
CREATE FUNCTION snowid_internal.is_server_of_group(node_group pg_catalog.int4) RETURNS boolean
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key CONSTANT bigint := hashtextextended(gen_random_uuid()::text, 0);
  look CONSTANT text := format('SELECT NOT pg_catalog.pg_try_advisory_xact_lock(%s)', key);
  ask CONSTANT text := format('SELECT (SELECT r.result FROM pg_catalog.pg_dist_node AS n, '
    'pg_catalog.master_run_on_worker(ARRAY[n.nodename], ARRAY[n.nodeport], ARRAY[%L], false) AS r '
    'WHERE n.groupid OPERATOR(pg_catalog.=) %s AND n.noderole::pg_catalog.text OPERATOR(pg_catalog.=) ''primary'')', look, node_group);
  answer text;
BEGIN
  IF to_regproc('pg_catalog.run_command_on_coordinator') IS NULL THEN
    RAISE 'this version of Citus cannot ask the coordinator' USING ERRCODE = 'feature_not_supported',
      DETAIL = 'It has no function run_command_on_coordinator().', HINT = 'Upgrade Citus to version 11 or later.';
  END IF;
  PERFORM pg_advisory_xact_lock(key);
  SELECT r.result INTO answer FROM run_command_on_coordinator(ask) AS r;
  IF answer IN ('t', 'f') THEN
    RETURN answer = 't';
  ELSIF answer = '' THEN
    RAISE 'Citus'' coordinator lists no server of group %', node_group USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'On the coordinator, use citus_set_coordinator_host() if it is not listed itself, and citus_add_node() for a '
        'removed node.';
  END IF;
  RAISE 'could not ask the server of Citus'' group %', node_group USING ERRCODE = 'connection_failure',
    DETAIL = coalesce(answer, 'The coordinator did not answer.');
END $$;
COMMENT ON FUNCTION snowid_internal.is_server_of_group(pg_catalog.int4) IS 'Returns whether this server is Citus'' server for a group.';
