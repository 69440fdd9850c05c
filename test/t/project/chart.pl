# make bench draws the chart of what an ID costs only when it is asked to, and where it can: else it says why, before it
# builds anything. The chart in docs says what it shows: of which server, in what unit, with which settings.

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

# The texts of the tracked chart, each of which may be of several pieces.
my $chart = slurp_file('docs/bench.svg');
my @texts = map { s/<[^>]+>//gr =~ s/\s+/ /gr } $chart =~ m{<text[^>]*>(.*?)</text>}gs;
my $all = join "\n", @texts;
like($all, qr/^ ?\Q$_\E ?$/m, "the chart has $_") foreach 'snowid_next()', 'snowid_uuidv7()', 'bigserial, nextval', 'uuidv7()', 'gen_random_uuid()';
like($all, qr/Nanoseconds: less is better/, 'in a unit');
like($all, qr/PostgreSQL (?:1[89]|[2-9]\d)\b.*\d processors/, 'of which server');
like($all, qr/Not drawn, to keep the scale: Instagram\S* PL\/pgSQL, [\d,]+ ns a call and [\d,]+ ns a row/, 'and what is not drawn');
like($all, qr/shared_buffers=.*synchronous_commit=/s, 'and with which settings');
is(scalar(grep { /^ ?\d+ ?$/ } @texts), scalar(grep { /\(\) ?$|nextval/ } @texts), 'a number beside each bar');
done_testing();
