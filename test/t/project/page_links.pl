# The pages hold together: each link from one Markdown file of the tree to another, and to a heading, leads somewhere;
# and a page of docs/ that takes long to scroll begins with a table of contents, which lists its sections, in order. Anchors
# are made as git hosts make them.

use Encode 'decode_utf8';
use File::Basename;
use File::Find;
use Snowid;

my @pages;
# What is unpacked or built in the tree, in hidden folders as a rule, is others'.
find({ no_chdir => 1, preprocess => sub { grep { !/^[.]./ && $_ ne 'node_modules' } @_ }, wanted => sub { push @pages, s{^[.]/}{}r if /[.]md$/ } }, '.');
@pages = sort @pages;

# A page without its blocks of code, in which neither headings nor links count.
sub text_of { return decode_utf8(slurp_file($_[0])) =~ s/^```.*?^```$//msgr }

sub headings_of { my ($page, $level) = @_; return text_of($page) =~ /^#{$level} (.*)$/mg }

# What a heading reads as: its text without marks.
sub plain { return $_[0] =~ s/\[([^]]*)\]\([^)]*\)/$1/gr =~ s/[`*]//gr }

# The anchors of a page's headings. One that comes again has a number.
my %anchors;

sub anchors_of
{
    my ($page) = @_;
    my %times;
    return $anchors{$page} //= { map {
        my $anchor = lc(plain($_)) =~ s/[^\w\- ]//gr =~ tr/ /-/r;
        my $n = $times{$anchor}++;
        ($n ? "$anchor-$n" : $anchor) => 1
    } headings_of($page, '1,6') };
}

# Where a link of a page fails to lead, or nothing.
sub fault_of
{
    my ($page, $link) = @_;
    return if $link =~ /^[a-z]+:/;
    my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
    my $target = $path eq '' ? $page : dirname($page) eq '.' ? $path : dirname($page) . "/$path";
    1 while $target =~ s{(^|/)(?![.][.]/)[^/]+/[.][.]/}{$1};
    return 'leaves the tree' if $target =~ m{^(?:/|[.][.]/)};
    return 'there is no such file' if !-e $target;
    return if !defined $anchor;
    return 'an anchor in what is no page' if $target !~ /[.]md$/;
    return anchors_of($target)->{$anchor} ? undef : 'there is no such heading';
}

my $links = 0;
foreach my $page (@pages)
{
    my $text = text_of($page) =~ s/`[^`\n]*`/code/gr;
    my @faults;
    # The text of a link may hold brackets, as that of a picture does.
    foreach my $link ($text =~ /\]\(\s*([^()\s]+)\s*\)/g, $text =~ /^\[[^]]+\]:\s*(\S+)/mg)
    {
        $links++;
        my $fault = fault_of($page, $link);
        push @faults, "$link: $fault" if $fault;
    }
    is_deeply(\@faults, [], "$page: its links lead somewhere");
}
cmp_ok($links, '>', 150, 'there are links');

# The first link of each line of the table.
foreach my $page (grep { m{^docs/[^/]+$} } @pages)
{
    my ($opening) = split /^## /m, text_of($page), 2;
    my @listed = map { lc plain($_) } $opening =~ /^- (\[[^]]*\]\(#[^)]*\))/mg;
    next if !@listed && (() = slurp_file($page) =~ /\S+/g) < 1_100;
    is_deeply(\@listed, [ map { lc plain($_) } headings_of($page, 2) ], "$page: its table of contents lists its sections");
}
cmp_ok(scalar(grep { m{^docs/[^/]+$} } @pages), '>', 5, 'there are pages');
done_testing();
