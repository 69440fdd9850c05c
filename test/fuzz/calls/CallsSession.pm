# A session of the fuzzer: a process with a connection, which makes up statements and runs them until its time is over.
# It leaves, in files that end with its number: ids, what it was given that must never come again; trace, all that it
# ran; counts, its calls by function; findings, what must not be, with the statement; progress.
package CallsSession;

use strict;
use warnings;

use CallsCatalog;
use CallsDisturbing;
use CallsJudging;
use CallsStatements;
use CallsValues;
use DBI;
use Exporter 'import';
use IO::Handle;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(run_session);

# Runs a session. The settings, a hash: number; role, what it plays: connect, tables, owner, superuser; seed; until, when
# it ends, in Unix time; node, the server; database; dir, for its files; upheaval; wild; stop, a file whose being there
# ends the session.
sub run_session
{
    my (%given) = @_;
    srand $given{seed};
    my $session = {
        %given,
        depth => 0,
        world => {
            role => $given{role},
            database => $given{database},
            upheaval => $given{upheaval},
            wild => $given{wild},
            ids => [],
            later => [],
            functions => [],
            relations => [],
            settings => [],
            views => [],
            canonical => {},
            schema => 'public' },
        told => 0,
        refreshed => 0,
        statements => 0,
        errors => 0,
        drawn => 0 };
    foreach my $file (qw(ids trace findings))
    {
        open $session->{$file}, '>', "$given{dir}/$file.$given{number}" or die "$file: $!";
    }
    local $SIG{__WARN__} = sub { warned($session, @_) };
    if (connect_to($session))
    {
        step($session) while time < $given{until} && !-e $given{stop} && $session->{dbh};
        $session->{dbh}->disconnect if $session->{dbh};
    }
    write_counts($session);
    tell_progress($session);
    return;
}

