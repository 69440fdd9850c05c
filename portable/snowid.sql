-- snowid without an extension in C: the same functions in SQL and PL/pgSQL, for roles that may create schemas. Run it
-- by `psql -f`, or install it by pg_tle (pg_tle.sql). docs/portable.md has the guarantees.
--
-- A shard is a sequence with the last tick as its value: the milliseconds of the layout's time, and the sequence in the
-- lowest bits. take() reads it, and sets it to the greater of the next tick and the clock's. It holds the shard's gate,
-- because no other session may issue IDs in between.
--
-- The gate is a view without columns. It is locked in a subtransaction that always fails: this releases the lock,
-- however the statement ends, and keeps the sequence, which no rollback changes.
--
-- No other role may block take():
-- - Any role may take advisory locks, so none is used.
-- - A role that can name a relation can lock it in any mode, because CREATE RULE checks rights later. Sequences and
--   gates are therefore in a schema without USAGE for other roles.
-- - nextval() of any OID holds ROW EXCLUSIVE until the transaction ends, even if it fails. The gate's mode therefore
--   conflicts with itself, but not with that one.
-- - A message waits for a client that does not read. Only errors are therefore sent while the gate is held.

\set ON_ERROR_STOP on
BEGIN;

SET LOCAL search_path = pg_catalog, pg_temp;
-- Raises an error if the schema exists: it belongs to another role, or to the extension.
CREATE SCHEMA snowid;
COMMENT ON SCHEMA snowid IS 'settings, and functions that snowid''s other functions call';
CREATE SCHEMA snowid_shards;
COMMENT ON SCHEMA snowid_shards IS 'sequences of shards and their gates, which only their owner may name';

CREATE TYPE public.snowid_layout AS ENUM ('instagram', 'twitter', 'discord', 'leaf', 'pgedge', 'taobao', 'js53');
COMMENT ON TYPE public.snowid_layout IS 'how time, shard and sequence share an ID, by name; each counts milliseconds';

-- A role that may set a sequence could make IDs repeat. A role that may create functions in these schemas could run
-- them with the owner's rights.
CREATE FUNCTION snowid.make_private(object text, acl aclitem[]) RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  role text;
BEGIN
  FOR role IN SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END
      FROM aclexplode(acl) WHERE grantee <> grantor LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', object, role);
  END LOOP;
END $$;
COMMENT ON FUNCTION snowid.make_private(text, aclitem[]) IS
  'take from an object what it gives others, also by ALTER DEFAULT PRIVILEGES';

SELECT snowid.make_private('SCHEMA ' || nspname, nspacl) FROM pg_namespace
  WHERE nspname IN ('snowid', 'snowid_shards');
GRANT USAGE ON SCHEMA snowid TO PUBLIC;

CREATE TABLE snowid.settings (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  shard bigint NOT NULL DEFAULT 0 CHECK (shard BETWEEN 0 AND 8191),
  max_lead int NOT NULL DEFAULT 1000 CHECK (max_lead >= 0),
  max_wait int NOT NULL DEFAULT 5000 CHECK (max_wait >= 0));
SELECT snowid.make_private(oid::regclass::text, relacl) FROM pg_class WHERE oid = 'snowid.settings'::regclass;
GRANT SELECT ON snowid.settings TO PUBLIC;
COMMENT ON TABLE snowid.settings IS 'settings of this database, one row, which its owner may update';
COMMENT ON COLUMN snowid.settings.singleton IS 'true: there is one row at most';
COMMENT ON COLUMN snowid.settings.shard IS
  'this node''s own number: shard of snowid_next() where snowid.default_shard names none';
COMMENT ON COLUMN snowid.settings.max_lead IS 'how far an ID''s time may run ahead of the clock, in milliseconds';
COMMENT ON COLUMN snowid.settings.max_wait IS
  'how long a caller waits for the clock, in milliseconds, where snowid.max_wait does not say';
COMMENT ON CONSTRAINT settings_pkey ON snowid.settings IS 'one row';
COMMENT ON INDEX snowid.settings_pkey IS 'one row';

-- FOR ALL TABLES publishes the settings, but each node has its own number.
CREATE FUNCTION snowid.skip_row() RETURNS trigger
  VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
COMMENT ON FUNCTION snowid.skip_row() IS 'has a row stay as it is';
CREATE TRIGGER refuse_replication BEFORE INSERT OR UPDATE OR DELETE ON snowid.settings
  FOR EACH ROW EXECUTE FUNCTION snowid.skip_row();
ALTER TABLE snowid.settings ENABLE REPLICA TRIGGER refuse_replication;
COMMENT ON TRIGGER refuse_replication ON snowid.settings IS 'logical replication brings no settings';

-- The properties of layouts. Not STRICT, to be inlined.

CREATE FUNCTION snowid.epoch_ms(layout public.snowid_layout) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE layout WHEN 'instagram' THEN 1314220021721 WHEN 'discord' THEN 1420070400000
    WHEN 'pgedge' THEN 1672531200000 WHEN 'taobao' THEN 1361753741828 WHEN 'js53' THEN 1767225600000
    ELSE 1288834974657 END;
COMMENT ON FUNCTION snowid.epoch_ms(public.snowid_layout) IS 'Unix milliseconds at time 0';

CREATE FUNCTION snowid.seq_bits(layout public.snowid_layout) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE layout WHEN 'instagram' THEN 10 WHEN 'taobao' THEN 10 WHEN 'js53' THEN 8 ELSE 12 END;
COMMENT ON FUNCTION snowid.seq_bits(public.snowid_layout) IS 'bits of the sequence, the lowest ones';

CREATE FUNCTION snowid.time_shift(layout public.snowid_layout) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE layout WHEN 'instagram' THEN 23 WHEN 'taobao' THEN 14 WHEN 'js53' THEN 13 ELSE 22 END;
COMMENT ON FUNCTION snowid.time_shift(public.snowid_layout) IS
  'bits below the time: those of the shard and the sequence';

CREATE FUNCTION snowid.max_shard(layout public.snowid_layout) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN (1::bigint << (snowid.time_shift(layout) - snowid.seq_bits(layout))) - 1;
COMMENT ON FUNCTION snowid.max_shard(public.snowid_layout) IS 'greatest shard; the least is 0';

CREATE FUNCTION snowid.max_id(layout public.snowid_layout) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE layout WHEN 'js53' THEN 9007199254740991 ELSE 9223372036854775807 END;
COMMENT ON FUNCTION snowid.max_id(public.snowid_layout) IS 'greatest ID; the least is 0';

CREATE FUNCTION snowid.clock(layout public.snowid_layout) RETURNS bigint VOLATILE PARALLEL SAFE LANGUAGE sql
  RETURN floor(date_part('epoch', clock_timestamp()) * 1000)::bigint - snowid.epoch_ms(layout);
COMMENT ON FUNCTION snowid.clock(public.snowid_layout) IS 'time unit that holds now; may be negative';

-- Twitter's layout has two names. (A cast of an enum to text is not immutable, and would not be inlined.)
CREATE FUNCTION snowid.name_of(layout public.snowid_layout) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE layout WHEN 'instagram' THEN 'instagram' WHEN 'discord' THEN 'discord' WHEN 'pgedge' THEN 'pgedge'
    WHEN 'taobao' THEN 'taobao' WHEN 'js53' THEN 'js53' ELSE 'twitter' END;
COMMENT ON FUNCTION snowid.name_of(public.snowid_layout) IS 'name of a layout, the first one where it has two';

-- Independent of the time zone: an interval of hours and seconds, and a timestamp without time zone.
CREATE FUNCTION snowid.moment_of(us bigint) RETURNS timestamptz IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN timezone('UTC', timestamp '1970-01-01' + make_interval(hours => (us / 3600000000)::int,
    secs => (us % 3600000000)::double precision / 1000000));
