# Central sources: servers whose sequences others draw from.
package SnowidSources;

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::UNIX;
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(ready_source add_source point_at attach give_up batch black_hole attempts_at check_no_connection);

# Has a node know another as the foreign server `name`, which its sequences can be attached to.
sub add_source
{
    my ($node, $source, %options) = @_;
    my $name = $options{name} // 'central';
    my ($host, $port) = ($source->host, $source->port);
    $node->safe_psql($options{dbname} // 'postgres', <<"SQL");
CREATE EXTENSION IF NOT EXISTS dblink;
CREATE EXTENSION IF NOT EXISTS snowid;
CREATE SERVER $name FOREIGN DATA WRAPPER dblink_fdw
  OPTIONS (host '$host', port '$port', dbname 'postgres', connect_timeout '2');
CREATE USER MAPPING FOR PUBLIC SERVER $name;
SQL
    return;
}

# A source that runs, with these sequences, of which a name has options, and a server that knows it as `central`. Options, for either
# (source, node): those of ready_server, of which the source takes no sql.
sub ready_source
{
    my ($sequences, %options) = @_;
    my %source = %{ $options{source} // {} };
    my $conf = delete $source{conf} // '';
    my $source = new_server('source', %source);
    $source->append_conf('postgresql.conf', $conf);
    $source->start;
    $source->safe_psql('postgres', join '', map { "CREATE SEQUENCE $_ $sequences->{$_};" } sort keys %$sequences);
    my $node = ready_server('node', %{ $options{node} // {} });
    add_source($node, $source);
    return ($source, $node);
}

# Has a session make a sequence, where there is none, and attach it to the one of the same name at `central`. Returns what it is answered.
sub attach
{
    my ($session, $sequence) = @_;
    return ask($session, "CREATE SEQUENCE IF NOT EXISTS $sequence; SELECT snowid_segment_attach('$sequence', 'central', '$sequence')");
}

# Has the next number be one that the source allocates: what was allocated before is given up.
sub give_up { my ($session, $sequence) = @_; return ask($session, "SELECT setval('$sequence', last_value, is_called) FROM $sequence") }

# So many numbers, in one line.
sub batch { my ($session, $sequence, $count) = @_; return ask($session, "SELECT string_agg(n::text, ' ') FROM snowid_segment_batch('$sequence', $count) AS n") }

# Has the foreign server be another node from now on.
sub point_at
{
    my ($node, $source, %options) = @_;
    my $name = $options{name} // 'central';
    my ($host, $port) = ($source->host, $source->port);
    $node->safe_psql($options{dbname} // 'postgres',
        "ALTER SERVER $name OPTIONS (SET host '$host', SET port '$port')");
    return;
}

# In place of a node that has crashed, a socket that takes connections and never answers. It is there
# until $node->start, which takes its place, or until it is let go.
sub black_hole
{
    my ($node) = @_;
    my $path = $node->host . '/.s.PGSQL.' . $node->port;
    unlink $path;
    return IO::Socket::UNIX->new(Local => $path, Listen => 4096) // die "$path: $@";
}

# How often somebody has connected to a black hole since it was last asked.
sub attempts_at
{
    my ($hole) = @_;
    my $attempts = 0;
    $hole->blocking(0);
    $attempts++ while $hole->accept;
    return $attempts;
}

# Checks that no session is left at a node, but for the one that looks. One that has just been let go may be
# there for a moment yet.
sub check_no_connection
{
    my ($node, $name) = @_;
    my $count = q(SELECT count(*) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid());
    wait_for(sub { $node->safe_psql('postgres', $count) eq '0' }, "no connection: $name");
    pass($name);
    return;
}

1;
