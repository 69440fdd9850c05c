-- The registry of node numbers. A number is assigned to a claim once, and never reused. A claim is a random UUID known
-- only to its node; a request locks or changes only the row of its own claim.
--
-- Locking: a request locks its claim's row until the end of its transaction. A claim waits at most 0.1 s for one
-- concurrent claim, and skips numbers being assigned to others.

CREATE TABLE snowid_internal.nodes (
  node_number bigint PRIMARY KEY
    CHECK (node_number OPERATOR(pg_catalog.>=) 1::bigint AND node_number OPERATOR(pg_catalog.<=) 8191::bigint),
  claim pg_catalog.uuid NOT NULL UNIQUE,
  node_name pg_catalog.text NOT NULL,
  database pg_catalog.text NOT NULL,
  exchange bigint NOT NULL,
  token bigint NOT NULL,
  taken_over bigint NOT NULL,
  system_identifier bigint NOT NULL,
  database_oid bigint NOT NULL,
  timeline bigint NOT NULL,
  max_lead bigint NOT NULL,
  claimed pg_catalog.timestamptz,
  claimed_by pg_catalog.text NOT NULL,
  claimed_in pg_catalog.xid8,
  last_seen pg_catalog.timestamptz NOT NULL,
  promoted_seen pg_catalog.timestamptz,
  retired pg_catalog.timestamptz
) USING heap;
COMMENT ON TABLE snowid_internal.nodes IS 'node numbers assigned by this registry';
COMMENT ON COLUMN snowid_internal.nodes.node_number IS 'node number';
COMMENT ON COLUMN snowid_internal.nodes.claim IS 'secret proof of ownership';
COMMENT ON COLUMN snowid_internal.nodes.node_name IS 'label of the node';
COMMENT ON COLUMN snowid_internal.nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.exchange IS 'number of token exchanges';
COMMENT ON COLUMN snowid_internal.nodes.token IS 'random number of the last token exchange';
COMMENT ON COLUMN snowid_internal.nodes.taken_over IS 'number of token exchanges at the last snowid.take_over_node()';
COMMENT ON COLUMN snowid_internal.nodes.system_identifier IS 'system identifier of the node''s server';
COMMENT ON COLUMN snowid_internal.nodes.database_oid IS 'OID of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.timeline IS 'timeline of the node''s WAL';
COMMENT ON COLUMN snowid_internal.nodes.max_lead IS 'IDs'' greatest lead over last_seen, in microseconds';
COMMENT ON COLUMN snowid_internal.nodes.claimed IS 'time of joining';
COMMENT ON COLUMN snowid_internal.nodes.claimed_by IS 'role of the node''s connection when joining';
COMMENT ON COLUMN snowid_internal.nodes.claimed_in IS 'transaction of joining';
COMMENT ON COLUMN snowid_internal.nodes.last_seen IS 'time of the last check by the node';
COMMENT ON COLUMN snowid_internal.nodes.promoted_seen IS 'last check by a promoted or restored server';
COMMENT ON COLUMN snowid_internal.nodes.retired IS 'time of retirement';
COMMENT ON CONSTRAINT nodes_pkey ON snowid_internal.nodes IS 'one row per node number';
COMMENT ON INDEX snowid_internal.nodes_pkey IS 'one row per node number';
COMMENT ON CONSTRAINT nodes_claim_key ON snowid_internal.nodes IS 'one node number per claim';
COMMENT ON INDEX snowid_internal.nodes_claim_key IS 'one node number per claim';
COMMENT ON CONSTRAINT nodes_node_number_check ON snowid_internal.nodes IS 'shards of Instagram''s layout, except 0';

CREATE TABLE snowid_internal.registry_identities (
  identity pg_catalog.text NOT NULL,
  max_node_number bigint NOT NULL
    CHECK (max_node_number OPERATOR(pg_catalog.>=) 0::bigint AND max_node_number OPERATOR(pg_catalog.<=) 8191::bigint)
) USING heap;
-- Without a key: a dump is also restored into its origin.
ALTER TABLE snowid_internal.registry_identities REPLICA IDENTITY FULL;
COMMENT ON TABLE snowid_internal.registry_identities IS 'identities of this registry';
COMMENT ON COLUMN snowid_internal.registry_identities.identity IS 'result of snowid_internal.registry_identity()';
COMMENT ON COLUMN snowid_internal.registry_identities.max_node_number IS 'greatest number assigned before, per snowid.recover_registry()';
COMMENT ON CONSTRAINT registry_identities_max_node_number_check ON snowid_internal.registry_identities IS 'node numbers, or 0';

