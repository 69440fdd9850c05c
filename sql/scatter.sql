-- Scattered IDs: the last decimal digits go to the second place.

-- TiDB's examples.
SELECT id, snowid_scatter(id) AS scattered, snowid_unscatter(snowid_scatter(id)) = id AS same
  FROM unnest(ARRAY[561632371724517376, 561632371728711680, 561632371728711681, 561632371728711682,
                    561632371732905984, 561632371732905987, 561632371737100288]) id;
SELECT digits, snowid_scatter(561632371724517376, digits) AS scattered,
       snowid_unscatter(snowid_scatter(561632371724517376, digits), digits) AS back
  FROM generate_series(1, 3) digits;

-- Zeros that come to the front of what is left in the middle, to the second place, or to the end.
SELECT id, digits, snowid_scatter(id, digits) AS scattered,
       snowid_unscatter(snowid_scatter(id, digits), digits) = id AS same
  FROM (VALUES (10, 1), (19, 1), (100, 1), (101, 1), (109, 1), (190, 1), (1000000000000000000, 3),
               (1000000000000000001, 1), (1000000000000000012, 2), (1000000000000000123, 3),
               (5000700, 2), (5000700, 3), (5070007, 1), (123, 2), (102, 2), (1234, 3), (1004, 3),
               (999, 1), (999999999999999999, 3)) ids(id, digits);

-- Against the digits as text, of all lengths.
SELECT digits, count(*) AS compared,
       count(*) FILTER (WHERE snowid_scatter(id, digits)::text <> left(id::text, 1) ||
                          right(id::text, digits) || substr(left(id::text, -digits), 2)) AS wrong,
       count(*) FILTER (WHERE snowid_unscatter(id, digits)::text <> left(id::text, 1) ||
                          substr(id::text, digits + 2) || substr(id::text, 2, digits)) AS wrong_back
  FROM generate_series(1, 3) digits,
       (SELECT DISTINCT 8000000000000000000 / divisor + n * n AS id
          FROM generate_series(0, 300) n,
               unnest(ARRAY[1, 3, 70, 900, 7000000, 123456789012, 999999999999999]) divisor) ids
 WHERE length(id::text) > digits
 GROUP BY digits ORDER BY digits;

-- The ends: 19 digits that no bigint has.
SELECT id, digits, attempt(format('SELECT snowid_scatter(%s, %s)', id, digits)) AS scatter,
       attempt(format('SELECT snowid_unscatter(%s, %s)', id, digits)) AS unscatter
  FROM (VALUES (9223372036854775807, 1), (9223372036854775807, 2), (9223372036854775807, 3),
               (9200000000000000002, 1), (9200000000000000003, 1), (9199999999999999992, 1),
               (9023372036854775802, 1), (9033372036854775807, 1), (8999999999999999999, 3)) ids(id, digits);
SELECT snowid_scatter(9223372036854775807, 2),
       snowid_unscatter(9072233720368547758, 2) AS greatest,
       attempt('SELECT snowid_unscatter(9082233720368547758, 2)') AS above_it;

-- What cannot be scattered.
SELECT id, digits, attempt(format('SELECT snowid_scatter(%s, %s)', id, digits)) AS scatter,
       attempt(format('SELECT snowid_unscatter(%s, %s)', id, digits)) =
         attempt(format('SELECT snowid_scatter(%s, %s)', id, digits)) AS unscatter_too
  FROM (VALUES (561632371724517376, 0), (561632371724517376, -1), (561632371724517376, 4),
               (561632371724517376, 2147483647), (561632371724517376, -2147483648),
               (0, 1), (9, 1), (99, 2), (999, 3), (10, 1), (100, 2), (1000, 3), (100, 3)) ids(id, digits);
SELECT attempt('SELECT snowid_scatter(-1)'), attempt('SELECT snowid_unscatter(-10)');
SELECT attempt('SELECT snowid_scatter((-9223372036854775808)::bigint, 3)');

-- NULL in gives NULL out.
SELECT num_nulls(snowid_scatter(NULL), snowid_scatter(NULL, 1), snowid_scatter(123, NULL),
                 snowid_unscatter(NULL), snowid_unscatter(NULL, 1), snowid_unscatter(123, NULL));

-- As a key: ten IDs in a row begin in ten ways, and each is found again.
CREATE TEMP TABLE spread (key bigint PRIMARY KEY,
                          id bigint GENERATED ALWAYS AS (snowid_unscatter(key)) STORED);
INSERT INTO spread SELECT snowid_scatter(id) FROM generate_series(561632371728711680, 561632371728711689) id;
SELECT count(DISTINCT key / 10000000000000000) AS beginnings, min(id), max(id) FROM spread;
SELECT id FROM spread WHERE key = snowid_scatter(561632371728711682);
DROP TABLE spread;
