-- Shards that move, as far as one session can tell.

-- An ID that takes a shard back which no other server has accepted: above the released one.
CREATE FUNCTION later(shard bigint, layout snowid_layout DEFAULT 'instagram') RETURNS bigint LANGUAGE SQL
  RETURN snowid_encode(clock_timestamp() + '5 ms', shard, 0, layout);

-- Released: an ID above all, once and for all, and not before the clock.
CREATE TABLE drawn AS SELECT snowid_next(1) AS id FROM generate_series(1, 3);
CREATE TABLE released AS SELECT snowid.release_shard(1) AS id;
SELECT released.id > max(drawn.id) AS above, snowid_shard(released.id) FROM released, drawn GROUP BY released.id;
SELECT snowid.release_shard(1) = id AS same, snowid.release_shard(1, moved_to => 'server b') = id AS again FROM released;
SELECT shard, layout, r.id = released.id AS same, moved_to, released_at <= now() AS earlier
  FROM snowid.released_shards r, released;
SELECT regexp_replace(attempt(call), 'since [^|]*[+]00|since [^|]*[-+]\d\d', 'since then')
  FROM unnest(ARRAY['SELECT snowid_next(1)', 'SELECT snowid_reserve(1, 5)', 'SELECT snowid_next_batch(1, 5)',
                    'SELECT snowid.advance_shard(id) FROM released',
                    'SET LOCAL snowid.default_shard = 1; SELECT snowid_next()']) AS call;
SELECT snowid_timestamp(snowid.release_shard(5)) >= date_trunc('milliseconds', now()) AS not_before_the_clock;
-- What has nothing to do with it.
SELECT count(*) FROM snowid_next_batch(1, 0);
SELECT snowid_next(2) > 0, snowid_next(1, 'twitter') > 0;

-- Rolled back, wholly and in part.
BEGIN;
SELECT snowid.release_shard(2) > 0, snowid.release_shard(3) > 0;
SELECT attempt('SELECT snowid_next(2)') ~ 'was released';
ROLLBACK;
SELECT snowid_next(2) > 0, snowid_next(3) > 0;
BEGIN;
SAVEPOINT a;
SELECT snowid.release_shard(2) > 0;
SAVEPOINT b;
SELECT snowid.release_shard(3) > 0;
ROLLBACK TO b;
SELECT attempt('SELECT snowid_next(2)') ~ 'was released', snowid_next(3) > 0;
RELEASE b;
SELECT snowid.release_shard(4) > 0;
RELEASE a;
SELECT attempt('SELECT snowid_next(2)') ~ 'was released', attempt('SELECT snowid_next(4)') ~ 'was released';
ROLLBACK;
SELECT snowid_next(2) > 0, snowid_next(3) > 0, snowid_next(4) > 0;
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
SELECT snowid.release_shard(2) > 0;
RELEASE b;
ROLLBACK TO a;
SELECT snowid_next(2) > 0;
COMMIT;
-- What was returned is never issued here, though it was rolled back.
DO $$
DECLARE
  released bigint;
  next bigint;
BEGIN
  FOR i IN 1 .. 20 LOOP
    BEGIN
      released := snowid.release_shard(2);
      RAISE EXCEPTION 'rolled back';
    EXCEPTION WHEN raise_exception THEN
      NULL;
    END;
    next := snowid_next(2);
    IF next <= released THEN RAISE 'next % after %', next, released; END IF;
  END LOOP;
END $$;

-- Accepted: above what it was released with, and of the same shard.
SELECT regexp_replace(attempt(format('SELECT snowid.accept_shard(%s, %s)', v.shard, v.id)), '\d{19}', 'N', 'g') FROM released r,
  LATERAL (VALUES (1, r.id), (1, r.id - (1 << 23)), (1, 1 << 10), (2, r.id), (8192, r.id), (1, -1)) AS v (shard, id);
SELECT attempt('SELECT snowid_next(1)') ~ 'was released' AS still_closed;
SELECT later(1) AS accepted \gset
SELECT snowid.accept_shard(1, :accepted);
SELECT snowid_next(1) > :accepted AS above;
-- Once more, with the ID that opened it, in whatever state; with no other that is not above all.
SELECT snowid.accept_shard(1, :accepted);
SELECT regexp_replace(attempt('SELECT snowid.accept_shard(1, ' || id || ')'), '\d{19}', 'N', 'g')
  FROM unnest(ARRAY[:accepted - 1, :accepted + 1, snowid_next(1)]) AS id;
SELECT shard, id = :accepted AS same, is_open, moved_to FROM snowid_internal.moved_shards WHERE shard = 1;
SELECT count(*) FROM snowid.released_shards WHERE shard = 1;
-- Released above the accepted one, where none was issued since.
SELECT snowid_encode(clock_timestamp() + '0.5 s', 1, 7) AS accepted \gset
SELECT snowid.release_shard(1) < :accepted AS below;
SELECT snowid.accept_shard(1, :accepted);
SELECT snowid.release_shard(1) > :accepted AS above;

