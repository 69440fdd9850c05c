# Functions that the extension and portable/snowid.sql both have give the same answers: the same values and, for what
# cannot be, the same SQLSTATE, message, detail and hint. They are asked with the same random arguments, of which many are
# at an edge of their type or layout or next to it. SEED repeats a run.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $seed = $ENV{SEED} // time;
diag("SEED=$seed");
srand $seed;

my $node = new_server('same_answers');
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 256');
$node->start;
# Of each layout the greatest shard, and the times of its first unit and of its end, in Unix milliseconds.
my %layouts = (
    instagram => { max_shard => 8191, shift => 23, sequences => 1024, epoch => 1314220021721, bits => 63 },
    twitter => { max_shard => 1023, shift => 22, sequences => 4096, epoch => 1288834974657, bits => 63 },
    discord => { max_shard => 1023, shift => 22, sequences => 4096, epoch => 1420070400000, bits => 63 },
    leaf => { max_shard => 1023, shift => 22, sequences => 4096, epoch => 1288834974657, bits => 63 },
    pgedge => { max_shard => 1023, shift => 22, sequences => 4096, epoch => 1672531200000, bits => 63 },
    taobao => { max_shard => 15, shift => 14, sequences => 1024, epoch => 1361753741828, bits => 63 },
    js53 => { max_shard => 31, shift => 13, sequences => 256, epoch => 1767225600000, bits => 53 });
create_portable($node, 'portable', shards => [ 1, 2, 8190, 8191 ]);
foreach my $layout (sort keys %layouts)
{
    my $max = $layouts{$layout}{max_shard};
    $node->safe_psql('portable', "SELECT snowid.create_shard(n, '$layout') FROM unnest(ARRAY[0, 1, 2, $max - 1, $max]) n",
        extra_params => [ '-U', portable_owner() ]);
}
$node->safe_psql('postgres', q(CREATE DATABASE extension TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'));
$node->safe_psql('extension', 'CREATE EXTENSION snowid');
$node->safe_psql($_, <<'SQL') foreach 'extension', 'portable';
CREATE FUNCTION ask(statement text, before text DEFAULT 'SELECT') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
  detail text;
  hint text;
BEGIN
  EXECUTE before;
  EXECUTE statement INTO answer;
  RETURN coalesce(answer, 'null');
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, detail, hint);
END $$;
CREATE TABLE events (id bigint DEFAULT snowid_next());
CREATE TABLE tweets (id bigint DEFAULT snowid_next(1, 'twitter'), n bigserial);
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(1, 'twitter'));
CREATE TABLE serial (id bigserial);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE TABLE by_hand (id bigint DEFAULT 5);
CREATE VIEW recent AS SELECT * FROM events;
CREATE FOREIGN DATA WRAPPER far;
CREATE SERVER far FOREIGN DATA WRAPPER far;
CREATE FOREIGN TABLE there (id bigint) SERVER far;
CREATE TABLE "With far" (id bigint DEFAULT snowid_next(), place text) PARTITION BY LIST (place);
CREATE FOREIGN TABLE far_part PARTITION OF "With far" FOR VALUES IN ('far') SERVER far;
SQL
$node->safe_psql('postgres', 'CREATE ROLE clerk');

sub one_of { return $_[ int rand @_ ] }

# Of so many bits: any, or one bit, or all lower bits, or next to these.
sub number_of
{
    my ($bits) = @_;
    my $width = int rand $bits + 1;
    my $random = 0;
    $random = $random * 2 + int rand 2 for 1 .. $width;
    return one_of($random, $random, $random, $width ? 2**($width - 1) : 0, (1 << $width) - 1, 0, 1, (1 << $bits) - 1);
}

sub bigint
{
    return one_of('NULL', "'9223372036854775807'", "'-9223372036854775808'", "'-1'") if rand() < 0.1;
    return sprintf q('%s%d'), rand() < 0.1 ? '-' : '', number_of(63);
}

sub layout { return rand() < 0.02 ? 'NULL' : one_of(sort keys %layouts) }
sub quoted { return $_[0] eq 'NULL' ? 'NULL' : "'$_[0]'" }

sub id_of
{
    my ($layout) = @_;
    return bigint() if rand() < 0.3 || $layout eq 'NULL';
    return sprintf q('%d'), one_of(number_of($layouts{$layout}{bits}), ((1 << $layouts{$layout}{bits} - 1) - 1) * 2 + 1, number_of(20));
}

