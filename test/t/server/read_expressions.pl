# What reads expressions of columns, constraints and partitions does so whatever a caller has set.

use Snowid;

my $node = new_server('expressions');
$node->start;
# From version 19 on strings cannot be read in another way.
$node->safe_psql('postgres', join ';', map { "ALTER DATABASE postgres SET $_" } 'search_path = "a b", public', 'quote_all_identifiers = on',
    $node->pg_version->major < 19 ? 'standard_conforming_strings = off' : ());
$node->safe_psql('postgres', q(CREATE SCHEMA "a b"; CREATE EXTENSION snowid SCHEMA "a b";
CREATE TABLE messages (id bigint DEFAULT snowid_next(layout => 'discord', shard => 5) PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders (id uuid CHECK (snowid_is_uuidv7(id))) PARTITION BY RANGE (id);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2016-01-01Z'))));
$node->safe_psql('postgres', q(CREATE FUNCTION public.made() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END';
CREATE TABLE by_text (id bigint DEFAULT made())));
is($node->safe_psql('postgres', q(SELECT found_in FROM snowid.columns WHERE table_name = 'by_text'::regclass)),
    'default: text of function public.made()', 'a column whose IDs come from a function with text');
is($node->safe_psql('postgres', q(SELECT s.* FROM snowid.source_of_ids('messages'::regclass, 1::int2) AS s)), '5|discord', 'what a default draws from');
$node->safe_psql('postgres', q(SELECT snowid.create_partitions('messages', '1 day', now() + interval '2 days'); SELECT snowid.create_partitions('orders', '1 year', now())));
is($node->safe_psql('postgres', q(SELECT snowid.drop_partitions('orders', '2016-01-01'))), '"a b"."orders_0"', 'a partition by UUID goes');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT parent), count(*) >= 3, bool_and(NOT is_default AND range_end > range_start) FROM snowid.partitions'),
    '2|t|t', 'what partitions hold');
end_test($node);
