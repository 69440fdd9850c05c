# docs/converting.md, from UUIDs of several versions, as in migrating_bigserial.pl.
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
my $files = files_of_tables($node, 'uuid', @TABLES);
is_deeply([ steps_of('uuid') ], [ 'default', 'check' ], 'the steps of the page');
foreach my $name (steps_of('uuid'))
{
    run_step($load, "uuid: $name");
    mark($load, $name);
}
my $back = step_of('uuid: default') =~ s/snowid_uuidv7/gen_random_uuid/r;
unlike(run_until_locked($load, $back), qr/ERROR/, 'the way back');
mark($load, 'back');
stop_load($load);
is(files_of_tables($node, 'uuid', @TABLES), $files, 'no table is written anew');
is($node->safe_psql('uuid', <<'SQL'), '0|0|t', 'keys of after have the time they were made at, until the way back');
SELECT count(*) FILTER (WHERE g.n <= c.n AND NOT COALESCE(made BETWEEN d.at - interval '2 s' AND c.at + interval '2 s', false)),
       count(*) FILTER (WHERE g.n > b.n + 1 AND made IS NOT NULL), count(*) FILTER (WHERE g.n <= c.n) > 100
  FROM load.given g JOIN load."default" d USING (who) JOIN load."check" c USING (who) JOIN load.back b USING (who),
    LATERAL (SELECT snowid_uuid_timestamp(g.id::uuid)) _(made)
 WHERE g.n > d.n + 1
SQL
like($node->safe_psql('uuid', 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT FROM payments WHERE snowid_uuidv7_in_range(id, now(), now())'),
    qr/payments_pkey/, 'the key selects by time');
check_rows($node, 'uuid');
end_test($node);
