# Whatever a client sends as the binary form of a layout or an ObjectID is taken or refused as malformed; what is taken is a layout.

use Snowid;

my $node = ready_server('binary');
my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());

# Sends values of a type, each in a file of COPY by itself, and checks how many are taken, all others refused as malformed.
sub check_copied
{
    my ($name, $taken, $type, @values) = @_;
    my $script = "\\set VERBOSITY verbose\nDROP TABLE IF EXISTS received;\nCREATE TABLE received (value $type);\n";
    foreach my $number (0 .. $#values)
    {
        my $file = "$dir/$type.$number";
        open my $out, '>:raw', $file or die "$file: $!";
        print $out "PGCOPY\n\xFF\r\n\0", pack('N N n N/a* n', 0, 0, 1, $values[$number], 0xFFFF);
        close $out or die "$file: $!";
        $script .= "\\copy received FROM '$file' (FORMAT binary)\n";
    }
    my ($status, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
    my $count = $node->safe_psql('postgres', 'SELECT count(*) FROM received');
    my $refused = () = $err =~ /^(?:psql:\S+: )?ERROR:  (?:22P03|08P01):/gm;
    $taken //= $count;
    is("$count, $refused", "$taken, " . (@values - $taken), "$name: taken, refused") or diag($err);
    return;
}

# Epoch and unit in microseconds, widths of time, shard and sequence, order of the fields.
sub layout_bytes { return pack 'q> q> C4', @_ }

my ($epoch, $day) = (1_577_836_800_000_000, 86_400_000_000);
check_copied('layouts in each order', 6, 'snowid_layout', map { layout_bytes($epoch, 1000, 41, 10, 12, $_) } 0 .. 5);
is($node->safe_psql('postgres', 'SELECT count(DISTINCT value::text) FROM received'), '6', 'layouts in each order: all differ');
check_copied('layouts with an empty field', 3, 'snowid_layout', map { layout_bytes($epoch, 1000, @$_, 5) } [ 41, 10, 0 ], [ 41, 0, 12 ], [ 63, 0, 0 ]);
is($node->safe_psql('postgres', q(SELECT count(*) FROM received WHERE value = value::text::snowid_layout)), '3', 'layouts with an empty field: as text has them');
check_copied('layouts with invalid fields', 0, 'snowid_layout', (map { layout_bytes($epoch, 1000, 41, 10, 12, $_) } 6, 7, 127, 128, 255),
    (map { layout_bytes($epoch, $_, 41, 10, 12, 0) } 0, -1, $day + 1, 2 * $day, 2**62, -2**63),
    (map { layout_bytes($epoch, 1000, @$_, 0) } [ 0, 10, 12 ], [ 64, 0, 0 ], [ 0, 0, 0 ], [ 0, 32, 32 ], [ 41, 13, 11 ], [ 65, 0, 1 ], [ 1, 255, 64 ],
        [ 64, 64, 64 ], [ 255, 255, 255 ], [ 128, 64, 128 ], [ 64, 0, 1 ]),
    (map { layout_bytes($_, 1000, 41, 10, 12, 0) } 2**63 - 1, -2**63));
my $valid = layout_bytes($epoch, 1000, 41, 10, 12, 0);
check_copied('layouts of any length', 1, 'snowid_layout', map { substr $valid x 3, 0, $_ } 0 .. 41);
srand 1;
my @garbage = map { join '', map { chr int rand 256 } 1 .. 20 } 1 .. 50;
foreach my $byte (0 .. 19)
{
    push @garbage, map { substr($valid, 0, $byte) . chr($_) . substr $valid, $byte + 1 } 0x00, 0x01, 0x3F, 0x7F, 0x80, 0xFF;
}
check_copied('layouts with wrong bytes', undef, 'snowid_layout', @garbage);
is($node->safe_psql('postgres', 'SELECT count(*) FROM received WHERE value::text::snowid_layout <> value OR (snowid_describe_layout(value)).specification IS NULL'),
    '0', 'layouts with wrong bytes: what was taken is a layout');
check_copied('ObjectIDs of any length', 1, 'objectid', map { 'x' x $_ } 0 .. 25, 255, 100_000);
check_copied('ObjectIDs of any bytes', 20, 'objectid', map { join '', map { chr int rand 256 } 1 .. 12 } 1 .. 20);
end_test($node);