COMMENT ON FUNCTION snowid.moment_of(bigint) IS 'time of Unix microseconds';

CREATE FUNCTION snowid.id_of(tick bigint, shard bigint, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN ((tick >> snowid.seq_bits(layout)) << snowid.time_shift(layout)) | (shard << snowid.seq_bits(layout))
    | (tick & ((1::bigint << snowid.seq_bits(layout)) - 1));
COMMENT ON FUNCTION snowid.id_of(bigint, bigint, public.snowid_layout) IS 'ID of a tick and a shard';

CREATE FUNCTION snowid.place_of(shard bigint, layout public.snowid_layout) RETURNS text
  IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN 'snowid_shards.' || snowid.name_of(layout) || '_' || shard::text;
COMMENT ON FUNCTION snowid.place_of(bigint, public.snowid_layout) IS
  'name of a shard''s sequence; that of its gate has _gate behind it';

CREATE FUNCTION snowid.mark_place_of(layout public.snowid_layout) RETURNS text IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN 'snowid_shards.' || snowid.name_of(layout) || '_mark';
COMMENT ON FUNCTION snowid.mark_place_of(public.snowid_layout) IS
  'name of the sequence that has the last tick a watermark covers; that of its gate has _gate behind it';

-- Errors. DateStyle as in the extension's messages.

CREATE FUNCTION snowid.refuse_read_only(caller text) RETURNS void
  STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE 'cannot execute % during recovery', caller USING ERRCODE = 'read_only_sql_transaction';
  ELSIF current_setting('transaction_read_only')::boolean THEN
    RAISE 'cannot execute % in a read-only transaction', caller USING ERRCODE = 'read_only_sql_transaction';
  END IF;
END $$;
COMMENT ON FUNCTION snowid.refuse_read_only(text) IS 'fails where nothing may be written';

CREATE FUNCTION snowid.refuse_shard(shard bigint, layout public.snowid_layout) RETURNS void
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'shard % is out of range for ID layout "%"', shard, snowid.name_of(layout)
    USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Its shards go from 0 to %s.', snowid.max_shard(layout));
END $$;
COMMENT ON FUNCTION snowid.refuse_shard(bigint, public.snowid_layout) IS 'fails: a shard that the layout has not';

CREATE FUNCTION snowid.refuse_time(layout public.snowid_layout) RETURNS void IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'time is out of range for ID layout "%"', snowid.name_of(layout)
    USING ERRCODE = 'datetime_field_overflow', DETAIL = format('Its times go from %s to before %s.',
      snowid.moment_of(snowid.epoch_ms(layout) * 1000),
      snowid.moment_of(((snowid.max_id(layout) >> snowid.time_shift(layout)) + 1 + snowid.epoch_ms(layout)) * 1000));
END $$;
COMMENT ON FUNCTION snowid.refuse_time(public.snowid_layout) IS 'fails: a time that the layout cannot hold';

CREATE FUNCTION snowid.refuse_count(count int, lowest int, highest int) RETURNS void
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'count % is out of range', count
    USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It can be %s to %s.', lowest, highest);
END $$;
COMMENT ON FUNCTION snowid.refuse_count(int, int, int) IS 'fails: a count that is not between two others';

CREATE FUNCTION snowid.refuse_setting(name text, value text, hint text) RETURNS void
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'invalid value for parameter "%": "%"', name, value USING ERRCODE = 'invalid_parameter_value', HINT = hint;
END $$;
COMMENT ON FUNCTION snowid.refuse_setting(text, text, text) IS 'fails: a setting whose value is none';

-- Decoding and composing IDs

CREATE FUNCTION snowid.checked(id bigint, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  IF id < 0 THEN
    RAISE 'ID layout "%" has no negative IDs', snowid.name_of(layout) USING ERRCODE = 'invalid_parameter_value';
  ELSIF id > snowid.max_id(layout) THEN
    RAISE 'ID is out of range for ID layout "%"', snowid.name_of(layout)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Its IDs go from 0 to %s.', snowid.max_id(layout));
  END IF;
  RETURN id;
END $$;
COMMENT ON FUNCTION snowid.checked(bigint, public.snowid_layout) IS 'the ID; fails where the layout has no such one';

CREATE FUNCTION snowid.is_id(id bigint, layout public.snowid_layout) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql
  RETURN id >= 0 AND id <= snowid.max_id(layout);
COMMENT ON FUNCTION snowid.is_id(bigint, public.snowid_layout) IS 'whether the layout has such an ID; reading gives null where not';

CREATE FUNCTION public.snowid_timestamp(id bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  IF NOT snowid.is_id(id, layout) THEN RETURN NULL; END IF;
  RETURN snowid.moment_of(((id >> snowid.time_shift(layout)) + snowid.epoch_ms(layout)) * 1000);
END $$;
COMMENT ON FUNCTION public.snowid_timestamp(bigint, public.snowid_layout) IS 'Returns an ID''s time.';

CREATE FUNCTION public.snowid_shard(id bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  IF NOT snowid.is_id(id, layout) THEN RETURN NULL; END IF;
  RETURN (id >> snowid.seq_bits(layout)) & snowid.max_shard(layout);
END $$;
COMMENT ON FUNCTION public.snowid_shard(bigint, public.snowid_layout) IS 'Returns an ID''s shard.';

CREATE FUNCTION public.snowid_sequence(id bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  IF NOT snowid.is_id(id, layout) THEN RETURN NULL; END IF;
  RETURN id & ((1::bigint << snowid.seq_bits(layout)) - 1);
END $$;
COMMENT ON FUNCTION public.snowid_sequence(bigint, public.snowid_layout) IS
  'Returns an ID''s sequence within its time unit and shard.';

CREATE FUNCTION public.snowid_decode(id bigint, layout public.snowid_layout DEFAULT 'instagram',
    OUT created_at timestamptz, OUT shard bigint, OUT sequence bigint)
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  created_at := public.snowid_timestamp(id, layout);
  shard := public.snowid_shard(id, layout);
  sequence := public.snowid_sequence(id, layout);
END $$;
COMMENT ON FUNCTION public.snowid_decode(bigint, public.snowid_layout) IS
  'Returns an ID''s time, shard, and sequence.';

CREATE FUNCTION snowid.unit_of(moment timestamptz, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  unit bigint := -1;
BEGIN
  IF isfinite(moment) THEN
    unit := floor(extract(epoch FROM moment) * 1000)::bigint - snowid.epoch_ms(layout);
  END IF;
  IF unit < 0 OR unit > snowid.max_id(layout) >> snowid.time_shift(layout) THEN
    PERFORM snowid.refuse_time(layout);
  END IF;
  RETURN unit;
END $$;
COMMENT ON FUNCTION snowid.unit_of(timestamptz, public.snowid_layout) IS
  'time unit that holds a moment; fails where the layout has none';

CREATE FUNCTION public.snowid_encode(created_at timestamptz, shard bigint, sequence bigint,
    layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  bits CONSTANT int := snowid.seq_bits(layout);
  unit CONSTANT bigint := snowid.unit_of(created_at, layout);
BEGIN
  IF shard < 0 OR shard > snowid.max_shard(layout) THEN PERFORM snowid.refuse_shard(shard, layout); END IF;
  IF sequence < 0 OR sequence >= 1 << bits THEN
    RAISE 'sequence % is out of range for ID layout "%"', sequence, snowid.name_of(layout)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Its sequences go from 0 to %s.', (1 << bits) - 1);
  END IF;
  RETURN snowid.id_of((unit << bits) | sequence, shard, layout);
END $$;
COMMENT ON FUNCTION public.snowid_encode(timestamptz, bigint, bigint, public.snowid_layout) IS
  'Returns the ID with the given time, shard, and sequence.';

CREATE FUNCTION public.snowid_first_at(moment timestamptz, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid.unit_of(moment, layout) << snowid.time_shift(layout);
END $$;
COMMENT ON FUNCTION public.snowid_first_at(timestamptz, public.snowid_layout) IS
  'Returns the least ID of a moment''s time unit.';

CREATE FUNCTION public.snowid_last_at(moment timestamptz, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN public.snowid_first_at(moment, layout) | ((1::bigint << snowid.time_shift(layout)) - 1);
END $$;
COMMENT ON FUNCTION public.snowid_last_at(timestamptz, public.snowid_layout) IS
  'Returns the greatest ID of a moment''s time unit.';

CREATE FUNCTION snowid.first_unit(moment timestamptz, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  past_end CONSTANT bigint := (snowid.max_id(layout) >> snowid.time_shift(layout)) + 1;
BEGIN
  IF NOT isfinite(moment) THEN RETURN CASE WHEN moment > 'epoch' THEN past_end ELSE 0 END; END IF;
  RETURN least(past_end, greatest(0, ceil(extract(epoch FROM moment) * 1000)::bigint - snowid.epoch_ms(layout)));
END $$;
COMMENT ON FUNCTION snowid.first_unit(timestamptz, public.snowid_layout) IS
  'first time unit that begins at a moment or later; one past the last where none does';

CREATE FUNCTION snowid.first_from(moment timestamptz, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  first CONSTANT bigint := snowid.first_unit(moment, layout);
BEGIN
  RETURN CASE WHEN first > snowid.max_id(layout) >> snowid.time_shift(layout) THEN 9223372036854775807
    ELSE first << snowid.time_shift(layout) END;
END $$;
COMMENT ON FUNCTION snowid.first_from(timestamptz, public.snowid_layout) IS
  'least ID with the time of a moment or a later one; the greatest bigint if there is none';

CREATE FUNCTION snowid.last_before(moment timestamptz, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  last CONSTANT bigint := snowid.first_unit(moment, layout) - 1;
BEGIN
  RETURN CASE WHEN last < 0 THEN -1
    ELSE (last << snowid.time_shift(layout)) | ((1::bigint << snowid.time_shift(layout)) - 1) END;
END $$;
COMMENT ON FUNCTION snowid.last_before(timestamptz, public.snowid_layout) IS
  'greatest ID with a time before a moment; -1 if there is none';

-- Inlined whatever the moments are, because each appears once, and it is not STRICT. A null has the same result as in
-- id >= … AND id <= ….
CREATE FUNCTION public.snowid_in_range(id bigint, since timestamptz, before timestamptz,
    layout public.snowid_layout DEFAULT 'instagram') RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN id >= snowid.first_from(since, layout) AND id <= snowid.last_before(before, layout);
COMMENT ON FUNCTION public.snowid_in_range(bigint, timestamptz, timestamptz, public.snowid_layout) IS
  'Returns whether an ID''s time is in [since, before); can use an index.';

-- IDs in base 62

CREATE FUNCTION public.snowid_to_base62(id bigint) RETURNS text
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  digits CONSTANT text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  rest numeric := id + 9223372036854775808::numeric;
  form text := '';
BEGIN
  FOR digit IN 1 .. 11 LOOP
    form := substr(digits, (rest % 62)::int + 1, 1) || form;
    rest := div(rest, 62);
  END LOOP;
  RETURN form;
END $$;
COMMENT ON FUNCTION public.snowid_to_base62(bigint) IS
  'Returns an ID as 11 characters of base 62, sorted like the IDs under COLLATE "C".';

CREATE FUNCTION public.snowid_from_base62(digits text) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  number numeric := 0;
BEGIN
  IF digits COLLATE "C" !~ '^[0-9A-Za-z]{11}$' OR octet_length(digits) <> 11 THEN
    RAISE 'invalid base 62 form of an ID: "%"', digits USING ERRCODE = 'invalid_text_representation',
      HINT = 'It has 11 characters, each of them one of 0-9, A-Z and a-z.';
  ELSIF digits COLLATE "C" > 'LygHa16AHYF' THEN
    RAISE 'base 62 form of an ID is out of range for type bigint: "%"', digits
      USING ERRCODE = 'invalid_text_representation', DETAIL = 'The greatest bigint has the form "LygHa16AHYF".';
  END IF;
  FOR n IN 1 .. 11 LOOP
    number := number * 62
      + strpos('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', substr(digits, n, 1)) - 1;
  END LOOP;
  RETURN number - 9223372036854775808::numeric;
END $$;
COMMENT ON FUNCTION public.snowid_from_base62(text) IS 'Returns the ID written in base 62.';

-- IDs in UUIDs

CREATE FUNCTION snowid.shift_right(bits bigint, by int) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN (bits >> by) & (9223372036854775807 >> (by - 1));
COMMENT ON FUNCTION snowid.shift_right(bigint, int) IS '64 bits shifted right, with zeros from the left; by 1 to 63';

CREATE FUNCTION snowid.times(a bigint, b bigint) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  two_64 CONSTANT numeric := 18446744073709551616;
  product numeric := a::numeric * b % two_64;
BEGIN
  IF product >= two_64 / 2 THEN product := product - two_64; END IF;
  IF product < -two_64 / 2 THEN product := product + two_64; END IF;
  RETURN product;
END $$;
COMMENT ON FUNCTION snowid.times(bigint, bigint) IS 'lowest 64 bits of a product';

-- Databases store UUIDs with these bits: never change them. The constants are hashes of the layouts' epochs and fields,
-- as in the extension. The rest is the last step of SplitMix64 (Steele, Lea, and Flood, 2014).
CREATE FUNCTION snowid.check_of(id bigint, layout public.snowid_layout) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  bits bigint := id # CASE layout WHEN 'instagram' THEN -7947700704534728227 WHEN 'discord' THEN -1382079160504120544
    WHEN 'pgedge' THEN 1565475085810934645 WHEN 'taobao' THEN 2731136866480017007
    WHEN 'js53' THEN -3305911113170882908 ELSE -2718507468671210384 END;
BEGIN
  bits := snowid.times(bits # snowid.shift_right(bits, 30), -4658895280553007687);
  bits := snowid.times(bits # snowid.shift_right(bits, 27), -7723592293110705685);
  RETURN bits # snowid.shift_right(bits, 31);
END $$;
COMMENT ON FUNCTION snowid.check_of(bigint, public.snowid_layout) IS
  'number that few other pairs of layout and ID have';

CREATE FUNCTION snowid.uuid_of(version int, a bigint, b bigint, c bigint) RETURNS uuid
  IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN (lpad(to_hex(a), 12, '0') || to_hex(version) || lpad(to_hex(b), 3, '0')
    || to_hex((c & 4611686018427387903) | -9223372036854775808))::uuid;
COMMENT ON FUNCTION snowid.uuid_of(int, bigint, bigint, bigint) IS 'UUID of a version, 48, 12 and 62 bits';

CREATE FUNCTION snowid.bits_of(uuid uuid, first int, count int) RETURNS bigint IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN ('x' || lpad(substr(encode(uuid_send(uuid), 'hex'), first, count), 16, '0'))::bit(64)::bigint;
COMMENT ON FUNCTION snowid.bits_of(uuid, int, int) IS 'number of some of a UUID''s 32 hexadecimal digits, from 1 on';

-- Taobao's IDs are in UUIDs of version 8, because its times outlast version 7.
CREATE FUNCTION public.snowid_to_uuid(id bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  shift CONSTANT int := snowid.time_shift(layout);
  bits bigint := snowid.checked(id, layout);
  check_bits CONSTANT bigint := snowid.check_of(id, layout);
BEGIN
  IF layout = 'taobao' THEN
    RETURN snowid.uuid_of(8, bits >> 15, (bits >> 3) & 4095, (bits << 59) | snowid.shift_right(check_bits, 5));
  END IF;
  bits := (id << (64 - shift)) | snowid.shift_right(check_bits, shift);
  RETURN snowid.uuid_of(7, (id >> shift) + snowid.epoch_ms(layout), snowid.shift_right(bits, 62), bits);
END $$;
COMMENT ON FUNCTION public.snowid_to_uuid(bigint, public.snowid_layout) IS
  'Returns a UUID of an ID, in the order of the IDs.';

CREATE FUNCTION public.snowid_from_uuid(uuid uuid, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  shift CONSTANT int := snowid.time_shift(layout);
  a CONSTANT bigint := snowid.bits_of(uuid, 1, 12);
  b CONSTANT bigint := snowid.bits_of(uuid, 14, 3);
  c CONSTANT bigint := snowid.bits_of(uuid, 17, 16) & 4611686018427387903;
  id bigint;
BEGIN
  IF layout = 'taobao' THEN
    id := (a << 15) | (b << 3) | (c >> 59);
  ELSIF a BETWEEN snowid.epoch_ms(layout) AND snowid.epoch_ms(layout) + (snowid.max_id(layout) >> shift) THEN
    id := ((a - snowid.epoch_ms(layout)) << shift) | snowid.shift_right((b << 62) | c, 64 - shift);
  END IF;
  -- Any other bits are another UUID.
  IF id >= 0 AND id <= snowid.max_id(layout) AND public.snowid_to_uuid(id, layout) = uuid THEN RETURN id; END IF;
  RAISE 'UUID holds no ID of layout "%"', snowid.name_of(layout) USING ERRCODE = 'invalid_parameter_value',
    DETAIL = 'Only UUIDs returned by snowid_to_uuid() with this layout do.';
END $$;
COMMENT ON FUNCTION public.snowid_from_uuid(uuid, public.snowid_layout) IS
  'Returns the ID in a UUID of snowid_to_uuid().';

-- Versions 1 and 6 count steps of 100 ns since 1582-10-15.
CREATE FUNCTION public.snowid_uuid_timestamp(uuid uuid) RETURNS timestamptz
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  a CONSTANT bigint := snowid.bits_of(uuid, 1, 12);
  b CONSTANT bigint := snowid.bits_of(uuid, 14, 3);
BEGIN
  IF snowid.bits_of(uuid, 17, 1) NOT BETWEEN 8 AND 11 THEN RETURN NULL; END IF;
  CASE snowid.bits_of(uuid, 13, 1)
    WHEN 7 THEN RETURN snowid.moment_of(a * 1000);
    WHEN 6 THEN RETURN snowid.moment_of(((a << 12) | b) / 10 - 12219292800000000);
    WHEN 1 THEN RETURN snowid.moment_of(((b << 48) | ((a & 65535) << 32) | (a >> 16)) / 10 - 12219292800000000);
    ELSE RETURN NULL;
  END CASE;
END $$;
COMMENT ON FUNCTION public.snowid_uuid_timestamp(uuid) IS
  'Returns the time of a UUID of version 1, 6, or 7, else null.';

CREATE FUNCTION public.snowid_is_uuidv7(uuid uuid) RETURNS boolean
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid.bits_of(uuid, 13, 1) = 7 AND snowid.bits_of(uuid, 17, 1) BETWEEN 8 AND 11;
END $$;
COMMENT ON FUNCTION public.snowid_is_uuidv7(uuid) IS 'Returns whether a UUID is of version 7.';

CREATE FUNCTION snowid.uuidv7_ms(moment timestamptz) RETURNS bigint
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' COST 1 LANGUAGE plpgsql AS $$
BEGIN
  IF moment < snowid.moment_of(0) OR moment >= snowid.moment_of(281474976710656000) THEN
    RAISE 'time is out of range for UUIDs of version 7' USING ERRCODE = 'datetime_field_overflow',
      DETAIL = format('Their times go from %s to before %s.', snowid.moment_of(0), snowid.moment_of(281474976710656000));
  END IF;
  RETURN floor(extract(epoch FROM moment) * 1000);
END $$;
COMMENT ON FUNCTION snowid.uuidv7_ms(timestamptz) IS
  'Unix millisecond that holds a moment; fails if no UUID of version 7 has it';

CREATE FUNCTION public.snowid_uuidv7_first_at(moment timestamptz) RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid.uuid_of(7, snowid.uuidv7_ms(moment), 0, 0);
END $$;
COMMENT ON FUNCTION public.snowid_uuidv7_first_at(timestamptz) IS
  'Returns the least UUID of version 7 of a moment''s millisecond.';

CREATE FUNCTION public.snowid_uuidv7_last_at(moment timestamptz) RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN snowid.uuid_of(7, snowid.uuidv7_ms(moment), 4095, -1);
END $$;
COMMENT ON FUNCTION public.snowid_uuidv7_last_at(timestamptz) IS
  'Returns the greatest UUID of version 7 of a moment''s millisecond.';

CREATE FUNCTION snowid.first_uuidv7_from(moment timestamptz) RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  ms bigint;
BEGIN
  IF moment <= snowid.moment_of(0) THEN RETURN snowid.uuid_of(7, 0, 0, 0); END IF;
  IF moment < 'infinity' THEN ms := ceil(extract(epoch FROM moment) * 1000); END IF;
  RETURN CASE WHEN ms < 281474976710656 THEN snowid.uuid_of(7, ms, 0, 0) ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff' END;
END $$;
COMMENT ON FUNCTION snowid.first_uuidv7_from(timestamptz) IS
  'least UUID of version 7 with the time of a moment or a later one; the greatest UUID if there is none';

CREATE FUNCTION snowid.last_uuidv7_before(moment timestamptz) RETURNS uuid
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp COST 1 LANGUAGE plpgsql AS $$
DECLARE
  ms bigint := 281474976710655;
BEGIN
  IF moment <= snowid.moment_of(0) THEN RETURN '00000000-0000-0000-0000-000000000000'; END IF;
  IF moment < 'infinity' THEN ms := least(ms, ceil(extract(epoch FROM moment) * 1000)::bigint - 1); END IF;
  RETURN snowid.uuid_of(7, ms, 4095, -1);
END $$;
COMMENT ON FUNCTION snowid.last_uuidv7_before(timestamptz) IS
  'greatest UUID of version 7 with a time before a moment; the least UUID if there is none';

-- Inlined like snowid_in_range(). The bounds alone would include UUIDs of other versions.
CREATE FUNCTION public.snowid_uuidv7_in_range(uuid uuid, since timestamptz, before timestamptz) RETURNS boolean
  IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN uuid >= snowid.first_uuidv7_from(since) AND uuid <= snowid.last_uuidv7_before(before)
    AND public.snowid_is_uuidv7(uuid);
COMMENT ON FUNCTION public.snowid_uuidv7_in_range(uuid, timestamptz, timestamptz) IS
  'Returns whether a UUID is of version 7 with a time in [since, before); can use an index.';

-- Generating IDs

CREATE FUNCTION public.snowid_default_shard() RETURNS bigint
  STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  -- Empty after a reset.
  given CONSTANT text := coalesce(current_setting('snowid.default_shard', true), '');
  shard bigint := -1;
BEGIN
  IF given <> '' THEN
    IF given COLLATE "C" !~ '^[[:space:]]*-?0*[0-9]{1,19}[[:space:]]*$'
        OR given::numeric NOT BETWEEN -1 AND 9223372036854775807 THEN
      PERFORM snowid.refuse_setting('snowid.default_shard', given,
        'Set it to a shard, or to -1 for this node''s own number, by the same command (SET, ALTER DATABASE, '
        'ALTER ROLE or ALTER SYSTEM), or in the configuration file.');
    END IF;
    shard := given;
  END IF;
  IF shard < 0 THEN shard := coalesce(max(s.shard), 0) FROM snowid.settings AS s; END IF;
  RETURN shard;
END $$;
COMMENT ON FUNCTION public.snowid_default_shard() IS
  'Returns the default shard: the node number, or the setting snowid.default_shard.';

-- The sequence continues from one unit to the next, which spreads the lowest bits evenly. Within a unit, it still
-- increases.
CREATE FUNCTION snowid.first_after(last bigint, clock bigint, bits int, wanted int, one_unit boolean) RETURNS bigint
  IMMUTABLE PARALLEL SAFE LANGUAGE sql
  RETURN CASE WHEN one_unit AND ((last + 1) & ((1 << bits) - 1)) + wanted > 1 << bits
      THEN greatest(clock, (last >> bits) + 1) << bits
    WHEN clock > last >> bits THEN (clock << bits) | ((last + 1) & ((1 << bits) - 1))
    ELSE last + 1 END;
COMMENT ON FUNCTION snowid.first_after(bigint, bigint, int, int, boolean) IS
  'tick that comes after the last one, when the clock is in a unit: of so many, all in one unit or not';

-- Each call checks the setting, because PostgreSQL does not know it: otherwise, only a call that waits would reject an
-- invalid value.
CREATE FUNCTION snowid.max_wait() RETURNS int
  STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  given CONSTANT text := coalesce(current_setting('snowid.max_wait', true), '');
  part CONSTANT text[] := regexp_match(given COLLATE "C",
    '^[[:space:]]*(-?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:e[0-9]{1,2})?)[[:space:]]*(us|ms|s|min|h|d|)[[:space:]]*$');
  ms numeric;
BEGIN
  IF given = '' THEN RETURN coalesce(max(s.max_wait), 5000) FROM snowid.settings AS s; END IF;
  ms := round(part[1]::numeric * CASE part[2] WHEN 'us' THEN 0.001 WHEN 's' THEN 1000 WHEN 'min' THEN 60000
    WHEN 'h' THEN 3600000 WHEN 'd' THEN 86400000 ELSE 1 END);
  IF ms BETWEEN 0 AND 2147483647 THEN
    RETURN ms;
  ELSIF ms BETWEEN -2147483648 AND -1 THEN
    RAISE '% ms is outside the valid range for parameter "%" (0 .. 2147483647)', ms, 'snowid.max_wait'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM snowid.refuse_setting('snowid.max_wait', given, CASE WHEN ms IS NULL
    THEN 'Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".' ELSE 'Value exceeds integer range.' END);
END $$;
COMMENT ON FUNCTION snowid.max_wait() IS
  'how long a caller waits for the clock, in milliseconds: snowid.max_wait, or what the settings say';

CREATE FUNCTION snowid.span_text(ms bigint) RETURNS text
  IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  seconds CONSTANT bigint := (ms + 999) / 1000;
  days CONSTANT bigint := seconds / 86400;
  rest CONSTANT text := to_char(make_interval(secs => seconds % 86400), 'HH24:MI:SS');
BEGIN
  RETURN CASE WHEN ms <= 60000 THEN ms || ' ms' WHEN days = 0 THEN rest
    ELSE format('%s day%s %s', days, CASE WHEN days = 1 THEN '' ELSE 's' END, rest) END;
END $$;
COMMENT ON FUNCTION snowid.span_text(bigint) IS 'span of time as errors show it';

-- The hint has the statement that allows this lead, with a minute to spare.
CREATE FUNCTION snowid.refuse_clock(ahead bigint, unit bigint, max_lead int, max_wait int, accepted boolean, shard bigint,
    layout public.snowid_layout) RETURNS void
  STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' LANGUAGE plpgsql AS $$
DECLARE
  lead CONSTANT bigint := (ahead / 60000 + 2) * 60000;
  allow CONSTANT text := format('as the owner of the schema snowid: UPDATE snowid.settings SET max_lead = %s;', lead);
  is_possible CONSTANT boolean := lead <= 2147483647;
BEGIN
  IF accepted THEN
    RAISE 'ID is % ahead of the clock', snowid.span_text(ahead) USING ERRCODE = 'SN001',
      DETAIL = format('"snowid.max_lead" allows %s', snowid.span_text(max_lead)) || CASE WHEN max_wait = 0 THEN '.'
        ELSE format(', and "snowid.max_wait" lets a caller wait for %s.', snowid.span_text(max_wait)) END,
      HINT = 'Compare the clocks of the two servers.' || CASE WHEN NOT is_possible THEN ''
        ELSE format(' If they are right, %slet IDs run further ahead, %s',
          CASE WHEN max_wait = 0 THEN '' ELSE 'wait, or ' END, allow) END;
  END IF;
  RAISE 'clock is % behind the next ID of shard % of layout "%"', snowid.span_text(ahead), shard, snowid.name_of(layout)
    USING ERRCODE = 'SN001', DETAIL = format('The next ID''s time is %s; "snowid.max_lead" lets it run ahead of the '
        'clock by %s, and "snowid.max_wait" lets a caller wait for %s.',
        snowid.moment_of((unit + snowid.epoch_ms(layout)) * 1000), snowid.span_text(max_lead), snowid.span_text(max_wait)),
      HINT = CASE WHEN unit = 0 THEN 'The layout begins then.'
        WHEN is_possible THEN 'Correct the server''s clock. If it is right, wait until it has caught up, or let IDs run '
          'further ahead of it, ' || allow
        ELSE 'Correct the server''s clock. If it is right, use another shard.' END;
END $$;
COMMENT ON FUNCTION snowid.refuse_clock(bigint, bigint, int, int, boolean, bigint, public.snowid_layout) IS
  'fails: the clock is too far behind the next ID, or behind one that is accepted';

-- Reads the clock after each nap, so a corrected clock ends the wait.
CREATE FUNCTION snowid.wait(tick bigint, clock bigint, waited int, accepted boolean, shard bigint,
    layout public.snowid_layout)
  RETURNS int VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO'
  LANGUAGE plpgsql AS $$
DECLARE
  unit CONSTANT bigint := tick >> snowid.seq_bits(layout);
  max_unit CONSTANT bigint := snowid.max_id(layout) >> snowid.time_shift(layout);
  max_lead int;
  max_wait int;
  too_long bigint;
BEGIN
  IF tick >> 62 > 0 THEN
    RAISE 'shard % of layout "%" was released', shard, snowid.name_of(layout)
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Generate its IDs on the server it has moved to. When it comes back, '
        'call snowid.accept_shard() with the ID returned by snowid.release_shard() on the other server.';
  ELSIF unit > max_unit THEN
    RAISE 'ID layout "%" is exhausted', snowid.name_of(layout)
      USING ERRCODE = 'sequence_generator_limit_exceeded',
        HINT = 'Use another layout, or the same one with a later epoch.',
        DETAIL = format('Its last IDs are those before %s.',
          snowid.moment_of((max_unit + 1 + snowid.epoch_ms(layout)) * 1000));
  END IF;
  max_lead := coalesce(max(s.max_lead), 1000) FROM snowid.settings AS s;
  too_long := unit - clock - max_lead;
  IF too_long <= 0 THEN RETURN -1; END IF;
  max_wait := snowid.max_wait();
  IF waited + too_long > max_wait THEN
    PERFORM snowid.refuse_clock(unit - clock, unit, max_lead, max_wait, accepted, shard, layout);
  END IF;
  PERFORM pg_sleep(least(too_long, 100) / 1000.0);
  RETURN waited + least(too_long, 100);
END $$;
COMMENT ON FUNCTION snowid.wait(bigint, bigint, int, boolean, bigint, public.snowid_layout) IS
  'how long was waited for the clock to come near a tick; -1 where that is near; fails where the caller may not wait';

-- Takes ticks, for all IDs. A tick is taken once, whatever becomes of the transaction. setval writes WAL, which the
-- commit waits for.
CREATE FUNCTION snowid.take(caller text, shard bigint, layout public.snowid_layout, wanted int, one_unit boolean)
  RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp SET client_min_messages = error LANGUAGE plpgsql AS $$
DECLARE
  bits CONSTANT int := snowid.seq_bits(layout);
  max_unit CONSTANT bigint := snowid.max_id(layout) >> snowid.time_shift(layout);
  place CONSTANT text := snowid.place_of(shard, layout);
  seq CONSTANT regclass := to_regclass(place);
  mark CONSTANT regclass := to_regclass(snowid.mark_place_of(layout));
  is_taken boolean := false;
  last bigint;
  clock bigint;
  tick bigint;
  allowed bigint;
  waited int := 0;
  nap int;
BEGIN
  IF seq IS NULL THEN PERFORM snowid.refuse_place(caller, shard, layout); END IF;
  -- An empty or obviously valid setting needs no check.
  IF current_setting('snowid.max_wait', true) COLLATE "C" !~ '^([0-9]{1,6} ?(us|ms|s)?|[0-9]{1,4} ?min|)$' THEN
    PERFORM snowid.max_wait();
  END IF;
  LOOP
    clock := snowid.clock(layout);
    IF NOT is_taken THEN
      last := greatest(pg_sequence_last_value(seq), pg_sequence_last_value(mark));
      tick := snowid.first_after(last, clock, bits, wanted, one_unit);
    END IF;
    allowed := (tick + wanted - 1) >> bits;
    IF allowed > least(clock, max_unit) THEN
      nap := snowid.wait(tick + wanted - 1, clock, waited, false, shard, layout);
      IF nap >= 0 THEN
        waited := nap;
        CONTINUE;
      END IF;
    END IF;
    EXIT WHEN is_taken;
    BEGIN
      EXECUTE 'LOCK TABLE ' || place || '_gate IN SHARE UPDATE EXCLUSIVE MODE';
      -- Read again, because other sessions may have issued IDs since.
      last := greatest(pg_sequence_last_value(seq), pg_sequence_last_value(mark));
      tick := snowid.first_after(last, clock, bits, wanted, one_unit);
      last := setval(seq, tick + wanted - 1);
      RAISE SQLSTATE 'SN000';
    EXCEPTION
      WHEN SQLSTATE 'SN000' THEN is_taken := true;
      WHEN read_only_sql_transaction THEN
        PERFORM snowid.refuse_read_only(caller);
        RAISE;
    END;
    -- Else other sessions took ticks, and this one is beyond the limit.
    EXIT WHEN (tick + wanted - 1) >> bits <= allowed;
  END LOOP;
  RETURN tick;
END $$;
COMMENT ON FUNCTION snowid.take(text, bigint, public.snowid_layout, int, boolean) IS
  'first of so many ticks of a shard, all of them the caller''s, within one unit or not';

CREATE FUNCTION snowid.refuse_place(caller text, shard bigint, layout public.snowid_layout) RETURNS void
  STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  PERFORM snowid.refuse_read_only(caller);
  IF shard < 0 OR shard > snowid.max_shard(layout) THEN PERFORM snowid.refuse_shard(shard, layout); END IF;
  RAISE 'shard % of layout "%" has no sequence', shard, snowid.name_of(layout)
    USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = format('Let the owner of the schema snowid make it: SELECT snowid.create_shard(%s, %L).', shard, layout);
END $$;
COMMENT ON FUNCTION snowid.refuse_place(text, bigint, public.snowid_layout) IS
  'fails: a shard that the layout has not, or that was not made';

CREATE FUNCTION public.snowid_next(shard bigint, layout public.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  -- Not inside the next call: a volatile argument would keep that one from being inlined.
  tick CONSTANT bigint := snowid.take('snowid_next()', shard, layout, 1, false);
BEGIN
  RETURN snowid.id_of(tick, shard, layout);
END $$;
COMMENT ON FUNCTION public.snowid_next(bigint, public.snowid_layout) IS 'Returns the next ID of a shard in a layout.';

CREATE FUNCTION public.snowid_next(shard bigint) RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE LANGUAGE sql
  RETURN public.snowid_next(shard, 'instagram');
COMMENT ON FUNCTION public.snowid_next(bigint) IS 'Returns the next ID of a shard.';

CREATE FUNCTION public.snowid_next() RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE LANGUAGE sql
  RETURN public.snowid_next(public.snowid_default_shard(), 'instagram');
COMMENT ON FUNCTION public.snowid_next() IS 'Returns the next ID of the default shard.';

CREATE FUNCTION public.snowid_next_batch(shard bigint, count int, layout public.snowid_layout DEFAULT 'instagram')
  RETURNS SETOF bigint VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  LANGUAGE plpgsql AS $$
DECLARE
  unit CONSTANT int := 1 << snowid.seq_bits(layout);
  left_over int := count;
  wanted int;
  first bigint;
BEGIN
  IF count < 0 THEN
    PERFORM snowid.refuse_read_only('snowid_next_batch()');
    PERFORM snowid.refuse_count(count, 0, 2147483647);
  ELSIF to_regclass(snowid.place_of(shard, layout)) IS NULL THEN
    PERFORM snowid.refuse_place('snowid_next_batch()', shard, layout);
  END IF;
  WHILE left_over > 0 LOOP
    wanted := least(left_over, unit);
    first := snowid.take('snowid_next_batch()', shard, layout, wanted, false);
    FOR n IN 0 .. wanted - 1 LOOP RETURN NEXT snowid.id_of(first + n, shard, layout); END LOOP;
    left_over := left_over - wanted;
  END LOOP;
END $$;
COMMENT ON FUNCTION public.snowid_next_batch(bigint, int, public.snowid_layout) IS
  'Returns the next IDs of a shard, in order.';

CREATE FUNCTION public.snowid_next_batch(count int) RETURNS SETOF bigint VOLATILE STRICT PARALLEL UNSAFE LANGUAGE sql
BEGIN ATOMIC
  SELECT public.snowid_next_batch(public.snowid_default_shard(), count, 'instagram');
END;
COMMENT ON FUNCTION public.snowid_next_batch(int) IS 'Returns the next IDs of the default shard, in order.';

CREATE FUNCTION public.snowid_reserve(shard bigint, count int, layout public.snowid_layout DEFAULT 'instagram')
  RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  LANGUAGE plpgsql AS $$
DECLARE
  most CONSTANT int := 1 << snowid.seq_bits(layout);
  first bigint;
BEGIN
  IF count < 1 OR count > most THEN
    PERFORM snowid.refuse_read_only('snowid_reserve()');
    PERFORM snowid.refuse_count(count, 1, most);
  END IF;
  first := snowid.take('snowid_reserve()', shard, layout, count, true);
  RETURN snowid.id_of(first, shard, layout);
END $$;
COMMENT ON FUNCTION public.snowid_reserve(bigint, int, public.snowid_layout) IS
  'Reserves consecutive IDs of a shard, and returns the first.';

CREATE FUNCTION public.snowid_reserve(count int) RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE LANGUAGE sql
  RETURN public.snowid_reserve(public.snowid_default_shard(), count, 'instagram');
COMMENT ON FUNCTION public.snowid_reserve(int) IS
  'Reserves consecutive IDs of the default shard, and returns the first.';

-- Shards: creating and moving them

CREATE FUNCTION snowid.create_place(place text, about text) RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  IF to_regclass(place) IS NOT NULL THEN RETURN; END IF;
  BEGIN
    EXECUTE format('CREATE SEQUENCE %s MINVALUE 0 START 0', place);
  EXCEPTION WHEN unique_violation OR duplicate_table THEN
    -- Another session has created it, and committed.
    IF to_regclass(place) IS NULL THEN RAISE; END IF;
    RETURN;
  END;
  EXECUTE format('CREATE VIEW %s_gate AS SELECT', place);
  EXECUTE format('COMMENT ON SEQUENCE %s IS %L', place, about);
  EXECUTE format('COMMENT ON VIEW %s_gate IS %L', place, 'what is locked by who sets ' || place);
  PERFORM snowid.make_private(oid::regclass::text, relacl) FROM pg_class
    WHERE oid IN (place::regclass, (place || '_gate')::regclass);
  PERFORM setval(place::regclass, 0);
END $$;
COMMENT ON FUNCTION snowid.create_place(text, text) IS 'make a sequence and its gate; nothing where they are';

-- SECURITY DEFINER: the owner must be that of the functions that issue IDs.
CREATE FUNCTION snowid.create_shard(shard bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  IF shard < 0 OR shard > snowid.max_shard(layout) THEN PERFORM snowid.refuse_shard(shard, layout); END IF;
  INSERT INTO snowid.settings DEFAULT VALUES ON CONFLICT DO NOTHING;
  PERFORM snowid.create_place(snowid.mark_place_of(layout), format('last tick that a watermark of layout "%s" covers', layout));
  PERFORM snowid.create_place(snowid.place_of(shard, layout), format('last tick of shard %s of layout "%s"', shard, layout));
END $$;
COMMENT ON FUNCTION snowid.create_shard(bigint, public.snowid_layout) IS
  'have a shard be there to be drawn from; nothing where it is';

-- A bit above all ticks marks a closed shard. One setval sets it, which no rollback undoes.
CREATE FUNCTION snowid.move_shard(caller text, shard bigint, layout public.snowid_layout, tick bigint, closes boolean)
  RETURNS bigint VOLATILE STRICT PARALLEL UNSAFE
  SET search_path = pg_catalog, pg_temp SET client_min_messages = error LANGUAGE plpgsql AS $$
DECLARE
  closed CONSTANT bigint := 1::bigint << 62;
  place CONSTANT text := snowid.place_of(shard, layout);
  seq CONSTANT regclass := to_regclass(place);
  value bigint;
  last bigint;
BEGIN
  IF seq IS NULL THEN PERFORM snowid.refuse_place(caller, shard, layout); END IF;
  BEGIN
    EXECUTE 'LOCK TABLE ' || place || '_gate IN SHARE UPDATE EXCLUSIVE MODE';
    value := pg_sequence_last_value(seq);
    last := value & (closed - 1);
    IF NOT closes AND tick <= last AND tick <> value THEN
      RAISE 'ID % is not above ID %', snowid.id_of(tick, shard, layout), snowid.id_of(last, shard, layout)
        USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'Pass the ID returned by snowid.release_shard() on the server where the shard was open last.';
    END IF;
    -- A closed shard stays unchanged.
    IF NOT closes OR value < closed THEN
      last := greatest(tick, last + closes::int);
      PERFORM setval(seq, CASE WHEN closes THEN last | closed ELSE last END);
    END IF;
    RAISE SQLSTATE 'SN000';
  EXCEPTION
    WHEN SQLSTATE 'SN000' THEN NULL;
    WHEN read_only_sql_transaction THEN
      PERFORM snowid.refuse_read_only(caller);
      RAISE;
  END;
  RETURN last;
END $$;
COMMENT ON FUNCTION snowid.move_shard(text, bigint, public.snowid_layout, bigint, boolean) IS
  'have a shard go on above a tick, or close it with one that is not issued, at once and durably; gives that tick';

CREATE FUNCTION snowid.release_shard(shard bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  -- At least the clock, to be above the other server's earlier release.
  last CONSTANT bigint := snowid.move_shard('snowid.release_shard()', shard, layout,
    snowid.clock(layout) << snowid.seq_bits(layout), true);
BEGIN
  RETURN snowid.id_of(last, shard, layout);
END $$;
COMMENT ON FUNCTION snowid.release_shard(bigint, public.snowid_layout) IS
  'Closes a shard, at once and durably, and returns an ID above all it has issued.';

CREATE FUNCTION snowid.accept_shard(shard bigint, id bigint, layout public.snowid_layout DEFAULT 'instagram') RETURNS void
  VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  bits CONSTANT int := snowid.seq_bits(layout);
  tick CONSTANT bigint := ((id >> snowid.time_shift(layout)) << bits) | (id & ((1 << bits) - 1));
  waited int := 0;
BEGIN
  PERFORM snowid.refuse_read_only('snowid.accept_shard()');
  IF shard < 0 OR shard > snowid.max_shard(layout) THEN PERFORM snowid.refuse_shard(shard, layout); END IF;
  IF (snowid.checked(id, layout) >> bits) & snowid.max_shard(layout) <> shard THEN
    RAISE 'ID % is not of shard %', id, shard USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM snowid.create_shard(shard, layout);
  WHILE waited >= 0 LOOP
    waited := snowid.wait(tick, snowid.clock(layout), waited, true, shard, layout);
  END LOOP;
  PERFORM snowid.move_shard('snowid.accept_shard()', shard, layout, tick, false);
END $$;
COMMENT ON FUNCTION snowid.accept_shard(bigint, bigint, public.snowid_layout) IS
  'Opens a shard above an ID, at once and durably.';

-- Reading in order. A watermark is the last ID of the greatest unit of time used by any shard. Later IDs are above it,
-- because take() reads the mark's sequence, too. A session that read it earlier had already locked the table, and is
-- waited for.

CREATE FUNCTION snowid.raise_mark(layout public.snowid_layout) RETURNS bigint
  VOLATILE STRICT PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = error
  LANGUAGE plpgsql AS $$
DECLARE
  bits CONSTANT int := snowid.seq_bits(layout);
  place CONSTANT text := snowid.mark_place_of(layout);
  seq CONSTANT regclass := to_regclass(place);
  unit bigint;
BEGIN
  IF seq IS NULL THEN RETURN 0; END IF;
  BEGIN
    EXECUTE 'LOCK TABLE ' || place || '_gate IN SHARE UPDATE EXCLUSIVE MODE';
    -- Without the bit of closed shards.
    SELECT max((pg_sequence_last_value(c.oid) & 4611686018427387903) >> bits) INTO unit FROM pg_class AS c
      WHERE c.relnamespace = 'snowid_shards'::regnamespace AND c.relkind = 'S'
        AND c.relname ~ ('^' || snowid.name_of(layout) || '_([0-9]+|mark)$');
    IF pg_sequence_last_value(seq) < ((unit + 1) << bits) - 1 THEN
      PERFORM setval(seq, ((unit + 1) << bits) - 1);
    END IF;
    RAISE SQLSTATE 'SN000';
  EXCEPTION WHEN SQLSTATE 'SN000' THEN NULL;
  END;
  RETURN ((unit + 1) << snowid.time_shift(layout)) - 1;
END $$;
COMMENT ON FUNCTION snowid.raise_mark(public.snowid_layout) IS
  'have all shards of a layout go on above what they have issued; gives an ID above that and below what they issue';

CREATE FUNCTION snowid.family_of(tbl oid, above boolean) RETURNS oid[]
  VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    WITH RECURSIVE below AS (
      SELECT tbl AS oid UNION SELECT i.inhrelid FROM pg_inherits AS i JOIN below ON i.inhparent = below.oid),
    ancestors AS (
      SELECT tbl AS oid UNION SELECT i.inhparent FROM pg_inherits AS i JOIN ancestors ON i.inhrelid = ancestors.oid)
    SELECT oid FROM below UNION SELECT oid FROM ancestors WHERE above);
END $$;
COMMENT ON FUNCTION snowid.family_of(oid, boolean) IS 'a table and its partitions, or also what it is a partition of';

CREATE FUNCTION snowid.layout_of(tbl oid) RETURNS public.snowid_layout
  VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  made text[];
  is_other boolean;
BEGIN
  SELECT array_agg(DISTINCT coalesce((regexp_match(e, '''([a-z0-9]+)''::public.snowid_layout'))[1], 'instagram'))
        FILTER (WHERE e ~ 'public.snowid_(next|reserve)[(]'),
      coalesce(bool_or(e ~ '[(]' AND e !~ 'public.snowid_(next|reserve)[(]'), false)
    INTO made, is_other
    FROM (SELECT CASE WHEN a.attidentity <> '' THEN 'nextval()' ELSE coalesce(pg_get_expr(d.adbin, d.adrelid), pg_get_expr(t.typdefaultbin, 0)) END AS e
      FROM unnest(snowid.family_of(tbl, false)) AS f (oid) JOIN pg_attribute AS a ON a.attrelid = f.oid
        JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND 'int8'::regtype IN (a.atttypid, t.typbasetype)) AS defaults;
  IF cardinality(made) > 1 OR made IS NULL AND is_other THEN
    RAISE 'layout of the IDs of table "%" is not known', (SELECT relname FROM pg_class WHERE oid = tbl)
      USING ERRCODE = 'invalid_parameter_value', DETAIL = CASE WHEN cardinality(made) > 1
          THEN 'Its defaults generate IDs of several layouts.' ELSE 'It has a default other than snowid_next().' END,
        HINT = format('Pass it: snowid_watermark(''%s'', ''instagram'').', tbl::regclass);
  END IF;
  RETURN coalesce(made[1], 'instagram');
END $$;
COMMENT ON FUNCTION snowid.layout_of(oid) IS 'layout of the IDs that the defaults of a table make';

CREATE FUNCTION snowid.refuse_watermark(tbl regclass) RETURNS void
  VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  name text;
  kind "char";
BEGIN
  IF pg_is_in_recovery() THEN PERFORM snowid.refuse_read_only('snowid_watermark()'); END IF;
  IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
    RAISE 'snowid_watermark() cannot run in a % transaction', upper(current_setting('transaction_isolation'))
      USING ERRCODE = 'active_sql_transaction', DETAIL = 'Its snapshot hides what other sessions have committed since it began.',
        HINT = 'Use BEGIN ISOLATION LEVEL READ COMMITTED.';
  END IF;
  SELECT relname, relkind INTO name, kind FROM pg_class WHERE oid = tbl;
  IF name IS NULL THEN
    RAISE 'relation with OID % does not exist', tbl::oid USING ERRCODE = 'undefined_table';
  ELSIF kind NOT IN ('r', 'p', 'f') THEN
    RAISE '"%" is not a table', name USING ERRCODE = 'wrong_object_type';
  ELSIF kind <> 'f' AND NOT has_any_column_privilege(tbl, 'SELECT') THEN
    RAISE 'permission denied for table %', name USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT relname INTO name FROM pg_class WHERE oid = ANY (snowid.family_of(tbl, false)) AND relkind = 'f';
  IF FOUND THEN
    RAISE 'cannot compute a watermark of foreign table "%"', name USING ERRCODE = 'feature_not_supported',
      DETAIL = 'Its rows are written on another server.', HINT = 'Call snowid_watermark() on the remote server.';
  END IF;
  PERFORM snowid.refuse_read_only('snowid_watermark()');
END $$;
COMMENT ON FUNCTION snowid.refuse_watermark(regclass) IS 'fails where no watermark can be computed';

-- Virtual transactions that may have written to one of the tables: those with a writer's lock, and those that created
-- or attached a partition not yet visible to other sessions. Prepared ones have no process.
CREATE FUNCTION snowid.writers_of(tables oid[]) RETURNS text[]
  VOLATILE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    WITH held AS MATERIALIZED (
      SELECT l.virtualtransaction, l.relation, l.mode FROM pg_locks AS l
        WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
          AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()))
    SELECT h.virtualtransaction FROM held AS h
      WHERE h.relation = ANY (tables) AND (h.mode IN ('RowExclusiveLock', 'AccessExclusiveLock')
        OR h.mode = 'ShareUpdateExclusiveLock' AND EXISTS (SELECT FROM held AS o
          WHERE o.virtualtransaction = h.virtualtransaction AND o.mode = 'AccessExclusiveLock')));
END $$;
COMMENT ON FUNCTION snowid.writers_of(oid[]) IS 'virtual transactions that may have written to one of these tables';

-- Not SECURITY DEFINER, to check the caller's rights. It waits by naps, because a lock request would block other
-- sessions.
CREATE FUNCTION public.snowid_watermark(tbl regclass, layout public.snowid_layout) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
DECLARE
  most CONSTANT int := setting FROM pg_settings WHERE name = 'lock_timeout';
  mark bigint;
  tables oid[];
  writers text[];
  waited double precision := 0;
  nap double precision := 1;
BEGIN
  PERFORM snowid.refuse_watermark(tbl);
  mark := snowid.raise_mark(layout);
  -- A row inserted through the parent gets its ID before its partition is locked.
  tables := snowid.family_of(tbl, true);
  writers := snowid.writers_of(tables);
  WHILE writers && snowid.writers_of(tables) LOOP
    IF most > 0 AND waited >= most THEN
      RAISE 'canceling statement due to lock timeout' USING ERRCODE = 'lock_not_available';
    END IF;
    PERFORM pg_sleep(nap / 1000);
    waited := waited + nap;
    nap := least(nap * 1.5, 50);
  END LOOP;
  RETURN NEXT mark;
END $$;

COMMENT ON FUNCTION public.snowid_watermark(regclass, public.snowid_layout) IS
  'Returns an upper bound of a layout''s IDs for reading a table without missing rows.';

CREATE FUNCTION public.snowid_watermark(tbl regclass) RETURNS SETOF bigint
  VOLATILE STRICT PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp LANGUAGE plpgsql AS $$
BEGIN
  PERFORM snowid.refuse_watermark(tbl);
  RETURN QUERY SELECT public.snowid_watermark(tbl, snowid.layout_of(tbl));
END $$;

COMMENT ON FUNCTION public.snowid_watermark(regclass) IS
  'Returns an upper bound of IDs for reading a table without missing rows.';

SELECT snowid.make_private('FUNCTION ' || oid::regprocedure, coalesce(proacl, acldefault('f', proowner))) FROM pg_proc
  WHERE oid IN ('snowid.make_private'::regproc, 'snowid.skip_row'::regproc, 'snowid.first_after'::regproc,
    'snowid.wait'::regproc, 'snowid.take'::regproc, 'snowid.move_shard'::regproc, 'snowid.create_shard'::regproc,
    'snowid.create_place'::regproc,
    'snowid.release_shard(bigint, public.snowid_layout)'::regprocedure,
    'snowid.accept_shard(bigint, bigint, public.snowid_layout)'::regprocedure);

-- The default shard of a node without a number.
SELECT snowid.create_shard(0);
COMMIT;
