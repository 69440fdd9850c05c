# docs/clients/README.md on row-level security: for a role that a policy applies to, the index on snowid_timestamp(id) is
# not used, and the range on the key is; for one that it does not apply to both are.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $page = 'docs/clients/README.md';
my $node = new_server('policies');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE ROLE reader');
my ($block) = grep { /POLICY/ } blocks_of($page, 'What holds for all of them');
my ($search) = $block =~ /^(SELECT .*;)$/m;
is(attempt($node, $block), '', 'the page runs');
$node->safe_psql('postgres', <<'SQL');
GRANT SELECT ON notes TO reader;
INSERT INTO notes (id, author) SELECT snowid_encode('2026-01-01Z'::timestamptz + n * interval '10 minutes', 1, 0), 'reader' FROM generate_series(1, 20000) AS n;
ANALYZE notes;
SQL

# What a query goes by. A plan without an index would only be chosen where there is no other.
sub plan_of
{
    my ($role, $query) = @_;
    return attempt($node, "SET ROLE $role; SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS OFF) $query");
}

my $by_time = q(SELECT * FROM notes WHERE snowid_timestamp(id) >= '2026-03-01Z' AND snowid_timestamp(id) < '2026-03-02Z');
like(plan_of('postgres', $by_time), qr/Index Scan using notes_at/, 'no policy: the index on the time');
unlike(plan_of('reader', $by_time), qr/Index Cond/, 'a policy: not used');
foreach my $role ('postgres', 'reader')
{
    like(plan_of($role, $search), qr/using notes_pkey on notes\n\s*Index Cond: \(\(id >= .* AND \(id <= /, "$role: the range on the key");
}
is(attempt($node, "SET ROLE reader; SELECT count(*) FROM ($search) AS found" =~ s/;\) AS/) AS/r), '144', 'and finds the rows of a day');
is($node->safe_psql('postgres', q(SELECT string_agg(proleakproof::text, ' ') FROM pg_proc WHERE proname = 'snowid_timestamp')), 'false',
    'since the function is not leakproof');
$node->stop;
done_testing();
