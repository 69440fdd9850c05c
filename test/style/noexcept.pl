#!/usr/bin/perl
# A function of src/pg that is noexcept raises no error, so it calls none of snowid's that is not. (Nothing of src/core
# raises.) Goes by names: functions of one name are all noexcept, or none is. Says what is against it and fails. The
# argument is the tree, by default this checkout.
use strict;
use warnings;
use File::Find;

my $root = shift // $0 =~ s{test/style/[^/]*$}{.}r;
my (%noexcept, %raises, @bodies);
find({ no_chdir => 1, wanted => sub { read_source($_) if /[.][ch]pp$/ } }, "$root/src/pg");

# Finds the functions of a file: where each is declared or defined, whether it is noexcept, and its body.
sub read_source
{
    my ($file) = @_;
    open my $handle, '<', $file or die "$file: $!";
    my $text = do { local $/; <$handle> };
    close $handle;
    # Comments and literals go; lines stay.
    $text =~ s{//.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'}{}g;
    $text =~ s{^#.*(?:\\\n.*)*}{}gm;
    # A declaration stands at the beginning of a line or in a class, after its type.
    while ($text =~ /^(?:  )?(?!return|else|using|case)(?:[\w:<>,*&\[\]]+[ *&]+)+(\w+)(\((?:[^()]|(?2))*\))(?: const)?( noexcept)?(?: = default)?\s*([;{:])/mg)
    {
        my ($name, $is_noexcept, $end) = ($1, defined $3, $4);
        my $line = 1 + (substr($text, 0, $-[1]) =~ tr/\n//);
        if ($is_noexcept) { $noexcept{$name} //= "$file:$line" }
        else { $raises{$name} //= "$file:$line" }
        next unless $is_noexcept && $end eq '{' && substr($text, $-[4]) =~ /^(\{(?:[^{}]|(?1))*\})/;
        push @bodies, [ $file, $line, $name, $1 ];
    }
    return;
}

my $failed = 0;
foreach my $name (sort keys %noexcept)
{
    next unless $raises{$name};
    print "$noexcept{$name}: $name is noexcept, and not so at $raises{$name}\n";
    $failed = 1;
}
foreach (@bodies)
{
    my ($file, $line, $name, $body) = @$_;
    foreach my $called (grep { $raises{$_} && !$noexcept{$_} } $body =~ /\b(\w+)\(/g)
    {
        print "$file:$line: $name is noexcept, and calls $called, which is not ($raises{$called})\n";
        $failed = 1;
    }
}
die "no function found below $root/src/pg\n" unless @bodies;
exit $failed;