-- When the transaction commits, and once in it.
BEGIN;
SELECT snowid.accept_shard(1, snowid_encode(clock_timestamp() + '0.6 s', 1, 0));
SELECT attempt('SELECT snowid_next(1)');
SAVEPOINT a;
SELECT attempt('SELECT snowid.release_shard(1)');
SELECT attempt('SELECT snowid.accept_shard(1, snowid_encode(clock_timestamp() + ''0.7 s'', 1, 0))');
SELECT snowid.accept_shard(1, id) FROM snowid_internal.moved_shards WHERE shard = 1;
ROLLBACK;
SELECT attempt('SELECT snowid_next(1)') ~ 'was released';
BEGIN;
SAVEPOINT a;
SELECT snowid.accept_shard(1, snowid_encode(clock_timestamp() + '0.6 s', 1, 0));
ROLLBACK TO a;
COMMIT;
SELECT attempt('SELECT snowid_next(1)') ~ 'was released';
SELECT snowid.accept_shard(1, snowid_encode(clock_timestamp() + '0.6 s', 1, 0));
BEGIN;
SELECT snowid.release_shard(1) AS released \gset
SELECT snowid.release_shard(1) = :released AS same;
SELECT attempt('SELECT snowid.accept_shard(1, snowid_encode(clock_timestamp() + ''0.9 s'', 1, 0))');
COMMIT;
-- A shard that was never moved here: above its IDs. In units of a day, however slow the server is.
\set days 'time:20 shard:10 seq:22 unit:1d epoch:2020-01-01T00:00:00Z'
SELECT snowid_encode(now(), 6, 4000000, :'days') AS theirs \gset
SELECT snowid_next(6, :'days') AS ours \gset
SELECT attempt(format('SELECT snowid.accept_shard(6, %s, %L)', :ours, :'days')) ~ 'is not above';
BEGIN;
SELECT snowid.accept_shard(6, :theirs, :'days');
ROLLBACK;
SELECT snowid_next(6, :'days') < :theirs AS not_yet;
SELECT snowid.accept_shard(6, :theirs, :'days');
SELECT snowid_next(6, :'days') > :theirs AS above;

-- Any layout: no shard, the sequence first, long units, one that has not begun, one that is used up.
SELECT snowid_next(0, layout) > 0, snowid.release_shard(0, layout) > 0
  FROM unnest(ARRAY['time:31 shard:0 seq:22 unit:1s epoch:2020-01-01T00:00:00Z',
                    'seq:12 time:41 shard:10 unit:1s epoch:2020-01-01T00:00:00Z']::snowid_layout[]) AS layout;
SELECT snowid.release_shard(3, 'time:41 shard:10 seq:12 unit:1ms epoch:3000-01-01T00:00:00Z');
SELECT snowid.release_shard(3, 'sonyflake') > 0, snowid.release_shard(3, 'js53') > 0,
  snowid.release_shard(3, 'time:20 shard:10 seq:22 unit:1d epoch:2020-01-01T00:00:00Z') > 0;
SELECT layout, attempt(format('SELECT snowid_next(%s, %L)', shard, layout)) ~ 'was released' AS refused
  FROM snowid.released_shards WHERE layout <> 'instagram' ORDER BY layout::text;
-- By the order of issue, which is not that of the numbers where the sequence comes first.
SELECT snowid.accept_shard(shard, snowid_encode(snowid_timestamp(id, layout) + '1 s', shard, 0, layout), layout)
  FROM snowid.released_shards WHERE layout::text ~ '^seq:12';
-- One that is used up.
SELECT snowid.advance_shard(snowid_encode('2024-11-20 13:24:15Z', 1, 8190, 'baidu'), 'baidu');
SELECT attempt('SELECT snowid.release_shard(1, ''baidu'')');
SELECT attempt('SELECT snowid_next(3, ''time:41 shard:10 seq:12 unit:1ms epoch:3000-01-01T00:00:00Z'')') ~ 'was released';

-- Out of range, null, far ahead, and where it is not allowed. PostgreSQL 19 has the hint of 42725 in two parts.
SELECT replace(attempt(call), 'function. | You', 'function. You') AS attempt FROM unnest(ARRAY[
  'SELECT snowid.release_shard(8192)', 'SELECT snowid.release_shard(-1)', 'SELECT snowid.accept_shard(0, -1)',
  'SELECT snowid.accept_shard(0, 9007199254740992, ''js53'')',
  'BEGIN; SELECT snowid.release_shard(1)', 'SET TRANSACTION READ ONLY; SELECT snowid.release_shard(1)',
  'SET TRANSACTION READ ONLY; SELECT snowid.accept_shard(0, 1)',
  'SET TRANSACTION READ ONLY; SELECT snowid.advance_past(now())', 'SET TRANSACTION READ ONLY; SELECT snowid.advance_past(1)',
  'SELECT snowid.advance_past(timestamptz ''infinity'')', 'SELECT snowid.advance_past(-1)',
  'SELECT snowid.advance_past(''2026-01-01Z'')', 'SELECT snowid.advance_past(''1'', ''2026-01-01Z'')']) AS call;
