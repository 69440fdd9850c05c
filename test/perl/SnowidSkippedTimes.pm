# Databases of one server whose clock was ahead. Not part of Snowid: the tests of snowid.return_to_clock() use it.
package SnowidSkippedTimes;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(start_skipping new_database restart_at at ahead future answer_to check_stated check_by_clock check_apart);

my $node;

# Starts the server, whose clock is faked, and returns it.
sub start_skipping
{
    my ($name, %options) = @_;
    $node = ready_server($name, %options);
    return $node;
}

# A database with the extension, and a table for IDs that refuses one that comes again. Shard 1 has issued an ID.
sub new_database
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, 'CREATE EXTENSION snowid; CREATE TABLE ids (id bigint PRIMARY KEY);'
          . 'INSERT INTO ids SELECT snowid_next(1)');
    return;
}

# Restarts the server with the clock so many seconds ahead. UUIDs of all databases go by that one, then.
sub restart_at
{
    my ($seconds) = @_;
    $node->stop;
    set_clock($seconds);
    start_server($node);
    return;
}

# What a new session is answered in a database, as attempt() says it.
sub at { my ($name, $sql) = @_; return attempt($node, "SET snowid.max_wait = '4s'; $sql", dbname => $name) }

# The range from and until so many seconds ahead of the clock.
sub ahead { my @at = map { "clock_timestamp() + interval '$_ s'" } @_; return "tstzmultirange(tstzrange($at[0], $at[1]))" }

# The times of the table's IDs that are ahead of the clock, with a margin.
sub future { my ($margin) = @_; return "snowid.future_times('public.ids', 'id', 'instagram', '$margin')" }

# States which times were used, an expression; by default the table's. Returns 'stated', or the error.
sub answer_to
{
    my ($name, $used) = @_;
    return attempt($node, "SELECT 'stated' FROM snowid.return_to_clock(" . ($used // future('1 minute')) . ')', dbname => $name);
}

sub check_stated
{
    my ($name, $what, $used) = @_;
    is(answer_to($name, $used), 'stated', "$name: $what");
    return;
}

# Checks that IDs go on there by the clock, in a shard that had some and in a new one.
my $shard = 100;

sub check_by_clock
{
    my ($name, $what) = @_;
    $shard++;
    is( at($name,
            "INSERT INTO ids SELECT snowid_next(s) FROM unnest(ARRAY[1, $shard]) AS s RETURNING snowid_timestamp(id) < clock_timestamp() + interval '15 s'"),
        "t\nt", "$name: $what");
    return;
}

# Checks that of two lists of IDs, a line each, none is in both.
sub check_apart
{
    my ($name, $these, $those) = @_;
    my %seen = map { $_ => 1 } split /\n/, $these;
    cmp_ok(scalar(keys %seen), '>', 0, "$name: there are IDs");
    is(join(' ', grep { $seen{$_} } split /\n/, $those), '', "$name: no ID again");
    return;
}

1;
