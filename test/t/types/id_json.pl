# An ID is a string in JSON, which is read back exactly, by others and by PostgreSQL: 10,000 IDs of all sizes. (The regression test id_type
# has the functions of JSON; test/clients/node-postgres.pl has JavaScript read them.)
#
# Runs in make test-all: make test has the main tests of its module.

use JSON::PP;
use Snowid;

my $node = ready_server('json', sql => <<'SQL');
CREATE TABLE many (id snowid PRIMARY KEY, other snowid);
SELECT setseed(0.25);
INSERT INTO many SELECT DISTINCT ON (id) id, -id FROM (SELECT
  ((floor(random() * 2147483648)::bigint << 32) | floor(random() * 4294967296)::bigint) >> floor(random() * 40)::int AS id
  FROM generate_series(1, 10000)) AS r WHERE id > 0;
INSERT INTO many VALUES (0, -9223372036854775808), (9223372036854775807, NULL);
SQL
my $json = $node->safe_psql('postgres', 'SELECT json_agg(m ORDER BY id) FROM many AS m');
my $read = decode_json($json);
is(join("\n", map { "$_->{id}|" . ($_->{other} // '') } @$read), $node->safe_psql('postgres', 'SELECT * FROM many ORDER BY id'), 'each is read back');
is(scalar(() = $json =~ /"(?:id|other)":"-?\d+"/g), 2 * @$read - 1, 'all are strings');
is($node->safe_psql('postgres', <<'SQL'), 't|0', 'PostgreSQL reads them back');
SELECT (SELECT json_agg(m ORDER BY id)::jsonb = jsonb_agg(m ORDER BY id) FROM many AS m), count(*) FROM many AS m
  FULL JOIN jsonb_populate_recordset(NULL::many, (SELECT jsonb_agg(m) FROM many AS m)) AS r USING (id) WHERE r.other IS DISTINCT FROM m.other
SQL
# PostgreSQL 15 has no SQL/JSON constructors.
is($node->safe_psql('postgres', q(SELECT JSON_OBJECT('id': id, 'other': JSON_ARRAY(id)), JSON_OBJECTAGG(id: id), JSON_ARRAYAGG(id) FROM many WHERE id = 0 GROUP BY id)),
    '{"id" : "0", "other" : ["0"]}|{ "0" : "0" }|["0"]', 'SQL/JSON') if $node->pg_version >= 16;
end_test($node);
