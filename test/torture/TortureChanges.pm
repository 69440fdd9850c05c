# A session of the torture that changes what others draw from: the extension goes and comes, in a transaction or in two
# statements; the ceiling's sequence and users' sequences are altered and set; a shard is released and accepted. What is
# done is what guarantees.md promises something of, so nothing is set back, and no ceiling is replaced that may be the only
# one to know of wild times.
package TortureChanges;

use strict;
use warnings;

use Exporter 'import';
use Time::HiRes qw(sleep);
use TortureKinds;
use TortureSession;

our @EXPORT = qw(run_changes);

my $moving = 8191;

# Runs a session that changes things. The settings are those of run_session, and: databases, by character; is_lasting,
# whether the server stays up; is_rewound, whether there are wild times that are known.
sub run_changes
{
    my $session = begin_session(@_);
    my %databases = %{ $session->{databases} };
    while (is_on($session))
    {
        my $character = pick('plain', 'counters');
        if (!$session->{dbh} || $session->{character} ne $character)
        {
            eval { $session->{dbh}->disconnect } if $session->{dbh};
            delete $session->{dbh};
            @{$session}{qw(character database)} = ($character, $databases{$character});
            connect_session($session) or sleep 0.02;
            next;
        }
        $character eq 'plain' ? change_ids($session) : change_counters($session);
        run($session, 'ROLLBACK') if $session->{dbh} && $session->{dbh}->ping > 2;
        sleep 0.03 * rand;
    }
    # What is to last is left whole.
    if ($session->{is_lasting}) { have_extension($session, $databases{plain}) }
    end_session($session);
    return;
}

sub have_extension
{
    my ($session, $database) = @_;
    foreach (1 .. 20)
    {
        @{$session}{qw(character database)} = ('plain', $database);
        eval { $session->{dbh}->disconnect } if $session->{dbh};
        delete $session->{dbh};
        return if connect_session($session) && run($session, 'SET statement_timeout = 0; CREATE EXTENSION IF NOT EXISTS snowid');
        sleep 0.1;
    }
    return;
}

my %id_changes = (
    replace_in_transaction => \&replace_in_transaction, replace_apart => \&replace_apart, alter_ceiling => \&alter_ceiling,
    set_ceiling_lower => \&set_ceiling_lower, set_ceiling => \&set_ceiling, move_shard => \&move_shard,
    release_and_roll_back => \&release_and_roll_back);
my @id_changes = (qw(replace_in_transaction alter_ceiling move_shard), sort keys %id_changes);

sub change_ids
{
    my ($session) = @_;
    my $change = pick(@id_changes);
    return if $session->{is_rewound} && $change eq 'replace_apart';
    $session->{counts}{$change}++ if try($session, sub { $id_changes{$change}->($session) });
    return;
}

# A transaction of these statements. It may draw before the first, and gets no IDs after one that alters or drops the ceiling.
# How it ends: one that has replaced a ceiling which knows of wild times is rolled back.
sub transact
{
    my ($session, @statements) = @_;
    my $dbh = $session->{dbh};
    $dbh->do('BEGIN');
    draw_something($session) foreach 1 .. int rand 3;
    foreach my $statement (@statements)
    {
        $dbh->do($statement);
        next if $statement =~ /^(?:DROP|SAVEPOINT|ROLLBACK)/;
        $dbh->do('SAVEPOINT refused');
        if (eval { $dbh->do('SELECT snowid_next(0)'); 1 })
        {
            print { $session->{findings} } "an ID in a transaction that has done: $statement\n";
        }
        elsif ($dbh->state ne '55000') { die $@ }
        $dbh->do('ROLLBACK TO refused');
    }
    $dbh->do($session->{is_rewound} || chance(0.5) ? 'ROLLBACK' : 'COMMIT');
    return;
}

# Has the server know the ceiling: what is dropped before anybody has looked since a start is lost, as guarantees.md has it.
# Who is refused has looked.
sub look
{
    my ($session) = @_;
    my $dbh = $session->{dbh};
    eval { $dbh->do('SELECT snowid_next(0)'); 1 } or $dbh->state eq 'SN001' or die $@;
    return;
}

sub replace_in_transaction
{
    my ($session) = @_;
    look($session);
    my @again = ('DROP EXTENSION snowid', 'CREATE EXTENSION snowid');
    return transact($session, 'SAVEPOINT a', @again, 'ROLLBACK TO a', 'ALTER SEQUENCE snowid_internal.ceiling CACHE 1') if chance(0.2);
    return transact($session, @again);
}

# In between, a crash would leave no ceiling, which guarantees.md does not cover.
sub replace_apart
{
    my ($session) = @_;
    return if !$session->{is_lasting};
    look($session);
    $session->{dbh}->do('DROP EXTENSION snowid');
    sleep 0.02 * rand;
    try($session, sub { $session->{dbh}->do('CREATE EXTENSION IF NOT EXISTS snowid') }) or have_extension($session, $session->{database});
    return;
}

sub alter_ceiling
{
    my ($session) = @_;
    return transact($session, 'ALTER SEQUENCE snowid_internal.ceiling INCREMENT BY ' . (1 + int rand 9));
}

sub set_ceiling_lower
{
    my ($session) = @_;
    my $seconds = pick(1, 5000, 1_000_000);
    $session->{dbh}->do('SELECT setval(\'snowid_internal.ceiling\', (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ' . $seconds * 1000 . ')');
    return;
}

