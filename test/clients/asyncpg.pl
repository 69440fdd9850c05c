# asyncpg: rows of arrays and of COPY have IDs in order; a snowid is a str, and an int with the page's codec.
# Debian: forky
# Needs: python3-asyncpg

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
names_version($recipe, 'asyncpg', 'dpkg-query -W python3-asyncpg');
run_page($recipe);

run_shell($recipe, 'python3 photos.py');
is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title !~ '\d')), 'sunrise noon sunset', 'IDs are in order');
is(asked_as_app($recipe, q(SELECT count(*), min(id) > 2::bigint ^ 53 FROM photos WHERE title = 'photo ' || id)), '1000|t', 'COPY');

put_file($recipe, 'python', <<'END');
# posts.py
import asyncio

import asyncpg

from codec import register_snowid


async def main():
    db = await asyncpg.connect()
    await db.execute("CREATE TABLE posts (id snowid PRIMARY KEY DEFAULT snowid_next(), title text)")
    text = await db.fetchval("INSERT INTO posts (title) VALUES ('first') RETURNING id")
    pool = await asyncpg.create_pool(init=register_snowid, min_size=1, max_size=1)
    id = await pool.fetchval("INSERT INTO posts (title) VALUES ('second') RETURNING id")
    await pool.execute("INSERT INTO posts VALUES ($1, 'third')", id + 1)
    titles = await pool.fetchval("SELECT array_agg(title ORDER BY id) FROM posts WHERE id = $1 OR id = ANY ($2)", int(text), [id])
    print(type(text).__name__, type(id).__name__, titles)
    print(await pool.fetchval("SELECT to_json(id)::text = format('%s', to_json(id::text)) FROM posts LIMIT 1"))
    print(await db.fetchval("SELECT snowid_shard(snowid_next(7, $1), $1)", "twitter"))


asyncio.run(main())
END
run_shell($recipe, 'python3 posts.py', "str int ['first', 'second']\nTrue\n7\n");

$recipe->{node}->stop;
done_testing();
