# All numbers up to MAXVALUE, there or here, are issued, then there is an error that names the sequence here and its end. Near it no more than an
# eighth of what is left is allocated ahead, so that a restart skips no more.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my ($source, $node) = ready_source({ ending => 'INCREMENT 10 MAXVALUE 35', short => 'INCREMENT 10 START 991', there => 'MAXVALUE 1000', here => '', endless => '' });
my $session = open_session($node);
ask($session, q(SET snowid.segment_adapt = off; CREATE SEQUENCE ending INCREMENT 1000; CREATE SEQUENCE short MAXVALUE 1005; CREATE SEQUENCE here MAXVALUE 1000));
is(attach($session, $_), '', "$_ is attached") foreach qw(ending short there here endless);

sub check_end
{
    my ($sequence, $end) = @_;
    foreach (1 .. 2)
    {
        is(batch($session, $sequence, 1), 'ERROR 2200H', "$sequence: then an error");
        like($session->{err}, qr/reached maximum value of sequence "$sequence" \($end\)/, "$sequence: says so");
    }
    return;
}
is(batch($session, 'ending', 35), join(' ', 1 .. 35), 'MAXVALUE there: all numbers');
check_end('ending', 35);
$source->safe_psql('postgres', 'ALTER SEQUENCE ending MAXVALUE 1000');
is(batch($session, 'ending', 1), '41', 'MAXVALUE there: raised');
is(batch($session, 'short', 15), join(' ', 991 .. 1005), 'MAXVALUE here: all numbers');
my $allocated = last_value($source, 'short');
check_end('short', 1005);
is(last_value($source, 'short'), $allocated, 'MAXVALUE here: the source is asked for no more');
is(ask($session, q(SELECT snowid_segment_detach('short'))), '', 'MAXVALUE here: detached');
is(batch($session, 'short', 1), 'ERROR 2200H', 'MAXVALUE here: there is nothing above it');

ask($session, 'SET snowid.segment_adapt = on');
foreach my $sequence (qw(there here endless))
{
    is(ask($session, "SELECT max(snowid_segment_next('$sequence')) FROM generate_series(1, 600)"), '600', "$sequence: 600 numbers");
    $allocated = last_value($source, $sequence);
    ok($sequence eq 'endless' ? $allocated > 1000 : $allocated >= 600 && $allocated <= 600 + 400 / 8, "$sequence: up to $allocated are allocated there");
    next if $sequence eq 'endless';
    give_up($session, $sequence);
    my $next = ask($session, "SELECT snowid_segment_next('$sequence')");
    is($next, $allocated + 1, "$sequence: goes on above that");
    is(ask($session, "SELECT max(snowid_segment_next('$sequence')) FROM generate_series($next + 1, 1000)"), '1000', "$sequence: to the end");
    check_end($sequence, 1000);
}
end_test($node, $source);
