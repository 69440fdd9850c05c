# docs/converting.md as in migrating_bigserial.pl: from identities, from Instagram's function, and back.
# Runs in make test-all: it takes two ways of the page under load.

use Snowid;
use SnowidMigration;

my $node = new_migration_server('migrating_functions');
set_up($node, 'identity', key => 'bigint GENERATED ALWAYS AS IDENTITY', old => 'n', then => setvals());
take($node, 'identity', steps => [ 'bigserial: adopt', 'bigserial: check', 'bigserial: back' ],
    before => { adopt => sub { is(locks_of($_[0], q(SELECT snowid.adopt('orders', 'id'))), 'orders AccessExclusive', 'identity: what adopting locks') } });

# Their default draws from the function when the rows are there.
set_up($node, 'instagram', key => 'bigint', old => 'snowid_encode(t, 5, n % 1024)');
is(attempt_step($node, 'instagram', 'instagram: function'), '', 'instagram: the function');
$node->safe_psql('instagram', with_default(sub { 'next_id()' }) . 'GRANT USAGE ON SEQUENCE table_id_seq TO app');
my $again = step_of('instagram: function') =~ s/^CREATE SEQUENCE.*\n//mr =~ s/^CREATE/CREATE OR REPLACE/mr =~ s/5 << 10/6 << 10/r;
take($node, 'instagram', back => ":begin\n$again" . with_default(sub { 'next_id()' }) . "COMMIT;\n", after => { check => sub {
    is($node->safe_psql('instagram', 'SELECT count(*) FROM orders WHERE snowid_shard(id) <> 5'), 0, 'instagram: all IDs are of the shard');
} });
is($node->safe_psql('instagram', 'INSERT INTO customers (name) VALUES (0) RETURNING snowid_shard(id)'), 6, 'instagram: back, in another shard');
end_test($node);
