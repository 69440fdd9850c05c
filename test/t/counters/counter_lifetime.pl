# Counters: what shared memory knows of a sequence lives for as long as any session can reach it, and
# is given to nobody else before. The fault: a transaction that has dropped sequences takes them for
# unused, frees what others draw from, and rolls back; and whoever gets that memory shares it with them.
# And what nobody uses gives way where there is no more room, of other databases too, without a number
# that comes twice.

use strict;
use warnings;

use File::Spec;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('lifetime');
$node->start;
my @databases = qw(postgres other third fourth fifth);
$node->safe_psql('postgres', "CREATE DATABASE $_") foreach @databases[ 1 .. 4 ];
$node->safe_psql($_, 'CREATE EXTENSION snowid') foreach @databases;
my %next = (section => sub { "snowid_section_next('$_[0]', 1)" }, segment => sub { "snowid_segment_next('$_[0]')" });

# All numbers that sessions got, by database and sequence, and how many of them came again.
my (%seen, $repeated);

# Has a session draw from a sequence, so many times. Returns the last answer.
sub take
{
    my ($session, $dbname, $kind, $sequence, $times) = @_;
    my $number;
    foreach (1 .. $times)
    {
        $number = ask($session, 'SELECT ' . $next{$kind}->($sequence));
        return $number if $number !~ /^\d+$/;
        $repeated++ if $seen{"$dbname.$sequence"}{$number}++;
    }
    return $number;
}

sub make_sequences
{
    my ($dbname, @names) = @_;
    $node->safe_psql($dbname, join '; ',
        map { "CREATE SEQUENCE $_ INCREMENT 100; GRANT USAGE ON SEQUENCE $_ TO PUBLIC" } @names);
    return;
}

# 1. Sequences that a transaction drops and then does not, while others draw from them. Here so few
# counters fit that those of dropped sequences are looked for at each new one.
my %low = (max_counters => 16, max_counters_of_database => 4);
lower_bounds($node, $_, %low) foreach @databases;
foreach my $kind ('section', 'segment')
{
    foreach my $heir ('postgres', 'other')
    {
        $node->restart;
        $repeated = 0;
        my $name = "a $kind, with another one made in $heir";
        my @names = map { "${kind}_${heir}_$_" } 1 .. 4;
        make_sequences('postgres', @names, map { "fresh_${kind}_${heir}_$_" } 1 .. 2);
        my ($using, $dropping) = map { open_session($node) } 1 .. 2;
        my $inheriting = open_session($node, dbname => $heir);
        my $heirs_own = $heir eq 'other' ? "heir_$kind" : "fresh_${kind}_${heir}_2";
        make_sequences('other', $heirs_own) if $heir eq 'other';
        take($using, 'postgres', $kind, $_, 3) foreach @names;
        ask($dropping, 'BEGIN');
        ask($dropping, "DROP SEQUENCE $_") foreach @names;
        # The database may have four, so one of them would have to go.
        is(take($dropping, 'postgres', $kind, "fresh_${kind}_${heir}_1", 1), 'ERROR 53400', "$name: nothing goes that is in use");
        foreach my $turn (1 .. 3)
        {
            take($inheriting, $heir, $kind, $heirs_own, 1);
            ask($dropping, 'ROLLBACK') if $turn == 1;
            take($using, 'postgres', $kind, $_, 2) foreach @names;
        }
        take($_, 'postgres', $kind, $names[0], 2) foreach $using, $dropping, $using;
        is($repeated, 0, "$name: none twice");
        close_session($using, $dropping, $inheriting);
    }
}
$node->restart;

# 2. All at once: sessions that draw from many sequences, in transactions of their own, while others drop
# them all, draw from new ones and roll back, and others yet make and drop their own.
lower_bounds($node, $_) foreach @databases;
$node->restart;
my $scratch = File::Spec->rel2abs(PostgreSQL::Test::Utils::tempdir());
my @names = map { "crowded_$_" } 1 .. 40;
make_sequences('postgres', @names);

# Starts a client that runs statements one by one. Its output goes to a file.
my $scripts = 0;

