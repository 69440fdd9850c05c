# Arguments: for each type a pool of values, ordinary, extreme and absurd, narrowed by what an argument's name says of
# it. A value is a pair: the SQL, and the plain text where what was called depends on it (a layout, a sequence, a count).
package CallsValues;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(value one_of chance literal @LAYOUTS);

# Layouts, and such texts as are none.
our @LAYOUTS = (
    qw(instagram twitter discord leaf sonyflake sonyflake2 baidu pgedge taobao seata yitter mastodon linkedin tiktok bluesky js53),
    'time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z',
    'time:39 shard:4 seq:20 unit:1s epoch:2020-01-01T00:00:00Z',
    'time:42 shard:8 seq:12 unit:1ms epoch:2020-01-01T00:00:00Z',
    'seq:10 time:41 shard:13 unit:1ms epoch:2011-08-24T21:07:01.721Z',
    'shard:6 time:47 seq:10 unit:1ms epoch:2020-01-01T00:00:00Z',
    'time:50 shard:0 seq:13 unit:10us epoch:2020-01-01T00:00:00Z',
    'time:56 shard:0 seq:7 unit:1us epoch:1970-01-01T00:00:00Z',
    'time:20 shard:30 seq:13 unit:1d epoch:2020-01-01T00:00:00Z',
    'time:35 shard:14 seq:14 unit:1s epoch:2100-01-01T00:00:00Z',
    'time:30 shard:20 seq:13 unit:1ms epoch:1990-01-01T00:00:00Z');
my @NO_LAYOUTS = ('', 'nope', 'time:41', 'time:99 shard:1 seq:1 unit:1ms epoch:0', "insta\tgram", 'x' x 500);

my @EXTREME = qw(0 1 -1 2 7 1000 8191 8192 65535 4194303 2147483647 2147483648 -2147483648 4503599627370496
  9007199254740991 9007199254740993 4611686018427387904 9223372036854775806 9223372036854775807 -9223372036854775807
  -9223372036854775808);