SELECT regexp_replace(regexp_replace(attempt(call), 'is [^|]* ahead of', 'is … ahead of'), '\d+min', '…min') FROM unnest(ARRAY[
  'SELECT snowid.accept_shard(8191, snowid_last_at(now() + ''1 h''))', 'SELECT snowid.advance_past(now() + ''1 h'')',
  'SELECT snowid.advance_past(snowid_first_at(now() + ''1 h''))',
  'SELECT snowid.advance_past(timestamptz ''294276-12-31 23:59:59.999999Z'')']) AS call;
SELECT snowid.release_shard(NULL) IS NULL, snowid.release_shard(1, NULL) IS NULL, snowid.accept_shard(NULL, 1) IS NULL,
  snowid.accept_shard(1, NULL) IS NULL, snowid.accept_shard(1, 1, NULL) IS NULL, snowid.advance_past(NULL::bigint) IS NULL;
SELECT snowid.advance_past(timestamptz '-infinity'), snowid.advance_past(timestamptz '1969-12-31 23:59:59Z'),
  snowid.advance_past(timestamptz '4714-11-24 00:00:00Z BC'), snowid.advance_past(0);
SELECT snowid_next(7) > 0;

-- All of them, also those that nobody has used yet.
CREATE TABLE moment AS SELECT clock_timestamp() + '0.7 s' AS moment;
SELECT snowid.advance_past(moment) FROM moment;
SELECT bool_and(snowid_timestamp(snowid_next(shard)) > moment) AS above FROM moment, generate_series(7, 20) shard;
SELECT snowid_timestamp(snowid_next(1, 'twitter'), 'twitter') > moment AS above,
  date_trunc('second', snowid_timestamp(snowid_next(1, 'time:31 shard:10 seq:22 unit:1s epoch:2020-01-01T00:00:00Z'),
    'time:31 shard:10 seq:22 unit:1s epoch:2020-01-01T00:00:00Z')) > moment AS next_unit
  FROM moment;
SELECT snowid_ceiling() >= moment AS above, snowid_ceiling() < greatest(moment, clock_timestamp()) + '10 s' AS near FROM moment;
SELECT snowid_encode(clock_timestamp() + '0.9 s', 77, 5) AS past, snowid_encode(clock_timestamp() + '0.95 s', 77, 5, 'twitter') AS tweet \gset
SELECT snowid.advance_past(:past);
SELECT snowid_next(78) > :past AS above, snowid_timestamp(snowid_next(2, 'twitter'), 'twitter') >= snowid_timestamp(:past) AS in_all;
SELECT snowid.advance_past(:tweet, 'twitter');
SELECT snowid_next(1, 'twitter') > :tweet AS above;

-- The table: rows come by restores, and go by functions.
INSERT INTO snowid_internal.moved_shards VALUES (9, 'instagram', snowid_next(9), false, 'elsewhere', now());
SELECT attempt('SELECT snowid_next(9)') ~ 'It has moved to: elsewhere';
SELECT attempt(change) FROM unnest(ARRAY[
  'UPDATE snowid_internal.moved_shards SET moved_to = ''nowhere''', 'DELETE FROM snowid_internal.moved_shards',
  'TRUNCATE snowid_internal.moved_shards',
  'INSERT INTO snowid_internal.moved_shards VALUES (9, ''instagram'', 1, false, NULL, now())',
  'INSERT INTO snowid_internal.moved_shards VALUES (8192, ''instagram'', 1, false, NULL, now())',
  'INSERT INTO snowid_internal.moved_shards VALUES (9, ''instagram'', -1, true, NULL, now())',
  'SELECT snowid_internal.check_move()']) AS change;
-- Not in the transaction that moves the shard either.
BEGIN;
SELECT snowid.accept_shard(9, id + (1 << 23)) FROM snowid.released_shards WHERE shard = 9;
SELECT attempt(change) FROM unnest(ARRAY['UPDATE snowid_internal.moved_shards SET is_open = true WHERE shard = 9',
  'DELETE FROM snowid_internal.moved_shards WHERE shard = 9']) AS change;
