# A watermark is of the layout that the table's default names, of a domain's, or of the one given; where it is not known, the call
# is refused. A default that changes counts at once, also for a session that has used the other.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('watermark_layouts', sql => <<'SQL');
CREATE TABLE tweets (id bigint PRIMARY KEY DEFAULT snowid_next(5, 'twitter'), views bigint DEFAULT 0);
CREATE TABLE by_expression (id bigint DEFAULT snowid_next(random()::int, 'sonyflake'));
CREATE DOMAIN tweet_id AS bigint DEFAULT snowid_next(1, 'twitter');
CREATE TABLE by_domain (id tweet_id);
CREATE TABLE by_hand (id bigint);
CREATE TABLE with_counter (id bigint DEFAULT snowid_next(1, 'twitter'), n bigserial);
CREATE TABLE serial (id bigserial);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE FUNCTION my_id() RETURNS bigint VOLATILE LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END';
CREATE TABLE wrapped (id bigint DEFAULT my_id());
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(1, 'twitter'));
CREATE TABLE by_null (id bigint DEFAULT snowid_next(1, coalesce(NULL::snowid_layout, 'twitter')));
CREATE TABLE to_come (id bigint DEFAULT snowid_next(1, 'time:39 shard:4 seq:20 unit:1s epoch:2120-01-01T00:00:00Z'));
INSERT INTO tweets DEFAULT VALUES; INSERT INTO by_expression DEFAULT VALUES; INSERT INTO by_domain DEFAULT VALUES;
INSERT INTO with_counter DEFAULT VALUES; INSERT INTO by_hand VALUES (snowid_next(77));
SQL
sub sql { return $node->safe_psql('postgres', $_[0]) }

is(sql('SELECT ' . sql("SELECT snowid_watermark('$_')") . " >= max(id) FROM $_"), 't', "$_: covered")
  foreach qw(tweets by_expression by_domain by_hand with_counter);
is(sql("SELECT snowid_timestamp(w, 'twitter') BETWEEN now() - interval '1 min' AND now() + interval '1 min' FROM snowid_watermark('$_') AS w"),
    't', "$_: of the default's layout") foreach qw(tweets by_domain with_counter);
is(attempt($node, "SELECT snowid_watermark('$_')"), 'ERROR 22023', "$_: the layout is not known") foreach qw(serial identity wrapped mixed by_null);
cmp_ok(sql("SELECT snowid_watermark('$_', 'instagram')"), '>', 0, "$_: unless it is named") foreach qw(serial wrapped mixed);
is(sql(q(SELECT snowid_watermark('to_come'))), '0', 'a layout that is yet to begin has no IDs');

my $reader = open_session($node);
foreach ([ 'tweets', 'ALTER TABLE tweets ALTER COLUMN id' ], [ 'by_domain', 'ALTER DOMAIN tweet_id' ])
{
    my ($table, $alter) = @$_;
    ask($reader, "SELECT snowid_watermark('$table')");
    sql("$alter SET DEFAULT snowid_next()");
    is(ask($reader, "SELECT snowid_timestamp(w) BETWEEN now() - interval '1 min' AND now() + interval '1 min' FROM snowid_watermark('$table') AS w"),
        't', "$table: another default counts at once");
}
end_test($node);
