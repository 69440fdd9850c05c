# PostgreSQL 19 replicates sequences: FOR ALL SEQUENCES publishes those of the extension, too, and REFRESH SEQUENCES sets the
# subscriber's to what the publisher's say. A member stays what it has joined as, with the sources that it has. Its ceiling goes
# up with the publisher's, but no further than clocks may differ: a publisher whose clock was years ahead does not stop the
# subscriber's IDs. What comes to a segment's sequence counts, as setval does, of which docs/counters.md warns.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $registry = new_server('registry');
$registry->start;
plan skip_all => 'PostgreSQL replicates sequences from version 19 on' if $registry->pg_version->major < 19;

$registry->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE orders_seq INCREMENT 10; CREATE SEQUENCE others_seq INCREMENT 10');
my ($east, $west) = map { new_server($_, allows_streaming => 'logical') } 'east', 'west';
foreach my $node ($east, $west)
{
    start_server($node);
    add_source($node, $registry, name => 'registry');
    $node->safe_psql('postgres', <<'SQL');
SELECT snowid.join('registry');
CREATE SEQUENCE bought_seq;
CREATE SEQUENCE invoice_seq INCREMENT 10;
CREATE SEQUENCE inbox_seq INCREMENT 10;
SQL
}
$east->safe_psql('postgres', q(SELECT snowid_segment_attach('bought_seq', 'registry', 'orders_seq')));
$west->safe_psql('postgres', q(SELECT snowid_segment_attach('bought_seq', 'registry', 'others_seq')));
my $membership = 'SELECT node_number, node_name FROM snowid_internal.membership';
my $sources = 'SELECT seq, remote_seq FROM snowid_internal.segment_sources';
my %own = map { $_ => $west->safe_psql('postgres', $_) } $membership, $sources;
my $far = q(SET snowid.max_lead = '20s';);
my $near = q(SELECT snowid_timestamp(snowid_next()) < clock_timestamp() + interval '12 s');

# Has the subscriber's sequences say what the publisher's do, and waits until they do.
sub refresh
{
    $west->safe_psql('postgres', 'ALTER SUBSCRIPTION all_of_it REFRESH SEQUENCES');
    $west->wait_for_subscription_sync;
    return;
}

# Checks that the subscriber is what it was, and draws by its own clock, ten seconds ahead at most, and from its own number.
sub check_is_itself
{
    my ($name) = @_;
    is(attempt($west, "$far $near"), 't', "$name: by the clock");
    is($west->safe_psql('postgres', $_), $own{$_}, "$name: " . s/.*(snowid)/$1/r) foreach $membership, $sources;
    is(attempt($west, "$far SELECT snowid_shard(snowid_next()), snowid.check_node()"), '2|2', "$name: its own number");
    return;
}

# A publisher whose clock was years ahead, and has issued IDs there.
set_clock(10 * 365 * 86_400, $east);
$east->safe_psql('postgres', 'SELECT snowid_next()');
set_clock(0, $east);
is($east->safe_psql('postgres', q(SELECT last_value / 1000 > extract(epoch FROM now() + interval '9 years') FROM snowid_internal.ceiling)), 't',
    'the publisher\'s ceiling is years ahead');

# West has drawn before, in a session that goes on.
my $session = open_session($west);
is(ask($session, $near), 't', 'the subscriber has drawn');
$east->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES, ALL SEQUENCES');
my $connection = $east->connstr('postgres') =~ s{'}{''}gr;
$west->safe_psql('postgres', "CREATE SUBSCRIPTION all_of_it CONNECTION '$connection' PUBLICATION everything");
refresh();
my $said = q(SELECT last_value / 1000 > extract(epoch FROM now() + interval '9 years') FROM snowid_internal.ceiling);
is($west->safe_psql('postgres', $said), 't', 'which has come to the subscriber');
is(ask($session, "$far $near"), 't', 'years: in the session that was there, too');
# It looks at the sequence when it comes to the ceiling that it has raised before.
wait_for(sub { ask($session, "$far SELECT snowid_next()"); $west->safe_psql('postgres', $said) eq 'f' }, 'its sequence to say what counts');
check_is_itself('years');

# The same where nobody has looked since a crash.
refresh();
is($west->safe_psql('postgres', $said), 't', 'it comes again');
crash_and_start($west, 'kill');
check_is_itself('after a crash');

# A publisher that is ahead by less: who takes over from it goes on above it.
$east->safe_psql('postgres', q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM clock_timestamp() + interval '5 min') * 1000)::bigint)));
set_clock(5 * 60 - 5, $west);
refresh();
my $least = $west->safe_psql('postgres', 'SELECT last_value FROM snowid_internal.ceiling');
is($least, $east->safe_psql('postgres', 'SELECT last_value FROM snowid_internal.ceiling'), 'a ceiling a little ahead has come');
cmp_ok(attempt($west, "$far SELECT extract(epoch FROM snowid_timestamp(snowid_next())) * 1000"), '>=', $least, 'the IDs go on above it');
set_clock(0, $west);

# Segments: what counters.md warns of.
is($west->safe_psql('postgres', q(SELECT snowid_segment_next('invoice_seq', 10) FROM generate_series(1, 15) OFFSET 14)), '15', 'a segment');
refresh();
is($west->safe_psql('postgres', q(SELECT snowid_segment_next('invoice_seq', 10))), '1', 'set back by the publisher: it repeats');
$east->safe_psql('postgres', q(SELECT setval('inbox_seq', 1001)));
refresh();
cmp_ok($west->safe_psql('postgres', q(SELECT snowid_segment_next('inbox_seq', 10))), '>', 1001, 'set forward: it goes on there');

# What is left of a subscription that was dropped before anybody drew is as a setval by hand, which a restore does, too: it
# counts, whatever it says.
$east->safe_psql('postgres', q(SELECT setval('snowid_internal.ceiling', (extract(epoch FROM now() + interval '1 day') * 1000)::bigint)));
refresh();
$west->safe_psql('postgres', 'DROP SUBSCRIPTION all_of_it');
is(attempt($west, 'SELECT snowid_next()'), 'ERROR SN001', 'without a subscription a setval counts, whatever it says');
close_session($session);
$_->stop foreach $east, $west, $registry;
done_testing();
