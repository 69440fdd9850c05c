# Whatever changes, make builds anew what was made of it, and nothing else: with the precompiled headers, and where
# a tree that was built with them is built without. Of what the precompiled headers include nothing was known, so
# that after a change of one make said that there was nothing to be done.
#
# Runs in make test-all: it builds the library.

use strict;
use warnings;

use File::Find;
use PostgreSQL::Test::Utils;
use Test::More;

my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
my $copy = PostgreSQL::Test::Utils::tempdir();

# The tree as it was built, with its times; built here, where it was built otherwise or not at all.
system_or_bail('cp', '-a', 'src', 'Makefile', 'snowid.control', glob('prelude.* snowid.so snowid--*.sql'), $copy);
chdir $copy or die "$copy: $!";
system_or_bail('make', '-s', "PG_CONFIG=$pg_config", 'SNOWID_CXXFLAGS=-O0', 'PRECOMPILED=1');

# What each source includes, itself or by others, by the files alone.
my (%text, @sources);
find({ no_chdir => 1, wanted => sub {
    $text{$_} = slurp_file($_) if /[.][ch]pp$/;
    push @sources, $_ if /[.]cpp$/;
} }, 'src');
my $bitcode = -e 'src/pg/module.bc';

# What make would make: with these arguments, sorted.
sub to_be_made
{
    my $commands = `make -n PG_CONFIG=$pg_config @_ 2>&1`;
    return join ' ', sort $commands =~ /-o (\S+[.](?:o|bc|gch))\b/g;
}

# What is made of a file that is included: by its sources, and by the precompiled headers.
sub made_of
{
    my ($header, $precompiled) = @_;
    my @made = map { my $stem = s/[.]cpp$//r; ("$stem.o", $bitcode ? "$stem.bc" : ()) } grep { includes($_, $header, {}) } @sources;
    push @made, 'prelude.gch', $bitcode ? 'prelude.bc.gch' : () if $precompiled && includes('src/pg/prelude.hpp', $header, {});
    return join ' ', sort @made;
}

sub includes
{
    my ($file, $header, $seen) = @_;
    return 1 if $file eq $header;
    return 0 if $seen->{$file}++;
    return scalar grep { includes("src/$_", $header, $seen) } $text{$file} =~ m{^#include "((?:pg|core)/[^"]+)"}mg;
}

foreach my $arguments ('PRECOMPILED=1', '')
{
    my $how = $arguments || 'without PRECOMPILED';
    is(to_be_made($arguments), '', "$how: nothing has changed");
    # Each file includes prelude.hpp; core's headers are in that; the others are in some.
    foreach my $header (map { "src/$_" } qw(core/tick.hpp core/uuid.hpp pg/prelude.hpp pg/compat.hpp pg/clock.hpp
        pg/shmem/shared_table.hpp pg/counters/session_counter.hpp pg/counters/counter_state.hpp pg/nodes/node_number.hpp))
    {
        my @times = (stat $header)[8, 9];
        utime undef, undef, $header or die "$header: $!";
        my $made = made_of($header, $arguments);
        ok($made, "$header is in something");
        is(to_be_made($arguments), $made, "$how: $header has changed");
        utime @times, $header or die "$header: $!";
    }
}

# That make does so: what has an error in it is met.
foreach my $arguments ('', 'PRECOMPILED=1')
{
    my $header = 'src/core/tick.hpp';
    unlink $header;
    append_to_file($header, "#error this is new\n");
    like(scalar `make PG_CONFIG=$pg_config $arguments 2>&1`, qr/error:.* this is new/, "make $arguments: reads what is new");
}

done_testing();
