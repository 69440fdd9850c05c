-- Shards that move, as far as one session can tell.

-- Released: an ID above all, once and for all.
CREATE TABLE drawn AS SELECT snowid_next(1) AS id FROM generate_series(1, 3);
CREATE TABLE released AS SELECT snowid.release_shard(1) AS id;
SELECT released.id > max(drawn.id) AS above, snowid_shard(released.id) FROM released, drawn GROUP BY released.id;
SELECT snowid.release_shard(1) = id AS same, snowid.release_shard(1, moved_to => 'server b') = id AS again FROM released;
SELECT shard, layout, r.id = released.id AS same, moved_to, released_at <= now() AS earlier
  FROM snowid_internal.released_shards r, released;
SELECT regexp_replace(attempt(call), 'since [^|]*[+]00|since [^|]*[-+]\d\d', 'since then')
  FROM unnest(ARRAY['SELECT snowid_next(1)', 'SELECT snowid_reserve(1, 5)', 'SELECT snowid_next_batch(1, 5)',
                    'SELECT snowid.advance_shard(id) FROM released',
                    'SET LOCAL snowid.shard = 1; SELECT snowid_next()']) AS call;
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
SELECT count(*) FROM snowid_internal.released_shards;

-- It comes back, above what it had, when the transaction commits.
SELECT snowid.accept_shard(1, id) FROM released;
SELECT snowid_next(1) > id AS above FROM released;
SELECT snowid.release_shard(1) > id AS above FROM released;
BEGIN;
SELECT snowid.accept_shard(1, id) FROM released;
SELECT attempt('SELECT snowid_next(1)');
-- Once more, before it is open.
SELECT snowid.accept_shard(1, id + (10 << 23)) FROM released;
SAVEPOINT a;
SELECT snowid.release_shard(1) > id + (10 << 23) AS above FROM released;
ROLLBACK TO a;
COMMIT;
SELECT snowid_next(1) > id + (10 << 23) AS above FROM released;
BEGIN;
SELECT snowid.release_shard(1) > 0;
SELECT snowid.accept_shard(shard, id) FROM snowid_internal.released_shards;
SELECT snowid.release_shard(1) > 0;
SELECT snowid.release_shard(1) = id AS same FROM snowid_internal.released_shards;
COMMIT;
SELECT attempt('SELECT snowid_next(1)') ~ 'was released';
BEGIN;
SELECT snowid.accept_shard(shard, id) FROM snowid_internal.released_shards;
ROLLBACK;
SELECT attempt('SELECT snowid_next(1)') ~ 'was released', count(*) FROM snowid_internal.released_shards GROUP BY 1;
SELECT snowid.accept_shard(shard, id) FROM snowid_internal.released_shards;
-- One that was not released here goes on above the ID at once, whatever becomes of the transaction.
SELECT snowid_max(now() + '0.5 s') - (8191 - 5) * 1024 AS theirs \gset
BEGIN;
SELECT snowid.accept_shard(5, :theirs);
ROLLBACK;
SELECT snowid_next(5) > :theirs AS above;

-- Any layout: no shard, the sequence first, long units, one that has not begun, one that is used up.
SELECT snowid_next(0, layout) > 0, snowid.release_shard(0, layout) > 0
  FROM unnest(ARRAY['time:31 shard:0 seq:22 unit:1s epoch:2020-01-01T00:00:00Z',
                    'seq:12 time:41 shard:10 unit:1s epoch:2020-01-01T00:00:00Z']::snowid_layout[]) AS layout;
SELECT snowid.release_shard(3, 'time:41 shard:10 seq:12 unit:1ms epoch:3000-01-01T00:00:00Z');
SELECT snowid.release_shard(3, 'sonyflake') > 0, snowid.release_shard(3, 'js53') > 0,
  snowid.release_shard(3, 'time:20 shard:10 seq:22 unit:1d epoch:2020-01-01T00:00:00Z') > 0;
SELECT layout, attempt(format('SELECT snowid_next(%s, %L)', shard, layout)) ~ 'was released' AS refused
  FROM snowid_internal.released_shards ORDER BY layout::text;