SELECT pg_catalog.pg_extension_config_dump('snowid_internal.nodes'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.registry_identities'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.nodes
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.nodes IS 'Ignores rows of another registry.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.nodes
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.nodes IS 'Rejects TRUNCATE, also by logical replication.';
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER refuse_truncate;
CREATE TRIGGER keep_own_rows BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.registry_identities
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER keep_own_rows ON snowid_internal.registry_identities IS 'Ignores rows of another registry.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.registry_identities
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_own_rows();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.registry_identities IS 'Rejects TRUNCATE, also by logical replication.';
ALTER TABLE snowid_internal.registry_identities ENABLE ALWAYS TRIGGER keep_own_rows;
ALTER TABLE snowid_internal.registry_identities ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE VIEW snowid.registry AS
  SELECT n.node_number, n.node_name, n.database, n.claimed, n.last_seen, n.promoted_seen, n.retired FROM snowid_internal.nodes AS n;
COMMENT ON VIEW snowid.registry IS 'node numbers assigned by this registry';
COMMENT ON COLUMN snowid.registry.node_number IS 'node number';
COMMENT ON COLUMN snowid.registry.node_name IS 'label of the node';
COMMENT ON COLUMN snowid.registry.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.registry.claimed IS 'time of joining';
COMMENT ON COLUMN snowid.registry.last_seen IS 'time of the last check by the node';
COMMENT ON COLUMN snowid.registry.promoted_seen IS 'last check by a promoted or restored server';
COMMENT ON COLUMN snowid.registry.retired IS 'time of retirement';

CREATE VIEW snowid.registry_usage AS
  SELECT u.numbers_used, 8191::bigint OPERATOR(pg_catalog.-) u.numbers_used AS numbers_left
    FROM (SELECT greatest((SELECT pg_catalog.max(n.node_number) FROM snowid_internal.nodes AS n),
      (SELECT pg_catalog.max(i.max_node_number) FROM snowid_internal.registry_identities AS i)) AS numbers_used) AS u;
COMMENT ON VIEW snowid.registry_usage IS 'capacity of this registry';
COMMENT ON COLUMN snowid.registry_usage.numbers_used IS 'greatest number assigned, or passed to snowid.recover_registry()';
COMMENT ON COLUMN snowid.registry_usage.numbers_left IS 'numbers never assigned';

-- This table in this database of this server, since the server's last promotion. A registry that was restored,
-- promoted, upgraded or moved has another identity, and may have lost assignments.
CREATE FUNCTION snowid_internal.registry_identity() RETURNS pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN format('%s/%s/%s/%s', (SELECT c.system_identifier FROM pg_control_system() AS c),
    (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()), 'snowid_internal.nodes'::regclass::oid,
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8));
END $$;
COMMENT ON FUNCTION snowid_internal.registry_identity() IS 'Returns the identity of this registry, changed by a restore or promotion.';

INSERT INTO snowid_internal.registry_identities (identity, max_node_number) VALUES (snowid_internal.registry_identity(), 0::bigint);

CREATE FUNCTION snowid_internal.commit_durably() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_commit_durably';
COMMENT ON FUNCTION snowid_internal.commit_durably() IS
  'Makes this transaction''s commit durable on synchronous standbys, and rejects PREPARE TRANSACTION.';

-- A role that may drop the extension can create objects of the same names meanwhile. A function with its owner's rights
-- is therefore SQL-standard, which binds its callees by OID, and calls this one first, before any name is looked up.
CREATE FUNCTION snowid_internal.keep_extension() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_extension';
COMMENT ON FUNCTION snowid_internal.keep_extension() IS 'Locks the extension against DROP until the transaction ends.';

-- A crash would empty an unlogged table: the registry would assign its numbers again.
CREATE FUNCTION snowid_internal.require_registry() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  unlogged CONSTANT regclass := (SELECT min(c.oid) FROM pg_class AS c WHERE c.relpersistence <> 'p'
    AND c.oid IN ('snowid_internal.nodes'::regclass, 'snowid_internal.registry_identities'::regclass));
