# How many IDs one unit of time has: 1,024 a millisecond in Instagram's layout, for each shard; 4,096 UUIDs, for the whole
# server. All of them are given, each once and in order, before the next millisecond is begun, however many sessions draw; the
# one after the last that snowid.max_lead allows is refused; and a clock that has moved on gives as many again.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('capacity');
# The clock stands still, at Unix seconds. All that was used before is behind it.
my $second = int(time) + 100;

# Has sessions draw at once, until they are refused. Returns how many were drawn of each millisecond, after the place of its
# sequence, both counted from where the clock stands.
sub exhaust
{
    my ($name, $lead, $kind) = @_;
    my @drawing = map { draw($node, $kind->{call}, 100_000, setup => "SET snowid.max_lead = $lead; SET snowid.max_wait = 0") } 1 .. 2;
    finish(@drawing);
    is(sqlstate_of(errors_of($_)), 'SN001', "$name: then it is refused") foreach @drawing;
    (undef, $kind->{last}) = $kind->{check}->($name, $kind->{last}, @drawing);
    my %sequences;
    foreach my $id (map { @{ ids($_) } } @drawing)
    {
        my ($time, $sequence) = $kind->{parts}->($id);
        $sequences{ $time - $second * 1000 }{$sequence}++;
    }
    return { map { $_ => scalar keys %{ $sequences{$_} } } keys %sequences };
}

my %kinds = (
    'IDs of one shard' => {
        call => 'snowid_next(5)', last => 0, most => 1024, check => \&check_round,
        parts => sub { (1314220021721 + ($_[0] >> 23), $_[0] & 1023) }
    },
    'UUIDs' => {
        call => 'snowid_uuidv7()', last => '', most => 4096, check => \&check_text_round,
        parts => sub { (hex(substr($_[0], 0, 8) . substr($_[0], 9, 4)), substr($_[0], 15, 3)) }
    });
foreach my $name (sort keys %kinds)
{
    my $kind = $kinds{$name};
    stop_clock(++$second, $node);
    # The sequence goes on from where the last millisecond has left it: the first one may be cut short.
    exhaust("$name, up to the end of a millisecond", 0, $kind);
    stop_clock(++$second, $node);
    is_deeply(exhaust("$name, one millisecond", 0, $kind), { 0 => $kind->{most} }, "$name: all of a millisecond, and no more");
    is_deeply(exhaust("$name, ahead of the clock", 3, $kind), { map { $_ => $kind->{most} } 1 .. 3 },
        "$name: all of each that it may run ahead");
    stop_clock(++$second, $node);
    is_deeply(exhaust("$name, the clock moved on", 1, $kind), { map { $_ => $kind->{most} } 0 .. 1 },
        "$name: as many again when the clock has moved on");
}

stop_clock(++$second, $node);
my $session = open_session($node);
ask($session, 'SET snowid.max_lead = 0; SET snowid.max_wait = 0');
foreach my $shard (5, 6)
{
    is(ask($session, "SELECT snowid_sequence(snowid_reserve($shard, 1024))"), '0', "shard $shard has a whole millisecond");
    is(ask($session, "SELECT snowid_next($shard)"), 'ERROR SN001', "shard $shard has no more");
}
end_test($node);
