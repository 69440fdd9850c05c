# SQLAlchemy and Alembic: models with IDs as keys; Alembic makes their tables, finds no difference afterwards, and
# leaves what is the extension's, which it drops when it is not told to leave it out.
# Needs: python3-sqlalchemy alembic python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(env => { PATH => "/usr/bin:$ENV{PATH}" });
run_page($recipe);

is(asked_as_app($recipe, q(SELECT count(*), count(DISTINCT snowid_shard(id, 'twitter')), max(snowid_shard(id, 'twitter')) FROM comments)),
    '1|1|7', 'the layout and shard are those of the model');
is(asked_as_app($recipe, q(SELECT string_agg(item, ' ' ORDER BY id), min(id) FROM orders)), 'tea milk sugar|1', 'an adopted table keeps its rows');
is(asked_as_app($recipe, q(SELECT count(*) FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace)),
    '0', 'and there is no sequence');

# What the page says of a default that is written in another way, and of the extension's schema.
sub revision
{
    my ($name) = @_;
    run_shell($recipe, 'alembic stamp head');
    run_shell($recipe, "alembic revision --autogenerate --rev-id $name -m again");
    return run_shell($recipe, "sed -n '/^def upgrade/,/^def downgrade/p' migrations/versions/${name}_again.py");
}

run_shell($recipe, q(sed -i "s/(7)::bigint/7/" models.py));
my $altered = revision('5');
like($altered, qr/op\.alter_column\('comments', 'id'/, 'a default that is written in another way is altered again and again');
unlike($altered, qr/drop/, 'which is all');
run_shell($recipe, q(sed -i 's/name != "snowid"/True/' migrations/env.py));
like(revision('6'), qr/op\.drop_table\('\w+', schema='snowid'\)/, 'without include_name, what is in the schema snowid would be dropped');

$recipe->{node}->stop;
done_testing();
