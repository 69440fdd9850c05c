# With a synchronous standby no number is seen before the standby has its block or limit. Promoted, it goes on above all that
# any client has seen.
# Runs in make test-all: sessions draw for long, on two servers.

use List::Util qw(max);
use Snowid;

my $primary = ready_server('primary', allows_streaming => 1,
    sql => 'CREATE SEQUENCE numbers INCREMENT 1000 START 1000000000; CREATE SEQUENCE keyed INCREMENT 1000');
my $standby = new_standby($primary, 'standby');
$standby->start;
my $held = hold_commits($primary);
my @first = map { draw($primary, $_, 1) } q(snowid_segment_next('numbers')), q(snowid_section_next('keyed', 1));
wait_for_waiting($primary, 2, 'SyncRep', 'numbers|keyed');
is(join(' ', map { -s $_->{file} } @first), '0 0', 'nothing is seen before the standby has it');
release_commits($primary, $held, 'standby');
finish(@first);
is(join(' ', map { @{ ids($_) } } @first), '1000000000 1', 'and then the first');

my $on_standby = open_session($standby);
is(ask($on_standby, "SELECT $_"), 'ERROR 25006', "a standby gives none: $_")
  foreach q(snowid_segment_next('numbers')), q(snowid_segment_batch('numbers', 10)), q(snowid_section_next('keyed', 1));
my $key = 'generate_series % 50';
my @numbers = draw_by_eight($primary, 'numbers', undef);
my @keyed = map { draw($primary, "$key, snowid_section_next('keyed', $key)", undef, pause_every => 20) } 1 .. 8;
wait_to_draw_together(300_000, @$_) foreach \@numbers, \@keyed;
crash($primary, 'kill');
finish(@numbers, @keyed);
my (undef, $greatest) = check_round('on the primary', 1_000_000_000, @numbers);
my (undef, $of_keys) = check_keys('on the primary', 0, @keyed);
is(ask($on_standby, q(SELECT snowid_section_current('keyed', 1) IS NULL)), 't', 'a standby knows of no key');
$standby->promote;

my ($allocated, $limit) = map { last_value($standby, $_) } 'numbers', 'keyed';
cmp_ok($allocated + 999, '>=', $greatest, 'the standby has all that was seen of the segment');
cmp_ok($limit, '>=', max(values %$of_keys), 'and of the section');
my $drawn = ask($on_standby, q(SELECT snowid_section_next('keyed', 1)));
cmp_ok($drawn, '>', $limit, 'a session of before draws');
is(ask($on_standby, q(SELECT snowid_section_current('keyed', 1))), $drawn, 'and knows what it has drawn');
close_session($on_standby);
@numbers = draw_by_eight($standby, 'numbers', 2_000);
@keyed = map { draw($standby, "$key, snowid_section_next('keyed', $key)", 2_000) } 1 .. 8;
finish(@numbers, @keyed);
is(join('|', check_round('promoted', $allocated + 999, @numbers)), '16000|' . ($allocated + 16_999), 'the next block, and no gap');
is((check_keys('promoted', $limit, @keyed))[0], 16_000, 'keys go on, too');
check_log($primary);
end_test($standby);