# A moment, as text: of the layout, at its ends, or anywhere.
sub moment
{
    my ($layout) = @_;
    return one_of('NULL', q('infinity'), q('-infinity'), q('4714-11-24 00:00:00Z BC'), q('294276-12-31 23:59:59.999999Z'),
        q('1969-12-31 23:59:59.999999Z'), q('epoch')) if rand() < 0.1 || $layout eq 'NULL';
    my $kind = $layouts{$layout};
    my $end = $kind->{epoch} + (1 << $kind->{bits} - $kind->{shift});
    my $ms = one_of($kind->{epoch}, $end, $end - 1, $kind->{epoch} + number_of($kind->{bits} - $kind->{shift}), one_of(values %layouts)->{epoch});
    my $us = one_of(0, 0, 1, -1, 999, 500, -500, int rand 2000);
    # Beyond what an interval of seconds holds exactly: by days.
    my $days = int($ms / 86_400_000);
    return sprintf q((timestamp '1970-01-01' + make_interval(days => %d) + %d * interval '1 ms' + %d * interval '1 us') AT TIME ZONE 'UTC'),
      $days, $ms - $days * 86_400_000, $us;
}

# Of UUIDs of version 7: of a layout, at their own ends, or anywhere.
sub moment_of_uuid
{
    return moment(one_of(sort keys %layouts)) if rand() < 0.6;
    return sprintf q((timestamptz '10889-08-02 05:31:50.656Z' + %d * interval '1 us')), one_of(0, 1, -1, -999, -1000);
}

sub shard_of
{
    my ($layout) = @_;
    return bigint() if rand() < 0.1 || $layout eq 'NULL';
    my $max = $layouts{$layout}{max_shard};
    return one_of(0, 1, $max, $max + 1, -1, int rand $max + 1);
}

my @digits = (0 .. 9, 'A' .. 'Z', 'a' .. 'z');
sub form
{
    my $form = join '', map { one_of(@digits) } 1 .. 11;
    substr($form, 0, 1) = one_of(0 .. 9, 'A' .. 'M') if rand() < 0.8;
    return one_of('LygHa16AHYF', 'LygHa16AHYG', 'LygHa16AHYE', '00000000000', 'AzL8n0Y58m7', 'AzL8n0Y58m8', 'NULL', '') if rand() < 0.1;
    substr($form, int rand 11, 1) = one_of('', '-', ' ', 'é', "''", '_', '٣', 'xx', "\n") if rand() < 0.2;
    return $form;
}

sub uuid
{
    my $hex = join '', map { sprintf '%x', int rand 16 } 1 .. 32;
    substr($hex, 12, 1) = one_of(1, 6, 7, 7, 8, 4) if rand() < 0.9;
    substr($hex, 16, 1) = one_of(8, 9, 'a', 'b') if rand() < 0.9;
    substr($hex, 0, 12) = one_of('0' x 12, 'f' x 12, sprintf '%012x', 1_700_000_000_000 + int rand 1e9) if rand() < 0.3;
    return one_of('NULL', "'$hex'", "'$hex'", "'$hex'", q('00000000-0000-0000-0000-000000000000'), q('ffffffff-ffff-ffff-ffff-ffffffffffff'));
}

