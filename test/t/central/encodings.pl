# The encodings of the two databases do not matter to a refill.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({});
my @encodings = qw(SQL_ASCII UTF8 LATIN1);
my $start = 1;
foreach my $encoding (@encodings)
{
    $_->safe_psql('postgres', "CREATE DATABASE $encoding ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'") foreach $node, $source;
    # Each begins above the one before.
    $source->safe_psql(lc $encoding, "CREATE SEQUENCE there INCREMENT 10 START $start");
    $start += 1000;
    add_source($node, $source, dbname => lc $encoding);
}
foreach my $here (@encodings)
{
    my $session = open_session($node, dbname => lc $here);
    ask($session, 'CREATE SEQUENCE here');
    foreach my $there (@encodings)
    {
        is(ask($session, "ALTER SERVER central OPTIONS (SET dbname '\L$there\E'); SELECT snowid_segment_attach('here', 'central', 'there')"), '', "$here here, $there there: attached");
        like(ask($session, q(SELECT snowid_segment_next('here'))), qr/^\d+$/, "$here here, $there there: a number");
    }
    close_session($session);
}
end_test($node, $source);
