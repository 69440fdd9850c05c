# The one-line faults of test/mutants: what each is, whether it can still be put in, and putting one into a copy of the
# checkout. Used by put_fault in common.sh, scripts/mutants and check-style.
#
#   mutants.pl list DIR         a line for each: its name, and the tests that ought to see it
#   mutants.pl check DIR FILE   fails where a fault of FILE cannot be put in: its text does not occur once
#   mutants.pl put NAME DIR     puts one into DIR
#
# A fault is some lines, with an empty one after it:
#
#   name: flush
#   seen by: torture ids/crash
#   file: src/pg/ceiling/ceiling.cpp
#   - what stands there, once in the file
#   + what is to stand there instead; nothing, where this is left out
#
# Text of several lines has each of them behind its "- ", with the indentation of the file from the second one on.

use strict;
use warnings;

sub slurp { my ($path) = @_; open my $file, '<', $path or die "$path: $!\n"; local $/; return <$file> }

# The faults of a file.
sub faults_of
{
    my ($path) = @_;
    my @faults;
    foreach my $block (grep { /^name:/m } split /\n{2,}/, slurp($path))
    {
        my %fault = (old => [], new => []);
        foreach my $line (grep { !/^#/ } split /\n/, $block)
        {
            if ($line =~ /^(name|seen by|file): (.+)$/) { $fault{$1} = $2 }
            elsif ($line =~ /^([-+])(?: (.*))?$/) { push @{ $fault{ $1 eq '-' ? 'old' : 'new' } }, $2 // '' }
            else { die "$path: not understood: $line\n" }
        }
        defined $fault{$_} or die "$path: a fault without its \"$_\"\n" foreach 'name', 'seen by', 'file';
        $fault{$_} = join "\n", @{ $fault{$_} } foreach 'old', 'new';
        push @faults, \%fault;
    }
    return @faults;
}

sub all_faults { my ($dir) = @_; return map { faults_of($_) } sort glob "$dir/test/mutants/*.txt" }

# A file of a checkout with a fault in it.
sub faulty
{
    my ($fault, $dir) = @_;
    my $text = slurp("$dir/$fault->{file}");
    my $count = () = $text =~ /\Q$fault->{old}\E/g;
    die "$fault->{name}: its text occurs $count times in $fault->{file}\n" if $count != 1;
    $text =~ s/\Q$fault->{old}\E/$fault->{new}/;
    return $text;
}

sub put
{
    my ($name, $dir) = @_;
    my ($fault) = grep { $_->{name} eq $name } all_faults($dir) or die "There is no fault called $name.\n";
    my $text = faulty($fault, $dir);
    open my $file, '>', "$dir/$fault->{file}" or die "$fault->{file}: $!\n";
    print $file $text;
    close $file or die "$fault->{file}: $!\n";
    print "$fault->{file}\n";
    return;
}

my ($command, @arguments) = @ARGV;
if ($command eq 'list') { print "$_->{name}\t$_->{'seen by'}\n" foreach all_faults(@arguments) }
elsif ($command eq 'check') { faulty($_, $arguments[0]) foreach faults_of($arguments[1]) }
elsif ($command eq 'put') { put(@arguments) }
