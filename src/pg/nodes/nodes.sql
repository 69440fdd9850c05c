-- The registry: which numbers it has given to which nodes. A number is given once. When a node leaves its number is
-- retired. A node that joins gets the least that somebody has freed, or else the least that was never given.
--
-- Locking: a request locks the row of its own number, and no other, until its transaction ends. A claim waits for one
-- other claim for a tenth of a second at most, and passes over the numbers that others are about to get.

CREATE TABLE snowid_internal.nodes (
  number bigint PRIMARY KEY CHECK (number OPERATOR(pg_catalog.>=) 1::bigint AND number OPERATOR(pg_catalog.<=) 8191::bigint),
  node pg_catalog.text UNIQUE,
  database pg_catalog.text,
  system_identifier bigint,
  database_oid bigint,
  timeline bigint,
  claimed pg_catalog.timestamptz,
  claimed_by pg_catalog.text,
  last_seen pg_catalog.timestamptz,
  check_interval pg_catalog.interval,
  left_node pg_catalog.text,
  retired pg_catalog.timestamptz,
  is_free boolean NOT NULL DEFAULT false,
  secret pg_catalog.text,
  token bigint,
  previous_token bigint,
  written_by pg_catalog.text
) USING heap;
COMMENT ON TABLE snowid_internal.nodes IS 'numbers that nodes have claimed from this database as their registry, see snowid_join; kept by snowid';
COMMENT ON COLUMN snowid_internal.nodes.number IS 'shard of the node''s IDs';
COMMENT ON COLUMN snowid_internal.nodes.node IS 'node that has the number; null where it is retired';
COMMENT ON COLUMN snowid_internal.nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.system_identifier IS 'server of the node, as pg_control_system() has it there';
COMMENT ON COLUMN snowid_internal.nodes.database_oid IS 'oid of the node''s database';
COMMENT ON COLUMN snowid_internal.nodes.timeline IS 'timeline of the node''s WAL; a promoted standby has a greater one';
COMMENT ON COLUMN snowid_internal.nodes.claimed IS 'when the node got the number';
COMMENT ON COLUMN snowid_internal.nodes.claimed_by IS 'role that the node has asked as';
COMMENT ON COLUMN snowid_internal.nodes.last_seen IS 'when the node has last asked, and was right';
COMMENT ON COLUMN snowid_internal.nodes.check_interval IS 'time between the last two times, or half of what it was before, if that is longer';
COMMENT ON COLUMN snowid_internal.nodes.left_node IS 'node that had the number; null where that is not known';
COMMENT ON COLUMN snowid_internal.nodes.retired IS 'when the number was retired; null where it is in use';
COMMENT ON COLUMN snowid_internal.nodes.is_free IS 'whether snowid.free_number() has made it free to be given again';
COMMENT ON COLUMN snowid_internal.nodes.secret IS 'what the node proves with that the number is its own';
COMMENT ON COLUMN snowid_internal.nodes.token IS
  'how many exchanges there have been, and a random number that the node was told last: of two copies only one can know it';
COMMENT ON COLUMN snowid_internal.nodes.previous_token IS 'the token before, which a promoted standby may know';
COMMENT ON COLUMN snowid_internal.nodes.written_by IS
  'snowid_internal.registry_identity() of when this was last known to be all that was given; another one now where the registry was '
  'restored or promoted since; null: a node has said it, empty: the administrator has given up on what it said';
COMMENT ON CONSTRAINT nodes_pkey ON snowid_internal.nodes IS 'a number is given once';
COMMENT ON INDEX snowid_internal.nodes_pkey IS 'a number is given once';
COMMENT ON CONSTRAINT nodes_node_key ON snowid_internal.nodes IS 'a node has one number';
COMMENT ON INDEX snowid_internal.nodes_node_key IS 'a node has one number';
COMMENT ON CONSTRAINT nodes_number_check ON snowid_internal.nodes IS 'shards of the layout instagram; 0 is drawn from without joining';
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.nodes'::pg_catalog.regclass, ''::pg_catalog.text);

CREATE FUNCTION snowid_internal.keep_nodes() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_keep_nodes';
COMMENT ON FUNCTION snowid_internal.keep_nodes() IS
  'trigger: rows that replication brings are dropped, and no number is forgotten';

