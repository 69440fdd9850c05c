# docs/layouts.md on ranges of time under row-level security: for a role that a policy applies to, the index on
# snowid_timestamp(id) is not used, and the range on the key is; for one that it does not apply to both are.

use Snowid;

my $node = ready_server('policies', sql => 'CREATE ROLE reader');
my $search = q(SELECT * FROM notes WHERE snowid_in_range(id, '2026-03-01Z', '2026-03-02Z'));
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE notes (id bigint PRIMARY KEY DEFAULT snowid_next(), author name DEFAULT current_user, body text);
CREATE INDEX notes_at ON notes (snowid_timestamp(id));
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY authors ON notes USING (author = current_user);
GRANT SELECT ON notes TO reader;
INSERT INTO notes (id, author) SELECT snowid_encode('2026-01-01Z'::timestamptz + n * interval '10 minutes', 1, 0), 'reader' FROM generate_series(1, 20000) AS n;
ANALYZE notes;
SQL

# A plan without an index would only be chosen where there is no other.
sub plan_of { return attempt($node, "SET ROLE $_[0]; SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) $_[1]") }

my $by_time = q(SELECT * FROM notes WHERE snowid_timestamp(id) >= '2026-03-01Z' AND snowid_timestamp(id) < '2026-03-02Z');
like(plan_of('postgres', $by_time), qr/Index Scan using notes_at/, 'no policy: the index on the time');
unlike(plan_of('reader', $by_time), qr/Index Cond/, 'a policy: not used, since the function is not leakproof');
like(plan_of($_, $search), qr/using notes_pkey on notes\n\s*Index Cond: \(\(id >= .* AND \(id <= /, "$_: the range on the key") foreach 'postgres', 'reader';
is(attempt($node, "SET ROLE reader; SELECT count(*) FROM ($search) AS found"), '144', 'and finds the rows of a day');
end_test($node);
