# Functions of the extension and of portable/snowid.sql that read IDs, texts and UUIDs, or make them of their parts, give the same
# answers to the same random arguments.

use Snowid;
use SnowidSameAnswers;

my $node = ready_server('same_answers', sql => q(CREATE DATABASE extension TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'));
create_portable($node, 'portable');
$node->safe_psql('extension', 'CREATE EXTENSION snowid');
my %layouts = %portable_layouts;

sub id_of
{
    my ($layout) = @_;
    return random_bigint() if rand() < 0.3 || $layout eq 'NULL';
    my $bits = $layouts{$layout}{bits};
    return sprintf q('%d'), one_of(random_number($bits), ((1 << $bits - 1) - 1) * 2 + 1, random_number(20));
}

# A moment, as text: of the layout, at its ends, or anywhere.
sub moment
{
    my ($layout) = @_;
    return one_of('NULL', q('infinity'), q('-infinity'), q('4714-11-24 00:00:00Z BC'), q('294276-12-31 23:59:59.999999Z'),
        q('1969-12-31 23:59:59.999999Z'), q('epoch')) if rand() < 0.1 || $layout eq 'NULL';
    my $kind = $layouts{$layout};
    my $end = $kind->{epoch} + (1 << $kind->{bits} - $kind->{shift});
    my $ms = one_of($kind->{epoch}, $end, $end - 1, $kind->{epoch} + random_number($kind->{bits} - $kind->{shift}), one_of(values %layouts)->{epoch});
    # Beyond what an interval of seconds holds exactly: by days.
    my $days = int($ms / 86_400_000);
    return sprintf q((timestamp '1970-01-01' + make_interval(days => %d) + %d * interval '1 ms' + %d * interval '1 us') AT TIME ZONE 'UTC'),
      $days, $ms - $days * 86_400_000, one_of(0, 0, 1, -1, 999, 500, -500, int rand 2000);
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
    return random_bigint() if rand() < 0.1 || $layout eq 'NULL';
    my $max = $layouts{$layout}{max_shard};
    return one_of(0, 1, $max, $max + 1, -1, int rand $max + 1);
}

my @digits = (0 .. 9, 'A' .. 'Z', 'a' .. 'z');

sub base62
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
    return one_of('NULL', ("'$hex'") x 3, q('00000000-0000-0000-0000-000000000000'), q('ffffffff-ffff-ffff-ffff-ffffffffffff'));
}
my @readers = qw(snowid_timestamp snowid_shard snowid_sequence snowid_decode snowid_to_uuid);
check_same_answers(
    $node, 400,
    (map { my $f = $_; ($f => sub { my $l = random_layout(); return "SELECT $f(" . id_of($l) . ', ' . quoted($l) . ')' }) } @readers),
    (map { my $f = $_; ($f => sub { my $l = random_layout(); return "SELECT $f(" . moment($l) . ', ' . quoted($l) . ')' }) } qw(snowid_first_at snowid_last_at)),
    (map { my $f = $_; ($f => sub { return "SELECT $f(" . moment_of_uuid() . ')' }) } qw(snowid_uuidv7_first_at snowid_uuidv7_last_at)),
    (map { my $f = $_; ($f => sub { return "SELECT $f(" . uuid() . ')' }) } qw(snowid_is_uuidv7 snowid_uuid_timestamp)),
    'of the default' => sub { return 'SELECT ' . one_of(@readers) . '(' . id_of('instagram') . ')' },
    snowid_encode => sub {
        my $l = random_layout();
        my $sequences = $l eq 'NULL' ? 1 : $layouts{$l}{sequences};
        return 'SELECT snowid_encode('
          . join(', ', moment($l), shard_of($l), one_of(0, -1, $sequences - 1, $sequences, int rand $sequences, random_bigint()), quoted($l)) . ')';
    },
    snowid_in_range => sub { my $l = random_layout(); return 'SELECT snowid_in_range(' . join(', ', id_of($l), moment($l), moment($l), quoted($l)) . ')' },
    snowid_to_base62 => sub { return 'SELECT snowid_to_base62(' . random_bigint() . ')' },
    snowid_from_base62 => sub { return 'SELECT snowid_from_base62(' . quoted(base62()) . ')' },
    snowid_from_uuid => sub { return 'SELECT snowid_from_uuid(' . uuid() . ', ' . quoted(random_layout()) . ')' },
    'to a UUID and back' => sub {
        my $l = random_layout();
        return 'SELECT snowid_from_uuid(snowid_to_uuid(' . id_of($l) . ', ' . quoted($l) . '), ' . quoted(rand() < 0.5 ? $l : random_layout()) . ')';
    },
    snowid_uuidv7_in_range => sub {
        my ($since, $before) = map { moment_of_uuid() } 1 .. 2;
        my $uuid = one_of(uuid(), map { "snowid_uuidv7_${_}_at(" . one_of('now()', q('epoch'), $since, $before) . ')' } 'first', 'last');
        return "SELECT snowid_uuidv7_in_range($uuid, $since, $before)";
    });
end_test($node);