CREATE TRIGGER keep_nodes BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.nodes
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.keep_nodes();
COMMENT ON TRIGGER keep_nodes ON snowid_internal.nodes IS
  'trigger: rows that replication brings are dropped, and no number is forgotten';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.nodes
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.keep_nodes();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.nodes IS
  'refuses TRUNCATE, which replication would do to others'' rows, too';
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER keep_nodes;
ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE VIEW snowid.registered_nodes AS
  SELECT n.number, n.node, n.database, n.claimed, n.last_seen, n.left_node, n.retired, n.is_free FROM snowid_internal.nodes AS n;
COMMENT ON VIEW snowid.registered_nodes IS 'snowid_internal.nodes without its secrets';
COMMENT ON COLUMN snowid.registered_nodes.number IS 'shard of the node''s IDs';
COMMENT ON COLUMN snowid.registered_nodes.node IS 'node that has the number; null where it is retired';
COMMENT ON COLUMN snowid.registered_nodes.database IS 'name of the node''s database';
COMMENT ON COLUMN snowid.registered_nodes.claimed IS 'when the node got the number';
COMMENT ON COLUMN snowid.registered_nodes.last_seen IS 'when the node has last asked, and was right';
COMMENT ON COLUMN snowid.registered_nodes.left_node IS 'node that had the number; null where that is not known';
COMMENT ON COLUMN snowid.registered_nodes.retired IS 'when the number was retired; null where it is in use';
COMMENT ON COLUMN snowid.registered_nodes.is_free IS 'whether it is free to be given again';

-- Which registry this is: this table in this database of this server, since the server was last promoted. Where it is
-- restored, promoted or upgraded it is another one, which may have lost what it has given.
CREATE FUNCTION snowid_internal.registry_identity() RETURNS pg_catalog.text
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN format('%s/%s/%s/%s', (SELECT c.system_identifier FROM pg_control_system() AS c),
    (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()), 'snowid_internal.nodes'::regclass::oid,
    left(pg_walfile_name(pg_current_wal_insert_lsn()), 8));
END $$;
COMMENT ON FUNCTION snowid_internal.registry_identity() IS 'identity of this registry, which changes once it may have lost numbers';

-- What a node gets as an answer must not be lost here in a crash, nor when a synchronous standby takes over, also where
-- the session sets synchronous_commit off; and no number stays locked by PREPARE TRANSACTION.
CREATE FUNCTION snowid_internal.commit_durably() RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_commit_durably';
COMMENT ON FUNCTION snowid_internal.commit_durably() IS 'have this transaction''s commit wait until it is on disk, and on synchronous standbys';

-- Inserts a node with a number. False where another one has that, or is about to.
CREATE FUNCTION snowid_internal.give_number(given bigint, asking snowid_internal.nodes) RETURNS boolean
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  asking.number := given;
  INSERT INTO snowid_internal.nodes SELECT asking.*;
  RETURN true;
EXCEPTION
  WHEN unique_violation THEN
    IF EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.node = asking.node) THEN
      RAISE 'registry has another node "%"', asking.node USING ERRCODE = 'duplicate_object',
        HINT = 'Use another name. Where this server is to replace that node and has its data, use '
          'snowid_check(take_over => true) instead.';
    END IF;
    RETURN false;
  WHEN lock_not_available THEN
    RETURN false;
END $$;
COMMENT ON FUNCTION snowid_internal.give_number(bigint, snowid_internal.nodes) IS 'give a number to a node, if no other has it';

-- Stores in the row of a number what its node has sent about itself.
CREATE FUNCTION snowid_internal.keep_node(held bigint, asking snowid_internal.nodes) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE snowid_internal.nodes AS n
     SET node = asking.node, database = asking.database, system_identifier = asking.system_identifier,
         database_oid = asking.database_oid, timeline = asking.timeline, secret = asking.secret,
         claimed = CASE WHEN n.node IS NULL THEN asking.claimed ELSE n.claimed END,
         claimed_by = CASE WHEN n.node IS NULL THEN asking.claimed_by ELSE n.claimed_by END,
         last_seen = asking.last_seen,
         -- Two exchanges in a row say little of how often there are some.
         check_interval = CASE WHEN n.node IS NOT NULL
           THEN greatest(asking.last_seen - n.last_seen, n.check_interval / 2) END,
         left_node = NULL, retired = NULL, is_free = false, token = asking.token,
         -- What is asked twice has exchanged nothing the second time.
         previous_token = CASE WHEN n.token = asking.token THEN n.previous_token ELSE n.token END,
         written_by = asking.written_by
   WHERE n.number = held;
EXCEPTION WHEN unique_violation THEN
  RAISE 'registry has another node "%"', asking.node USING ERRCODE = 'duplicate_object', HINT = 'Use another name.';
