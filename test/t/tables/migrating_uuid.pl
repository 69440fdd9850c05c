# docs/converting.md, from UUIDs, of which there are several versions, with a column for their time, as in migrating_bigserial.pl.
#
# Runs in make test-all: it takes a way of the page under load.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_uuid');
# Of version 4, and of version 7 with the row's time, in turn.
set_up($node, 'uuid', key => 'uuid DEFAULT gen_random_uuid()', type => 'uuid', old => <<'SQL');
CASE WHEN n % 2 = 0 THEN overlay(overlay(md5(tbl || n) PLACING '4' FROM 13) PLACING '8' FROM 17)
     ELSE lpad(to_hex((extract(epoch FROM t) * 1000)::bigint), 12, '0') || '7'
          || overlay(substr(md5(tbl || n), 14) PLACING '8' FROM 4) END::uuid
SQL
my $load = start_load($node, 'uuid');
run_step($load, 'fill');
foreach my $name (steps_of('uuid'))
{
    my @before = map { files_of_tables($node, 'uuid', $_) } @TABLES;
    like(locks_of($load, "uuid: $name"), qr/^orders AccessExclusive(, orders \w+)*$/, "$name locks one table") if $name eq 'column with a trigger';
    run_step($load, "uuid: $name");
    my @after = map { files_of_tables($node, 'uuid', $_) } @TABLES;
    is_deeply([ grep { $before[$_] ne $after[$_] } 0 .. 3 ], $name eq 'generated column' ? [0] : [],
        "$name: " . ($name eq 'generated column' ? 'customers alone are' : 'no table is') . ' written anew');
    mark($load, $name) if $name =~ /^(default|check|back)$/;
}
stop_load($load);
foreach (
    [ q(fill fires none of the table's triggers), '0', 'SELECT count(*) FROM load.touched' ],
    [ 'keys of after have the time they were made at, until the way back', '0|0|t', <<'SQL' ],
SELECT count(*) FILTER (WHERE g.n <= c.n AND NOT COALESCE(made BETWEEN d.at - interval '2 s' AND c.at + interval '2 s', false)),
       count(*) FILTER (WHERE g.n > b.n + 1 AND made IS NOT NULL), count(*) FILTER (WHERE g.n <= c.n) > 100
  FROM load.given g JOIN load."default" d USING (who) JOIN load."check" c USING (who) JOIN load.back b USING (who),
    LATERAL (SELECT snowid_uuid_timestamp(g.id::uuid)) _(made)
 WHERE g.n > d.n + 1
SQL
    [ 'old rows have the time of their key, or else their own', '0|0|5000|t', <<'SQL' ],
SELECT count(*) FILTER (WHERE made_at IS DISTINCT FROM COALESCE(snowid_uuid_timestamp(id), created_at)),
       count(*) FILTER (WHERE abs(extract(epoch FROM made_at - load.moment(k))) > 0.001),
       count(*) FILTER (WHERE snowid_uuid_timestamp(id) IS NULL), count(*) > 9998
  FROM (SELECT id, made_at, created_at, substr(name, 5)::int AS k FROM customers WHERE name LIKE 'old %') s
SQL
    [ 'so do rows of the column with a trigger, also those of after', '0',
        'SELECT count(*) FROM orders WHERE made_at IS DISTINCT FROM COALESCE(snowid_uuid_timestamp(id), created_at)' ])
{
    is($node->safe_psql('uuid', $_->[2]), $_->[1], $_->[0]);
}
like($node->safe_psql('uuid', 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT FROM payments WHERE snowid_uuid_timestamp(id) > now()'),
    qr/payments_made_at/, 'the index on the time serves');
check_rows($node, 'uuid');
end_test($node);
