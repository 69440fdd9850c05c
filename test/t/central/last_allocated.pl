# snowid.last_allocated() says up to which number a sequence here has allocated from its source, or by itself; null of one that was dropped, in the
# view, and to who may not read the sequence.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({});
# Of each: options here, those of the source, how many numbers are drawn, of its own where there is no source.
foreach my $case ([ 'INCREMENT 10', 'INCREMENT 10', 0, 0 ], [ 'INCREMENT 10 START 501', undef, 1, 510 ], [ 'MAXVALUE 15', 'INCREMENT 10', 15, 15 ],
    [ 'MINVALUE -9223372036854775808 START -9223372036854775808', '', 0, '' ], [ 'START 9223372036854775807', undef, 1, '9223372036854775807' ])
{
    my ($here, $there, $count, $expected) = @$case;
    $source->safe_psql('postgres', 'DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s ' . ($there // ''));
    $node->safe_psql('postgres', "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s $here");
    $node->safe_psql('postgres', q(SELECT snowid_segment_attach('s', 'central', 's'))) if defined $there;
    $node->safe_psql('postgres', "SELECT snowid_segment_batch('s', $count)") if $count;
    is($node->safe_psql('postgres', q(SELECT snowid.last_allocated('s'))), $expected, "$here, $count numbers");
}
$source->safe_psql('postgres', 'CREATE SEQUENCE fresh');
$node->safe_psql('postgres', "CREATE SEQUENCE $_; SELECT snowid_segment_attach('$_', 'central', 'fresh')") foreach 'kept', 'gone';
$node->safe_psql('postgres', 'DROP SEQUENCE gone; CREATE ROLE reader');
my $view = 'SELECT last_allocated FROM snowid.segment_sources ORDER BY last_allocated';
like($node->safe_psql('postgres', $view), qr/^0(?:\n)+$/, 'a sequence that was dropped') or diag($node->safe_psql('postgres', $view));
is($node->safe_psql('postgres', q(SET ROLE reader; SELECT count(*), count(last_allocated) FROM snowid.segment_sources WHERE seq = 'kept'::regclass)), '1|0', 'no right to the sequence');
is(attempt($node, q(SET ROLE reader; SELECT snowid.last_allocated('kept'))), 'ERROR 42501', 'nor by the function');
end_test($node, $source);
