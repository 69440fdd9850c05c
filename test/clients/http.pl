# IDs over HTTP: what the page sets up gives IDs, in order, and rows with exact IDs, and its role may call the one function; a
# bigint is a string. The table is read and written by PostgREST's queries, too.
# Debian: forky
# Npm: postgraphile@5.1.5

use strict;
use warnings;

use List::Util qw(pairkeys pairvalues);
use SnowidClients;
use Test::More;

my $recipe = new_recipe(port => 5678);
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEROLE');
names_version($recipe, 'PostGraphile', q(node -p 'require("./node_modules/postgraphile/package.json").version'));
my @blocks = grep { $_->{language} !~ /^(?:text)?$/ } blocks_of('docs/clients/http.md');
my ($server) = grep { $_->{language} eq 'console' } @blocks;
run_blocks($recipe, grep { $_ != $server } @blocks);
# A table that the role may read, too. Its column of type snowid is left out.
asked_as_app($recipe, q(CREATE TABLE api.photos (id bigint PRIMARY KEY, post snowid); INSERT INTO api.photos VALUES (11637205501278089); GRANT SELECT ON api.photos TO web));
run_blocks($recipe, $server);
put_file($recipe, 'js', <<'END');
// client.mjs
const ask = async (query) => {
  const answer = await fetch(`http://127.0.0.1:${process.argv[2]}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return answer.json();
};

const { data } = await ask('mutation { nextIds(input: { count: 1000 }) { result } }');
const ids = data.nextIds.result;
console.log(ids.length, new Set(ids).size, typeof ids[0]);
console.log(ids.every((id, n) => n === 0 || BigInt(ids[n - 1]) < BigInt(id)));
const refused = await ask('mutation { nextIds(input: { count: 1000000 }) { result } }');
console.log(refused.data.nextIds, refused.errors.length);
const { data: { __schema: schema } } = await ask('{ __schema { mutationType { fields { name } } } }');
console.log(schema.mutationType.fields.map((field) => field.name).join(' '));
console.log(JSON.stringify((await ask('{ allPhotos { nodes { rowId } } }')).data.allPhotos.nodes));
const { data: { __type: photo } } = await ask('{ __type(name: "Photo") { fields { name } } }');
console.log(photo.fields.map((field) => field.name).join(' '));
// Rows whose IDs differ by 1, and one whose ID PostgreSQL generates.
const create = async (post) => {
  const { data: { createPost: { post: row } } } = await ask(`mutation { createPost(input: { post: ${post} }) { post { rowId parent title } } }`);
  return row;
};
console.log(JSON.stringify(await create('{ rowId: "11637205501278089", title: "first" }')));
console.log(JSON.stringify(await create('{ rowId: "11637205501278090", parent: "11637205501278089" }')));
const { rowId } = await create('{ title: "last" }');
const { data: { postByRowId } } = await ask(`{ postByRowId(rowId: "${rowId}") { rowId title } }`);
console.log(typeof rowId, postByRowId.rowId === rowId, postByRowId.title);
END
run_shell($recipe, "node client.mjs $recipe->{port}", <<'END');
1000 1000 string
true
null 1
nextIds createPost updatePost updatePostByRowId
[{"rowId":"11637205501278089"}]
id rowId
{"rowId":"11637205501278089","parent":null,"title":"first"}
{"rowId":"11637205501278090","parent":"11637205501278089","title":null}
string true last
END

is($recipe->{node}->safe_psql('app', <<'SQL'), 'api.next_ids(integer)', 'all that the role may call and that changes anything');
-- What runs with its rights and is no C does nothing that it could not do itself.
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace
WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND (provolatile = 'v' OR nspname = 'public')
  AND (prosecdef OR nspname <> 'snowid' OR prolang = (SELECT oid FROM pg_language WHERE lanname = 'c'))
  AND proname NOT IN ('get_skipped_times', 'get_ceiling', 'execute') -- two that read, and one that runs what the caller could run
  AND 'internal'::regtype <> ALL (proargtypes) -- what SQL cannot call
  AND has_schema_privilege('web', n.oid, 'USAGE') AND has_function_privilege('web', p.oid, 'EXECUTE')
SQL
run_shell($recipe, qq(psql -U web -At -v VERBOSITY=sqlstate -c "SELECT public.snowid_next()" 2>&1 || true), "ERROR:  42501\n");
run_shell($recipe, q(psql -U web -Atq -c "INSERT INTO api.posts (title) VALUES ('by SQL') RETURNING title"), "by SQL\n");
# In SQL there is one way more, until it is closed as the page says.
my $next_of = q(psql -U web -At -v VERBOSITY=sqlstate -c "SELECT snowid.next_of(7, 'instagram') > 0" 2>&1 || true);
run_shell($recipe, $next_of, "t\n");
$recipe->{node}->safe_psql('app', 'REVOKE EXECUTE ON FUNCTION snowid_next(bigint, snowid_layout) FROM PUBLIC');
run_shell($recipe, $next_of, "ERROR:  42501\n");
run_shell($recipe, q(psql -U web -Atq -c "INSERT INTO api.posts (title) VALUES ('as before') RETURNING title"), "as before\n");
is(asked_as_app($recipe, 'SELECT count(*) FROM api.next_ids(3)'), '3', 'the function of the page works as before');

# Tables of IDs: what PostgREST 12 sends (src/PostgREST/Query of its sources). Values of filters are parameters of no
# type, a body is one of type json, whose columns have the types that format_type() says.
$recipe->{node}->safe_psql('app', <<'SQL');
DROP TABLE api.posts;
CREATE TABLE api.posts (id snowid PRIMARY KEY DEFAULT snowid_next(), parent snowid REFERENCES api.posts, title text);
CREATE FUNCTION api.parent_of(post snowid) RETURNS snowid STABLE LANGUAGE sql RETURN (SELECT parent FROM api.posts WHERE id = post);
SQL
my ($first, $second, $third) = map { "116372055012780$_" } 89, 90, 91;
my $answer = q(pg_catalog.count(_postgrest_t) AS page_total, coalesce(json_agg(_postgrest_t), '[]') AS body);
my $payload = '(SELECT $1 AS json_data) pgrst_payload';
my $location = <<'SQL';
(WITH data AS (SELECT row_to_json(_) AS row FROM pgrst_source AS _ LIMIT 1)
 SELECT array_agg(json_data.key || '=' || coalesce('eq.' || json_data.value, 'is.null')) FROM data CROSS JOIN json_each_text(data.row) AS json_data
 WHERE json_data.key IN ('id'))
SQL
my %type = (id => 'snowid', parent => 'snowid', title => 'text');
sub insert
{
    my @columns = @_;
    my ($names, $typed, $fields, $changed) = map { join ', ', @$_ } [ map { qq("$_") } @columns ], [ map { qq("$_" $type{$_}) } @columns ],
      [ map { qq("pgrst_body"."$_") } @columns ], [ map { qq("$_" = EXCLUDED."$_") } @columns ];
    return <<"SQL";
WITH pgrst_source AS (INSERT INTO "api"."posts"($names) SELECT $fields FROM $payload,
  LATERAL (SELECT $names FROM json_to_recordset(pgrst_payload.json_data) AS _($typed) ) pgrst_body ON CONFLICT("id") DO UPDATE SET $changed RETURNING "api"."posts".*)
SELECT $location AS header, $answer FROM (SELECT "posts".* FROM "pgrst_source" AS "posts") _postgrest_t
SQL
}
my $update = <<"SQL";
WITH pgrst_source AS (UPDATE "api"."posts" SET "parent" = "pgrst_body"."parent" FROM $payload,
  LATERAL (SELECT "parent" FROM json_to_record(pgrst_payload.json_data) AS _("parent" snowid) ) pgrst_body WHERE "api"."posts"."id" = \$2 RETURNING 1)
SELECT $answer FROM (SELECT * FROM pgrst_source) _postgrest_t
SQL
sub read_by { return qq(WITH pgrst_source AS (SELECT "api"."posts"."id" FROM "api"."posts" WHERE "api"."posts"."id" $_[0] ORDER BY "api"."posts"."id" ASC)\n)
  . "SELECT $answer FROM (SELECT * FROM pgrst_source) _postgrest_t" }
my $embedded = <<"SQL";
WITH pgrst_source AS (SELECT "api"."posts"."id", COALESCE("posts_1"."posts_1", '[]') AS "replies", row_to_json("parent_1".*) AS "above" FROM "api"."posts"
  LEFT JOIN LATERAL (SELECT json_agg("posts_1") AS "posts_1" FROM (SELECT "posts_1"."id" FROM "api"."posts" AS "posts_1"
    WHERE "posts_1"."parent" = "api"."posts"."id") AS "posts_1") AS "posts_1" ON TRUE
  LEFT JOIN LATERAL (SELECT "posts_2"."id" FROM "api"."posts" AS "posts_2" WHERE "posts_2"."id" = "api"."posts"."parent") AS "parent_1" ON TRUE
  WHERE "api"."posts"."id" = \$1)
SELECT $answer FROM (SELECT * FROM pgrst_source) _postgrest_t
SQL
my $call = <<"SQL";
WITH pgrst_source AS (SELECT pgrst_call.pgrst_scalar FROM $payload, LATERAL (SELECT "post" FROM json_to_record(pgrst_payload.json_data) AS _("post" snowid) LIMIT 1) pgrst_body,
  LATERAL (SELECT "api"."parent_of"("post" := pgrst_body."post") pgrst_scalar) pgrst_call)
SELECT pg_catalog.count(_postgrest_t) AS page_total, coalesce(json_agg(_postgrest_t.pgrst_scalar)->0, 'null') AS body FROM (SELECT * FROM pgrst_source) _postgrest_t
SQL
sub greatest { return qq(WITH pgrst_source AS (SELECT $_[0] FROM "api"."posts") SELECT $answer FROM (SELECT * FROM pgrst_source) _postgrest_t) }
# What is asked, what is answered, the query, and its parameters.
my @requests = (
    [ 'POST', qq({id=eq.$first}|1|[{"id":"$first","parent":null,"title":"first"}]), insert('id', 'title'), json => qq([{"id": "$first", "title": "first"}]) ],
    [ 'PUT, with numbers', qq({id=eq.$second}|1|[{"id":"$second","parent":"$first","title":null}]), insert('id', 'parent'), json => qq([{"id": $second, "parent": $first}]) ],
    [ 'POST, without an ID', qr/^\{id=eq\.(\d+)\}\|1\|\[\{"id":"\1","parent":null,"title":"last"\}\]$/, insert('title'), json => '[{"title": "last"}]' ],
    [ 'PATCH', '1|[{"?column?":1}]', $update, json => qq({"parent": "$second"}), unknown => $second ],
    [ 'eq', qq(1|[{"id":"$first"}]), read_by('= $1'), unknown => $first ],
    [ 'lte', qq(1|[{"id":"$first"}]), read_by('<= $1'), unknown => $first ],
    [ 'in', qq(2|[{"id":"$first"}, \n {"id":"$second"}]), read_by('= ANY ($1)'), unknown => qq({"$first","$second","$third"}) ],
    [ 'embedded rows', qq(1|[{"id":"$second","replies":[{"id":"$second"}],"above":{"id":"$second"}}]), $embedded, unknown => $second ],
    [ 'a function', qq(1|"$second"), $call, json => qq({"post": "$second"}) ],
    [ 'max()', qr/^1\|\[\{"max":\d+\}\]$/, greatest('MAX("api"."posts"."id")') ],
    [ 'max()::snowid', qr/^1\|\[\{"max":"\d+"\}\]$/, greatest('CAST( MAX("api"."posts"."id") AS snowid )') ]);
foreach my $request (@requests)
{
    my ($name, $expected, $query, @parameters) = @$request;
    my ($types, $values) = map { @$_ ? '(' . join(', ', @$_) . ')' : '' } [ pairkeys @parameters ], [ map { "'$_'" } pairvalues @parameters ];
    my $got = $recipe->{node}->safe_psql('app', qq(SET search_path = "api", "public"; PREPARE request $types AS $query; EXECUTE request $values));
    if (ref $expected) { like($got, $expected, "PostgREST: $name") }
    else               { is($got, $expected, "PostgREST: $name") }
}

$recipe->{node}->stop;
done_testing();
