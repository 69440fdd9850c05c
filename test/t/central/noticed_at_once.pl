# That a sequence is attached, attached to another, or detached, all sessions notice with the next number, those with numbers left, too; its own
# numbers go on above all that was allocated, through a crash.

use Snowid;

my ($source, $node) = ready_source({ ours => 'START 100001 INCREMENT 100', others => 'START 7000001 INCREMENT 100' },
    node => { conf => "wal_writer_delay = '10s'\n", sql => 'CREATE ROLE bob; CREATE SEQUENCE ours; GRANT USAGE ON SEQUENCE ours TO bob' });
my $next = q(SELECT snowid_segment_next('ours'));
my ($admin, $bob, @sessions) = map { open_session($node) } 1 .. 5;
ask($bob, 'SET ROLE bob');
sub drawn { return map { ask($_, $next) } @sessions }
is(join(' ', drawn()), '1 2 3', 'its own numbers');
ask($admin, q(BEGIN; SELECT snowid_segment_attach('ours', 'central', 'ours')));
is(ask($admin, $next), '100001', 'attached: who has done it draws from the source');
ask($admin, 'ROLLBACK');
is(scalar(grep { $_ > 3 && $_ < 100000 } drawn()), 3, 'rolled back: its own numbers go on');
ask($admin, 'ALTER SEQUENCE ours INCREMENT 50');
my @own = drawn();
is($own[2] - $own[0], 2, 'a block of its own');
# What is attached goes on without a time-out.
ask($admin, q(SELECT snowid_segment_attach('ours', 'central', 'ours'); ALTER SERVER central OPTIONS (DROP connect_timeout)));
my @allocated = drawn();
cmp_ok($allocated[0], '>', 100001, 'attached: sessions draw from the source at once');
is("$allocated[1] $allocated[2]", join(' ', $allocated[0] + 1, $allocated[0] + 2), 'attached: all of them');
is(ask($bob, $next), $allocated[2] + 1, 'so does who has the right to the sequence, and none to the server');
ask($admin, q(ALTER SERVER central OPTIONS (ADD connect_timeout '2'); SELECT snowid_segment_attach('ours', 'central', 'others')));
is(join(' ', drawn()), '7000001 7000002 7000003', 'attached to another: all draw from that');
foreach my $how ('ROLLBACK', 'COMMIT')
{
    ask($admin, q(BEGIN; SELECT snowid_segment_detach('ours')));
    ask($admin, $how);
    my @after = drawn();
    my $top = last_value($source, 'others') + 99;
    is(scalar(grep { $how eq 'COMMIT' ? $_ > $top : $_ <= $top } @after), 3, "detached, $how: all notice") or diag("@after");
}

foreach my $increment (1, 100, 1000)
{
    ask($admin, "CREATE SEQUENCE detached$increment INCREMENT $increment; SELECT snowid_segment_attach('detached$increment', 'central', 'ours');"
          . " SELECT snowid_segment_batch('detached$increment', 20); SELECT snowid_segment_detach('detached$increment')");
    my $top = last_value($source, 'ours') + 99;
    cmp_ok(ask($admin, "SELECT snowid_segment_next('detached$increment')"), '>', $top, "detached: above all that was allocated, INCREMENT $increment");
}
ask($admin, 'CREATE SEQUENCE crashed; CHECKPOINT');
ask($admin, q(SELECT snowid_segment_attach('crashed', 'central', 'ours')));
my $last = ask($admin, q(SELECT snowid_segment_next('crashed')));
crash_and_start($node, 'kill');
close_session($admin, $bob, @sessions);
cmp_ok($node->safe_psql('postgres', q(SELECT snowid_segment_detach('crashed'); SELECT snowid_segment_next('crashed'))) =~ s/^\n//r, '>', $last, 'detached after a crash: above what was drawn');

# Another source than the one that is down.
$admin = open_session($node);
ask($admin, q(CREATE SEQUENCE other; SELECT snowid_segment_attach('other', 'central', 'ours'); ALTER SERVER central OPTIONS (SET host '/nowhere')));
is(ask($admin, q(SELECT snowid_segment_next('other'))), 'ERROR 08006', 'a source that is down');
add_source($node, $source, name => 'second');
like(ask($admin, q(SELECT snowid_segment_attach('other', 'second', 'ours'); SELECT snowid_segment_next('other'))), qr/\d$/, 'is not the one that is attached then');
end_test($node, $source);
