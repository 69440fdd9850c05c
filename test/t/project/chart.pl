# make bench draws the chart of what an ID costs only when it is asked to, and where it can: else it says why, before it
# builds anything.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

# A stand-in of pg_config says which version it is of, and that it was asked for anything else.
my $dir = PostgreSQL::Test::Utils::tempdir();

sub bench
{
    my ($version, %variables) = @_;
    unlink "$dir/pg_config", "$dir/asked";
    append_to_file("$dir/pg_config", qq(#!/bin/sh\n[ "\$1" = --version ] || touch $dir/asked\necho "PostgreSQL $version (a stand-in)"\n));
    chmod 0755, "$dir/pg_config";
    # Of this test's own make, and of its variables, nothing is handed on.
    delete local @ENV{qw(MAKEFLAGS MAKEOVERRIDES ONLY CHART)};
    local $ENV{PG_CONFIG} = "$dir/pg_config";
    my $said = '';
    my $is_done = IPC::Run::run([ 'make', '-s', 'bench', map { "$_=$variables{$_}" } sort keys %variables ], '<', \'', '>', \$said, '2>&1');
    ok(!$is_done, "PostgreSQL $version: make bench fails");
    ok(!-e "$dir/asked", 'and has asked the server for nothing');
    return $said;
}
like(bench('17.5', CHART => "$dir/chart.svg"), qr/^The chart shows uuidv7\(\), which PostgreSQL 17 does not have: set PG_CONFIG /m, 'and says why');
like(bench('18.1', CHART => "$dir/chart.svg", ONLY => 'peers,call'), qr/^The chart takes the race "long insert", too/m, 'and says which race');
ok(!-e "$dir/chart.svg", 'no chart');
unlike(slurp_file('scripts/bench'), qr{^[^#]*docs/bench}m, 'no command of make bench names the tracked chart');
done_testing();