END $$;
COMMENT ON FUNCTION snowid_internal.keep_node(bigint, snowid_internal.nodes) IS 'store what a node says of itself';

-- No role fills the registry. A transaction gets one number: others pass over it until it ends, which takes time.
CREATE FUNCTION snowid_internal.require_few_claims(role pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  most CONSTANT int := 500;
BEGIN
  IF EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.claimed_by = role AND n.claimed >= now()
    AND pg_xact_status((pg_current_xact_id()::text::bigint - age(n.xmin))::text::xid8) = 'in progress') THEN
    RAISE 'a transaction gets one number' USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  IF (SELECT count(*) >= most FROM snowid_internal.nodes AS n WHERE n.claimed_by = role AND n.claimed > now() - interval '1 day') THEN
    RAISE 'role "%" has got % numbers within a day', role, most
      USING ERRCODE = 'configuration_limit_exceeded', HINT = 'Wait, or have nodes ask as different roles.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.require_few_claims(pg_catalog.text) IS 'refuse a role that has claimed many numbers';

-- Gives a node the least number that was made free, or never given.
CREATE FUNCTION snowid_internal.claim_number(asking snowid_internal.nodes) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  given bigint;
BEGIN
  IF EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE coalesce(n.written_by NOT IN (asking.written_by, ''), true)) THEN
    RAISE 'registry may have given numbers that it does not know of' USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = 'It was restored, promoted or upgraded, or a node knows more than it does.',
      HINT = 'Use snowid_check(registry_moved => true) on all nodes, and then snowid.settle_registry() on the registry.';
  END IF;
  PERFORM snowid_internal.require_few_claims(asking.claimed_by);
  SELECT n.number INTO given FROM snowid_internal.nodes AS n WHERE n.is_free ORDER BY n.number LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    PERFORM snowid_internal.keep_node(given, asking);
    RETURN given;
  END IF;
  FOR given IN
    SELECT g FROM generate_series(1, 8191) AS g WHERE NOT EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.number = g) ORDER BY g
  LOOP
    IF snowid_internal.give_number(given, asking) THEN RETURN given; END IF;
    -- One has been waited for. The others are passed over fast, and even so not beyond what the node waits for.
    PERFORM set_config('lock_timeout', '1ms', true);
    EXIT WHEN clock_timestamp() > asking.claimed + interval '8 s';
  END LOOP;
  IF FOUND THEN
    RAISE 'somebody else is claiming a number as node "%"', asking.node USING ERRCODE = 'lock_not_available',
      DETAIL = 'Or very many are claiming numbers.', HINT = 'Try again, or use another name.';
  END IF;
  RAISE 'all 8191 numbers of the registry were given' USING ERRCODE = 'configuration_limit_exceeded',
    HINT = 'Use snowid.retire_node() on the registry for nodes that are gone, and snowid.free_number() there for retired numbers.';
END $$;
COMMENT ON FUNCTION snowid_internal.claim_number(snowid_internal.nodes) IS 'give a node a number';

-- What the registry says to a node that asks whether a number is its own. `known` and `asked` are the tokens of which
-- the registry should have one.
--
-- A token that has been exchanged more often than the one here says that the registry is older than the node: then it
-- learns from the node. A promoted standby may know the token before, and has a later timeline. So does a server that
-- was restored from an archive, and the two cannot be distinguished. So neither may displace a node that has checked
-- within its last interval.
CREATE FUNCTION snowid_internal.judge_token(held snowid_internal.nodes, asking snowid_internal.nodes, known bigint, asked bigint) RETURNS pg_catalog.text
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_later CONSTANT boolean := asking.timeline > held.timeline AND asking.system_identifier = held.system_identifier
    AND asking.database_oid = held.database_oid;
BEGIN
  IF known >> 32 > held.token >> 32 THEN
    RETURN 'older';
  ELSIF held.token IN (known, asked) AND NOT is_later THEN
    RETURN 'held';
  ELSIF is_later AND (held.token IN (known, asked) OR coalesce(held.previous_token IN (known, asked), false)) THEN
    RETURN CASE WHEN asking.last_seen - held.last_seen < least(held.check_interval, interval '1 hour') THEN 'busy' ELSE 'held' END;
  END IF;
  RETURN 'lost';
END $$;
COMMENT ON FUNCTION snowid_internal.judge_token(snowid_internal.nodes, snowid_internal.nodes, bigint, bigint) IS 'whether a number belongs to the node that asks';