BEGIN
  IF unlogged IS NOT NULL THEN
    RAISE 'table "%" was altered', unlogged USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It is unlogged.', HINT = format('Use ALTER TABLE %s SET LOGGED.', unlogged);
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_registry() IS 'Raises an error if tables of the registry are unlogged.';

-- A superuser's trigger or rule may have stored another row, or none.
CREATE FUNCTION snowid_internal.require_stored(is_stored boolean) RETURNS pg_catalog.void
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF is_stored THEN RETURN; END IF;
  RAISE 'could not change table "snowid_internal.nodes"' USING ERRCODE = 'object_not_in_prerequisite_state',
    DETAIL = 'A rule, trigger, or policy on it stored something else, or nothing.',
    HINT = 'Drop the rule, trigger, or policy.';
END $$;
COMMENT ON FUNCTION snowid_internal.require_stored(boolean) IS 'Raises an error if a row was not stored.';

-- Other sessions cannot see the rows of open transactions, and wait for them.
CREATE FUNCTION snowid_internal.require_one() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.claimed_in = pg_current_xact_id()) THEN
    RAISE 'cannot get two numbers in a transaction' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_one() IS 'Raises an error if the transaction was assigned a number.';

-- Keeps a role from exhausting the numbers.
CREATE FUNCTION snowid_internal.require_few_claims() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 500;
BEGIN
  IF (SELECT count(*) >= most FROM snowid_internal.nodes AS n
          WHERE n.claimed_by = session_user AND n.claimed > now() - interval '1 day') THEN
    RAISE 'role "%" has claimed % numbers within a day', session_user, most USING ERRCODE = 'configuration_limit_exceeded',
      HINT = 'Wait, or have nodes connect as different roles.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_few_claims() IS 'Raises an error if the role has claimed too many numbers.';

-- Returns the row of a claim, made if missing with the least number never assigned.
CREATE FUNCTION snowid_internal.give_number(asking snowid_internal.nodes) RETURNS snowid_internal.nodes
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  given snowid_internal.nodes;
  is_stored boolean;
  deadline CONSTANT timestamptz := clock_timestamp() + interval '8 s';
BEGIN
  SELECT * INTO given FROM snowid_internal.nodes AS n WHERE n.claim = asking.claim;
  IF FOUND THEN RETURN given; END IF;
  PERFORM snowid_internal.require_complete();
  PERFORM snowid_internal.require_one();
  PERFORM snowid_internal.require_few_claims();
  FOR asking.node_number IN
    SELECT g FROM generate_series((SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i) + 1, 8191) AS g
     WHERE NOT EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = g) ORDER BY g
  LOOP
    BEGIN
      INSERT INTO snowid_internal.nodes SELECT asking.* ON CONFLICT DO NOTHING RETURNING * INTO given;
      is_stored := CASE WHEN FOUND THEN given = asking
        ELSE EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number OR n.claim = asking.claim) END;
    EXCEPTION WHEN lock_not_available THEN
      -- The number is being assigned, or the same claim arrived before and its transaction is open.
      is_stored := true;
    END;
    PERFORM snowid_internal.require_stored(is_stored);
    IF given.claim IS NULL THEN SELECT * INTO given FROM snowid_internal.nodes AS n WHERE n.claim = asking.claim; END IF;
    IF given.claim IS NOT NULL THEN RETURN given; END IF;
    -- After one wait the others are skipped fast, within the node's timeout.
    PERFORM set_config('lock_timeout', '1ms', true);
    EXIT WHEN clock_timestamp() > deadline;
  END LOOP;
  IF FOUND THEN
    RAISE 'many nodes are claiming numbers' USING ERRCODE = 'lock_not_available', HINT = 'Try again.';
  END IF;
  RAISE 'all numbers of the registry are assigned' USING ERRCODE = 'configuration_limit_exceeded',
    DETAIL = 'A registry assigns 8191 numbers, each once.',
    HINT = 'Have new nodes join a second registry, and use a layout with more shards for their tables.';
