-- Clients send parameters without a type: a name must then have one function for each number of
-- arguments, or it is "not unique". Of every function that users call, with every number of arguments.

CREATE FUNCTION types_of(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  types text;
BEGIN
  EXECUTE 'PREPARE untyped AS SELECT ' || call;
  SELECT array_to_string(parameter_types, ', ') INTO types FROM pg_prepared_statements WHERE name = 'untyped';
  DEALLOCATE untyped;
  RETURN types;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- Those of types and aggregates take values that have a type.
CREATE TABLE calls AS
  SELECT proname AS function, arguments,
         format('%s%s(%s)', CASE pronamespace WHEN 'snowid'::regnamespace THEN 'snowid.' END, proname,
           (SELECT string_agg('$' || n, ', ') FROM generate_series(1, arguments) n)) AS call
    FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass,
         generate_series(pronargs - pronargdefaults, pronargs::int) arguments
   WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
     AND (pronamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace)
       OR proname IN ('adopt', 'create_partitions', 'drop_partitions', 'detach_partitions', 'join', 'check_node', 'take_over_node', 'accept_registry',
           'leave', 'retire_node', 'recover_registry',
           'release_shard', 'accept_shard', 'advance_shard', 'advance_past'))
     AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid') AND prokind = 'f';
SELECT call, types_of(call) FROM calls GROUP BY call ORDER BY call COLLATE "C";
-- But for advance_past(), to which the text of a moment would say something else under another DateStyle.
SELECT function, arguments, count(*) AS functions FROM calls GROUP BY function, arguments HAVING count(*) > 1;
DROP TABLE calls;
DROP FUNCTION types_of;

-- And they take the values that clients send: text, which the type of the parameter reads.
SET timezone = 'UTC';
PREPARE decode AS SELECT * FROM snowid_decode($1, $2);
EXECUTE decode('454947766275222906', 'discord');
PREPARE range AS SELECT snowid_in_range($1, $2, $3);
EXECUTE range('11637205501278089', '2011-09-09Z', '2011-09-10Z');
PREPARE times AS SELECT snowid_timestamp($1), snowid_uuid_timestamp($2), objectid_timestamp($3);
EXECUTE times('11637205501278089', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f', '507f1f77bcf86cd799439011');
PREPARE next AS SELECT snowid_shard(snowid_next($1, $2), $3);
EXECUTE next('42', 'twitter', 'twitter');
CREATE SEQUENCE untyped_seq INCREMENT 10;
PREPARE segment AS SELECT snowid_segment_next($1);
EXECUTE segment('untyped_seq');
DROP SEQUENCE untyped_seq;
DEALLOCATE ALL;
