# That IDs come above the keys that a table had outlives the server, also where its clock stands still below those keys, and nothing
# but the adoption has ever been written; and so does what a shard is moved ahead to. Adopting moves a shard to the very next tick,
# and none where a key is further ahead than max_lead.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

# Keys are further ahead than the ceiling comes by drawing: only moving a shard on covers them.
my $node = ready_server('adopt_durable', conf => "snowid.max_lead = '1min'\n");
stop_clock(int(time) + 3600, $node);
sub sql { return attempt($node, $_[0]) }
sub in { my ($seconds, $shard, $sequence) = @_; return "snowid_encode(clock_timestamp() + interval '$seconds s', $shard, $sequence)" }

sql("CREATE TABLE photos (id bigserial PRIMARY KEY, n int); INSERT INTO photos VALUES (@{[ in(30, 7, 1000) ]}, 0)");
is(sql(q(SELECT snowid.adopt('photos', 'id', 7))), 'public.snowid_next((7)::bigint)', 'adopted');
is(sql('SELECT last_value >= extract(epoch FROM snowid_timestamp(max(id))) * 1000 FROM photos, snowid_internal.ceiling GROUP BY last_value'), 't',
    'the ceiling covers the key');
crash_and_start($node, 'kill');
# Another session's, with the clock where it was: the next unit of time is within max_lead.
is(sql('INSERT INTO photos (n) VALUES (1) RETURNING id > (SELECT max(id) FROM photos)'), 't', 'after a crash: above the key');

# The tick itself: without a crash the very next ID follows, in the key's own time. That of a greater shard in the same unit, which
# only the next unit is above.
sql("CREATE TABLE others (id bigserial PRIMARY KEY, n int); INSERT INTO others VALUES (@{[ in(40, 8, 1000) ]}, 0)");
is(sql(q(SELECT snowid.adopt('others', 'id', 8))), 'public.snowid_next((8)::bigint)', 'adopted while the server runs');
is(sql('INSERT INTO others (n) VALUES (1) RETURNING id - (SELECT min(id) FROM others) BETWEEN 1 AND 9'), 't', 'the next ticks, of which adopting has drawn some');
sql("INSERT INTO others VALUES (@{[ in(41, 9, 3) ]}, 0)");
is(sql(q(ALTER TABLE others ALTER id DROP DEFAULT; SELECT snowid.adopt('others', 'id', 8))), 'public.snowid_next((8)::bigint)', 'adopted again');
is(sql("INSERT INTO others (n) VALUES (1) RETURNING snowid_timestamp(id) = snowid_timestamp((SELECT max(id) FROM others)) + interval '1 ms'"), 't', 'in the next unit');

sql("INSERT INTO others VALUES (@{[ in(60.001, 9, 3) ]}, 0)");
is(sql(q(SELECT snowid.adopt('others', 'id', 6))), 'ERROR 55000', 'further ahead than max_lead: refused');
is(sql(q(SELECT snowid_timestamp(snowid_next(6)) < clock_timestamp() + interval '39 s')), 't', 'and its shard is where it was');

my $moved = sql("SELECT @{[ in(50, 12, 5) ]}");
is(sql("SELECT snowid.advance_shard($moved)"), '', 'moved ahead');
crash_and_start($node, 'kill');
cmp_ok(sql('SELECT snowid_next(12)'), '>', $moved, 'moved ahead, after a crash: above that');
end_test($node);
