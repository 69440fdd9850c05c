# What a crash costs: nothing is issued again, so the first ID after it is above the ceiling, for which its caller may have to
# wait. Whatever was drawn before, the ceiling is ahead of the clock by 2.5 s at most, of which snowid.max_lead covers one: so
# the first ID comes within 1.5 s, or 2.5 s where no lead is allowed.
#
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = ready_server('crash_cost', conf => "max_connections = 50\n");
$node->safe_psql('postgres', 'CREATE DATABASE loads');
$node->safe_psql('loads', 'CREATE EXTENSION snowid; CREATE TABLE rows (id bigint DEFAULT snowid_next(1))');

# Loads that end with the crash, each in a database of its own: how many seconds of the clock are between statements, which
# these are; and how many sessions draw besides, as fast as they can.
my $one = 'SELECT snowid_next(1)';
my $row = 'INSERT INTO rows DEFAULT VALUES RETURNING id';
my $batch = 'SELECT max(id) FROM snowid_next_batch(1, 1000000) AS id';
my %loads = (
    'an ID each 0.3 s' => [ 0.3, [ ($one) x 12 ] ],
    'an ID each 0.7 s' => [ 0.7, [ ($one) x 12 ] ],
    'an ID each 3 s' => [ 3, [ ($one) x 12 ] ],
    'a row each 0.7 s' => [ 0.7, [ ($row) x 12 ] ],
    'many IDs' => [ 0.2, [ ($one) x 12 ], 2 ],
    'a batch that borrows' => [ 0.7, [ $one, $batch ] ],
    'rare IDs, then a batch that borrows' => [ 3, [ ($one) x 6, $batch ] ]);
my $clock = 0;

# Has sessions draw, crashes the server, and checks what the next one does.
sub check_cost
{
    my ($max_lead_s, @names) = @_;
    my (@loads, @steps);
    foreach my $name (@names)
    {
        my ($pause, $statements, $crowd) = @{ $loads{$name} };
        my $dbname = "lead$max_lead_s" . @loads;
        $node->safe_psql('postgres', "CREATE DATABASE $dbname TEMPLATE loads");
        my $load = { name => "$name, lead $max_lead_s s", dbname => $dbname, farthest => 0, session => open_session($node, dbname => $dbname),
            drawing => [ map { draw($node, 'snowid_next(2)', undef, dbname => $dbname, pause_every => 10) } 1 .. $crowd // 0 ] };
        wait_to_draw(1, @{ $load->{drawing} });
        push @loads, $load;
        # All of them have their last ID at the same time.
        push @steps, map { [ -$pause * ($#$statements - $_), $load, $statements->[$_] ] } 0 .. $#$statements;
    }
    @steps = sort { $a->[0] <=> $b->[0] } @steps;
    my $begin = $clock - $steps[0][0] + 1;
    foreach my $step (@steps)
    {
        my ($at, $load, $statement) = @$step;
        set_clock($clock = $begin + $at);
        $load->{last} = ask($load->{session}, $statement);
        # Time that passes meanwhile brings the two nearer to each other.
        my $ahead = ask($load->{session}, 'SELECT last_value / 1000.0 - extract(epoch FROM clock_timestamp()) FROM snowid_internal.ceiling');
        $load->{farthest} = $ahead if $ahead > $load->{farthest};
    }
    crash($node, 'kill');
    finish(map { @{ $_->{drawing} } } @loads);
    close_session(map { $_->{session} } @loads);

    start_server($node);
    $_->{ceiling} = $node->safe_psql($_->{dbname}, 'SELECT last_value / 1000.0 FROM snowid_internal.ceiling') foreach @loads;
    $_->{first} = draw($node, 'snowid_next(1)', 1, dbname => $_->{dbname}) foreach @loads;
    finish(map { $_->{first} } @loads);
    foreach my $load (@loads)
    {
        cmp_ok($load->{farthest}, '<=', 2.5, "$load->{name}: the ceiling is near");
        my ($id) = @{ ids($load->{first}) };
        cmp_ok($id // 0, '>', $load->{last}, "$load->{name}: the first ID is new, and no error") or diag(errors_of($load->{first}));
        # A shard that nobody has used since the start begins where all of them begin. However long the crash took: with the
        # bound above that is 1.5 s after it, or 2.5 s without a lead.
        stop_clock($load->{ceiling} - $max_lead_s + 0.01, $node);
        like(attempt($node, 'SET snowid.max_wait = 0; SELECT snowid_next(3)', dbname => $load->{dbname}), qr/^\d+$/,
            "$load->{name}: $max_lead_s s before the ceiling nobody waits");
    }
    set_clock($clock += 10);
    return;
}

check_cost(1, sort keys %loads);
reload_with($node, 'snowid.max_lead', '0');
check_cost(0, 'an ID each 0.7 s', 'a row each 0.7 s', 'many IDs');
end_test($node);