my @TEXTS = (
    '', ' ', 'x', 'id',
    '0', '-1', 'NULL', q(it's),
    q("), '\\', '%s%n%I', "\x{7f}",
    "\xc3\xa9\xe2\x82\xac", 'public.nope', 'kept.central', 't.plain',
    'pg_catalog.pg_class', 'seq_1_to_15_step_3', 'seq_9_to_1', 'seq_1_to_9223372036854775807',
    '0000000000A', 'AzL8n0Y58m7', 'ZZZZZZZZZZZ', 'zzzzzzzzzzz',
    'join', 'check', 'leave', 'take',
    'node one', 'node two', 'loopback', 'x' x 63,
    'y' x 64, 'z' x 9000);
my @MOMENTS = (
    "'infinity'", "'-infinity'",
    "'4713-01-01 BC'", "'294276-12-31'",
    "'1970-01-01Z'", "'2011-08-24T21:07:01.721Z'",
    "'2011-08-24T21:07:01.720Z'", "'2080-01-01Z'",
    "'epoch'");
my @STEPS = (
    '1 day',
    '1 week',
    '1 month',
    '3 months',
    '1 year',
    '1 hour',
    '6 hours',
    '24 hours',
    '5 hours',
    '0',
    '-1 day',
    '1 microsecond',
    '1 mon 1 day',
    '100000000 years',
    '-178000000 years',
    '2147483647 days',
    '1 millisecond',
    '36 hours');
my @INTS = qw(0 1 2 3 4 5 10 50 100 1000 1024 1025 4096 100000 -1 2147483647 -2147483648);

# One of the values.
sub one_of { return $_[ rand @_ ] }

# Whether a thing is to be, that is wanted so often of a hundred.
sub chance { return rand(100) < $_[0] }

# A text as SQL has it.
sub literal
{
    my ($text) = @_;
    $text =~ s/'/''/g;
    return $text =~ /\\/ ? do { $text =~ s/\\/\\\\/g; "E'$text'" } : "'$text'";
}

# A value for an argument of a function, see CallsCatalog. Of the world: schema, the extension's; relations; ids, those
# that the session has got lately; wild, whether moments may be far ahead.
sub value
{
    my ($world, $arg) = @_;
    return ("NULL::$arg->{type}", undef) if chance(3);
    my $plain = $arg->{plain};
    my $make = CallsValues->can("of_$plain");
    return $make->($world, $arg) if $make;
    return of_array($world, $arg) if $arg->{element};
    return of_other($world, $arg);
}

sub of_int8
{
    my ($world, $arg) = @_;
    my ($name, $number) = ($arg->{name});
    # A shard that is released is of no use to the others, so most of them are not.
    if ($name eq 'shard' && $arg->{of} =~ /release/ && chance(99)) { $number = 4 + int rand 20 }
    elsif ($name eq 'shard') { $number = chance(55) ? int rand 4 : chance(70) ? 4 + int rand 200 : one_of(@EXTREME) }
    elsif ($name =~ /^id$|ceiling/ && chance(75))
    {
        return (one_id($world), undef);
    }
    elsif ($name =~ /^(?:key|x|y|step|sequence|number)$/ && chance(85)) { $number = int rand 12 }
    else
    {
        $number = one_of(@EXTREME, map { int rand 2**31 } 1 .. 4);
    }
    return ("'$number'::int8", $number);
}

# An ID that there was, or one of now or a moment near or far.
sub one_id
{
    my ($world) = @_;
    my $ids = $world->{ids};
    return "'" . one_of(@$ids) . "'::int8" if @$ids && chance(60);
    my $layout = chance(70) ? '' : ', ' . literal(one_of(@LAYOUTS));
    return "$world->{schema}." . one_of('snowid_first_at', 'snowid_last_at') . '(' . near($world) . "$layout)";
}

sub near
{
    my ($world) = @_;
    my $far =
        chance(70)
      ? one_of('0', '10 ms', '300 ms', '900 ms', '1 s', '3 s')
      : one_of('1 min', '1 hour', '10 days', '23 days', '400 days');
    return 'clock_timestamp() ' . one_of('+', '+', '-') . " interval '$far'";
}

sub of_int4
{
    my ($world, $arg) = @_;
    my $number = $arg->{name} =~ /count|size|digits|most|limit/ && chance(75) ? 1 + int rand 20 : one_of(@INTS);
    return ("'$number'::int4", $number);
}

sub of_int2 { return "'" . one_of(qw(0 1 -1 5 32767 -32768)) . "'::int2" }
sub of_bool { return one_of('true', 'false') }

sub of_float8
{
    return one_of(qw(0 1 -1.5 1e300)) . '::float8' if chance(70);
    return one_of("'NaN'", "'Infinity'", "'-Infinity'") . '::float8';
}
sub of_numeric { return one_of(qw(0 1 -1.5 1e300 9223372036854775808)) . '::numeric' }
sub of_interval { return "'" . one_of(@STEPS) . "'::interval" }

sub of_bytea
{
    return one_of(
        "'\\x'", "'\\x00'",
        "'\\x507f1f77bcf86cd799439011'",
        "'\\x" . ('ff' x 12) . "'",
        "'\\x" . ('ab' x 40) . "'") . '::bytea';
}

sub of_oid
{
    my ($world) = @_;
    return one_of(0, 1, 4294967295, 1259, map { $_->{oid} } @{ $world->{relations} }) . '::oid';
}

sub of_regclass
{
    my ($world, $arg) = @_;
    my $name = $arg->{name};
    my @kinds = $name =~ /seq|section/ ? qw(S) : $name =~ /tbl|table|parent/ ? qw(p p p r) : qw(S r p v);
    my $kind = one_of(@kinds);
    my @fit = grep { $_->{kind} eq $kind } @{ $world->{relations} };
    @fit = @{ $world->{relations} } if !@fit || chance(15);
    my @kept = grep { $_->{name} =~ /^kept\./ } @fit;
    @fit = @kept if @kept && chance(40);
    return one_of(0, 1, 4294967295) . '::oid::regclass' if !@fit || chance(2);
    my $relation = one_of(@fit);
    return (literal($relation->{name}) . '::regclass', $relation->{name});
}

sub of_timestamptz
{
    my ($world) = @_;
    return chance(70) ? near($world) : one_of(@MOMENTS) . '::timestamptz';
}

sub of_uuid
{
    my ($world) = @_;
    return one_of(
        'gen_random_uuid()', "'00000000-0000-0000-0000-000000000000'::uuid",
        "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid", "'c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid",
        "'1ec9414c-232a-6b00-b3c8-9f6bdeced846'::uuid", "'017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid",
        "$world->{schema}.snowid_to_uuid(" . one_id($world) . ')');
}

sub of_snowid_layout
{
    my ($world, $arg) = @_;
    my $text = chance(50) ? one_of(@LAYOUTS[ 0 .. 1 ]) : chance(97) ? one_of(@LAYOUTS) : one_of(@NO_LAYOUTS);
    return (literal($text) . "::$arg->{type}", $text);
}

sub of_objectid
{
    my ($world, $arg) = @_;
    return "$world->{schema}.objectid_next()" if chance(30);
    return one_of("'507f1f77bcf86cd799439011'", "'" . ('0' x 24) . "'", "'" . ('f' x 24) . "'", "'nope'")
      . "::$arg->{type}";
}

sub of_text { my ($text) = one_of(@TEXTS); return (literal($text) . '::text', $text) }
sub of_cstring { return literal(chance(60) ? one_of(@LAYOUTS) : one_of(@TEXTS, @NO_LAYOUTS)) . '::cstring' }

sub of_name
{
    my ($world, $arg) = @_;
    my @likely =
      $arg->{name} =~ /server/
      ? qw(loopback loopback broken nowhere)
      : ('id', 'id', 'id', 'n', 'at', 'r', q(Odd ' col), '%I', 'ctid', 'nope');
    return literal(chance(85) ? one_of(@likely) : one_of(@TEXTS)) . '::name';
}

sub range
{
    my ($world) = @_;
    my $from = chance(85) ? near($world) : one_of(@MOMENTS, 'NULL') . '::timestamptz';
    my $until = one_of(
        "interval '1 hour'",
        "interval '3 days'",
        "interval '1 microsecond'",
        "interval '0'",
        "interval '30 days'",
        'NULL');
    my $bounds = one_of('[)', '[)', '[]', '()', '(]');
    return "tstzrange($from, ($from) + $until, '$bounds')";
}

sub of_tstzrange { return chance(10) ? "'empty'::tstzrange" : range($_[0]) }

sub of_tstzmultirange
{
    my ($world) = @_;
    return one_of("'{}'::tstzmultirange", "'{(,)}'::tstzmultirange", "'{[-infinity,infinity]}'::tstzmultirange")
      if chance(20);
    # Up to more than the page of the ceiling holds.
    return
"(SELECT range_agg(tstzrange(now() + n * interval '2 days', now() + n * interval '2 days' + interval '1 hour')) FROM generate_series(1, "
      . one_of(2, 31, 32, 33, 1000)
      . ') AS n)'
      if chance(20);
    return 'tstzmultirange(' . join(', ', map { range($world) } 1 .. 1 + int rand 3) . ')';
}

sub of_array
{
    my ($world, $arg) = @_;
    return "'{}'::$arg->{type}" if chance(15);
    my @elements = map { (value($world, $arg->{element}))[0] } 1 .. 1 + int rand 4;
    my $array = 'ARRAY[' . join(', ', @elements) . ']';
    $array = "ARRAY[$array, $array]" if chance(10);
    return "$array\::$arg->{type}";
}

# A type that is not known here: a text that may be one, or null.
sub of_other
{
    my ($world, $arg) = @_;
    return "NULL::$arg->{type}"
      if $arg->{plain} =~ /^(?:internal|trigger|event_trigger|void|any|.*_handler)$/ || chance(40);
    return "NULL::int8" if $arg->{plain} =~ /^any/;
    return literal(chance(50) ? one_of(@TEXTS) : one_of(@EXTREME)) . "::$arg->{type}";
}

1;