# Above all that others raise it to meanwhile. Whoever comes then finds it, and draws above.
sub set_ceiling
{
    my ($session) = @_;
    return if chance(0.8);
    my ($value) = $session->{dbh}
      ->selectrow_array('SELECT setval(\'snowid_internal.ceiling\', (extract(epoch FROM greatest(clock_timestamp(), snowid_ceiling())) * 1000)::bigint + 7000)');
    eval { $session->{dbh}->disconnect };
    delete $session->{dbh};
    return if !connect_session($session);
    $session->{dbh}->do(q(SET snowid.max_lead = '20s'));
    $session->{lead} = 20;
    my $from = monotonic();
    my ($id) = $session->{dbh}->selectrow_array('SELECT snowid_next(0)');
    record_ids($session, 'instagram', 0, $from, $id);
    my $layout = $LAYOUTS{instagram};
    print { $session->{findings} } "snowid_internal.ceiling was set to $value, and a new session has drawn $id\n"
      if time_of($layout, $id) < $value / 1000 - 0.001;
    eval { $session->{dbh}->disconnect };
    delete $session->{dbh};
    return;
}

# A shard is released, refuses, and is accepted: then it goes on above what it was released at. It may have been left
# released by a crash.
sub move_shard
{
    my ($session) = @_;
    my $dbh = $session->{dbh};
    my $released = sub { $dbh->selectrow_array("SELECT id FROM snowid.released_shards WHERE shard = $moving") };
    my ($id) = $released->();
    if (!defined $id)
    {
        draw_moving($session);
        ($id) = $dbh->selectrow_array("SELECT snowid.release_shard($moving, 'instagram', 'elsewhere')");
    }
    my $drawn = eval { $dbh->selectrow_array("SELECT snowid_next($moving)") };
    print { $session->{findings} } "shard $moving was released at $id, and gave $drawn\n" if defined $drawn && defined $released->();
    my $from = monotonic();
    # Its own ID is refused: another server may have accepted that.
    $dbh->do("SELECT snowid.accept_shard($moving, snowid_encode(greatest(clock_timestamp(), snowid_timestamp($id) + interval '1 ms'), $moving, 0))");
    printf { $session->{numbers} } "%s\t%.6f\t%.6f\tfloor\t%s\n", "$session->{database}/instagram/$moving", $from, monotonic(), $id;
    draw_moving($session);
    return;
}

sub draw_moving
{
    my ($session) = @_;
    my $from = monotonic();
    record_ids($session, 'instagram', $moving, $from, $session->{dbh}->selectrow_array("SELECT snowid_next($moving)"));
    return;
}

sub release_and_roll_back
{
    my ($session) = @_;
    my $dbh = $session->{dbh};
    return if defined $dbh->selectrow_array("SELECT id FROM snowid.released_shards WHERE shard = $moving");
    draw_moving($session);
    $dbh->do('BEGIN');
    $dbh->do("SELECT snowid.release_shard($moving)");
    $dbh->do('ROLLBACK');
    draw_moving($session);
    return;
}

# A sequence is moved ahead, by more than all that others take meanwhile; and nextval by hand, which gives a number as well.
sub change_counters
{
    my ($session) = @_;
    my $seq = pick('seg_busy', 'seg_small', 'sec_keys');
    my $change = pick(qw(nextval nextval setval restart increment rolled_back));
    my $dbh = $session->{dbh};
    # What these have answered lasts as long as their transactions do.
    run($session, 'SET synchronous_commit = on') or return;
    try($session, sub {
        my $from = monotonic();
        if ($change eq 'nextval')
        {
            return if $seq eq 'sec_keys';
            my ($number) = $dbh->selectrow_array("SELECT nextval('$seq')");
            record($session, "$session->{database}/$seq", $from, "$number:1");
        }
        elsif ($change eq 'setval')
        {
            record_floor($session, $seq, $from, $dbh->selectrow_array("SELECT setval('$seq', (SELECT last_value FROM $seq) + 5000000)"));
        }
        elsif ($change eq 'increment')
        {
            # Twice what it was at most, and back with a restart ahead of all.
            my ($was) = $dbh->selectrow_array("SELECT increment_by FROM pg_sequences WHERE sequencename = '$seq'");
            if ($was < 5000) { $dbh->do("ALTER SEQUENCE $seq INCREMENT BY " . 2 * $was) }
            else { restart($session, $seq, 100) }
        }
        elsif ($change eq 'restart') { restart($session, $seq) }
        else
        {
            $dbh->do('BEGIN');
            $dbh->do("ALTER SEQUENCE $seq RESTART WITH 1");
            $dbh->do('ROLLBACK');
        }
        $session->{counts}{"counter_$change"}++;
    });
    return;
}

sub restart
{
    my ($session, $seq, $increment) = @_;
    my $dbh = $session->{dbh};
    $dbh->do('BEGIN');
    my ($last) = $dbh->selectrow_array("SELECT last_value FROM $seq");
    my $first = $last + 5_000_000;
    $dbh->do("ALTER SEQUENCE $seq RESTART WITH $first" . ($increment ? " INCREMENT BY $increment" : ''));
    my $from = monotonic();
    $dbh->do('COMMIT');
    record_floor($session, $seq, $from, $first - 1);
    return;
}

# From now on numbers are above this one; of a section those of all keys.
sub record_floor
{
    my ($session, $seq, $from, $value) = @_;
    printf { $session->{numbers} } "%s\t%.6f\t%.6f\tfloor\t%s\n", "$session->{database}/$seq", $from, monotonic(), $value
      if $seq ne 'sec_keys';
    return;
}

1;