# What is asked, each with arguments that are made anew.
my %asked = (
    snowid_timestamp => sub { my $l = layout(); return 'SELECT snowid_timestamp(' . id_of($l) . ', ' . quoted($l) . ')' },
    snowid_shard => sub { my $l = layout(); return 'SELECT snowid_shard(' . id_of($l) . ', ' . quoted($l) . ')' },
    snowid_sequence => sub { my $l = layout(); return 'SELECT snowid_sequence(' . id_of($l) . ', ' . quoted($l) . ')' },
    snowid_decode => sub { my $l = layout(); return 'SELECT snowid_decode(' . id_of($l) . ', ' . quoted($l) . ')' },
    'of the default' => sub { return 'SELECT ' . one_of(qw(snowid_timestamp snowid_shard snowid_sequence snowid_decode snowid_to_uuid)) . '(' . id_of('instagram') . ')' },
    snowid_encode => sub {
        my $l = layout();
        my $sequence = $l eq 'NULL' ? 0 : one_of(0, -1, $layouts{$l}{sequences} - 1, $layouts{$l}{sequences}, int rand $layouts{$l}{sequences}, bigint());
        return 'SELECT snowid_encode(' . join(', ', moment($l), shard_of($l), $sequence, quoted($l)) . ')';
    },
    snowid_first_at => sub { my $l = layout(); return 'SELECT snowid_first_at(' . moment($l) . ', ' . quoted($l) . ')' },
    snowid_last_at => sub { my $l = layout(); return 'SELECT snowid_last_at(' . moment($l) . ', ' . quoted($l) . ')' },
    snowid_in_range => sub { my $l = layout(); return 'SELECT snowid_in_range(' . join(', ', id_of($l), moment($l), moment($l), quoted($l)) . ')' },
    snowid_to_base62 => sub { return 'SELECT snowid_to_base62(' . bigint() . ')' },
    snowid_from_base62 => sub { return 'SELECT snowid_from_base62(' . quoted(form()) . ')' },
    snowid_to_uuid => sub { my $l = layout(); return 'SELECT snowid_to_uuid(' . id_of($l) . ', ' . quoted($l) . ')' },
    snowid_from_uuid => sub { my $l = layout(); return 'SELECT snowid_from_uuid(' . uuid() . ', ' . quoted($l) . ')' },
    'to a UUID and back' => sub {
        my ($l, $other) = (layout(), layout());
        $other = $l if rand() < 0.5;
        return 'SELECT snowid_from_uuid(snowid_to_uuid(' . id_of($l) . ', ' . quoted($l) . '), ' . quoted($other) . ')';
    },
    snowid_is_uuidv7 => sub { return 'SELECT snowid_is_uuidv7(' . uuid() . ')' },
    snowid_uuidv7_first_at => sub { return 'SELECT snowid_uuidv7_first_at(' . moment_of_uuid() . ')' },
    snowid_uuidv7_last_at => sub { return 'SELECT snowid_uuidv7_last_at(' . moment_of_uuid() . ')' },
    snowid_uuidv7_in_range => sub {
        my ($since, $before) = map { moment_of_uuid() } 1 .. 2;
        my $uuid = one_of(uuid(), map { "snowid_uuidv7_${_}_at(" . one_of('now()', q('epoch'), $since, $before) . ')' } 'first', 'last');
        return "SELECT snowid_uuidv7_in_range($uuid, $since, $before)";
    },
    snowid_uuid_timestamp => sub { return 'SELECT snowid_uuid_timestamp(' . uuid() . ')' },
    # What makes IDs, by what does not depend on the moment.
    snowid_next => sub { my $l = layout(); return 'SELECT snowid_shard(snowid_next(' . made_shard_of($l) . ', ' . quoted($l) . '), ' . quoted($l) . ')' },
    snowid_next_batch => sub {
        my $l = layout();
        return 'SELECT count(DISTINCT id), min(snowid_shard(id, ' . quoted($l) . ')) FROM snowid_next_batch(' . made_shard_of($l) . ', '
          . one_of(0, 1, 3, 1025, -1, 'NULL', -2147483648) . ', ' . quoted($l) . ') AS id';
    },
    snowid_reserve => sub {
        my $l = layout();
        my $most = $l eq 'NULL' ? 5 : $layouts{$l}{sequences};
        return 'SELECT snowid_shard(snowid_reserve(' . made_shard_of($l) . ', ' . one_of(0, 1, -1, $most, $most + 1, 'NULL', 2147483647) . ', ' . quoted($l) . '), '
          . quoted($l) . ')';
    },
    # The times of these IDs are past, so that nothing waits.
    'snowid.accept_shard' => sub {
        my $l = layout();
        return 'SELECT snowid.accept_shard(' . one_of('NULL', q('-1'), q('-9223372036854775808'), $l eq 'js53' ? q('9007199254740992') : (), number_of(40)) . ', ' . quoted($l) . ')';
    },
    'a release, and an accept' => sub {
        my $l = layout();
        return 'SELECT snowid.accept_shard(snowid.release_shard(' . made_shard_of($l) . ', ' . quoted($l) . '), ' . quoted($l) . ')';
    },
    snowid_watermark => sub {
        my $table = one_of(qw(events tweets mixed serial identity by_hand recent there far_part pg_catalog.pg_am serial_id_seq), '"With far"');
        return one_of('SELECT', 'SELECT', 'SET LOCAL ROLE clerk'),
          'SELECT w > 0 FROM snowid_watermark(' . one_of("'$table'", "'$table'", "'$table'", '0', 'NULL') . one_of('', '', q(, 'twitter')) . ') AS w';
    },
    'a setting of the shard' => sub {
        # An empty one is what PostgreSQL leaves here of one that was set before.
        my $value = one_of(0, 1, -1, 8191, 8192, -2, ' 2 ', "\t2\n", '+2', '-0', '0x2', '2.0', ' ', 'two', '9223372036854775807', '9223372036854775808',
            '0' x 300 . 2, '9' x 300, '٢', "\x{a0}2", '--1', '- 1');
        return "SELECT set_config('snowid.shard', '$value', false)", 'SELECT snowid_default_shard()';
    },
    'a setting of the wait' => sub {
        my $value = one_of(0, 1, 5000, '1s', '1 s', '1min', '1h', '1d', '1us', '1.5s', '  1 s  ', '1S', '1 m', '-1', '1e3', 'long', '1 s s', '2147483647', '2147483648',
            '24d', '25d', '600000000us', '.5s', '99999999999', '-5s', '-99999999999', '1e3ms', '.', '1.2.3', ' ', '1ms1', '5.');
        return "SELECT set_config('snowid.max_wait', '$value', false)", 'SELECT snowid_shard(snowid_next(1))';
    });
