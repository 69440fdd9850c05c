# Clients that write to a table and to one that it refers to, in either order, beside one that makes and drops partitions all the
# time, with a default partition and foreign keys on both sides: no deadlock ends one of them.
# Runs in make test-all: clients go on as long as partitions are changed.

use Snowid;

# Whoever waits for a lock while he holds others' looks for a deadlock after deadlock_timeout.
my $node = ready_server('partition_deadlocks', conf => "timezone = 'UTC'\ndeadlock_timeout = '200ms'\n", sql => <<'SQL');
CREATE TABLE users (id int PRIMARY KEY, n int NOT NULL DEFAULT 0);
INSERT INTO users SELECT generate_series(1, 20);
CREATE TABLE posts (id bigint PRIMARY KEY DEFAULT snowid_next(), user_id int REFERENCES users) PARTITION BY RANGE (id);
CREATE TABLE posts_0 PARTITION OF posts FOR VALUES FROM (MINVALUE) TO (snowid_first_at('2016-01-01Z'));
CREATE TABLE posts_rest PARTITION OF posts DEFAULT;
CREATE TABLE answers (post_id bigint REFERENCES posts);
CREATE PROCEDURE keep_changing() LANGUAGE plpgsql AS $$
DECLARE
  month timestamptz := '2016-01-15Z';
BEGIN
  FOR n IN 1 .. 12 LOOP
    PERFORM snowid.create_partitions('posts', '1 month', month);
    COMMIT;
    PERFORM snowid.drop_partitions('posts', month - interval '1 month');
    COMMIT;
    month := month + interval '1 month';
  END LOOP;
END $$;
SQL
my %orders = (
    referenced_first => 'UPDATE users SET n = n + 1 WHERE id = :n; SELECT pg_sleep(0.02); INSERT INTO posts (user_id) VALUES (:n);',
    referenced_last => 'SELECT count(*) FROM posts WHERE user_id = :n; SELECT pg_sleep(0.02); UPDATE users SET n = n + 1 WHERE id = :n;');
my $changer = open_session($node);
ask($changer, q(SET lock_timeout = '1min'));
start_asking($changer, 'CALL keep_changing()');
my $rounds = 0;
until (is_answered($changer))
{
    $rounds++;
    $node->pgbench('-n -c 6 -j 2 -t 10 -M prepared', 0, [qr{actually processed: 60/60}], [qr/^(?!.*ERROR)/s], "clients, round $rounds",
        { map { ("${_}_$rounds" => "\\set n random(1, 20)\nBEGIN;\n" . ($orders{$_} =~ s/; ?/;\n/gr) . 'COMMIT;') } keys %orders });
}
is(answer($changer), '', 'partitions are made and dropped beside them');
is($node->safe_psql('postgres', 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'), '0', 'no deadlock');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_inherits WHERE inhparent = 'posts'::regclass)), '3', 'all are made, and dropped');
end_test($node);
