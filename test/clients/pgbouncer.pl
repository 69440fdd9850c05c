# PgBouncer: in which mode what a session keeps is seen by the next client, as the page's table has it, and that what the
# page advises instead holds: roles with a shard, the shard in the call, RETURNING.
# Debian: forky
# Unpacks: pgbouncer

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(port => 6432);
names_version($recipe, 'PgBouncer', 'pgbouncer --version');
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEROLE');
run_page($recipe);
asked_as_app($recipe, 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), title text); GRANT SELECT, INSERT ON photos TO app_42');

sub console { return run_blocks($recipe, { language => 'console', text => $_[0] }) }

# Each pool has one connection, so two clients always share it.
run_blocks($recipe, { language => 'ini', text => <<'END' });
; pgbouncer.ini
[databases]
session = host=127.0.0.1 port=5432 dbname=app pool_mode=session
transaction = host=127.0.0.1 port=5432 dbname=app pool_mode=transaction
statement = host=127.0.0.1 port=5432 dbname=app pool_mode=statement
session_42 = host=127.0.0.1 port=5432 dbname=app pool_mode=session connect_query='SET snowid.default_shard = 42'
shard_42 = host=127.0.0.1 port=5432 dbname=app pool_mode=transaction connect_query='SET snowid.default_shard = 42'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = 6432
unix_socket_dir =
auth_type = scram-sha-256
auth_file = users.txt
admin_users = app
default_pool_size = 1
END
console(<<'END');
$ printf '"%s" "secret"\n' app app_42 >users.txt
$ pgbouncer -q pgbouncer.ini &
END

# Each psql is a client, which sends its statements one by one. In the mode session, DISCARD ALL comes before the next client.
console(<<'END');
$ psql -p 6432 -At -c 'SET snowid.default_shard = 42' -c 'SELECT snowid_shard(snowid_next())' session
SET
42
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' session
0
$ psql -p 6432 -At -v VERBOSITY=sqlstate -c 'SELECT snowid_lastval()' session 2>&1 || true
ERROR:  55000
END

# In the modes transaction and statement, the next client has the first one's shard, and its last ID.
foreach my $mode ('transaction', 'statement')
{
    console(<<"END");
\$ psql -p 6432 -At -c 'SET snowid.default_shard = 42' -c 'SELECT snowid_shard(snowid_next())' $mode
SET
42
\$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_lastval()), snowid_shard(snowid_next())' $mode
42|42
\$ psql -p 6432 -At -c 'RESET snowid.default_shard' $mode
RESET
END
}

# Nor does server_reset_query_always help: it resets between a client's SET and its next statement.
console(<<'END');
$ psql -p 6432 -q -c 'SET server_reset_query_always = 1' pgbouncer
$ psql -p 6432 -At -c 'SET snowid.default_shard = 42' -c 'SELECT snowid_shard(snowid_next())' transaction
SET
0
$ psql -p 6432 -q -c 'SET server_reset_query_always = 0' pgbouncer
END

# The ID in the statement that makes it.
console(<<'END');
$ psql -p 6432 -qAt -c "INSERT INTO photos VALUES (DEFAULT, 'sunrise') RETURNING snowid_shard(id)" statement
0
END

# The shard in the call.
console(<<'END');
$ psql -p 6432 -qAt -c "INSERT INTO photos VALUES (snowid_next(42), 'noon') RETURNING snowid_shard(id)" statement
42
END

# SET LOCAL, whose transaction has the connection.
console(<<'END');
$ psql -p 6432 -qAt -c 'BEGIN' -c 'SET LOCAL snowid.default_shard = 42' \
    -c "INSERT INTO photos VALUES (DEFAULT, 'night') RETURNING snowid_shard(id)" -c 'COMMIT' transaction
42
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' transaction
0
END

# In the mode statement, there is no transaction.
console(<<'END');
$ psql -p 6432 -qAt -c 'BEGIN' statement 2>&1 | grep -o 'transaction blocks not allowed' || true
transaction blocks not allowed
$ psql -p 6432 -At -c 'SET LOCAL snowid.default_shard = 42' -c 'SELECT snowid_shard(snowid_next())' statement 2>&1
WARNING:  SET LOCAL can only be used in transaction blocks
SET
0
END

# A role for each shard.
console(<<'END');
$ psql -p 6432 -U app_42 -At -c 'SELECT snowid_shard(snowid_next())' -c 'RESET snowid.default_shard' session
42
RESET
$ psql -p 6432 -U app_42 -At -c 'SELECT snowid_shard(snowid_next())' session
42
$ psql -p 6432 -U app_42 -At -c 'SELECT snowid_shard(snowid_next())' transaction
42
$ psql -p 6432 -U app_42 -qAt -c "INSERT INTO photos VALUES (DEFAULT, 'dusk') RETURNING snowid_shard(id)" statement
42
$ psql -p 6432 -U app -At -c 'SELECT snowid_shard(snowid_next())' transaction
0
END

# connect_query.
console(<<'END');
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' shard_42
42
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' shard_42
42
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' session_42
42
$ psql -p 6432 -At -c 'SELECT snowid_shard(snowid_next())' session_42
0
END

# A client's connection options.
console(<<'END');
$ PGOPTIONS='-c snowid.default_shard=42' psql -p 6432 -c 'SELECT 1' session 2>&1 | grep -o 'unsupported startup parameter'
unsupported startup parameter
END

# Clients of all modes at once, who take turns on a connection for each: none is given another's ID.
run_shell($recipe, <<"END");
for mode in session transaction statement; do
  for n in 1 2 3 4; do
    for time in 1 2 3; do echo "INSERT INTO photos (title) SELECT 'of many' FROM generate_series(1, 500);"; done |
      psql -p $recipe->{port} -q \$mode &
  done
done
wait
END
is(asked_as_app($recipe, q(SELECT count(DISTINCT id) FROM photos WHERE title = 'of many')), '18000', 'each has got all of its IDs');

$recipe->{node}->stop;
done_testing();
