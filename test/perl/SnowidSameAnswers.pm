# The comparison of the extension and portable/snowid.sql, by random calls. Not part of Snowid: two tests use it.
package SnowidSameAnswers;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(check_same_answers %portable_layouts one_of random_number random_bigint random_layout quoted);

# Of each layout that both have: the greatest shard, the number of sequences, the bits below the time and of the ID, and the epoch.
our %portable_layouts = map { shift @$_ => { max_shard => $_->[0], sequences => $_->[1], shift => $_->[2], bits => $_->[3], epoch => $_->[4] } }
  [ instagram => 8191, 1024, 23, 63, 1314220021721 ], [ twitter => 1023, 4096, 22, 63, 1288834974657 ], [ discord => 1023, 4096, 22, 63, 1420070400000 ],
  [ leaf => 1023, 4096, 22, 63, 1288834974657 ], [ pgedge => 1023, 4096, 22, 63, 1672531200000 ], [ taobao => 15, 1024, 14, 63, 1361753741828 ],
  [ js53 => 31, 256, 13, 53, 1767225600000 ];

# Random arguments, of which many are at an edge of their type or layout or next to it. A number of so many bits: any, or one bit,
# or all lower bits, or next to these.
sub one_of { return $_[ int rand @_ ] }

sub random_number
{
    my ($bits) = @_;
    my $width = int rand $bits + 1;
    my $random = 0;
    $random = $random * 2 + int rand 2 for 1 .. $width;
    return one_of($random, $random, $random, $width ? 2**($width - 1) : 0, (1 << $width) - 1, 0, 1, (1 << $bits) - 1);
}

sub random_bigint
{
    return one_of('NULL', "'9223372036854775807'", "'-9223372036854775808'", "'-1'") if rand() < 0.1;
    return sprintf q('%s%d'), rand() < 0.1 ? '-' : '', random_number(63);
}
sub random_layout { return rand() < 0.02 ? 'NULL' : one_of(sort keys %portable_layouts) }
sub quoted { return $_[0] eq 'NULL' ? 'NULL' : "'$_[0]'" }

# Checks that databases "extension" and "portable" give the same answers, and for what cannot be the same SQLSTATE, message, detail
# and hint: to so many statements of each kind, which a function makes, and perhaps one that is run before. SEED repeats a run.
sub check_same_answers
{
    my ($node, $rounds, %asked) = @_;
    my $seed = $ENV{SEED} // time;
    diag("SEED=$seed");
    srand $seed;
    $node->safe_psql($_, <<'SQL') foreach 'extension', 'portable';
CREATE FUNCTION ask(statement text, before text) RETURNS text LANGUAGE plpgsql AS $$
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
END $$
SQL
    my (@names, @statements);
    my $script = PostgreSQL::Test::Utils::tempdir() . '/statements.sql';
    open my $out, '>:encoding(UTF-8)', $script or die "$script: $!";
    foreach my $name ((sort keys %asked) x $rounds)
    {
        my ($statement, $before) = reverse $asked{$name}->();
        push @names, $name;
        push @statements, ($before ? "$before; " : '') . $statement;
        # How times are shown is the session's, but not in errors.
        printf $out "SET timezone = '%s'; SET datestyle = '%s';\n", one_of('UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Apia'),
          one_of('ISO', 'SQL, DMY', 'Postgres', 'German') if rand() < 0.05;
        print $out "\\echo =$#statements=\nSELECT ask(\$ask\$$statement\$ask\$, \$ask\$@{[ $before // 'SELECT' ]}\$ask\$);\n";
        print $out "RESET snowid.default_shard;\nRESET snowid.max_wait;\n" if $before;
    }
    close $out;
    my %answers;
    foreach my $database ('extension', 'portable')
    {
        my $said = $node->safe_psql($database, "\\i $script");
        $answers{$database} = { "$said\n" =~ /^=(\d+)=\n(.*?)(?=^=\d+=\n|\z)/msg };
        is(scalar(keys %{ $answers{$database} }), scalar(@statements), "answers of $database");
    }
    my (%differ, %fail);
    foreach my $n (0 .. $#statements)
    {
        my ($there, $here) = map { $answers{$_}{$n} } 'extension', 'portable';
        $fail{ $names[$n] }++ if $there =~ /^[0-9A-Z]{5} [|]/;
        # A setting's value that is none is refused by SET in the extension, by the next call in the other. Only then is it known
        # who had set it, which the hint says.
        if ($statements[$n] =~ /set_config/) { s/^(22023 [|] [^|]*).*/$1/s foreach $there, $here }
        # Some versions of PostgreSQL name the unit of a range.
        $there =~ s/[(](\d+) ms [.][.] (\d+) ms[)]/($1 .. $2)/;
        push @{ $differ{ $names[$n] } }, "$statements[$n]\n  extension: $there  portable:  $here" if $there ne $here;
    }
    foreach my $name (sort keys %asked)
    {
        my @all = @{ $differ{$name} // [] };
        is(scalar(@all), 0, "$name: the same of both, and " . ($fail{$name} // 0) . ' times an error') or diag(join "\n", grep { defined } @all[ 0 .. 9 ]);
    }
    return;
}

1;
