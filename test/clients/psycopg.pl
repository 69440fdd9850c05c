# psycopg 2 and 3: the page's rows have IDs in order; how many statements many rows take; a snowid is a str, and an int
# once it is registered; the consumer of an outbox reads it all, and is woken up.
# Debian: forky
# Needs: python3-psycopg python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1);
names_version($recipe, 'psycopg', 'dpkg-query -W python3-psycopg');
names_version($recipe, 'psycopg2', 'dpkg-query -W python3-psycopg2');
run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up');
run_page($recipe);

run_shell($recipe, 'python3 photos.py');
is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title !~ '\d')), 'sunrise noon sunset', 'IDs are in order');
is(asked_as_app($recipe, q(SELECT count(*), min(id) > 2::bigint ^ 53 FROM photos WHERE title = 'photo ' || id)), '1000|t', 'COPY');
is(statements_like($recipe, 'INSERT INTO photos (title) SELECT%'), 1, 'an array is one statement');

put_file($recipe, 'python', <<'END');
# many.py
import psycopg
import psycopg2
from psycopg2.extras import execute_values

with psycopg.connect() as db:
    db.cursor().executemany("INSERT INTO photos (title) VALUES (%s)", [["one"], ["two"]])
with psycopg2.connect("") as db, db.cursor() as cursor:
    ids = [id for (id,) in execute_values(cursor, "INSERT INTO photos (title) VALUES %s RETURNING id", [[f"star {n}"] for n in range(1000)], fetch=True)]
    print(type(ids[0]).__name__, len(ids), ids == sorted(set(ids)))
END
run_shell($recipe, 'python3 many.py', "int 1000 True\n");
is(statements_like($recipe, 'INSERT INTO photos (title) VALUES ($1)'), 2, 'executemany');
is(statements_like($recipe, 'INSERT INTO photos (title) VALUES ($1),%'), 10, 'execute_values: 1,000 rows');

put_file($recipe, 'python', <<'END');
# posts.py
import psycopg
import psycopg2

from snowid_types import register_snowid, register_snowid2

with psycopg.connect(autocommit=True) as db:
    db.execute("CREATE TABLE posts (id snowid PRIMARY KEY DEFAULT snowid_next(), title text NOT NULL)")
    insert = "INSERT INTO posts (title) VALUES (%s) RETURNING id"
    text = db.execute(insert, ["first"]).fetchone()[0]
    register_snowid(db)
    id = db.execute(insert, ["second"]).fetchone()[0]
    print(type(text).__name__, type(id).__name__)
    find = "SELECT title, to_json(p) ->> 'id' = %s::text FROM posts AS p WHERE id = %s OR id = ANY (%s) ORDER BY id"
    print(db.execute(find, [text, text, [id]]).fetchall())
    print(db.execute("SELECT array_agg(id ORDER BY id) FROM posts", binary=True).fetchone()[0] == [int(text), id])
with psycopg2.connect("") as db, db.cursor() as cursor:
    cursor.execute(insert, ["third"])
    text = cursor.fetchone()[0]
    register_snowid2(db)
    cursor.execute(insert, ["fourth"])
    print(type(text).__name__, type(cursor.fetchone()[0]).__name__)
END
run_shell($recipe, 'python3 posts.py', "str int\n[('first', True), ('second', False)]\nTrue\nstr int\n");

# A message that is committed during a round, after the watermark, wakes it up long before its timeout.
put_file($recipe, 'python', <<'END');
# woken.py
import sys

import psycopg
from consume import run

bodies = []


def handle(body):
    bodies.append(body)
    if len(bodies) == 1:
        with psycopg.connect() as db:
            db.execute("INSERT INTO outbox (order_id, body) VALUES (2, 'end')")
    if body == "end":
        print(bodies)
        sys.exit()


run(handle)
END
run_shell($recipe, 'timeout 50 python3 woken.py', "['order 1 paid', 'order 2 paid', 'order 1 shipped', 'end']\n");

$recipe->{node}->stop;
done_testing();