sub run_script
{
    my (@statements) = @_;
    my $file = "$scratch/script" . $scripts++;
    append_to_file("$file.sql", join('', map { "$_;\n" } @statements));
    return {
        file => $file,
        run => IPC::Run::start(
            [ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$file.sql" ],
            '<', \undef, '>', $file, '2>', "$file.err")
    };
}
srand(4711);
my @drawing = map {
    run_script(map { my $name = $names[ rand @names ]; "SELECT '$name', snowid_section_next('$name', 1 + n % 3), 1 + n % 3 FROM generate_series(1, 3) n" } 1 .. 1000)
} 1 .. 3;
my @dropping = map {
    my $number = $_;
    run_script(
        map {
            my $fresh = "fresh_${number}_$_";
            ('BEGIN', 'DROP SEQUENCE ' . join(', ', @names), "CREATE SEQUENCE $fresh INCREMENT 100",
                "SELECT '$fresh', snowid_section_next('$fresh', n), n FROM generate_series(1, 300) n", 'ROLLBACK')
        } 1 .. 30)
} 1 .. 2;
my @making = run_script(
    map {
        ("CREATE SEQUENCE brief_$_ INCREMENT 100", "SELECT 'brief_$_', snowid_section_next('brief_$_', n % 200), n % 200 FROM generate_series(1, 400) n",
            "DROP SEQUENCE brief_$_")
    } 1 .. 60);
finish(@drawing, @dropping, @making);
my (%drawn, $again);
foreach my $session (@drawing, @dropping, @making)
{
    is(slurp_file("$session->{file}.err"), '', 'a client of the crowd ends well');
    # What a transaction drew from a sequence that it made and rolled back is nobody's.
    foreach my $line (@{ ids($session) })
    {
        my ($sequence, $number, $key) = split /\|/, $line;
        $again++ if $drawn{"$sequence.$key"}{$number}++;
    }
}
is($again // 0, 0, 'the crowd: none twice');
is(scalar(map { %{ $drawn{$_} } ? 1 : () } grep { /^crowded/ } keys %drawn), 120, 'the crowd: all were drawn from');

# 3. Counters that nobody uses, of living databases: they give way, those in use do not. Four databases
# have all that there is; each may have 4, and the server 16.
lower_bounds($node, $_, %low) foreach @databases;
$node->restart;
$repeated = 0;
%seen = ();
my %kind = map { ("kept_$_" => $_ % 2 ? 'section' : 'segment') } 1 .. 5;
make_sequences($_, sort keys %kind) foreach @databases;
my %session = map { $_ => open_session($node, dbname => $_) } @databases;

sub fill
{
    my ($name, $dbname, $from, $to) = @_;
    my @answers = map { take($session{$dbname}, $dbname, $kind{"kept_$_"}, "kept_$_", 3) } $from .. $to;
    is(scalar(grep { /^\d+$/ } @answers), 1 + $to - $from, "$name: counters $from to $to of $dbname");
    return;
}

sub check_refused
{
    my ($name, $dbname, $number, $message) = @_;
    is(take($session{$dbname}, $dbname, $kind{"kept_$number"}, "kept_$number", 1), 'ERROR 53400', "$name: refused in $dbname");
    like($session{$dbname}{err}, $message, "$name: with a message");
    return;
}
fill('in use', $_, 1, 4) foreach @databases[ 0 .. 3 ];
check_refused('in use', 'other', 5, qr/too many segments and sections are in use\nDETAIL:  This database has 4, .*\nHINT:/);
check_refused('in use', 'fifth', 1, qr/too many segments and sections are in use\nDETAIL:  The server has 16, .*\nHINT:/);
# Once one of those who use them is gone, though its database is not.
close_session($session{third});
wait_for(sub { take($session{fifth}, 'fifth', $kind{kept_1}, 'kept_1', 1) =~ /^\d+$/ }, 'counters of a living database to give way');
fill('cleared', 'fifth', 2, 4);
check_refused('full again', 'fifth', 5, qr/This database has 4, /);
# Those that stayed in use, and those that were cleared, go on.
fill('kept', $_, 1, 4) foreach 'postgres', 'other', 'fourth';
close_session($session{fifth});
$session{third} = open_session($node, dbname => 'third');
foreach my $number (1 .. 4)
{
    wait_for(sub { take($session{third}, 'third', $kind{"kept_$number"}, "kept_$number", 1) =~ /^\d+$/ }, 'room for those that were cleared');
}
fill('come back', 'third', 1, 4);
is($repeated, 0, 'cleared and kept: none twice');
close_session(values %session);

$node->stop;
check_log($node);
done_testing();
