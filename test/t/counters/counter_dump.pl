# Dumped and restored, elsewhere or over what is there, segments and sections go on above what was dumped.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = ready_server('dump', sql => <<'SQL');
CREATE SEQUENCE orders_seq INCREMENT 1000;
CREATE SEQUENCE keyed INCREMENT 10;
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowid_segment_next('orders_seq'), n int);
ALTER SEQUENCE orders_seq OWNED BY orders.id;
INSERT INTO orders (n) SELECT generate_series(1, 1234);
SELECT snowid_section_next('keyed', 7) FROM generate_series(1, 100);
CREATE DATABASE plain;
CREATE DATABASE custom;
SQL
my $above = last_value($node, 'orders_seq') + 1000;
my $limit = last_value($node, 'keyed');
my $here = $node->connstr('postgres');
system_or_bail('pg_dump', '-d', $here, '-f', "$dir/plain.sql");
system_or_bail('pg_dump', '-d', $here, '-Fc', '-f', "$dir/custom.dump");
system_or_bail('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('plain'), '-f', "$dir/plain.sql");
system_or_bail('pg_restore', '--exit-on-error', '-d', $node->connstr('custom'), "$dir/custom.dump");

sub goes_on
{
    my ($name, $session) = @_;
    is(ask($session, 'INSERT INTO orders DEFAULT VALUES RETURNING id'), $above, "$name: a column's default");
    is(ask($session, q(SELECT snowid_section_next('keyed', 7))), $limit + 1, "$name: a key");
    close_session($session);
    return;
}
goes_on($_, open_session($node, dbname => $_)) foreach 'plain', 'custom';
# Over sequences in use, whose numbers have come further.
my $session = open_session($node);
ask($session, q(INSERT INTO orders (n) SELECT generate_series(1, 10000); SELECT count(snowid_section_next('keyed', 7)) FROM generate_series(1, 1000)));
system_or_bail('pg_restore', '--clean', '--exit-on-error', '-d', $here, "$dir/custom.dump");
goes_on('a session that has drawn', $session);
end_test($node);
