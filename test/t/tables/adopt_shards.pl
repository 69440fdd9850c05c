# What sessions draw from an adopted table's default goes on above the keys, whatever the session that adopts it has set: in the
# shard of the database's setting. What roles have set for themselves, in this database or in all, is named and moves nothing: any
# role could set anything, and have everybody's call fail.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('adopt_shards', conf => "snowid.max_lead = '2h'\n", sql => 'ALTER DATABASE postgres SET snowid.default_shard = 9');
is($node->safe_psql('postgres', <<'SQL'), "public.snowid_next()\n3", "adopted");
CREATE TABLE others (id bigint PRIMARY KEY, n int);
INSERT INTO others VALUES (snowid_encode(now() + interval '30 min', 9, 5), 0);
SET snowid.default_shard = 3;
SELECT snowid.adopt('others', 'id');
SELECT snowid_default_shard();
SQL
is($node->safe_psql('postgres', 'INSERT INTO others (n) VALUES (1) RETURNING snowid_shard(id), id > (SELECT id FROM others WHERE n = 0)'), '9|t',
    'others go on above');

# A parameter is a role's to set once its library is loaded.
$node->safe_psql('postgres', <<'SQL');
ALTER DATABASE postgres RESET snowid.default_shard;
CREATE ROLE here LOGIN;
CREATE ROLE everywhere LOGIN;
CREATE ROLE boss LOGIN SUPERUSER;
CREATE ROLE wrong;
ALTER ROLE here IN DATABASE postgres SET snowid.default_shard = 21;
ALTER ROLE everywhere SET snowid.default_shard = 22;
ALTER ROLE boss SET snowid.default_shard = 23;
ALTER ROLE wrong SET snowid.default_shard = 'many';
CREATE ROLE mallory LOGIN;
SET ROLE mallory;
SELECT snowid_shard(0);
ALTER ROLE mallory SET snowid.default_shard = '999999';
RESET ROLE;
CREATE TABLE roles (id bigint PRIMARY KEY, n int);
GRANT SELECT, INSERT ON roles TO PUBLIC;
INSERT INTO roles VALUES (snowid_encode(now() + interval '30 min', 9, 5), 0);
SQL
my ($status, $out, $err) = $node->psql('postgres', q(SELECT snowid.adopt('roles', 'id')), extra_params => [ '-U', 'boss' ]);
is($out, 'public.snowid_next()', 'adopted, whatever roles have set');
like($err, qr/NOTICE:  roles have .*\nDETAIL:  These are: boss: 23, everywhere: 22, here in this database: 21, mallory: 999999, wrong: many\.\nHINT: /,
    'their settings are named');
# As the hint says, for the shards of two roles.
$node->safe_psql('postgres', "SELECT snowid.advance_shard(snowid_encode(snowid_timestamp(id), $_, 1023)) FROM roles WHERE n = 0") foreach 21, 22;
foreach ([ boss => 23 ], [ postgres => 0 ], [ here => 21 ], [ everywhere => 22 ])
{
    my ($role, $shard) = @$_;
    is($node->safe_psql('postgres', 'INSERT INTO roles (n) VALUES (1) RETURNING snowid_shard(id), id > (SELECT id FROM roles WHERE n = 0)',
            extra_params => [ '-U', $role ]), "$shard|t", "$role goes on above");
}
end_test($node);
