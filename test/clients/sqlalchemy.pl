# SQLAlchemy and Alembic: a model whose key has a default of the database; Alembic makes its table, finds no difference
# afterwards, and leaves what is the extension's, which it drops when it is not told to leave it out. How many INSERTs
# many rows take.
# Debian: forky
# Needs: python3-sqlalchemy alembic python3-psycopg

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1);
names_version($recipe, 'SQLAlchemy', 'dpkg-query -W python3-sqlalchemy');
names_version($recipe, 'Alembic', 'dpkg-query -W alembic');
names_version($recipe, 'psycopg', 'dpkg-query -W python3-psycopg');
run_page($recipe);
put_file($recipe, 'python', <<'END');
# tables.py
from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from models import Base, Photo
from snowid_type import Snowid


class Post(Base):
    __tablename__ = "posts"
    id: Mapped[int] = mapped_column(Snowid, primary_key=True, server_default=text("snowid_next((7)::bigint, 'twitter'::snowid_layout)"))
    parent: Mapped[int | None] = mapped_column(Snowid)
END
run_shell($recipe, q(alembic init migrations && sed -i 's/^import sqlalchemy as sa$/&\nimport snowid_type/' migrations/script.py.mako));
my $env = <<'END';
# migrations/env.py
import sys

from alembic import context
from sqlalchemy import create_engine

sys.path.insert(0, ".")
from include import include_name
from tables import Base

with create_engine("postgresql+psycopg://").connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True, include_schemas=True,
                      include_name=include_name)
    with context.begin_transaction():
        context.run_migrations()
END
put_file($recipe, 'python', $env);

sub revision
{
    my ($name) = @_;
    run_shell($recipe, "alembic revision --autogenerate --rev-id $name -m $name");
    return run_shell($recipe, "sed -n '/^def upgrade/,/^def downgrade/p' migrations/versions/${name}_$name.py");
}
my $created = revision('first');
my @operations = $created =~ /(op\.\w+)/g;
is("@operations", 'op.create_table op.create_table', 'the first revision');
run_shell($recipe, 'alembic upgrade head');
unlike(revision('second'), qr/op\./, 'the second one');

put_file($recipe, 'python', <<'END');
# rows.py
from sqlalchemy import create_engine, func, select
from sqlalchemy.orm import Session

from many import add, page
from tables import Photo, Post

with Session(create_engine("postgresql+psycopg://")) as session:
    photo = Photo(title="sunrise")
    session.add(photo)
    session.flush()
    photos = add(session, [f"photo {n}" for n in range(2000)])
    print(type(photo.id).__name__, photo.id > 2**53, len({photo.id for photo in photos}), all(p.id > photo.id for p in photos))
    print([p.id for p in page(session, 2**63 - 1, 3)] == sorted((p.id for p in photos), reverse=True)[:3])

    post = Post()
    session.add(post)
    session.flush()
    session.add(Post(parent=post.id))
    session.flush()
    print(type(post.id).__name__, session.scalar(select(func.to_json(Post.parent)).where(Post.parent == post.id)) == str(post.id))
    print(session.scalar(select(func.count()).where(Post.id.in_([post.id, post.id + 1]))))
    session.commit()
END
run_shell($recipe, 'python3 rows.py', "int True 2000 True\nTrue\nint True\n1\n");
is(statements_like($recipe, 'INSERT INTO photos%'), 3, 'INSERTs: one row, and 2,000 by insert()');
put_file($recipe, 'python', <<'END');
# one_by_one.py
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from models import Photo

with Session(create_engine("postgresql+psycopg://")) as session:
    session.add_all([Photo(title=f"one {n}") for n in range(100)])
    session.commit()
END
run_shell($recipe, 'python3 one_by_one.py');
is(statements_like($recipe, 'INSERT INTO photos%'), 103, 'and one for each row that a session adds');

# A serial key that is converted.
asked_as_app($recipe, q(CREATE TABLE orders (id bigserial PRIMARY KEY, item varchar NOT NULL); INSERT INTO orders (item) VALUES ('tea')));
put_file($recipe, 'python', <<'END');
# migrations/versions/third.py
from alembic import op

revision = "third"
down_revision = "second"


def upgrade():
    op.execute("SELECT snowid.adopt('orders', 'id')")
END
run_shell($recipe, 'alembic upgrade head');
put_file($recipe, 'python', <<'END');
# orders.py
from sqlalchemy import BigInteger, text
from sqlalchemy.orm import Mapped, mapped_column

from tables import Base


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=text("snowid_next()"))
    item: Mapped[str]
END
put_file($recipe, 'python', $env =~ s/from tables import/from orders import/r);
unlike(revision('fourth'), qr/op\./, 'the converted table is the model');

# What the page says of a default that is written in another way, and of the extension's schemas.
run_shell($recipe, 'alembic upgrade head');
run_shell($recipe, q(sed -i "s/(7)::bigint/7/" tables.py));
my $altered = revision('fifth');
like($altered, qr/op\.alter_column\('posts', 'id'/, 'a default that is written in another way is altered');
unlike($altered, qr/drop/, 'which is all');
run_shell($recipe, 'alembic stamp head');
run_shell($recipe, q(sed -i 's/return .*/return True/' include.py));
like(revision('sixth'), qr/op\.drop_table\('\w+', schema='snowid_internal'\)/, "without include_name, the extension's tables would be dropped");

$recipe->{node}->stop;
done_testing();
