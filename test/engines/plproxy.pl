# PL/Proxy: a row is made on any of three servers, by a function that draws on the server that it runs on; and it
# is found again by its ID alone, since the ID holds the server's number. Many rows are asked for of all servers
# at once, in the order of time.
#
# Needs: postgresql-MAJOR-plproxy

use strict;
use warnings;

use Snowid;
use Test::More;

# Three databases stand for three servers, since each has ticks and a ceiling of its own. PL/Proxy counts its
# partitions from 0 on, and has as many as a power of 2: the fourth is one of the three again. Shards are the
# numbers of servers, and so of partitions.
my $node = new_server('plproxy');
my ($host, $port) = ($node->host, $node->port);
$node->append_conf('postgresql.conf', "max_connections = 30\n");
$node->start;
my @servers = qw(s0 s1 s2);
foreach my $number (0 .. $#servers)
{
    my $server = $servers[$number];
    $node->safe_psql('postgres', "CREATE DATABASE $server");
    $node->safe_psql('postgres', "ALTER DATABASE $server SET snowid.default_shard = $number");
    $node->safe_psql($server, <<'SQL');
CREATE EXTENSION snowid;
CREATE TABLE users (id bigint PRIMARY KEY DEFAULT snowid_next(), name text NOT NULL);
CREATE FUNCTION add_user(name text) RETURNS bigint LANGUAGE sql AS 'INSERT INTO users (name) VALUES ($1) RETURNING id';
CREATE FUNCTION user_name(id bigint) RETURNS text LANGUAGE sql AS 'SELECT name FROM users WHERE users.id = $1';
CREATE FUNCTION all_users() RETURNS SETOF users LANGUAGE sql AS 'SELECT * FROM users';
SQL
}
$node->safe_psql('postgres', 'CREATE DATABASE proxy');
$node->safe_psql('proxy', <<"SQL");
CREATE EXTENSION snowid;
CREATE EXTENSION plproxy;
CREATE SERVER users FOREIGN DATA WRAPPER plproxy OPTIONS (
  p0 'host=$host port=$port dbname=s0', p1 'host=$host port=$port dbname=s1',
  p2 'host=$host port=$port dbname=s2', p3 'host=$host port=$port dbname=s0');
CREATE USER MAPPING FOR PUBLIC SERVER users OPTIONS (user 'postgres');
CREATE TYPE "user" AS (id bigint, name text);
CREATE FUNCTION add_user(name text) RETURNS bigint LANGUAGE plproxy AS \$\$
  CLUSTER 'users';
  RUN ON hashtext(name);
\$\$;
CREATE FUNCTION user_name(id bigint) RETURNS text LANGUAGE plproxy AS \$\$
  CLUSTER 'users';
  RUN ON snowid_shard(id);
\$\$;
CREATE FUNCTION all_users() RETURNS SETOF "user" LANGUAGE plproxy AS \$\$
  CLUSTER 'users';
  RUN ON ALL;
\$\$;
SQL

# Several sessions add users at once, where their names belong. Which server that is, the ID tells.
my @sessions = map { open_session($node, dbname => 'proxy') } 1 .. 3;
$node->safe_psql('proxy', 'CREATE TABLE added (id bigint, name text)');
start_asking($sessions[$_], "INSERT INTO added SELECT add_user(name), name FROM (SELECT 'user $_.' || n AS name FROM generate_series(1, 200) n) u")
  foreach 0 .. 2;
is(answer($_), '', 'users are added') foreach @sessions;
is($node->safe_psql('proxy', 'SELECT count(*), count(DISTINCT id) FROM added'), '600|600', 'no ID is there twice');
foreach my $number (0 .. $#servers)
{
    my $kept = 'SELECT count(*), min(snowid_shard(id)), max(snowid_shard(id)) FROM users';
    my $rows = $node->safe_psql('proxy', "SELECT count(*) FROM added WHERE snowid_shard(id) = $number");
    cmp_ok($rows, '>', 50, "server $number has a part of them");
    is($node->safe_psql($servers[$number], $kept), "$rows|$number|$number", 'those whose IDs name it');
}

# Found by the ID alone.
is($node->safe_psql('proxy', 'SELECT count(*) FROM added WHERE user_name(id) = name'), '600', 'each is found where its ID says');

# All of them, in order.
is($node->safe_psql('proxy', 'SELECT count(*), count(*) FILTER (WHERE id IN (SELECT id FROM added)) FROM all_users()'), '600|600', 'each server is asked, once');
ask($sessions[0], "SELECT add_user('late $_'), pg_sleep(0.01)") foreach 1 .. 6;
is($node->safe_psql('proxy', q(SELECT string_agg(name, ' ' ORDER BY id) FROM all_users() WHERE name LIKE 'late%')),
    'late 1 late 2 late 3 late 4 late 5 late 6', 'and the order of IDs is that of time');

close_session(@sessions);
check_log($node);
$node->stop;
done_testing();