-- Those whose IDs are not of a later day, or millennium.
SELECT layout, snowid.accept_shard(shard, id, layout) FROM snowid_internal.released_shards WHERE layout::text !~ '1d|3000' ORDER BY layout::text;
SELECT layout FROM snowid_internal.released_shards ORDER BY layout::text;
-- Its last ID but one was issued, and its last: what is returned is not.
SELECT snowid.advance_shard(snowid_encode('2024-11-20 13:24:15Z', shard, 8189 + shard, 'baidu'), 'baidu') FROM generate_series(1, 2) shard;
SELECT attempt(format('SELECT snowid.release_shard(%s, ''baidu'')', shard)) FROM generate_series(1, 2) shard;
SELECT id = snowid_encode('2024-11-20 13:24:15Z', 1, 8191, 'baidu') AS last FROM snowid_internal.released_shards WHERE layout = 'baidu';
SELECT snowid.accept_shard(shard, id, layout) FROM snowid_internal.released_shards WHERE layout = 'baidu';
SELECT attempt(format('SELECT snowid_next(%s, ''baidu'')', shard)) FROM generate_series(1, 2) shard;
SELECT attempt('SELECT snowid_next(3, ''time:41 shard:10 seq:12 unit:1ms epoch:3000-01-01T00:00:00Z'')') ~ 'was released';

-- Out of range, null, far ahead, and where it is not allowed.
SELECT attempt(call) FROM unnest(ARRAY[
  'SELECT snowid.release_shard(8192)', 'SELECT snowid.release_shard(-1)', 'SELECT snowid.accept_shard(0, -1)',
  'SELECT snowid.accept_shard(0, 9007199254740992, ''js53'')',
  'BEGIN; SELECT snowid.release_shard(1)', 'SET TRANSACTION READ ONLY; SELECT snowid.release_shard(1)',
  'SET TRANSACTION READ ONLY; SELECT snowid.accept_shard(0, 1)',
  'SET TRANSACTION READ ONLY; SELECT snowid.advance_past(now())',
  'SELECT snowid.advance_past(timestamptz ''infinity'')']) AS call;
SELECT regexp_replace(regexp_replace(attempt(call), 'is [^|]* ahead of', 'is … ahead of'), '\d+min', '…min') FROM unnest(ARRAY[
  'SELECT snowid.accept_shard(8191, snowid_max(now() + ''1 h''))', 'SELECT snowid.advance_past(now() + ''1 h'')',
  'SELECT snowid.advance_past(timestamptz ''294276-12-31 23:59:59.999999Z'')']) AS call;
SELECT snowid.release_shard(NULL) IS NULL, snowid.release_shard(1, NULL) IS NULL, snowid.accept_shard(NULL, 1) IS NULL, snowid.accept_shard(1, NULL) IS NULL,
  snowid.advance_past(NULL::bigint) IS NULL, snowid.accept_shard(1, 1, NULL) IS NULL;
SELECT snowid.advance_past(timestamptz '-infinity'), snowid.advance_past(timestamptz '1969-12-31 23:59:59Z'), snowid.advance_past(timestamptz '4714-11-24 00:00:00Z BC');
SELECT snowid_next(6) > 0;

-- All of them, also those that nobody has used yet.
CREATE TABLE moment AS SELECT clock_timestamp() + '0.7 s' AS moment;
SELECT snowid.advance_past(moment) FROM moment;
SELECT bool_and(snowid_timestamp(snowid_next(shard)) > moment) AS above FROM moment, generate_series(0, 20) shard;
SELECT snowid_timestamp(snowid_next(1, 'twitter'), 'twitter') > moment AS above,
  date_trunc('second', snowid_timestamp(snowid_next(1, 'time:31 shard:10 seq:22 unit:1s epoch:2020-01-01T00:00:00Z'),
    'time:31 shard:10 seq:22 unit:1s epoch:2020-01-01T00:00:00Z')) > moment AS next_unit
  FROM moment;
