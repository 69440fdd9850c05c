# Schema tools: pgcopydb copies a database without the extension's rows; what drizzle-kit pull writes; and the extension is
# as it was afterwards.
# Debian: forky
# Needs: pgcopydb
# Npm: drizzle-orm@0.45.4 drizzle-kit@0.31.11 pg@8.23.1

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe();
names_version($recipe, 'pgcopydb', 'dpkg-query -W pgcopydb');
$recipe->{node}->safe_psql('postgres', 'CREATE DATABASE target OWNER app');
my $objects = q(SELECT string_agg(objid::text, ' ' ORDER BY classid, objid) FROM pg_depend WHERE deptype = 'e');
my $before = asked_as_app($recipe, $objects);
run_page($recipe);
is($recipe->{node}->safe_psql('target', 'SELECT count(*) FROM photos'), '2', 'the rows are in the target');
run_shell($recipe, q(psql -At -d target -c "SELECT snowid_ceiling() >= snowid_timestamp($(cat ceiling))"), "t\n");
is($recipe->{node}->safe_psql('target', 'SELECT count(*) FROM photos WHERE id > snowid_next()'), '0', 'and its IDs are above them');

put_file($recipe, 'ts', <<'END');
// drizzle.config.ts
import { defineConfig } from 'drizzle-kit';

export default defineConfig({ dialect: 'postgresql', out: './pulled', dbCredentials: { url: process.env.DATABASE_URL! } });
END
run_shell($recipe, 'npx drizzle-kit pull > pull.log');
run_shell($recipe, q(grep -o 'mode: "number"' pulled/schema.ts), qq(mode: "number"\n));
run_shell($recipe, 'grep -c snowid_internal pulled/schema.ts || true', "0\n");
run_shell($recipe, q{sed 's/mode: "number"/mode: "bigint"/' pulled/schema.ts | grep -c 'bigint({ mode: "bigint" }).*default(.*snowid_next()'}, "1\n");
is(asked_as_app($recipe, $objects), $before, 'the extension is as it was');
is(asked_as_app($recipe, 'SELECT count(*) FROM photos WHERE id > snowid_next()'), '0', 'and issues IDs above the rows');
$recipe->{node}->stop;
done_testing();
