# Partitions by UUIDs of version 7 are made, and go, as those by IDs: the regression test of these gives the same by UUIDs,
# but for the keys themselves.
# Runs in make test-all: make test has the main tests of its module.

use IPC::Run;
use Snowid;

my $node = ready_server('partitions_by_uuid');

my %variables = (
    type => 'uuid', key => 'uuid CONSTRAINT is_version_7 CHECK (snowid_is_uuidv7(id))', next => 'snowid_uuidv7()',
    first_at => 'snowid_uuidv7_first_at(moment)',
    # Within the UUIDs that have the same time and the same 12 bits after it.
    within => q(overlay(snowid_uuidv7_first_at(moment)::text PLACING '039-9' FROM 16)::uuid),
    timestamp_of => 'snowid_uuid_timestamp(key)', in_range => 'snowid_uuidv7_in_range(key, since, before)');

# What psql prints of a test, line by line. What keys are, and what is as wide as they are, differs.
sub lines_of
{
    my ($printed) = @_;
    $printed =~ s/'(?:\d{10,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'/KEY/g;
    $printed =~ s/-{3,}/---/g;
    $printed =~ s/ +/ /g;
    return split /\n/, $printed;
}

foreach my $test ('setup', 'partitions')
{
    my $printed;
    IPC::Run::run([ 'psql', '-Xaq', '-d', $node->connstr('postgres'), map { ('-v', "$_=$variables{$_}") } sort keys %variables ],
        '<', "sql/$test.sql", '>', \$printed, '2>&1') or BAIL_OUT('psql failed');
    my @printed = lines_of($printed);
    my @expected = lines_of(slurp_file("expected/$test.out"));
    my ($first) = grep { ($printed[$_] // '') ne ($expected[$_] // '') } 0 .. (@printed > @expected ? $#printed : $#expected);
    is($first, undef, "$test: the same")
      or diag(map { "$_: " . ($expected[$_] // 'end') . "\n   " . ($printed[$_] // 'end') . "\n" } $first - 3 .. $first + 12);
}
end_test($node);
