# The reference has each SQLSTATE that the sources raise, and no other; what it says of one anywhere is of these.

use Snowid;

# What is raised, not what is compared with. PL/pgSQL has the same names, in lower case; what it handles is raised by others.
my %sqlstate = errcodes();
my %raised;
foreach my $source (map { slurp_file($_) =~ s{//.*}{}gr =~ s/[=!]=\s*ERRCODE_\w+//gr } glob 'src/pg/{,*/}*.[ch]pp')
{
    $raised{ $sqlstate{$_} // $_ } = 1 foreach $source =~ /\b(ERRCODE_(?!TO_CATEGORY)\w+|(?<=errcode\()kClockBehind)\b/g;
}
$raised{ $sqlstate{ 'ERRCODE_' . uc } // $_ } = 1 foreach map { slurp_file($_) =~ /\bERRCODE = '(\w+)'/g } glob 'src/pg/{,*/}*.sql';

my $reference = slurp_file('docs/reference.md');
my ($table, $others) = section_of('docs/reference.md', 'Errors') =~ /\A(.*\|\n)\n(.*)\z/s;
my @documented = $table =~ /^\|(\w{5})\|\S.*\|$/mg;
is_deeply([ sort @documented ], [ sort keys %raised ], 'every SQLSTATE of the sources is there');
my %known = map { $_ => 1 } @documented, $others =~ /\b(\d\w{4})\b/g;
my $prose = $reference =~ s/^```.*?^```$//msgr =~ s/`[^`\n]*`//gr;
is_deeply([ sort grep { !$known{$_} } $prose =~ /(?<![\w,.])(\d[0-9A-Z]{4}|SN\d{3}|XX\d{3})(?![\w,])/g ], [], 'what the reference says of one is of these');
done_testing();
