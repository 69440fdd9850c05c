# A server whose database `app` has the extension, and what three roles do to its settings, each statement in a session of its own:
# `boss` is a superuser, `owner` owns the database, `plain` may draw there.
package SnowidSettings;

use strict;
use warnings;

use Exporter 'import';
use SnowidServers;
use SnowidSessions;
use Test::More;

our @EXPORT = qw(server_with_roles in_session ways check_stored);

sub server_with_roles
{
    my $node = new_server('settings');
    $node->append_conf('postgresql.conf', "timezone = 'UTC'\n");
    $node->start;
    $node->safe_psql('postgres', <<'SQL');
CREATE ROLE owner LOGIN; CREATE ROLE plain LOGIN; CREATE ROLE boss LOGIN SUPERUSER; CREATE DATABASE app OWNER owner; CREATE DATABASE bare;
\c app owner
CREATE EXTENSION snowid;
CREATE SEQUENCE numbers INCREMENT 1000;
CREATE SEQUENCE keyed INCREMENT 1000;
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), n int);
GRANT ALL ON photos, numbers, keyed TO plain;
SELECT snowid.release_shard(77);
SQL
    return $node;
}

# What a statement answers in a new session, after `first`.
sub in_session
{
    my ($node, $user, $first, $sql, $dbname) = @_;
    my $session = open_session($node, user => $user, dbname => $dbname // 'app');
    ask($session, $first) if $first;
    my $answer = ask($session, $sql);
    close_session($session);
    return $answer;
}

# The ways to store a setting. The database's is stored for its sessions of all roles, the others for those of the role.
sub ways { my ($user) = @_; return ('ALTER DATABASE app', "ALTER ROLE $user", "ALTER ROLE $user IN DATABASE app") }

# Stores a shard in a way that works, and looks for it in a new session.
sub check_stored
{
    my ($name, $node, $user, $first, $way) = @_;
    my $shard = sub { return in_session($node, $user, '', 'SELECT snowid_shard(snowid_next())') };
    my @answers = (in_session($node, $user, $first, "$way SET snowid.default_shard = 7"), $shard->(), in_session($node, $user, $first, "$way RESET snowid.default_shard"), $shard->());
    is(join('|', @answers), '|7||0', "$name: $user, $way: stored, and new sessions have it until it is taken back");
    return;
}

1;
