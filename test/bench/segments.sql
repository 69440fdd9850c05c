-- The segments of dynamic shared memory that this session has mapped: name and bytes.
SELECT line[3] || ' ' || ('x' || lpad(line[2], 16, '0'))::bit(64)::bigint -
                         ('x' || lpad(line[1], 16, '0'))::bit(64)::bigint
FROM regexp_matches(pg_read_file('/proc/self/maps'),
                    '^([0-9a-f]+)-([0-9a-f]+) .*/(PostgreSQL\.[0-9]+)', 'gn') AS line;
