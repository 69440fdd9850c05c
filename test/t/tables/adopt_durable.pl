# That IDs come above the keys that a table had when it was adopted outlives the server, also where its clock
# stands still below those keys, and nothing but the adoption has ever been written.

use strict;
use warnings;

use Snowid;
use Test::More;

my $now = int(time) + 3600;
my $node = new_server('adopt_durable');
# Keys are further ahead than the ceiling comes by drawing: only moving a shard on covers them.
$node->append_conf('postgresql.conf', "snowid.max_lead = '1min'");
stop_clock($now, $node);
start_server($node);
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE photos (id bigserial PRIMARY KEY, n int);
INSERT INTO photos VALUES (snowid_encode(clock_timestamp() + interval '30 s', 7, 1000), 0);
SQL
is(attempt($node, q(SELECT snowid_adopt('photos', 'id', 7))), 'public.snowid_next((7)::bigint)', 'adopted');
my $greatest = $node->safe_psql('postgres', 'SELECT max(id) FROM photos');
is($node->safe_psql('postgres', "SELECT last_value >= extract(epoch FROM snowid_timestamp($greatest)) * 1000 FROM snowid.ceiling"),
    't', 'the ceiling covers the key');
crash($node, 'kill');
start_server($node);
# Another session's, with the clock where it was: the next unit of time is within max_lead.
my $id = attempt($node, 'INSERT INTO photos (n) VALUES (1) RETURNING id');
cmp_ok($id, '>', $greatest, 'after a crash: above the key');

# The tick itself: without a crash the very next ID follows, in the key's own time.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE others (id bigserial PRIMARY KEY, n int);
INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '40 s', 8, 1000), 0);
SQL
is(attempt($node, q(SELECT snowid_adopt('others', 'id', 8))), 'public.snowid_next((8)::bigint)', 'adopted while the server runs');
is(attempt($node, 'INSERT INTO others (n) VALUES (1) RETURNING id - (SELECT min(id) FROM others) BETWEEN 1 AND 9'), 't',
    'the next ticks, of which adopting has drawn some');
# That of a greater shard in the same unit, which only the next unit is above.
$node->safe_psql('postgres', q(INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '41 s', 9, 3), 0)));
$greatest = $node->safe_psql('postgres', 'SELECT max(id) FROM others');
is(attempt($node, q(ALTER TABLE others ALTER id DROP DEFAULT; SELECT snowid_adopt('others', 'id', 8))),
    'public.snowid_next((8)::bigint)', 'adopted again');
is(attempt($node, "INSERT INTO others (n) VALUES (1) RETURNING snowid_timestamp(id) = snowid_timestamp($greatest) + interval '1 ms'"),
    't', 'in the next unit');

# Further ahead than max_lead: refused, and nothing is moved.
$node->safe_psql('postgres', q(INSERT INTO others VALUES (snowid_encode(clock_timestamp() + interval '60001 ms', 9, 3), 0)));
is(attempt($node, q(SELECT snowid_adopt('others', 'id', 6))), 'ERROR 55000', 'further ahead than max_lead: refused');
is(attempt($node, q(SELECT snowid_timestamp(snowid_next(6)) < clock_timestamp() + interval '39 s')), 't', 'and its shard is where it was');

$node->stop;
done_testing();