END $$;
COMMENT ON FUNCTION snowid_internal.give_number(snowid_internal.nodes) IS 'Assigns a number to a claim, unless it has one, and returns its row.';

CREATE FUNCTION snowid_internal.require_complete() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF (SELECT coalesce(bool_or(i.identity <> snowid_internal.registry_identity()), true) FROM snowid_internal.registry_identities AS i) THEN
    RAISE 'registry may have lost assigned numbers' USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It was restored, promoted, upgraded, or moved.',
      HINT = 'On the registry, use snowid.recover_registry() with the greatest node_number of all nodes.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_complete() IS 'Raises an error if the registry may have lost numbers.';

-- Makes the row of a node lost by its registry. A number the registry may still assign gets no row: the registry has
-- stated up to which number it may have lost rows.
CREATE FUNCTION snowid_internal.accept_node(asking snowid_internal.nodes) RETURNS snowid_internal.nodes
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  accepted snowid_internal.nodes;
  max_node_number CONSTANT bigint := (SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i);
BEGIN
  PERFORM snowid_internal.require_one();
  IF asking.node_number > max_node_number THEN
    RAISE 'number % is greater than any the registry may have lost', asking.node_number USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('snowid.recover_registry() was called with %s.', max_node_number),
      HINT = 'On the registry, use snowid.recover_registry() with the greatest node_number of all nodes.';
  END IF;
  INSERT INTO snowid_internal.nodes SELECT asking.* ON CONFLICT DO NOTHING RETURNING * INTO accepted;
  IF NOT FOUND THEN
    PERFORM snowid_internal.require_stored(EXISTS
      (SELECT FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number OR n.claim = asking.claim));
    RAISE 'number % of node "%" belongs to node "%" of the registry', asking.node_number, asking.node_name,
      (SELECT n.node_name FROM snowid_internal.nodes AS n WHERE n.node_number = asking.node_number)
      USING ERRCODE = 'unique_violation', HINT = 'One of the two nodes must join again to get another number.';
  END IF;
  RETURN accepted;
END $$;
COMMENT ON FUNCTION snowid_internal.accept_node(snowid_internal.nodes) IS 'Restores the row of a node to the registry.';