COMMIT;
SELECT snowid_next(9) > 0;
BEGIN;
INSERT INTO snowid_internal.moved_shards VALUES (10, 'instagram', 10 * 1024, false, NULL, now());
SELECT id > 10 * 1024 AS above, attempt('SELECT snowid_next(10)') ~ 'was released' FROM snowid.released_shards WHERE shard = 10;
ROLLBACK;
SELECT snowid_next(10) > 0;
-- One that was accepted stays open, and counts at the next release; below it nothing is accepted.
INSERT INTO snowid_internal.moved_shards SELECT 10, 'instagram', snowid_encode('2046-06-01Z', 10, 7), true, NULL, now();
SELECT attempt('SELECT snowid.accept_shard(10, later(10))') ~ 'is not above', snowid_next(10) > 0;
SELECT snowid.release_shard(10) > snowid_encode('2046-06-01Z', 10, 7) AS above;
-- One whose ID lies far ahead is not accepted by a new ID.
INSERT INTO snowid_internal.moved_shards VALUES (902, 'instagram', snowid_encode('2046-06-01Z', 902, 0), false, NULL, now());
SELECT attempt('SELECT snowid.accept_shard(902, later(902))') ~ 'is not above', attempt('SELECT snowid_next(902)') ~ 'was released';
-- A row that is inserted closes its shard at once, also where nobody has drawn from it yet.
SELECT attempt('INSERT INTO snowid_internal.moved_shards SELECT 901, ''instagram'', snowid_encode(now(), 901, 0), false, NULL, now()
  RETURNING snowid_next(901)') ~ 'was released';
SELECT attempt('SELECT snowid_next(901)') = 'SELECT 1' AS is_open;

-- Who may.
SELECT snowid.release_shard(7) > 0 AS released;
CREATE ROLE regress_mover;
GRANT EXECUTE ON FUNCTION snowid.accept_shard TO regress_mover;
-- What runs as the owner of the table finds none of the caller's objects.
CREATE SCHEMA mine AUTHORIZATION regress_mover;
SET ROLE regress_mover;
CREATE FUNCTION mine.same(tid, tid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'as %', current_user; END $$;
CREATE OPERATOR mine.= (LEFTARG = tid, RIGHTARG = tid, FUNCTION = mine.same);
SET search_path = mine, pg_catalog, public;
SELECT attempt(call) FROM unnest(ARRAY['SELECT snowid.release_shard(7)', 'SELECT snowid.accept_shard(7, id + (1 << 23)) FROM snowid.released_shards WHERE shard = 7',
  'SELECT snowid.advance_past(now())', 'SELECT snowid.advance_past(1)', 'INSERT INTO snowid_internal.moved_shards DEFAULT VALUES',
  'DELETE FROM snowid_internal.moved_shards']) AS call;
SELECT snowid_ceiling() > now() - interval '1 h', count(*) > 0 FROM snowid.released_shards;
RESET search_path;
RESET ROLE;
DROP OPERATOR mine.= (tid, tid);
DROP FUNCTION mine.same;
DROP SCHEMA mine;
REVOKE ALL ON FUNCTION snowid.accept_shard FROM regress_mover;
DROP ROLE regress_mover;
SELECT proname, proacl FROM pg_proc WHERE proname IN ('release_shard', 'accept_shard', 'advance_past')
  AND EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0);

-- Nothing is left behind for the tests that follow.
SELECT count(snowid.accept_shard(shard, snowid_encode(greatest(clock_timestamp(), snowid_timestamp(id)) + '5 ms', shard, 0)))
  FROM snowid.released_shards WHERE layout = 'instagram' AND shard NOT IN (10, 902);
DROP TABLE drawn, released, moment;
DROP FUNCTION later;

-- Advancing a shard.
SELECT snowid_encode(clock_timestamp() + interval '500 ms', 6, 7) AS moved \gset
SELECT snowid.advance_shard(:moved);
SELECT snowid_next(6) > :moved AS above, last_value >= extract(epoch FROM snowid_timestamp(:moved)) * 1000
         AS durable FROM snowid_internal.ceiling;
SELECT snowid_next(6) AS later \gset
SELECT snowid.advance_shard((1387263000::bigint << 23) | (6 << 10));
SELECT snowid_next(6) > :later AS never_back;
SELECT regexp_replace(regexp_replace(attempt(format('SELECT snowid.advance_shard(%s)',
         snowid_encode(clock_timestamp() + interval '1 hour', 6, 0))), '(00:59|01:00):\d\d', 'N'), '''6[12]min', '''…min');
SELECT attempt('SELECT snowid.advance_shard(-1)');
SELECT snowid.advance_shard(NULL) IS NULL AS null_in_null_out;
SELECT snowid_encode(clock_timestamp() + interval '500 ms', 6, 7, 'twitter') AS moved \gset
SELECT snowid.advance_shard(:moved, 'twitter');
SELECT snowid_next(6, 'twitter') > :moved AS above;
SET default_transaction_read_only = on;
SELECT attempt('SELECT snowid.advance_shard(1)');
RESET default_transaction_read_only;
