# Sessions draw from many sections while others drop them all, draw from new ones and roll back, and others yet make, use and
# drop their own: no number comes twice.
# Runs in make test-all: it draws for long.

use File::Spec;
use Snowid;
use SnowidRun;

my $dir = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my @names = map { "crowded_$_" } 1 .. 40;
my $node = ready_server('crowd', sql => join '; ', map { "CREATE SEQUENCE $_ INCREMENT 100" } @names);

# Starts a client that runs statements one by one.
my $scripts = 0;

sub run_script
{
    my $file = "$dir/script" . $scripts++;
    append_to_file("$file.sql", join '', map { "$_;\n" } @_);
    open my $out, '>', $file or die "$file: $!";
    open my $err, '>', "$file.err" or die "$file.err: $!";
    my @command = ('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$file.sql");
    return { file => $file, run => start_program(\@command, undef, $out, $err) };
}

# What draws so many numbers, of so many keys.
sub drawn { my ($name, $count, $keys) = @_; return "SELECT '$name', n % $keys, snowid_section_next('$name', n % $keys) FROM generate_series(1, $count) n" }

srand(4711);
my @crowd = map { run_script(map { drawn($names[ rand @names ], 3, 3) } 1 .. 1000) } 1 .. 3;
foreach my $number (1, 2)
{
    push @crowd, run_script(map { ('BEGIN', 'DROP SEQUENCE ' . join(', ', @names), "CREATE SEQUENCE fresh_${number}_$_ INCREMENT 100",
                drawn("fresh_${number}_$_", 300, 300), 'ROLLBACK') } 1 .. 30);
}
push @crowd, run_script(map { ("CREATE SEQUENCE brief_$_ INCREMENT 100", drawn("brief_$_", 400, 200), "DROP SEQUENCE brief_$_") } 1 .. 60);
finish(@crowd);
is(errors_of(@crowd), '', 'all end well');
my %drawn;
$drawn{$_}++ foreach map { @{ ids($_) } } @crowd;
is(scalar(grep { $_ > 1 } values %drawn), 0, 'no number came twice');
is(scalar(keys %drawn), 3 * 3000 + 2 * 30 * 300 + 60 * 400, 'all were drawn');
end_test($node);
