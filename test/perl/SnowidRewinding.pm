# Databases of one server that a clock runs wild in. Not part of Snowid: the tests of snowid_rewind() use it.
package SnowidRewinding;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(start_rewinding make at check_apart);

my $node;

# Starts the server, whose clock is faked, and returns it.
sub start_rewinding
{
    my ($name) = @_;
    $node = new_server($name);
    start_server($node);
    return $node;
}

# A database with the extension, in which an ID was drawn.
sub make
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, 'CREATE EXTENSION snowid; SELECT snowid_next(1)');
    return;
}

# What a new session is answered there, as attempt() says it.
sub at { my ($name, $sql) = @_; return attempt($node, "SET snowid.max_wait = '4s'; $sql", dbname => $name) }

# Checks that of two lists of IDs, a line each, none is in both.
sub check_apart
{
    my ($name, $these, $those) = @_;
    my %seen = map { $_ => 1 } split /\n/, $these;
    is(join(' ', grep { $seen{$_} } split /\n/, $those), '', "$name: no ID again");
    return;
}

1;