# One that was made, or is none.
sub made_shard_of
{
    my ($l) = @_;
    return bigint() if $l eq 'NULL';
    my $max = $layouts{$l}{max_shard};
    return one_of(0, 1, 2, $max, $max - 1, $max + 1, -1, 'NULL', "'9223372036854775807'", "'-9223372036854775808'");
}

my (@names, @statements, $script);
foreach my $name (sort keys %asked)
{
    foreach my $round (1 .. ($name =~ /next|reserve|accept/ ? 100 : $name =~ /setting/ ? 60 : 400))
    {
        # How times are shown is the session's, but not in errors.
        push @statements, 'SET timezone = \'' . one_of('UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Apia') . "'; SET datestyle = '"
          . one_of('ISO', 'SQL, DMY', 'Postgres', 'German') . q(') if rand() < 0.05;
        push @statements, join ' -- then -- ', $asked{$name}->();
        push @names, $name while @names < @statements;
    }
}
my $file = PostgreSQL::Test::Utils::tempdir() . '/statements.sql';
open my $out, '>:encoding(UTF-8)', $file or die "$file: $!";
foreach my $n (0 .. $#statements)
{
    my ($statement, $before) = reverse split / -- then -- /, $statements[$n];
    print $out "\\echo =$n=\n",
      $statement =~ /^SET/ ? "$statement;\n" : 'SELECT ask(' . join(', ', map { '$ask$' . $_ . '$ask$' } $statement, $before // 'SELECT') . ");\n";
    print $out "RESET snowid.shard;\nRESET snowid.max_wait;\n" if $before;
}
close $out;
my %answers;
foreach my $database ('extension', 'portable')
{
    my ($stdout, $stderr);
    IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($database), '-f', $file ], '>', \$stdout, '2>', \$stderr)
      or BAIL_OUT("psql: $stderr");
    $answers{$database} = { $stdout =~ /^=(\d+)=\n(.*?)(?=^=\d+=\n|\z)/msg };
}
is(scalar(keys %{ $answers{$_} }), scalar(@statements), "answers of $_") foreach 'extension', 'portable';
my (%differ, %fail);
foreach my $n (0 .. $#statements)
{
    my ($there, $here) = map { $answers{$_}{$n} } 'extension', 'portable';
    $fail{ $names[$n] }++ if $there =~ /^[0-9A-Z]{5} [|]/;
    # A setting's value that is none is refused by SET in the extension, by the next call in the other.
    # Only then is it known who had set it, which the hint says.
    if ($statements[$n] =~ /set_config/) { s/^(22023 [|] [^|]*).*/$1/s foreach $there, $here }
    # Some versions of PostgreSQL name the unit of a range.
    $there =~ s/[(](\d+) ms [.][.] (\d+) ms[)]/($1 .. $2)/;
    push @{ $differ{ $names[$n] } }, "$statements[$n]\n  extension: $there  portable:  $here" if $there ne $here;
}
foreach my $name (sort keys %asked)
{
    my @all = @{ $differ{$name} // [] };
    is(scalar(@all), 0, "$name: the same of both, and " . ($fail{$name} // 0) . ' times an error') or diag(join "\n", @all[ 0 .. ($#all > 9 ? 9 : $#all) ]);
}

$node->stop;
done_testing();
