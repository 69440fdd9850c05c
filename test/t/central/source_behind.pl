# Numbers that were issued here do not come again, wherever the source is: one that is behind is not attached, and where it comes to be behind a
# draw takes nothing and tells how far to set it.

use Snowid;

my ($source, $node) = ready_source({ ship => '', boat => 'INCREMENT 5', part => 'INCREMENT 10', back => 'INCREMENT 10 START 1001', low => 'START 2', wide => 'INCREMENT 10' },
    node => { conf => "snowid.segment_adapt = off\n" });
my $session = open_session($node);
ask($session, q(SET statement_timeout = '1min'));
sub set_source { my ($sequence, $value) = @_; return $source->safe_psql('postgres', "SELECT setval('$sequence', $value)") }

sub check_behind
{
    my ($name, $sequence, $given) = @_;
    my $there = last_value($source, $sequence);
    foreach (1 .. 3)
    {
        is(batch($session, $sequence, 1), 'ERROR 55000', "$name: an error");
        like($session->{err},
            qr/sequence "$sequence" on server "central" is behind sequence "$sequence"\nDETAIL:  Its next block begins at \d+, and numbers up to $given count as allocated to sequence "$sequence"\.\nHINT:  On server "central" use setval\(\) to set the sequence to $given, or/,
            "$name: says how far to set it");
    }
    is(last_value($source, $sequence), $there, "$name: nothing is taken");
    return;
}

# Attached only when the source is set as told.
foreach my $case ([ 'ship', '', 5, 5, 1, 6 ], [ 'boat', 'INCREMENT 1000000000', 3, 1000000000, 5, 1000000005 ])
{
    my ($sequence, $options, $count, $given, $increment, $next) = @$case;
    ask($session, "CREATE SEQUENCE $sequence $options");
    is(batch($session, $sequence, $count), join(' ', 1 .. $count), "$sequence: its own numbers");
    is(attach($session, $sequence), 'ERROR 55000', "$sequence: a new source is not attached");
    like($session->{err}, qr/HINT:  On server "central" use setval\(\) to set the sequence to $given, or/, "$sequence: says how far to set it");
    set_source($sequence, $given - $increment);
    is(attach($session, $sequence), 'ERROR 55000', "$sequence: nor one that is set too low");
    set_source($sequence, $given);
    is(attach($session, $sequence), '', "$sequence: set as told it is");
    is(batch($session, $sequence, 1), $next, "$sequence: it goes on above");
}

# Set back afterwards. Without being called it does not say where it is, before the first number.
set_source('boat', 1);
ask($session, q(SELECT setval('boat', 50000000)));
check_behind('set back', 'boat', 1049999999);
set_source('boat', '2, false');
check_behind('set back, and not called', 'boat', 1049999999);
set_source('boat', '1050000000, false');
is(batch($session, 'boat', 1), '1050000000', 'set right, and not called: it serves at once');
set_source('boat', 1);
ask($session, q(SELECT setval('boat', 1, false)));
is(batch($session, 'boat', 1), '6', 'set back: unless the sequence here is, too');

# The sequence here is set above what the source has come to.
attach($session, 'part');
ask($session, q(SET snowid.segment_adapt = on));
is(batch($session, 'part', 20), join(' ', 1 .. 20), 'allocated at a rate');
my $given = last_value($source, 'part') + 24;
ask($session, "SELECT setval('part', $given); SET snowid.segment_adapt = off");
check_behind('set above', 'part', $given);

# Detached, going on by itself, and attached again.
ask($session, 'CREATE SEQUENCE back INCREMENT 25');
attach($session, 'back');
my @all = split / /, batch($session, 'back', 90);
ask($session, q(SELECT snowid_segment_detach('back')));
push @all, split / /, batch($session, 'back', 300);
is(attach($session, 'back'), 'ERROR 55000', 'attached again: it is behind');
set_source('back', $session->{err} =~ /to set the sequence to (\d+)/);
is(attach($session, 'back'), '', 'set as told: it is attached');
push @all, batch($session, 'back', 1) foreach 1 .. 100;
my %seen = map { $_ => 1 } grep { /^\d+$/ } @all;
is(scalar(keys %seen), 490, 'detached and attached again: none twice');

# Lowered before it is attached: what was issued counts, whatever INCREMENT is.
ask($session, 'CREATE SEQUENCE low INCREMENT 1000');
is(batch($session, 'low', 3), '1 2 3', 'a large INCREMENT');
ask($session, 'ALTER SEQUENCE low INCREMENT 1');
is(attach($session, 'low'), '', 'lowered and attached, by what the sequence says');
check_behind('lowered and attached', 'low', 3);
set_source('low', 3);
is(batch($session, 'low', 1), '4', 'lowered and attached: none again');

# Its own INCREMENT is larger than that there. After a restart only the sequence knows what was issued.
ask($session, 'CREATE SEQUENCE wide INCREMENT 1000');
attach($session, 'wide');
is(batch($session, 'wide', 30), join(' ', 1 .. 30), 'a larger INCREMENT here');
close_session($session);
$node->restart;
$session = open_session($node);
my $reached = last_value($source, 'wide');
is(batch($session, 'wide', 3), join(' ', $reached + 10, $reached + 11, $reached + 12), 'goes on after a restart');
end_test($node, $source);