# Connects, however long that takes, within bounds. A server that is gone for good has crashed, which the log tells.
sub connect_to
{
    my ($session) = @_;
    my $begun = time;
    until (-e $session->{stop})
    {
        my $node = $session->{node};
        my $dbh = DBI->connect(
            'dbi:Pg:dbname=' . $session->{database} . ';host=' . $node->host . ';port=' . $node->port,
            "fuzz_$session->{role}",
            '',
            { AutoCommit => 1, RaiseError => 0, PrintError => 0, PrintWarn => 1, pg_server_prepare => 0 });
        if ($dbh)
        {
            $dbh->{pg_errorlevel} = 2;
            @{$session}{qw(dbh in_transaction failed refreshed)} = ($dbh, 0, 0, 0);
            print { $session->{trace} } "-- connected\n";
            return 1;
        }
        if (time > $begun + 60)
        {
            find($session, 'hang', 'no connection for a minute: ' . ($DBI::errstr // ''), 'CONNECT');
            last;
        }
        sleep 0.1;
    }
    $session->{dbh} = undef;
    return 0;
}

# Runs SQL. Returns its rows, or nothing where it has failed; $session->{state} has the SQLSTATE, empty without an error.
sub run
{
    my ($session, $sql) = @_;
    $session->{state} = '08003';
    my $dbh = $session->{dbh} // return;
    printf { $session->{trace} } "%.3f %s;\n", time, $sql;
    $session->{sql} = $sql;
    my $statement = $dbh->prepare($sql, { pg_direct => 1 });
    my $done = $statement && $statement->execute;
    my $rows = $done && $statement->{NUM_OF_FIELDS} ? $statement->fetchall_arrayref : [];
    my $state = $done ? '' : $dbh->state || 'XXXXX';
    my $message = $done ? '' : $dbh->errstr // '';
    $session->{state} = $state;
    $session->{statements}++;
    tell_progress($session) if time > $session->{told} + 1;
    return $rows if $done;
    $session->{errors}++;
    print { $session->{trace} } "-- $state ", $message =~ s/\n.*//sr, "\n";
    find($session, $state, $message, $sql) if !is_expected($state, $message, $sql, $session->{upheaval});
    look_where_it_is($session);
    return;
}

# After an error: whether the connection is there, and a transaction open. A COMMIT that was cancelled leaves one.
sub look_where_it_is
{
    my ($session) = @_;
    my $is = $session->{dbh}->ping;
    if ($is <= 0)
    {
        eval { $session->{dbh}->disconnect };
        return connect_to($session);
    }
    @{$session}{qw(in_transaction failed)} = ($is > 1, $is == 4);
    $session->{depth} = 0 if $is <= 1;
    return;
}

sub find
{
    my ($session, $what, $message, $sql) = @_;
    my $line = "$what as $session->{role}: $message\n  $sql\n";
    print { $session->{findings} } $line =~ s/\n(?=.)/\n  /gr;
    $session->{findings}->flush;
    return;
}

# Warnings of a resource that was not given back are the server's word for a fault.
sub warned
{
    my ($session, $text) = @_;
    find($session, 'warning', $text, $session->{sql} // '') if is_leak($text);
    return;
}

# What was done, for the line that tells of all sessions.
sub tell_progress
{
    my ($session) = @_;
    my $file = "$session->{dir}/progress.$session->{number}";
    open my $out, '>', "$file.new" or return;
    print $out join(' ', @{$session}{qw(statements errors drawn)}), "\n";
    close $out;
    rename "$file.new", $file;
    $session->{told} = time;
    return;
}

sub write_counts
{
    my ($session) = @_;
    open my $out, '>', "$session->{dir}/counts.$session->{number}" or die $!;
    foreach my $signature (sort keys %{ $session->{counts} })
    {
        my $count = $session->{counts}{$signature};
        print $out join("\t", $signature, $session->{role}, $_ eq '' ? '00000' : $_, $count->{$_}), "\n"
          foreach sort keys %$count;
    }
    close $out;
    return;
}

# Looks at the catalogs anew, since others change what is there.
sub refresh
{
    my ($session) = @_;
    my ($dbh, $world) = @{$session}{qw(dbh world)};
    return if !$dbh;
    $session->{refreshed} = time;
    my $functions = functions_of($dbh) // return;
    return if $dbh->state =~ /^(?:57P0|08)/;
    $world->{functions} = $functions;
    $world->{schema} = extension_schema($dbh) // $world->{schema};
    my $relations = relations_of($dbh);
    $world->{relations} = $relations if $relations && @$relations;
    return if !@$functions;
    # The server knows them once the library is loaded.
    my $settings = settings_of($dbh);
    $world->{settings} = $settings if $settings && @$settings;
    my $views = views_of($dbh);
    $world->{views} = $views if $views && @$views;
    $world->{canonical} = canonical_layouts($dbh, @LAYOUTS) if !%{ $world->{canonical} };
    return;
}

# One thing that a session does.
sub step
{
    my ($session) = @_;
    my $world = $session->{world};
    $world->{in_transaction} = $session->{in_transaction};
    if ($session->{in_transaction})
    {
        return if chance($session->{failed} ? 60 : 22) && bound_transaction($session);
    }
    else
    {
        refresh($session) if time > $session->{refreshed} + (@{ $world->{functions} } ? 4 : 0.3);
        return begin($session) if chance(20);
        return upheave($session)
          if $session->{upheaval}
          && $session->{role} =~ /owner|superuser/
          && chance(@{ $world->{functions} } ? 0.7 : 30);
    }
    return disturb($session) if chance(20) || !@{ $world->{functions} };
    return ask($session, chance(6) ? insert_statement($world) : call_statement($world));
}

sub disturb
{
    my ($session) = @_;
    run($session, $_) foreach disturbing_statement($session->{world});
    return;
}

# Runs a statement that calls, and keeps what it gave.
sub ask
{
    my ($session, $statement) = @_;
    run($session, $_) foreach @{ $statement->{before} // [] };
    foreach my $time (1 .. $statement->{times} // 1)
    {
        my $rows = run($session, $statement->{sql});
        $session->{counts}{$_}{ $session->{state} }++ foreach @{ $statement->{calls} };
        $session->{refreshed} = 0
          if $session->{state} =~ /^(?:42883|3F000|42704)$/ && time > $session->{refreshed} + 0.5;
        keep($session, $statement->{reads}, $rows) if $rows;
    }
    return;
}

sub keep
{
    my ($session, $reads, $rows) = @_;
    foreach my $column (grep { $reads->[$_] } 0 .. $#$reads)
    {
        foreach my $row (@$rows)
        {
            next if !defined $row->[$column];
            my @lines = $reads->[$column]->($row->[$column]);
            print { $session->{ids} } "$_\n" foreach @lines;
            $session->{drawn} += @lines;
        }
    }
    return;
}

sub begin
{
    my ($session) = @_;
    # Not DEFERRABLE: where its wait is cancelled in a subtransaction, PostgreSQL fails an assertion in predicate.c.
    run($session,
        'BEGIN'
          . one_of('', '', '', ' ISOLATION LEVEL SERIALIZABLE', ' ISOLATION LEVEL REPEATABLE READ', ' READ ONLY'));
    @{$session}{qw(in_transaction failed depth)} = (1, 0, 0) if $session->{state} eq '';
    return;
}

# Ends the transaction, or begins or ends a subtransaction. Returns whether it has done so.
sub bound_transaction
{
    my ($session) = @_;
    my $kind = rand 100;
    if ($session->{failed})
    {
        $kind = $session->{depth} && chance(60) ? 45 : 90;
    }
    if ($kind < 40)
    {
        run($session, 'SAVEPOINT s' . ++$session->{depth});
    }
    elsif ($kind < 60)
    {
        return 0 if !$session->{depth};
        my $to = 1 + int rand $session->{depth};
        run($session, "ROLLBACK TO s$to");
        @{$session}{qw(depth failed)} = ($to, 0) if $session->{state} eq '';
    }
    elsif ($kind < 68)
    {
        return 0 if !$session->{depth};
        my $to = 1 + int rand $session->{depth};
        run($session, "RELEASE s$to");
        $session->{depth} = $to - 1 if $session->{state} eq '';
    }
    elsif ($kind < 73)
    {
        prepare_transaction($session);
    }
    else
    {
        run($session, one_of('COMMIT', 'COMMIT', 'ROLLBACK', 'COMMIT AND CHAIN', 'ROLLBACK AND CHAIN'));
        @{$session}{qw(in_transaction failed depth)} = ($session->{sql} =~ /CHAIN/, 0, 0) if $session->{state} eq '';
    }
    return 1;
}

sub prepare_transaction
{
    my ($session) = @_;
    my $name = "fuzz $session->{number} " . ++$session->{prepared};
    run($session, "PREPARE TRANSACTION '$name'");
    return if $session->{state} ne '';
    @{$session}{qw(in_transaction depth)} = (0, 0);
    # Others meet the locks that it keeps.
    for (1 .. int rand 4) { ask($session, call_statement($session->{world})) }
    run($session, one_of('COMMIT', 'ROLLBACK') . " PREPARED '$name'");
    return;
}

# DROP EXTENSION, or CREATE EXTENSION, or both in one transaction, which ends either way.
sub upheave
{
    my ($session) = @_;
    my $is_there = @{ $session->{world}{functions} } > 0;
    my @steps =
      !$is_there ? (create_extension()) : chance(40) ? (drop_extension()) : (drop_extension(), create_extension());
    my $together = chance(50);
    run($session, 'BEGIN') if $together;
    @{$session}{qw(in_transaction failed depth)} = (1, 0, 0) if $together && $session->{state} eq '';
    foreach my $sql (@steps)
    {
        run($session, $sql);
    }
    refresh($session) if !$session->{in_transaction};
    if ($session->{in_transaction})
    {
        # What is called in the transaction that made it.
        for (1 .. int rand 4) { ask($session, call_statement($session->{world})) }
        run($session, one_of('COMMIT', 'COMMIT', 'ROLLBACK'));
        @{$session}{qw(in_transaction failed depth)} = (0, 0, 0) if $session->{state} eq '';
        refresh($session) if !$session->{in_transaction};
    }
    restore($session) if @{ $session->{world}{functions} };
    return;
}

sub restore
{
    my ($session) = @_;
    foreach my $sql (dependent_statements("$session->{dir}/dependents.sql", $session->{world}{schema}))
    {
        run($session, $sql);
    }
    return;
}

1;
