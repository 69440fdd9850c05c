# SQLAlchemy and Alembic: models with IDs as keys; Alembic makes their tables, finds no difference afterwards, and
# leaves what is the extension's, which it drops when it is not told to leave it out. How many INSERTs many rows take.
# SNOWID_PYTHON is a directory with another python3, which has another SQLAlchemy.
# Needs: python3-sqlalchemy alembic python3-psycopg2

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are for Debian's Python, whatever else there is.
my $recipe = new_recipe(statements => 1,
    env => { PATH => join(':', grep { $_ ne '' } $ENV{SNOWID_PYTHON} // '', '/usr/bin', $ENV{PATH}) });
run_page($recipe);

# 2,001 photos: one by itself, and two statements for those whose IDs are drawn first.
my $version = run_shell($recipe, q(python3 -c 'import sqlalchemy; print(sqlalchemy.__version__)'));
my ($major, $minor) = $version =~ /^(\d+)[.](\d+)/;
is(statements_like($recipe, 'INSERT INTO photos%'), 3, 'INSERTs of rows whose IDs are drawn first');
is(statements_like($recipe, 'SELECT snowid_next_batch(%'), 1, 'statements that draw them');

# Those whose IDs the default makes.
my $many = <<'END';
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from models import Photo

with Session(create_engine("postgresql+psycopg2://", future=True)) as session:
    photos = [Photo(title=f"many {n}") for n in range(2000)]
    session.add_all(photos)
    session.commit()
    ids = [photo.id for photo in photos]
    print(ids == sorted(set(ids)), session.get(Photo, ids[1500]).title)
END
sub inserts
{
    my ($name) = @_;
    my $before = statements_like($recipe, 'INSERT INTO photos%');
    put_file($recipe, 'python', "# $name.py\n$many");
    run_shell($recipe, "python3 $name.py", "True many 1500\n");
    return statements_like($recipe, 'INSERT INTO photos%') - $before;
}
is(inserts('many'), $major < 2 ? 2 : 2000, "INSERTs of rows with a server's default, in $version");
if ("$major.$minor" >= 2.1)
{
    run_shell($recipe, q(sed -i 's/text("snowid_next()")/func.snowid_next(monotonic=True)/; s/ForeignKey, /&func, /' models.py));
    is(inserts('monotonic'), 2, 'INSERTs with a default that says that it increases');
}

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
run_shell($recipe, q(sed -i 's/name not in .*/True/' migrations/env.py));
like(revision('6'), qr/op\.drop_table\('\w+', schema='snowid_internal'\)/, "without include_name, the extension's tables would be dropped");

$recipe->{node}->stop;
done_testing();
