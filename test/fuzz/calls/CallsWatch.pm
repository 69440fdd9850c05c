# Who watches the sessions, and interrupts them: cancels and ends backends at random, and sees to it that each statement
# comes to its end. One that lasts is cancelled, and one that does not heed that hangs.
package CallsWatch;

use strict;
use warnings;

use DBI;
use Exporter 'import';
use POSIX ();
use Time::HiRes qw(sleep time);

our @EXPORT = qw(watch reap);

use constant {
    LONGEST => 8,    # seconds that a statement may take before it is cancelled
    HEEDED => 30,    # seconds in which a cancel has to be heeded, also under load
    SILENT => 90,    # seconds in which a session has to have gone on
};

# Watches until all sessions have ended. Returns what hangs, a text for each; and whether the server is gone. Options:
# node; sessions, a hash of their numbers by their processes; dir, of their files; progress, called now and then.
sub watch
{
    my (%given) = @_;
    my $watching = {
        %given,
        waiting => { %{ $given{sessions} } },
        cancelled => {},
        hanging => [],
        interrupted => 0,
        looked => 0 };
    while (%{ $watching->{waiting} })
    {
        reap($watching->{waiting});
        $given{progress}->();
        if (!look($watching)) { return ($watching->{hanging}, 1) }
        sleep 0.03;
    }
    $watching->{dbh}->disconnect if $watching->{dbh};
    return ($watching->{hanging}, 0);
}

# Takes the processes that have ended out of a hash that has them as keys.
sub reap
{
    my ($waiting) = @_;
    delete $waiting->{$_} foreach grep { waitpid($_, POSIX::WNOHANG()) != 0 } keys %$waiting;
    return;
}

# Returns whether the server is there.
sub look
{
    my ($watching) = @_;
    my $answer = eval {
        # A server that answers nobody hangs as a whole.
        local $SIG{ALRM} = sub { die "the server does not answer\n" };
        alarm 120;
        $watching->{dbh} //= DBI->connect($watching->{node}->connstr('postgres') =~ s/^/dbi:Pg:/r =~ s/ /;/gr,
            undef, undef, { RaiseError => 1, PrintError => 0 });
        interrupt($watching) if time > $watching->{interrupted} + rand 0.3;
        judge($watching) if time > $watching->{looked} + 1;
        alarm 0;
        1;
    };
    my $why = $@;
    alarm 0;
    return 1 if $answer;
    push @{ $watching->{hanging} }, $why if $why =~ /does not answer/;
    $watching->{dbh} = undef;
    return is_alive($watching->{node}) && $why !~ /does not answer/;
}

sub is_alive
{
    my ($node) = @_;
    open my $file, '<', $node->data_dir . '/postmaster.pid' or return 0;
    my ($pid) = <$file> =~ /(\d+)/;
    return kill 0, $pid;
}

sub interrupt
{
    my ($watching) = @_;
    my $how = rand 60 < 1 ? 'pg_terminate_backend' : 'pg_cancel_backend';
    $watching->{dbh}->selectrow_array(
        "SELECT $how(pid) FROM pg_stat_activity WHERE usename ~ '^fuzz_' AND state = 'active' ORDER BY random() LIMIT 1"
    );
    $watching->{interrupted} = time;
    return;
}

# Cancels what lasts, and finds what goes on all the same.
sub judge
{
    my ($watching) = @_;
    $watching->{looked} = time;
    my $lasting = $watching->{dbh}->selectall_arrayref(<<"SQL", { Slice => {} });
SELECT pid, usename, query_start, COALESCE(wait_event_type || ' ' || wait_event, 'no wait') AS waits, left(query, 2000) AS query,
    pg_cancel_backend(pid) AS cancelled
  FROM pg_stat_activity
 WHERE usename ~ '^fuzz_' AND state IN ('active', 'fastpath function call') AND query_start < clock_timestamp() - interval '@{[LONGEST]} s'
SQL
    my %now;
    foreach my $one (@$lasting)
    {
        my $which = "$one->{pid} $one->{query_start}";
        my $since = $now{$which} = $watching->{cancelled}{$which} // time;
        next if $since eq 'told' || time < $since + HEEDED;
        push @{ $watching->{hanging} },
            "a statement of $one->{usename} does not heed a cancel for "
          . HEEDED
          . " s, $one->{waits}: $one->{query}\n"
          . stack_of($one->{pid});
        $watching->{dbh}->do("SELECT pg_terminate_backend($one->{pid})");
        $now{$which} = 'told';
    }
    $watching->{cancelled} = \%now;
    while (my ($process, $number) = each %{ $watching->{waiting} })
    {
        next if time < ((stat "$watching->{dir}/progress.$number")[9] // time) + SILENT;
        push @{ $watching->{hanging} }, "session $number has done nothing for " . SILENT . ' s';
        kill 'KILL', $process;
    }
    return;
}

# Where a process is, if there is a debugger.
sub stack_of
{
    my ($pid) = @_;
    return join '', grep { /^#/ } split /^/, `gdb -p $pid -batch -ex bt 2>/dev/null` // '';
}

1;