-- Called by nodes over dblink. exchange, token: the node's; next: stored by the node, and to replace the token.
-- Verdicts: held: the row has `next`; moved: another registry than the node's; unknown: no row of the claim and the
-- number; behind: the registry has lost exchanges; promoted: the row is of an earlier timeline, nothing has changed;
-- retired; copy: another server has exchanged tokens since, or has taken over since this one was promoted.
CREATE FUNCTION snowid_internal.answer_request(request pg_catalog.text, registry_identity pg_catalog.text, claim pg_catalog.uuid,
    node_number bigint, exchange bigint, token bigint, next bigint, node_name pg_catalog.text, database pg_catalog.text,
    system_identifier bigint, database_oid bigint, timeline bigint, max_lead bigint,
    OUT verdict pg_catalog.text, OUT held_claim pg_catalog.uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  asking snowid_internal.nodes := ROW(node_number, claim, node_name, database, exchange + 1, next, 0, system_identifier, database_oid,
    timeline, max_lead, NULL, session_user, NULL, clock_timestamp(), NULL, NULL);
  held snowid_internal.nodes;
  is_stated CONSTANT boolean := request IN ('take over', 'accept');
  is_later boolean;
BEGIN
  PERFORM snowid_internal.require_registry();
  IF request NOT IN ('look', 'claim', 'exchange', 'take over', 'accept', 'leave') THEN
    RAISE 'unknown request of a node: "%"', request USING ERRCODE = 'invalid_parameter_value';
  ELSIF octet_length(node_name) NOT BETWEEN 1 AND 255 OR octet_length(database) > 255 OR node_number NOT BETWEEN 0 AND 8191
      OR exchange < 0 OR token < 0 OR next < 0 OR max_lead < 0 OR (request = 'accept' AND node_number = 0)
      OR (next = 0) <> (request IN ('look', 'claim')) THEN
    RAISE 'invalid request of a node' USING ERRCODE = 'invalid_parameter_value';
  ELSIF pg_is_in_recovery() THEN
    RAISE 'registry is a standby' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  identity := snowid_internal.registry_identity();
  held_claim := claim;
  IF registry_identity <> identity AND (request <> 'look' OR registry_identity <> '') THEN
    verdict := 'moved';
  ELSIF request = 'look' THEN
    SELECT * INTO held FROM snowid_internal.nodes AS n WHERE n.claim = answer_request.claim;
    verdict := CASE WHEN held.claim IS NULL THEN 'unknown' WHEN held.retired IS NOT NULL THEN 'retired' ELSE 'held' END;
  ELSE
    PERFORM snowid_internal.commit_durably();
    asking.claimed_in := pg_current_xact_id();
    IF request = 'accept' THEN PERFORM snowid_internal.require_complete(); END IF;
    IF request = 'claim' THEN
      asking.exchange := 0;
      asking.token := 0;
      asking.claimed := asking.last_seen;
      held := snowid_internal.give_number(asking);
    ELSE
      SELECT * INTO held FROM snowid_internal.nodes AS n
       WHERE n.claim = answer_request.claim AND n.node_number = answer_request.node_number FOR UPDATE;
      IF held.claim IS NULL AND request = 'accept' THEN held := snowid_internal.accept_node(asking); END IF;
    END IF;
    is_later := request <> 'take over' AND timeline > held.timeline AND system_identifier = held.system_identifier AND database_oid = held.database_oid;
    verdict := CASE WHEN held.claim IS NULL THEN 'unknown'
      WHEN held.retired IS NOT NULL THEN 'retired'
      WHEN request = 'claim' THEN 'held'
      WHEN is_later THEN CASE WHEN exchange >= held.taken_over OR next = held.token THEN 'promoted' ELSE 'copy' END
      WHEN next = held.token OR (token = held.token AND (is_stated OR exchange = held.exchange)) THEN 'held'
      WHEN exchange > held.exchange THEN 'behind'
      ELSE 'copy' END;
  END IF;
  held_max_lead := coalesce(held.max_lead, 0);
  IF verdict = 'promoted' THEN
    UPDATE snowid_internal.nodes AS n SET promoted_seen = asking.last_seen WHERE n.claim = answer_request.claim;
  ELSIF verdict = 'held' AND next <> 0 THEN
    UPDATE snowid_internal.nodes AS n
       SET exchange = CASE n.token WHEN next THEN n.exchange ELSE greatest(n.exchange, answer_request.exchange) + 1 END, token = next,
           taken_over = CASE WHEN request <> 'take over' THEN n.taken_over WHEN n.token = next THEN n.exchange
             ELSE greatest(n.exchange, answer_request.exchange) + 1 END,
           node_name = asking.node_name, database = asking.database, last_seen = asking.last_seen,
           -- Until the clock has passed them, there may be IDs allowed by a greater setting.
           max_lead = greatest(asking.max_lead,
             n.max_lead - greatest(extract(epoch FROM asking.last_seen - n.last_seen) * 1000000, 0)::bigint),
           system_identifier = CASE WHEN is_stated THEN asking.system_identifier ELSE n.system_identifier END,
           database_oid = CASE WHEN is_stated THEN asking.database_oid ELSE n.database_oid END,
           -- Never decreases, or another server of the later timeline would not learn of its replacement. Another
           -- database's timeline is independent: after pg_upgrade it begins at 1 again.
           timeline = CASE WHEN NOT is_stated THEN n.timeline
             WHEN asking.system_identifier = n.system_identifier AND asking.database_oid = n.database_oid
             THEN greatest(n.timeline, asking.timeline) ELSE asking.timeline END,
           promoted_seen = CASE WHEN NOT is_stated THEN n.promoted_seen END,
           retired = CASE WHEN request = 'leave' THEN asking.last_seen END
     WHERE n.claim = answer_request.claim RETURNING * INTO held;
    PERFORM snowid_internal.require_stored(held.token = next AND held.claim = answer_request.claim
      AND held.node_number = asking.node_number AND (held.retired IS NOT NULL) = (request = 'leave'));
  END IF;
  held_number := coalesce(held.node_number, 0);
  held_exchange := coalesce(held.exchange, 0);
  held_token := coalesce(held.token, 0);
  is_promoted := held.promoted_seen IS NOT NULL;
END $$;
COMMENT ON FUNCTION snowid_internal.answer_request(pg_catalog.text, pg_catalog.text, pg_catalog.uuid, bigint, bigint, bigint, bigint,
    pg_catalog.text, pg_catalog.text, bigint, bigint, bigint, bigint) IS 'implementation of snowid.register()';

CREATE FUNCTION snowid.register(request pg_catalog.text, registry_identity pg_catalog.text, claim pg_catalog.uuid,
    node_number bigint, exchange bigint, token bigint, next bigint, node_name pg_catalog.text, database pg_catalog.text,
    system_identifier bigint, database_oid bigint, timeline bigint, max_lead bigint,
    OUT verdict pg_catalog.text, OUT held_claim pg_catalog.uuid, OUT held_number bigint, OUT held_exchange bigint,
    OUT held_token bigint, OUT held_max_lead bigint, OUT is_promoted boolean, OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT r.verdict, r.held_claim, r.held_number, r.held_exchange, r.held_token, r.held_max_lead, r.is_promoted, r.identity
    FROM snowid_internal.answer_request(request, registry_identity, claim, node_number, exchange, token, next, node_name, database,
      system_identifier, database_oid, timeline, max_lead) AS r;
END;
COMMENT ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, pg_catalog.uuid, bigint, bigint, bigint, bigint,
    pg_catalog.text, pg_catalog.text, bigint, bigint, bigint, bigint) IS
  'Registers a node; called by the other functions on the registry.';

CREATE FUNCTION snowid_internal.retire_number(node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM snowid_internal.require_registry();
  PERFORM snowid_internal.commit_durably();
  UPDATE snowid_internal.nodes AS n SET retired = coalesce(n.retired, clock_timestamp()) WHERE n.node_number = retire_number.node_number;
  IF NOT FOUND THEN
    RAISE 'number % is not assigned to a node', node_number USING ERRCODE = 'undefined_object',
      HINT = 'The view snowid.registry lists the numbers assigned by this registry.';
  END IF;
EXCEPTION WHEN lock_not_available THEN
  RAISE 'number % is locked by another transaction', node_number USING ERRCODE = 'lock_not_available',
    HINT = format('End it, and try again: SELECT pg_terminate_backend(l.pid) FROM snowid_internal.nodes AS n'
      ' JOIN pg_locks AS l ON l.granted AND l.transactionid = n.xmax WHERE n.node_number = %s.', node_number);
END $$;
COMMENT ON FUNCTION snowid_internal.retire_number(bigint) IS 'implementation of snowid.retire_node()';

CREATE FUNCTION snowid.retire_node(node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT snowid_internal.retire_number(node_number);
END;
COMMENT ON FUNCTION snowid.retire_node(bigint) IS 'Retires the number of a node, on the registry.';

CREATE FUNCTION snowid_internal.recover_numbers(max_node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known CONSTANT bigint := greatest((SELECT max(n.node_number) FROM snowid_internal.nodes AS n),
    (SELECT max(i.max_node_number) FROM snowid_internal.registry_identities AS i));
BEGIN
  PERFORM snowid_internal.require_registry();
  PERFORM snowid_internal.commit_durably();
  IF max_node_number NOT BETWEEN 0 AND 8191 THEN
    RAISE 'number of a node out of range: %', max_node_number USING ERRCODE = 'invalid_parameter_value';
  ELSIF max_node_number < known THEN
    RAISE 'number % may have been assigned', known USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = format('Use snowid.recover_registry(%s), or a greater number.', known);
  END IF;
  DELETE FROM snowid_internal.registry_identities;
  INSERT INTO snowid_internal.registry_identities (identity, max_node_number)
    VALUES (snowid_internal.registry_identity(), recover_numbers.max_node_number);
END $$;
COMMENT ON FUNCTION snowid_internal.recover_numbers(bigint) IS 'implementation of snowid.recover_registry()';

CREATE FUNCTION snowid.recover_registry(max_node_number bigint) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE SQL SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s'
BEGIN ATOMIC
  SELECT snowid_internal.keep_extension();
  SELECT snowid_internal.recover_numbers(max_node_number);
END;
COMMENT ON FUNCTION snowid.recover_registry(bigint) IS
  'Declares the greatest node number ever assigned, on a restored, promoted, upgraded, or moved registry.';
