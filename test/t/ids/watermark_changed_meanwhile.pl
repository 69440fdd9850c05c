# A watermark takes no lock. What others do to the table's defaults while they are read is noticed, or not, but does no harm.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('watermark_changed', sql => <<'SQL');
CREATE TABLE others (id bigint DEFAULT snowid_next());
CREATE DOMAIN key AS bigint;
CREATE TABLE events (id key DEFAULT snowid_next(), other bigint DEFAULT 1);
SQL
my ($reader, $owner) = map { open_session($node) } 1 .. 2;
like(ask($reader, q(SELECT snowid_watermark('others'))), qr/^\d+$/, 'a watermark, so that the session knows all but the domain');
foreach my $change ('ALTER TABLE events ALTER id DROP DEFAULT, ALTER other DROP DEFAULT', 'ALTER TABLE events ADD more bigint DEFAULT snowid_next()',
    'DROP TABLE events')
{
    # Of a domain that the session does not know the catalog is read.
    ask($owner, 'ALTER DOMAIN key SET DEFAULT 1; ALTER DOMAIN key DROP DEFAULT');
    ask($owner, "BEGIN; LOCK TABLE pg_type; $change");
    start_asking($reader, q(SELECT snowid_watermark('events')));
    # Nobody new can connect.
    wait_for(sub { ask($owner, "SELECT count(*) FROM pg_locks WHERE pid = $reader->{backend} AND NOT granted") eq '1' }, 'it to look at the domain');
    ask($owner, 'COMMIT');
    like(answer($reader), $change =~ /^DROP/ ? qr/^ERROR 42P01$/ : qr/^\d+$/, "$change: beside it");
}
end_test($node);