-- A check, a look, taking over, or leaving: what is said to a node with a number.
CREATE FUNCTION snowid_internal.answer_node(request pg_catalog.text, asking snowid_internal.nodes, known bigint, OUT verdict pg_catalog.text,
    OUT token bigint)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  held snowid_internal.nodes;
BEGIN
  SELECT * INTO held FROM snowid_internal.nodes AS n WHERE n.number = asking.number FOR UPDATE;
  asking.last_seen := clock_timestamp();
  asking.claimed := asking.last_seen;
  token := coalesce(held.token, 0);
  IF held.secret IS NOT NULL AND (held.secret <> asking.secret OR held.node IS NULL) THEN
    verdict := 'lost';
    token := 0;
  ELSIF request = 'look' THEN
    verdict := 'held';
  ELSIF held.secret IS NULL THEN
    -- Given, and forgotten here.
    verdict := CASE WHEN request = 'leave' THEN 'lost' ELSE 'older' END;
    PERFORM snowid_internal.require_few_claims(asking.claimed_by);
  ELSIF request = 'take over' THEN
    verdict := CASE WHEN held.token IN (known, asking.token) THEN 'held' ELSE 'stale' END;
  ELSE
    verdict := snowid_internal.judge_token(held, asking, known, asking.token);
  END IF;
  asking.written_by := CASE verdict WHEN 'older' THEN NULL ELSE held.written_by END;
  IF verdict NOT IN ('held', 'older') OR request = 'look' THEN
    RETURN;
  ELSIF request = 'leave' THEN
    UPDATE snowid_internal.nodes AS n SET node = NULL, left_node = n.node, retired = asking.last_seen, last_seen = asking.last_seen
     WHERE n.number = asking.number;
  ELSIF held.number IS NOT NULL THEN
    PERFORM snowid_internal.keep_node(asking.number, asking);
  ELSIF NOT snowid_internal.give_number(asking.number, asking) THEN
    verdict := 'lost';
    RETURN;
  END IF;
  token := asking.token;
  IF verdict = 'older' THEN
    RAISE WARNING 'registry is older than node "%", and has learnt of number % from it', asking.node, asking.number;
  END IF;
END $$;
COMMENT ON FUNCTION snowid_internal.answer_node(pg_catalog.text, snowid_internal.nodes, bigint) IS 'answer a node that has a number';

-- What nodes call over dblink. Without the secret of a number a caller cannot change anything about it.
CREATE FUNCTION snowid.register(request pg_catalog.text, node pg_catalog.text, number bigint, secret pg_catalog.text,
    known bigint, next bigint, database pg_catalog.text, system_identifier bigint, database_oid bigint, timeline bigint,
    registry_identity pg_catalog.text,
    OUT verdict pg_catalog.text, OUT held_number bigint, OUT held_node pg_catalog.text, OUT token bigint,
    OUT identity pg_catalog.text)
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '5s' AS $$
DECLARE
  asking snowid_internal.nodes;
BEGIN
  IF request NOT IN ('claim', 'resume', 'check', 'look', 'take over', 'leave') THEN
    RAISE 'unknown request of a node: "%"', request USING ERRCODE = 'invalid_parameter_value';
  ELSIF octet_length(node) NOT BETWEEN 1 AND 255 OR octet_length(secret) NOT BETWEEN 1 AND 255 OR octet_length(database) > 255
      OR number NOT BETWEEN 0 AND 8191 OR (number = 0) <> (request IN ('claim', 'resume')) OR known < 0 OR next < 0
      OR (next = 0) <> (request = 'look') THEN
    RAISE 'invalid request of a node' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'Its name has 1 to 255 bytes.';
  END IF;
  IF pg_is_in_recovery() THEN
    RAISE 'registry is a standby' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  PERFORM snowid_internal.commit_durably();
  identity := snowid_internal.registry_identity();
  held_node := node;
  held_number := number;
  token := 0;
  IF registry_identity NOT IN ('', identity) THEN
    verdict := 'moved';
    RETURN;
  END IF;
  asking := ROW(number, node, database, system_identifier, database_oid, timeline, clock_timestamp(), session_user,
    clock_timestamp(), NULL, NULL, NULL, false, secret, next, NULL, identity);
  IF request = 'claim' THEN
    held_number := snowid_internal.claim_number(asking);
    verdict := 'held';
    token := next;
    RETURN;
  ELSIF request = 'resume' THEN
    SELECT n.number INTO held_number FROM snowid_internal.nodes AS n
     WHERE n.secret = asking.secret AND n.node IS NOT NULL AND n.token IN (known, next);
    IF NOT FOUND THEN
      verdict := 'lost';
      held_number := 0;
      RETURN;
    END IF;
    asking.number := held_number;
  END IF;
  SELECT a.verdict, a.token INTO verdict, token FROM snowid_internal.answer_node(request, asking, known) AS a;
