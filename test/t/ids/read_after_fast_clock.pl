# docs/read-in-order.md: a clock that jumped forward is put right, and positions of readers are set back by the page, or new rows
# are missed.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('fast_clock', sql => <<'SQL');
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT snowid_next(), body text);
CREATE TABLE consumers (name text PRIMARY KEY, last_id bigint NOT NULL DEFAULT 0);
INSERT INTO consumers VALUES ('set back'), ('left');
SQL
sub sql { return $node->safe_psql('postgres', $_[0]) }

# What a consumer finds.
sub poll
{
    my ($consumer) = @_;
    my $to = sql("SELECT snowid_watermark('events')");
    my $found = sql("SELECT string_agg(body, ' ' ORDER BY e.id) FROM events AS e, consumers AS c WHERE c.name = '$consumer' AND e.id > last_id AND e.id <= $to");
    sql("UPDATE consumers SET last_id = $to WHERE name = '$consumer'");
    return $found;
}

my ($set_back) = slurp_file('docs/read-in-order.md') =~ /^(UPDATE consumers SET last_id = least.*);$/m;
set_clock(86_400);
sql("INSERT INTO events (body) VALUES ('tomorrow')");
is(poll($_), 'tomorrow', "$_: a row of the fast clock") foreach 'set back', 'left';
set_clock(0);
sql("$set_back WHERE name = 'set back'");
sql(q(SELECT snowid.return_to_clock(snowid.future_times('events', 'id', margin => '5 s'))));
sql("INSERT INTO events (body) VALUES ('today')");
is(poll('set back'), 'today', 'the new row is read, and no other');
is(poll('left'), '', 'without that it is missed');
set_clock(86_460);
sql("INSERT INTO events (body) VALUES ('the next day')");
is(poll('set back'), 'tomorrow the next day', 'those of the fast clock come again');
end_test($node);
