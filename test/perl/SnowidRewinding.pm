# Databases of one server in which a clock runs wild. Not part of Snowid: the tests of snowid.return_to_clock() use it.
package SnowidRewinding;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(start_rewinding make at say_wild told goes_on check_apart);

my $node;

# Starts the server, whose clock is faked, and returns it.
sub start_rewinding
{
    my ($name, %options) = @_;
    my $conf = delete $options{conf} // '';
    $node = new_server($name, %options);
    $node->append_conf('postgresql.conf', $conf);
    start_server($node);
    return $node;
}

# A database with the extension, and a table for IDs that refuses one that comes again. An ID was drawn.
sub make
{
    my ($name) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $name");
    $node->safe_psql($name, 'CREATE EXTENSION snowid; CREATE TABLE ids (id bigint PRIMARY KEY);'
          . 'INSERT INTO ids SELECT snowid_next(1)');
    return;
}

# What a new session is answered there, as attempt() says it.
sub at { my ($name, $sql) = @_; return attempt($node, "SET snowid.max_wait = '4s'; $sql", dbname => $name) }

# Says there that these times are wild, an expression; by default those of the table, with a margin.
sub say_wild
{
    my ($name, $wild, $more) = @_;
    $wild //= "snowid.future_times('public.ids'::regclass, 'id'::name, 'instagram'::public.snowid_layout, '1 minute'::interval)";
    $more //= '';
    return attempt($node, "SELECT 'told' FROM snowid.return_to_clock($wild) $more", dbname => $name);
}

# Checks that it can be said.
sub told
{
    my ($name, $what, $wild) = @_;
    is(say_wild($name, $wild), 'told', "$name: $what");
    return;
}

# Checks that IDs go on there by the clock, in a shard that had some and in a new one.
my $shard = 100;

sub goes_on
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
