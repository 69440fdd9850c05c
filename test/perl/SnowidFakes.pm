# In place of a central source, what takes connections and never answers.
package SnowidFakes;

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::UNIX;
use POSIX ();
use PostgreSQL::Test::Utils;
use SnowidServers;
use SnowidSources;

our @EXPORT = qw(start_fake end_fake attach_to statement_for);

# The encoding of its database, which is another than the tests' servers have.
my $encoding = 'LATIN2';
my (%running, $ports);
END { kill 'KILL', keys %running }

# Starts one, whose way is "closed" where it does not let clients in; "deaf" where it does, with the encoding that they ask for;
# "foreign" where it does with its own, which clients have it change then; or what is called with each client, one after another.
# point_at() has a node take it for a source.
sub start_fake
{
    my ($way) = @_;
    my ($host, $port) = (PostgreSQL::Test::Utils::tempdir_short(), ++$ports);
    my $listener = IO::Socket::UNIX->new(Local => "$host/.s.PGSQL.$port", Listen => 10) // die $@;
    my $process = fork // die $!;
    if (!$process)
    {
        my @clients;
        while (my $client = $listener->accept)
        {
            push @clients, $client;
            if (ref $way) { $way->($client) }
            elsif ($way ne 'closed') { let_in($client, $way) }
            append_to_file("$host/clients", '.');
        }
        POSIX::_exit(0);
    }
    $running{$process} = 1;
    return bless { host => $host, port => $port, process => $process };
}

sub host { return $_[0]{host} }
sub port { return $_[0]{port} }

# How many clients it has so far.
sub clients { return -s "$_[0]{host}/clients" // 0 }

sub let_in
{
    my ($client, $way) = @_;
    # The client's first message has to be read before it is let in. What it sends next is not answered.
    $client->sysread(my $length, 4) // return;
    $client->sysread(my $message, unpack('N', $length) - 4) // return;
    # Names and values, behind the version of the protocol.
    my %wanted = split /\0/, substr($message, 4);
    my $used = $way eq 'foreign' ? $encoding : $wanted{client_encoding} // $encoding;
    $client->syswrite(join '', map { substr($_, 0, 1) . pack('N', 3 + length) . substr($_, 1) }
          'R' . pack('N', 0), "Sserver_encoding\0$encoding\0", "Sclient_encoding\0$used\0", 'ZI');
    $client->sysread($message, 1) if $way eq 'foreign';
    return;
}

sub end_fake
{
    my ($fake) = @_;
    kill 'KILL', $fake->{process};
    waitpid $fake->{process}, 0;
    delete $running{ $fake->{process} };
    return;
}

# Makes a sequence on both, and a server of that name, to which it is attached.
sub attach_to
{
    my ($node, $source, $sequence) = @_;
    add_source($node, $source, name => $sequence);
    $source->safe_psql('postgres', "CREATE SEQUENCE $sequence INCREMENT 100");
    $node->safe_psql('postgres', "CREATE SEQUENCE $sequence; SELECT snowid_segment_attach('$sequence', '$sequence', '$sequence')");
    return;
}

# What draws so many numbers of it.
sub statement_for { my ($sequence, $count) = @_; return "SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('$sequence', $count) AS n" }

1;
