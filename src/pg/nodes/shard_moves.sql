-- Moved shards

CREATE TABLE snowid_internal.moved_shards (
  shard bigint NOT NULL,
  layout @extschema@.snowid_layout NOT NULL,
  id bigint NOT NULL,
  is_open boolean NOT NULL,
  moved_to pg_catalog.text,
  moved_at pg_catalog.timestamptz NOT NULL,
  -- The shard first, because lookups are by shard.
  PRIMARY KEY (shard, layout)
) USING heap;
COMMENT ON TABLE snowid_internal.moved_shards IS 'shards released or accepted on this server';
COMMENT ON COLUMN snowid_internal.moved_shards.shard IS 'moved shard';
COMMENT ON COLUMN snowid_internal.moved_shards.layout IS 'layout of its IDs';
COMMENT ON COLUMN snowid_internal.moved_shards.id IS 'ID passed at the last move';
COMMENT ON COLUMN snowid_internal.moved_shards.is_open IS 'true if accepted, false if released';
COMMENT ON COLUMN snowid_internal.moved_shards.moved_to IS 'destination of a released shard';
COMMENT ON COLUMN snowid_internal.moved_shards.moved_at IS 'time of the last move';
COMMENT ON CONSTRAINT moved_shards_pkey ON snowid_internal.moved_shards IS 'one row per shard';
COMMENT ON INDEX snowid_internal.moved_shards_pkey IS 'one row per shard';

CREATE VIEW snowid.released_shards AS
  SELECT m.shard, m.layout, m.id, m.moved_to, m.moved_at AS released_at
    FROM snowid_internal.moved_shards AS m WHERE NOT m.is_open;
COMMENT ON VIEW snowid.released_shards IS 'released shards of this server';
COMMENT ON COLUMN snowid.released_shards.shard IS 'released shard';
COMMENT ON COLUMN snowid.released_shards.layout IS 'layout of its IDs';
COMMENT ON COLUMN snowid.released_shards.id IS 'ID returned by snowid.release_shard()';
COMMENT ON COLUMN snowid.released_shards.moved_to IS 'destination passed to snowid.release_shard()';
COMMENT ON COLUMN snowid.released_shards.released_at IS 'time of the release';

CREATE FUNCTION snowid_internal.check_move() RETURNS pg_catalog.trigger
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_check_move';
COMMENT ON FUNCTION snowid_internal.check_move() IS 'Closes a restored released shard, and ignores replicated rows.';

CREATE TRIGGER check_move BEFORE INSERT OR UPDATE OR DELETE ON snowid_internal.moved_shards
  FOR EACH ROW EXECUTE FUNCTION snowid_internal.check_move();
COMMENT ON TRIGGER check_move ON snowid_internal.moved_shards IS 'Closes a restored released shard, and ignores replicated rows.';
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.moved_shards
  FOR EACH STATEMENT EXECUTE FUNCTION snowid_internal.check_move();
COMMENT ON TRIGGER refuse_truncate ON snowid_internal.moved_shards IS 'Rejects TRUNCATE, also by logical replication.';
-- Also for logical replication, whose rows are about another server's shards.
ALTER TABLE snowid_internal.moved_shards ENABLE ALWAYS TRIGGER check_move;
ALTER TABLE snowid_internal.moved_shards ENABLE ALWAYS TRIGGER refuse_truncate;
-- In a restored copy the shards stay closed: another server has them.
SELECT pg_catalog.pg_extension_config_dump('snowid_internal.moved_shards'::pg_catalog.regclass, ''::pg_catalog.text);

-- Not STRICT, because the destination is optional. Returns null for a null shard or layout.
CREATE FUNCTION snowid.release_shard(shard bigint,
    layout @extschema@.snowid_layout DEFAULT 'instagram', moved_to pg_catalog.text DEFAULT NULL)
  RETURNS bigint
  VOLATILE PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_release_shard';
COMMENT ON FUNCTION snowid.release_shard(bigint, @extschema@.snowid_layout, pg_catalog.text) IS
  'Closes a shard on this server, durably, and returns an ID above all issued.';

CREATE FUNCTION snowid.accept_shard(shard bigint, id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_accept_shard';
COMMENT ON FUNCTION snowid.accept_shard(bigint, bigint, @extschema@.snowid_layout) IS
  'Opens a shard on this server above an ID, durably.';

-- Shards that continue above an ID, and servers that take over from others

CREATE FUNCTION snowid.advance_shard(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_shard';
COMMENT ON FUNCTION snowid.advance_shard(bigint, @extschema@.snowid_layout) IS 'Raises an ID''s shard above the ID, durably.';

-- An argument without a type is ambiguous and fails, because the text of a time depends on DateStyle.
CREATE FUNCTION snowid.advance_past(id bigint, layout @extschema@.snowid_layout DEFAULT 'instagram')
  RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_past_id';
COMMENT ON FUNCTION snowid.advance_past(bigint, @extschema@.snowid_layout) IS 'Raises all shards of this database above an ID''s time, durably.';

CREATE FUNCTION snowid.advance_past(moment pg_catalog.timestamptz) RETURNS pg_catalog.void
  VOLATILE STRICT PARALLEL UNSAFE LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_advance_past_moment';
COMMENT ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) IS
  'Raises all shards of this database above a time, durably.';
