# An upgrade of the library under a running server that changes what one family keeps in shared memory:
# new sessions are refused that family alone, with the hint to restart. What the other families promise
# goes on across old and new sessions, which share their part of the memory: IDs and numbers come once.

use strict;
use warnings;

use File::Spec;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
my %library = (old => `$pg_config --pkglibdir` =~ s/\n//r . '/snowid.so');
$library{$_} = build_library($_, '-DSNOWID_' . uc($_) . '_ABI=12') foreach qw(counters ids objectid);

my %draw = (
    ids => 'SELECT snowid_next(1) FROM generate_series(1, 500)',
    objectid => 'SELECT objectid_next() FROM generate_series(1, 500)',
    counters => q(SELECT snowid_segment_next('numbers') FROM generate_series(1, 500)),
    sections => q(SELECT snowid_section_next('keyed', 7) FROM generate_series(1, 500)),
);
# What needs which family: ObjectIDs are made of the ticks of IDs.
my %refuses = (
    counters => { counters => 1, sections => 1 },
    ids => { ids => 1, objectid => 1 },
    objectid => { objectid => 1 },
);
# Which tables it is that are of another form, and the numbers of the form that is there.
my %abi = (counters => 9, ids => 9, objectid => 1);
my %table = (counters => 'segments', ids => 'databases', objectid => 'objectid');

my $node = new_server('family');
$node->start;
my $installed = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir()) . '/snowid.so';
system_or_bail('cp', $library{old}, $installed);
$node->safe_psql('postgres', 'CREATE EXTENSION snowid');
use_library($node, 'postgres', $installed);
$node->safe_psql('postgres',
    'CREATE SEQUENCE numbers INCREMENT 1000; CREATE SEQUENCE keyed INCREMENT 10000');

# The library that new sessions load.
sub install
{
    my ($name) = @_;
    system_or_bail('cp', $library{$name}, "$installed.new");
    rename "$installed.new", $installed or die "$installed: $!";
    return;
}

foreach my $changed (sort keys %refuses)
{
    $node->restart;
    install('old');
    my $before = open_session($node);
    my %drawn;
    my $draws = sub {
        my ($name, $session, $family) = @_;
        my @drawn = split /\n/, ask($session, $draw{$family});
        $drawn{$family}{$_}++ foreach @drawn;
        is(scalar(@drawn), 500, "$changed has changed, $name: $family");
    };
    $draws->('before', $before, $_) foreach sort keys %draw;

    install($changed);
    my $after = open_session($node);
    foreach my $family (sort keys %draw)
    {
        if (!$refuses{$changed}{$family})
        {
            $draws->('after', $after, $family);
            next;
        }
        # Twice: the first refusal leaves nothing behind.
        foreach my $try (1, 2)
        {
            is(ask($after, $draw{$family}), 'ERROR 55000', "$changed has changed, after: $family is refused");
            like(
                $after->{err},
                qr/library "snowid" was replaced while the server was running\nDETAIL:.*Table "$table{$changed}".*ABI $abi{$changed}\b.*ABI 12\b.*\nHINT:.*Restart/,
                "$changed has changed: with the reason and the hint");
        }
    }
    $draws->('the old session', $before, $_) foreach sort keys %draw;
    foreach my $family (sort keys %draw)
    {
        my $again = grep { $_ > 1 } values %{ $drawn{$family} };
        is($again, 0, "$changed has changed: nothing of $family came twice");
    }
    close_session($before, $after);
}

# After the restart that was hinted at there is nothing that the new library cannot do.
$node->restart;
my $session = open_session($node);
like(ask($session, $draw{$_}), qr/^(?:\w+\n){499}\w+$/, "restarted: $_") foreach sort keys %draw;
close_session($session);

check_log($node);
# What is on a page has a version, too: a later one is refused, by the library that does not know it, and nothing is lost.
$node->restart;
install('old');
my $least = $node->safe_psql('postgres', 'SELECT snowid_next(2)');
$library{page} = build_library('page', '-DSNOWID_CEILING_PAGE=2');
$node->stop;
install('page');
$node->start;
my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowid_next(2)");
like($err, qr/ERROR:  0A000: .* version 1 of its form.* version 2\nHINT:  Install the version of snowid/, 'another version of the page is refused');
$node->stop;
install('old');
$node->start;
cmp_ok($node->safe_psql('postgres', 'SELECT snowid_next(2)'), '>', $least, 'and read by the library that has written it');

$node->stop;
done_testing();