SELECT snowid_ceiling() >= moment AS above, snowid_ceiling() < moment + '10 s' AS near FROM moment;

-- The table: rows come by restores, and go by functions.
INSERT INTO snowid_internal.released_shards VALUES (6, 'instagram', snowid_next(6), 'elsewhere', now());
SELECT attempt('SELECT snowid_next(6)') ~ 'It has moved to: elsewhere';
SELECT attempt(change) FROM unnest(ARRAY[
  'UPDATE snowid_internal.released_shards SET moved_to = ''nowhere''', 'DELETE FROM snowid_internal.released_shards',
  'TRUNCATE snowid_internal.released_shards',
  'INSERT INTO snowid_internal.released_shards VALUES (6, ''instagram'', 1, NULL, now())',
  'INSERT INTO snowid_internal.released_shards VALUES (8192, ''instagram'', 1, NULL, now())',
  'INSERT INTO snowid_internal.released_shards VALUES (6, ''instagram'', -1, NULL, now())',
  'INSERT INTO snowid_internal.released_shards VALUES (6, ''instagram'', 6 * 1024, NULL, now())',
  'SELECT snowid_internal.check_release()']) AS change;
SELECT snowid.accept_shard(shard, id, layout) FROM snowid_internal.released_shards WHERE shard = 6;
SELECT snowid_next(6) > 0;
BEGIN;
INSERT INTO snowid_internal.released_shards VALUES (6, 'instagram', 6 * 1024, NULL, now());
SELECT attempt('SELECT snowid_next(6)') ~ 'was released';
ROLLBACK;
SELECT snowid_next(6) > 0;

-- Who may.
CREATE ROLE regress_mover;
GRANT EXECUTE ON FUNCTION snowid.accept_shard TO regress_mover;
SET ROLE regress_mover;
SELECT attempt(call) FROM unnest(ARRAY['SELECT snowid.release_shard(7)', 'SELECT snowid.accept_shard(0, 1)',
  'SELECT snowid.advance_past(now())', 'INSERT INTO snowid_internal.released_shards DEFAULT VALUES',
  'DELETE FROM snowid_internal.released_shards']) AS call;
SELECT snowid_ceiling() > now() - interval '1 h', count(*) FROM snowid.released_shards;
RESET ROLE;
REVOKE ALL ON FUNCTION snowid.accept_shard FROM regress_mover;
DROP ROLE regress_mover;
SELECT proname, proacl FROM pg_proc WHERE proname IN ('release_shard', 'accept_shard', 'advance_past')
  AND EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0);

-- Nothing is left behind for the tests that follow.
SELECT snowid.accept_shard(shard, id, layout) FROM snowid_internal.released_shards WHERE layout::text !~ '1d|3000';
DROP TABLE drawn, released, moment;

-- Released again in a part that is rolled back: what that has returned is not issued here, either.
SELECT snowid.release_shard(900) AS released \gset
BEGIN;
SELECT snowid.accept_shard(900, :released);
SAVEPOINT part;
SELECT snowid.release_shard(900) AS again \gset
ROLLBACK TO part;
COMMIT;
SELECT snowid_next(900) > :again AS above;

-- A row that is inserted closes its shard at once, also where nobody has drawn from it yet.
SELECT attempt('INSERT INTO snowid_internal.released_shards SELECT 901, ''instagram'', snowid_encode(now(), 901, 0), NULL, now()
  RETURNING snowid_next(901)');
SELECT attempt('SELECT snowid_next(901)') = 'SELECT 1' AS is_open;

-- One whose ID lies far ahead is not accepted by an ID of now.
INSERT INTO snowid_internal.released_shards VALUES (902, 'instagram', snowid_encode('2046-06-01Z', 902, 0), NULL, now());
SELECT regexp_replace(attempt('SELECT snowid.accept_shard(902, snowid_encode(now(), 902, 0))'), '\d+ days [0-9:]+', 'N days');
SELECT regexp_replace(attempt('SELECT snowid_next(902)'), '\d{4}-.*', 'T') AS stays_closed;

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
