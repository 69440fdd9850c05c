# Calls of all functions of the extension, with what lies at the edges of their arguments' types and beyond them.
package SnowidCalls;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(set_up_calls);

# Makes call_all(function, most, but_for, runs) in a database that has the extension, and what it calls functions with. Returns the
# functions that SQL can call: of each the OID, since not every role may name it, and the name.
sub set_up_calls
{
    my ($node, $dbname) = @_;
    $node->safe_psql($dbname, <<'SQL');
CREATE ROLE nobody LOGIN;
CREATE SEQUENCE plain_seq INCREMENT 10;
CREATE SEQUENCE open_seq INCREMENT 10;
GRANT USAGE ON SEQUENCE open_seq TO nobody;
CREATE SEQUENCE short_seq INCREMENT 100 MAXVALUE 7;
CREATE SEQUENCE falling_seq INCREMENT -1;
CREATE SEQUENCE cycling_seq CYCLE;
CREATE UNLOGGED SEQUENCE unlogged_seq INCREMENT 9;
CREATE SEQUENCE greatest_seq INCREMENT 9223372036854775807;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO nobody;
REVOKE ALL ON SEQUENCE plain_seq FROM nobody;
CREATE TABLE plain (n int PRIMARY KEY);
CREATE TABLE parted (id bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_old PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2020-01-01Z'));
CREATE VIEW seen AS SELECT 1 AS one;
-- What a type's edges are.
CREATE TABLE edges (type regtype, value text);
INSERT INTO edges SELECT type::regtype, value FROM (VALUES
  ('bigint', ARRAY[NULL, '0', '1', '-1', '8191', '8192', '2147483648', '9223372036854775807', '-9223372036854775808',
                   '11637205501278089', '1099511627776']),
  ('integer', ARRAY[NULL, '0', '1', '-1', '3', '1024', '1025', '2147483647', '-2147483648']),
  ('boolean', ARRAY[NULL, 't']),
  ('smallint', ARRAY[NULL, '0', '1', '-1', '32767']),
  ('oid', ARRAY[NULL, '0', '1259', '4294967295', 'parted'::regclass::oid::text, 'plain'::regclass::oid::text]),
  ('oid[]', ARRAY[NULL, '{}', '{NULL,0,1259}', format('{%s,%s}', 'parted'::regclass::oid, 'plain'::regclass::oid)]),
  ('bigint[]', ARRAY[NULL, '{}', '{NULL}', '{0,-1,9223372036854775807}', '{{11637205501278089},{454947766275222906}}']),
  ('text[]', ARRAY[NULL, '{}', '{NULL}', '{x,y,z}', '{ACCESS SHARE,ACCESS EXCLUSIVE}']),
  ('timestamp', ARRAY[NULL, '-infinity', 'infinity', '4714-11-24 BC', '294276-12-31 23:59:59.999999', '2026-01-01']),
  ('text', ARRAY[NULL, '', 'B0CRIXKjCuH', 'seq_1_to_3', 'seq_1_to_9223372036854775808', 'x'';--', repeat('0', 3000)]),
  ('name', ARRAY[NULL, '', 'nowhere', 'n']),
  -- Of these nobody makes values: they are what catalogs have.
  ('pg_node_tree', ARRAY[NULL, '(SELECT ev_action FROM pg_rewrite LIMIT 1)', '(SELECT ev_qual FROM pg_rewrite LIMIT 1)',
                         '(SELECT conbin FROM pg_constraint WHERE contype = ''c'' LIMIT 1)',
                         '(SELECT relpartbound FROM pg_class WHERE relpartbound IS NOT NULL LIMIT 1)',
                         '(SELECT adbin FROM pg_attrdef LIMIT 1)', '(SELECT proargdefaults FROM pg_proc WHERE pronargdefaults > 1 LIMIT 1)',
                         '(SELECT prosqlbody FROM pg_proc WHERE prosqlbody IS NOT NULL LIMIT 1)']),
  ('bytea', ARRAY[NULL, '', '\x507f1f77bcf86cd799439011', '\x507f1f77bcf86cd7994390']),
  ('cstring', ARRAY[NULL, '', 'twitter', '507f1f77bcf86cd799439011', 'time:63 shard:0 seq:1 unit:1d epoch:-62135596800000']),
  ('timestamptz', ARRAY[NULL, '-infinity', 'infinity', '4714-11-24 00:00:00Z BC', '294276-12-31 23:59:59.999999Z',
                        '1970-01-01Z', '2026-01-01Z']),
  ('tstzmultirange', ARRAY[NULL, '{}', '{(,)}', '{[2040-01-01,2041-01-01]}', '{[2040-06-01,infinity]}', '{[-infinity,2000-01-01]}',
                           '{(294276-12-31 23:59:59.999998Z,294276-12-31 23:59:59.999999Z)}', '{[9999-12-31 23:59:59.9999Z,)}']),
  ('interval', ARRAY[NULL, '0', '1 month', '1000 years', '-1 day', '1 month 1 day', '1 hour', '178000000 years', '2147483647 days']),
  ('uuid', ARRAY[NULL, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
                 'c232ab00-9414-11ec-b3c8-9f6bdeced846', '0132504e-0bf1-7000-a9ef-138a3f3e8a95']),
  ('snowid', ARRAY[NULL, '0', '-1', '9223372036854775807', '-9223372036854775808']),
  ('snowid_layout', ARRAY[NULL, 'instagram', 'sonyflake', 'baidu', 'time:1 shard:62 seq:1 unit:1d epoch:9999-12-31T23:59:59Z',
                          'time:63 shard:0 seq:1 unit:1us epoch:0001-01-01T00:00:00Z',
                          'seq:63 shard:0 time:1 unit:1d epoch:1970-01-01T00:00:00Z',
                          'seq:1 shard:62 time:1 unit:1d epoch:1970-01-01T00:00:00Z',
                          'time:63 shard:0 seq:0 unit:1us epoch:1970-01-01T00:00:00Z']),
  ('snowid_internal.sequence_name', ARRAY[NULL, '0', '4294967295', 'plain', 'plain_seq']),
  ('snowid', ARRAY[NULL, '0', '-1', '11637205501278089', '9223372036854775807', '-9223372036854775808']),
  ('objectid', ARRAY[NULL, '000000000000000000000000', 'ffffffffffffffffffffffff']),
  ('regclass', ARRAY[NULL, '0', '4294967295', 'plain', 'plain_pkey', 'seen', 'pg_class', 'plain_seq', 'open_seq', 'short_seq', 'parted', 'parted_old',
                     'falling_seq', 'cycling_seq', 'unlogged_seq', 'greatest_seq', 'snowid_internal.ceiling', 'snowid_internal.segment_sources']),
  ('snowid_internal.nodes', ARRAY[NULL, '(,,,,,,,,,,,,,,,,)', '(8191,00000000-0000-4000-8000-000000000001,a,d,0,0,0,1,1,1,0,2026-01-01Z,r,1,infinity,,-infinity)',
                         '(-9223372036854775808,00000000-0000-4000-8000-000000000002,a,d,9223372036854775807,-1,-1,-1,-1,-1,-1,infinity,r,,2026-01-01Z,-infinity,)'])
  ) AS t (type, list), unnest(list) AS value;
GRANT SELECT ON edges TO PUBLIC;

-- Calls a function with each combination of edges, but for those with one value, or with so many of them where there are more.
-- Returns what must not be. With `runs` a function run(statement), which the test makes, calls it.
CREATE FUNCTION call_all(function regprocedure, most int, but_for text, runs boolean DEFAULT false, OUT calls int, OUT wrong text)
  LANGUAGE plpgsql AS $$
DECLARE
  types oid[] := (SELECT array_replace(proargtypes::oid[], 'anyelement'::regtype, 'bigint'::regtype) FROM pg_proc WHERE oid = function);
  name text := (SELECT format('%I.%I', nspname, proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
                 WHERE p.oid = function);
  over text := (SELECT CASE prokind WHEN 'w' THEN ' OVER ()' ELSE '' END FROM pg_proc WHERE oid = function);
  combinations bigint := 1;
  arguments text;
  statement text;
  pick bigint;
  n bigint;
  known bigint;
BEGIN
  calls := 0;
  FOR i IN 0 .. coalesce(array_length(types, 1), 0) - 1 LOOP
    known := (SELECT count(*) FROM edges WHERE type = types[i] AND (value = but_for) IS NOT TRUE);
    IF known = 0 THEN wrong := format('no edges of %s', types[i]::regtype); RETURN; END IF;
    combinations := combinations * known;
  END LOOP;
  FOR round IN 0 .. least(combinations, most) - 1 LOOP
    -- A prime step, to meet all parts of many.
    pick := CASE WHEN combinations > most THEN round::bigint * 7919 % combinations ELSE round END;
    arguments := '';
    FOR i IN 0 .. coalesce(array_length(types, 1), 0) - 1 LOOP
      n := (SELECT count(*) FROM edges WHERE type = types[i] AND (value = but_for) IS NOT TRUE);
      arguments := arguments || CASE WHEN i > 0 THEN ', ' ELSE '' END || (
        SELECT CASE WHEN types[i] = 'pg_node_tree'::regtype AND value IS NOT NULL THEN value
            ELSE format('CAST(%L AS %s)', value, types[i]::regtype) END
          FROM (SELECT value, row_number() OVER (ORDER BY value) - 1 AS place FROM edges
                WHERE type = types[i] AND (value = but_for) IS NOT TRUE) e
         WHERE place = pick % n);
      pick := pick / n;
    END LOOP;
    BEGIN
      statement := format('SELECT %s(%s)%s LIMIT 2', name, arguments, over);
      EXECUTE CASE WHEN runs THEN format('SELECT run(%L)', statement) ELSE statement END;
    EXCEPTION WHEN OTHERS THEN
      -- The message is PostgreSQL's, for functions in PL/pgSQL that change tables.
      IF SQLSTATE LIKE 'XX%' AND SQLERRM NOT LIKE 'cannot % during a parallel operation' THEN
        wrong := format('%s(%s): %s %s', name, arguments, SQLSTATE, SQLERRM);
        RETURN;
      END IF;
    END;
    calls := calls + 1;
  END LOOP;
END $$;
SQL
    return map { [ split /[|]/ ] } split /\n/, $node->safe_psql($dbname, <<'SQL');
SELECT p.oid, p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
 WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND prokind IN ('f', 'w')
   AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid')
   AND NOT 'internal'::regtype = ANY (proargtypes) AND prorettype <> 'trigger'::regtype
 ORDER BY 1
SQL
}

1;