END $$;
COMMENT ON FUNCTION snowid.register(pg_catalog.text, pg_catalog.text, bigint, pg_catalog.text, bigint, bigint, pg_catalog.text,
    bigint, bigint, bigint, pg_catalog.text) IS
  'what snowid_join, snowid_check and snowid_leave call on the registry: who may execute it may join';

-- What the registry's administrator does
CREATE FUNCTION snowid.retire_node(node pg_catalog.text) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
BEGIN
  PERFORM snowid_internal.commit_durably();
  UPDATE snowid_internal.nodes AS n SET node = NULL, left_node = n.node, retired = clock_timestamp() WHERE n.node = retire_node.node;
  IF NOT FOUND THEN
    RAISE 'node "%" does not exist', node USING ERRCODE = 'undefined_object',
      HINT = 'The view snowid.registered_nodes has those that this registry knows.';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.retire_node(pg_catalog.text) IS
  'on the registry: retire the number of a node that is gone for good';

-- An ID has the time at which its unit began: so in a layout with long units another node would begin where this one has been
-- before the last unit is over that the node has drawn in.
CREATE FUNCTION snowid.free_number(number bigint, longest_unit pg_catalog.interval DEFAULT '1 day') RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
  held snowid_internal.nodes;
BEGIN
  PERFORM snowid_internal.commit_durably();
  SELECT * INTO held FROM snowid_internal.nodes AS n WHERE n.number = free_number.number FOR UPDATE;
  IF held.retired IS NULL THEN
    RAISE 'number % is not retired', number USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = 'A number is retired by snowid_leave() on its node, or by snowid.retire_node() here.';
  ELSIF longest_unit < '0' OR longest_unit > '100 years' THEN
    RAISE 'unit of time out of range: %', longest_unit USING ERRCODE = 'invalid_parameter_value';
  -- Clocks may differ by 10 s, and IDs be ahead of them by as much.
  ELSIF held.retired + longest_unit + interval '1 minute' > clock_timestamp() THEN
    RAISE 'number % may have IDs in a unit of time that is not over', number USING ERRCODE = 'object_not_in_prerequisite_state',
      DETAIL = format('It was retired at %s. Where units of time are %s at most it can be free at %s.', held.retired, longest_unit,
        held.retired + longest_unit + interval '1 minute');
  END IF;
  UPDATE snowid_internal.nodes AS n SET is_free = true WHERE n.number = free_number.number;
END $$;
COMMENT ON FUNCTION snowid.free_number(bigint, pg_catalog.interval) IS
  'have the registry give a retired number again, once no unit of time of its layouts can hold an ID of it';

CREATE FUNCTION snowid.settle_registry(greatest_number bigint) RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10s' AS $$
DECLARE
  known bigint;
  forgotten bigint;
BEGIN
  PERFORM snowid_internal.commit_durably();
  IF coalesce(greatest_number NOT BETWEEN 0 AND 8191, true) THEN
    RAISE 'number of a node out of range: %', greatest_number USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE snowid_internal.nodes IN SHARE ROW EXCLUSIVE MODE;
  -- But for what a node said that was given up since: it may have lied, and is not asked about again.
  UPDATE snowid_internal.nodes AS n SET written_by = '' WHERE n.node IS NULL AND n.written_by IS NULL;
  SELECT max(n.number) INTO known FROM snowid_internal.nodes AS n WHERE n.written_by IS DISTINCT FROM '';
  IF greatest_number < known THEN
    RAISE 'number % was given', known USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  INSERT INTO snowid_internal.nodes (number, retired)
    SELECT g, clock_timestamp() FROM generate_series(1, greatest_number) AS g
     WHERE NOT EXISTS (SELECT FROM snowid_internal.nodes AS n WHERE n.number = g);
  GET DIAGNOSTICS forgotten = ROW_COUNT;
  UPDATE snowid_internal.nodes AS n SET written_by = snowid_internal.registry_identity() WHERE n.written_by IS DISTINCT FROM '';
  RETURN forgotten;
END $$;
COMMENT ON FUNCTION snowid.settle_registry(bigint) IS
  'on a registry that was restored or promoted: say the greatest number that was ever given; returns how many of the numbers it does not know';
