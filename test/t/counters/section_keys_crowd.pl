# Many sessions draw, and many keys leave and come back all the time: each key's numbers are in order, and no more keys are known than the
# setting says, but one a session.
# Runs in make test-all: it draws for long.

use Snowid;

my $node = ready_server('crowd', conf => "snowid.section_keys = 20\n", sql => 'CREATE SEQUENCE stamp; CREATE SEQUENCE crowded INCREMENT 100');
my $key = '(generate_series * 7919) % 200';
my @drawing = map { draw($node, "nextval('stamp'), $key, snowid_section_next('crowded', $key), nextval('stamp')", 3_000) } 1 .. 8;
finish(@drawing);
is((check_keys('eight sessions', 0, @drawing))[0], 24_000, 'all are served');
cmp_ok($node->safe_psql('postgres', q(SELECT count(snowid_section_current('crowded', k)) FROM generate_series(0, 199) k)), '<=', 27, 'no more are known');
end_test($node);
