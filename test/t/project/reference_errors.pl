# What the reference says of errors is so: each of these calls fails with its SQLSTATE, and that stands under the
# function, or in what the page says of all of them.
# Runs in make test-all: it raises each error of the page.

use Snowid;

my $node = ready_server('errors', sql => <<'SQL');
CREATE SEQUENCE ten INCREMENT 10;
CREATE SEQUENCE cycling CYCLE;
CREATE SEQUENCE down INCREMENT -1;
CREATE SEQUENCE two MAXVALUE 2 INCREMENT 2;
CREATE TABLE narrow (id int PRIMARY KEY, made bigint GENERATED ALWAYS AS (1) STORED);
CREATE TABLE late (id bigint PRIMARY KEY);
INSERT INTO late VALUES (snowid_first_at(now() + interval '1 day'));
CREATE TABLE parent (id bigint);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE owned (id bigserial PRIMARY KEY);
CREATE TABLE leaning (id bigint DEFAULT nextval('owned_id_seq'));
CREATE TABLE by_int (id int) PARTITION BY RANGE (id);
CREATE TABLE by_id (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE taken (id bigint PRIMARY KEY DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE unsaid (id bigint) PARTITION BY RANGE (id);
CREATE TABLE narrowed (id bigserial CHECK (id < 2147483648));
CREATE TABLE past (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE past_0 PARTITION OF past FOR VALUES FROM (0) TO (1);
CREATE TABLE rest (id bigint DEFAULT snowid_next()) PARTITION BY RANGE (id);
CREATE TABLE rest_0 PARTITION OF rest DEFAULT;
INSERT INTO rest DEFAULT VALUES;
SELECT format('CREATE TABLE %I ()', to_char(now() AT TIME ZONE 'UTC', '"taken_"YYYY_MM')) \gexec
CREATE ROLE nobody;
SELECT snowid.release_shard(9);
SQL

# The reference's introduction; and of each function its row, its own part, and what stands before the parts of its section.
my $reference = slurp_file('docs/reference.md');
my ($general) = $reference =~ /\A(.*?)^## /ms;
my %told;
foreach my $section (split /^## /m, $reference =~ s/^## Types.*//msr)
{
    my ($opening, @parts) = split /^### (.*)\n/m, $section;
    my %part = @parts;
    foreach my $row ($opening =~ /^\|`.*$/mg)
    {
        my ($name) = $row =~ /^\|`([\w.]+)/;
        $told{$name} .= $row;
    }
    my $all = $opening =~ s/^\|.*\n//gmr;
    $told{$_} .= $all . ($part{$_} // '') foreach map { /^\|`([\w.]+)/ ? $1 : () } $opening =~ /^\|`.*$/mg;
}

# Each line: the function, the SQLSTATE, the statement.
my $day = "now() + interval '1 day'";
my @calls = split /\n/, <<"CALLS";
snowid_next 22023 SELECT snowid_next(8192)
snowid_next 22P02 SELECT snowid_next(0, 'foo')
snowid_next 2200H SELECT snowid_next(0, 'baidu')
snowid_next 25006 BEGIN READ ONLY; SELECT snowid_next()
snowid_next 55000 SELECT snowid_next(9)
snowid_next_batch 22023 SELECT snowid_next_batch(0, -1)
snowid_reserve 22023 SELECT snowid_reserve(0, 1025)
snowid_reserve 22023 SELECT snowid_reserve(0, 2, 'sonyflake')
snowid_lastval 55000 SELECT snowid_next(0); DISCARD ALL; SELECT snowid_lastval()
snowid_default_shard 22023 SET snowid.default_shard = 'x'; SELECT snowid_default_shard()
snowid.advance_shard SN001 SELECT snowid.advance_shard(snowid_first_at($day))
snowid_watermark 0A000 SELECT count(*) FROM rest, snowid_watermark('rest') AS w WHERE id <= w
snowid_watermark 22023 SELECT snowid_watermark('owned')
snowid_watermark 25001 BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT snowid_watermark('rest')
snowid_watermark 42809 SELECT snowid_watermark('ten')
snowid_watermark 42P01 SELECT snowid_watermark(0)
snowid_watermark 42501 SET ROLE nobody; SELECT snowid_watermark('rest')
snowid_encode 22023 SELECT snowid_encode(now(), 1, 1024)
snowid_encode 22008 SELECT snowid_encode('infinity', 1, 1)
snowid_first_at 22008 SELECT snowid_first_at('1900-01-01')
snowid_describe_layout 22P02 SELECT snowid_describe_layout('time:41 shard:10')
snowid_from_base62 22P02 SELECT snowid_from_base62('abc')
snowid_from_base62 22P02 SELECT snowid_from_base62('zzzzzzzzzzz')
snowid_from_uuid 22023 SELECT snowid_from_uuid('00000000-0000-4000-8000-000000000000')
snowid_scatter 22023 SELECT snowid_scatter(12345, 4)
snowid_scatter 22023 SELECT snowid_scatter(12, 3)
snowid_scatter 22023 SELECT snowid_scatter(-12)
snowid_segment_next 22023 SELECT snowid_segment_next('ten', 11)
snowid_segment_next 22023 SELECT snowid_segment_next('ten', 0)
snowid_segment_next 0A000 CREATE TEMP SEQUENCE brief; SELECT snowid_segment_next('brief')
snowid_segment_next 55000 SELECT snowid_segment_next('cycling')
snowid_section_next 55000 SELECT snowid_section_next('down', 1)
snowid_segment_batch 2200H SELECT snowid_segment_batch('two', 9)
snowid_segment_next 42809 SELECT snowid_segment_next('narrow')
snowid_segment_next 42809 SELECT snowid_segment_next('snowid_internal.ceiling')
snowid_segment_next 42501 SET ROLE nobody; SELECT snowid_segment_next('ten')
snowid_section_current 42501 SET ROLE nobody; SELECT snowid_section_current('ten', 1)
snowid_segment_batch 22023 SELECT snowid_segment_batch('ten', -1)
snowid_segment_attach 42704 SELECT snowid_segment_attach('ten', 'nosuch', 'x')
snowid_segment_detach 42501 SET ROLE nobody; SELECT snowid_segment_detach('ten')
seq_x_to_y 22023 SELECT seq_x_to_y(1, 2, 0)
seq_x_to_y 22P02 SELECT seq_x_to_y('seq_1')
snowid.join 42704 SELECT snowid.join('nosuch')
snowid.check_node 55000 SELECT snowid.check_node()
snowid.retire_node 42704 SELECT snowid.retire_node(7)
snowid.release_shard 0A000 BEGIN; SELECT snowid.release_shard(5); PREPARE TRANSACTION 'released'
snowid.accept_shard SN001 SELECT snowid.accept_shard(0, snowid_first_at($day))
snowid.advance_past SN001 SELECT snowid.advance_past($day)
snowid.advance_past 22008 SELECT snowid.advance_past(timestamptz 'infinity')
snowid.return_to_clock 22023 SELECT snowid.return_to_clock(tstzmultirange(tstzrange(now(), $day)))
snowid.return_to_clock 22023 SELECT snowid.return_to_clock('{}')
snowid.return_to_clock 55000 BEGIN; ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY 1; SELECT snowid.return_to_clock('{[2040-01-01,2041-01-01]}')
snowid.future_times 42809 SELECT snowid.future_times('snowid.skipped_times'::regclass, 'skipped'::name, 'twitter')
snowid.future_times 22023 SELECT snowid.future_times('narrow'::regclass, 'id'::name, 'twitter', '1 month')
snowid.adopt 42804 SELECT snowid.adopt('narrow', 'id')
snowid.adopt 42703 SELECT snowid.adopt('narrow', 'nosuch')
snowid.adopt 42611 SELECT snowid.adopt('narrow', 'made')
snowid.adopt 42P16 SELECT snowid.adopt('child', 'id')
snowid.adopt 42809 SELECT snowid.adopt('ten', 'id')
snowid.adopt 2BP01 SELECT snowid.adopt('owned', 'id')
snowid.adopt 55000 SELECT snowid.adopt('late', 'id')
snowid.adopt 22004 SELECT snowid.adopt(NULL, 'id')
snowid.adopt 55000 SELECT snowid.adopt('narrowed', 'id')
snowid.adopt 25001 BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT snowid.adopt('owned', 'id')
snowid.adopt 42501 SET ROLE nobody; SELECT snowid.adopt('owned', 'id')
snowid_backfill 42P20 SELECT snowid_backfill(t, 1) OVER () FROM unnest(ARRAY[$day, now()]) AS t
snowid_backfill 42809 SELECT snowid_backfill(now(), 1)
snowid_backfill_uuidv7 42P20 SELECT snowid_backfill_uuidv7(t) OVER () FROM unnest(ARRAY[$day, now()]) AS t
snowid_uuidv7_first_at 22008 SELECT snowid_uuidv7_first_at('1969-12-31')
snowid_uuidv7_last_at 22008 SELECT snowid_uuidv7_last_at('infinity')
snowid.create_partitions 42809 SELECT snowid.create_partitions('narrow', '1 month', now())
snowid.create_partitions 42804 SELECT snowid.create_partitions('by_int', '1 month', now())
snowid.create_partitions 22023 SELECT snowid.create_partitions('by_id', '5 months', now())
snowid.create_partitions 54000 SELECT snowid.create_partitions('by_id', '1 hour', now() + interval '1 year')
snowid.create_partitions 22008 SELECT snowid.create_partitions('by_id', '1 month', '2100-01-01')
snowid.create_partitions 42P07 SELECT snowid.create_partitions('taken', '1 month', now())
snowid.create_partitions 0A000 CREATE TEMP TABLE brief (id bigint) PARTITION BY RANGE (id); SELECT snowid.create_partitions('brief', '1 month', now())
snowid.create_partitions 22004 SELECT snowid.create_partitions('unsaid', '1 month', now())
snowid.create_partitions 42P17 SELECT snowid.create_partitions('by_id', '1 month', now(), 'twitter')
snowid.create_partitions 42P17 CREATE TABLE by_uuid (id uuid) PARTITION BY RANGE (id); SELECT snowid.create_partitions('by_uuid', '1 month', now(), 'twitter')
snowid.create_partitions 55000 SELECT snowid.create_partitions('rest', '1 month', now())
snowid.create_partitions 25001 BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT snowid.create_partitions('by_id', '1 month', now())
snowid.create_partitions 42501 SET ROLE nobody; SELECT snowid.create_partitions('by_id', '1 month', now())
snowid.drop_partitions 22023 SELECT snowid.drop_partitions('by_id', now(), max_partitions => 0)
snowid.drop_partitions 55000 SELECT snowid.drop_partitions('past', now())
snowid.drop_partitions 22023 SELECT snowid.drop_partitions('by_id', $day)
snowid.drop_partitions 42P17 CREATE TABLE by_uuids (id uuid) PARTITION BY RANGE (id); CREATE TABLE old PARTITION OF by_uuids FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2020-01-01')); SELECT snowid.drop_partitions('by_uuids', now())
CALLS

foreach my $call (@calls)
{
    my ($name, $sqlstate, $sql) = split / /, $call, 3;
    is(attempt($node, $sql), "ERROR $sqlstate", "$sql: $sqlstate");
    like($told{$name} . $general, qr/\b$sqlstate\b/, "the reference says so of $name");
}
end_test($node);
