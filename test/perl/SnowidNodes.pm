# Nodes and registries: what nodes are asked for, requests as nodes send them, and what stands between a node and its registry.
package SnowidNodes;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use SnowidServers;
use SnowidSessions;
use SnowidSources;
use Test::More;

our @EXPORT = qw(add_members number_of check_node join_as message_of problem_of claim_of request stand_between stand_aside done_apart pass_time
  start_in_time new_copy cut_off start_taking_over take_over);

# Databases of a server, which may join a registry.
sub add_members
{
    my ($node, $registry, @names) = @_;
    foreach my $name (@names)
    {
        $node->safe_psql('postgres', "CREATE DATABASE $name");
        add_source($node, $registry, name => 'registry', dbname => $name);
    }
    return;
}

# What a node is answered: its number, twice; that of a check, and of joining; and what a statement says beside.
sub number_of { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid_default_shard(), snowid_shard(snowid_next())', dbname => $dbname) }
sub check_node { my ($node, $dbname) = @_; return attempt($node, 'SELECT snowid.check_node()', dbname => $dbname) }
sub join_as { my ($node, $name, $dbname) = @_; return attempt($node, "SELECT snowid.join('registry', '$name')", dbname => $dbname) }
sub message_of { my ($node, $sql, $dbname) = @_; return ($node->psql($dbname // 'postgres', $sql))[2] }
sub problem_of { my ($node, $dbname) = @_; return attempt($node, 'SELECT problem FROM snowid.node_status', dbname => $dbname) }

# A claim of a number, and of nobody else.
sub claim_of { return sprintf '00000000-0000-4000-8000-%012d', $_[0] }

my @arguments = qw(request registry_identity claim node_number exchange token next node_name database system_identifier database_oid
  timeline max_lead);
my @answers = qw(verdict held_claim held_number held_exchange held_token held_max_lead is_promoted identity);
my @types = qw(text text uuid bigint bigint bigint bigint text text bigint bigint bigint bigint);
my %default = (
    registry_identity => undef, claim => claim_of(1), node_number => 0, exchange => 0, token => 0, next => 0, node_name => 'mallory',
    database => 'd', system_identifier => 1, database_oid => 1, timeline => 1, max_lead => 0);

# A statement with a request to this very registry, and to no other, unless an identity is named.
sub request
{
    my ($request, %options) = @_;
    my %value = (%default, ($request =~ /^(?:look|claim)$/ ? () : (next => 17)), %options, request => $request);
    my $identity = defined $value{registry_identity} ? "'$value{registry_identity}'" : 'i.identity';
    my $list = join ', ', map { $_ eq 'registry_identity' ? $identity : "'$value{$_}'" } @arguments;
    my $from = defined $value{registry_identity} ? '' : q( FROM (SELECT identity FROM snowid.register('look', '', gen_random_uuid(), 0, 0, 0, 0, 'n', 'd', 0, 0, 0, 0)) AS i,);
    return 'SELECT r.verdict, r.held_number' . ($from || ' FROM') . " snowid.register($list) AS r";
}

# Has a registry do something ($before, $after: PL/pgSQL) before and after it is asked. Its answer is in variables of its columns' names.
sub stand_between
{
    my ($registry, $before, $after, $dbname) = @_;
    my $parameters = join ', ', (map { "$arguments[$_] $types[$_]" } 0 .. $#arguments), map { "OUT $_ text" } @answers;
    my ($columns, $values) = (join(', ', @answers), join(', ', @arguments));
    stand_aside($registry, $dbname);
    $registry->safe_psql($dbname // 'postgres', <<"SQL");
CREATE SCHEMA IF NOT EXISTS away;
ALTER FUNCTION snowid.register SET SCHEMA away;
CREATE FUNCTION snowid.register($parameters) LANGUAGE plpgsql AS \$\$
#variable_conflict use_variable
BEGIN
  $before
  SELECT @{[ join ', ', map { "a.$_" } @answers ]} INTO $columns FROM away.register($values) AS a;
  @{[ $after // '' ]}
END \$\$
SQL
    return;
}

# For stand_between: does what is asked for in a transaction of its own, so that only the answer can be lost.
sub done_apart
{
    my ($registry, $dbname) = @_;
    my $self = $registry->connstr($dbname // 'postgres') =~ s{'}{''}gr;
    $registry->safe_psql($dbname // 'postgres', 'CREATE EXTENSION IF NOT EXISTS dblink');
    return "PERFORM * FROM public.dblink('$self', format('SELECT verdict FROM away.register(@{[ join ', ', ('%L') x @arguments ]})', @{[ join ', ', @arguments ]})) AS d(v text);";
}

sub stand_aside
{
    my ($registry, $dbname) = @_;
    $registry->safe_psql($dbname // 'postgres', <<'SQL');
DO $$ BEGIN
  IF to_regproc('away.register') IS NOT NULL THEN
    DROP FUNCTION snowid.register;
    ALTER FUNCTION away.register SET SCHEMA snowid;
  END IF;
END $$
SQL
    return;
}

# Clocks of all servers go on together, by hand, while somebody waits for them.
my $clock = 0;
sub pass_time { set_clock($clock += $_[0] // 14); return }
sub start_in_time { my ($node) = @_; set_clock($clock, $node); start_server($node); return $node }

# A copy of all files of a server, not started, that has no part in its archive.
my $copies = 0;

sub new_copy
{
    my ($node, %options) = @_;
    my $name = 'copy' . ++$copies;
    $node->backup($name);
    my $copy = PostgreSQL::Test::Cluster->new($name);
    $copy->init_from_backup($node, $name, %options);
    $copy->append_conf('postgresql.conf', "archive_mode = off\n");
    return $copy;
}

# Has a standby hear no more of its primary.
sub cut_off
{
    my ($standby, $primary) = @_;
    $standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
    $standby->reload;
    my $count = "SELECT count(*) FROM pg_stat_replication WHERE application_name = '" . $standby->name . q(');
    wait_for(sub { $primary->safe_psql('postgres', $count) eq '0' }, 'the standby to be cut off');
    return;
}

# A session that takes a number over, and waits until all that the other server may have issued is past, or has failed.
sub start_taking_over
{
    my ($node, $dbname) = @_;
    my $session = open_session($node, dbname => $dbname);
    start_asking($session, 'SELECT snowid.take_over_node()');
    wait_for(sub { is_answered($session) || $session->{err} =~ /NOTICE:.*waiting until/ }, 'the take-over to wait');
    return $session;
}

# Has a node take over, while time passes.
sub take_over
{
    my ($node, $dbname) = @_;
    my $session = start_taking_over($node, $dbname);
    pass_time() unless is_answered($session);
    my $answer = answer($session);
    close_session($session);
    return $answer;
}

1;
