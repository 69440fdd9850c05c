# Django: a key whose default the database makes. makemigrations finds nothing to do the second time; RETURNING brings the
# IDs of one row and of many; Django's test database gets the extension by the first migration; a BigAutoField becomes
# such a key by the migration that makemigrations writes; JSON has numbers of a BigIntegerField, strings of the page's
# SnowidField.
# Debian: forky
# Needs: python3-django python3-psycopg

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1);
names_version($recipe, 'Django', 'dpkg-query -W python3-django');
names_version($recipe, 'psycopg', 'dpkg-query -W python3-psycopg');
# Where Django makes its test database.
$recipe->{node}->safe_psql('postgres', 'ALTER ROLE app CREATEDB');
put_file($recipe, 'python', "# album/$_\n") foreach qw(__init__.py migrations/__init__.py);
put_file($recipe, 'python', <<'END');
# manage.py
import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    INSTALLED_APPS=["album"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "HOST": os.environ["PGHOST"],
                           "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"]}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
execute_from_command_line(sys.argv)
END
put_file($recipe, 'python', <<'END');
# album/tests.py
from django.test import TestCase

from .models import Photo


class PhotoTest(TestCase):
    def test_order(self):
        ids = [Photo.objects.create(title=title).id for title in ("sunrise", "noon")]
        self.assertLess(ids[0], ids[1])
END
run_page($recipe);
run_shell($recipe, q(cat >>album/models.py <<'END'


class Comment(models.Model):
    photo = models.ForeignKey(Photo, on_delete=models.CASCADE)
    body = models.TextField()
END));

run_shell($recipe, 'python3 manage.py makemigrations album --name photos');
run_shell($recipe, 'python3 manage.py migrate --verbosity 0');
my $nothing = "No changes detected in app 'album'\n";
run_shell($recipe, 'python3 manage.py makemigrations album', $nothing);
run_shell($recipe, 'python3 manage.py test 2>&1 | grep "^OK$"', "OK\n");
my $default = q(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'album_%s'::regclass);
is(asked_as_app($recipe, sprintf($default, 'photo')), 'snowid_next()', 'the default of the key');

# Rows: run by "manage.py shell", which since Django 5.2 imports models by itself.
sub in_shell
{
    my ($name, $program, $expected) = @_;
    put_file($recipe, 'python', "# $name.py\n$program");
    run_shell($recipe, "python3 manage.py shell --no-imports < $name.py", $expected);
    return;
}
in_shell('rows', <<'END', "int True\n1000 True photo 500\n['photo 999', 'photo 998']\n1001\nDatabaseDefault\n[True, True]\nTrue\n");
import json
from datetime import timedelta

from django.db.models.functions import JSONObject
from django.http import JsonResponse
from django.utils import timezone

from album.models import Comment, Photo
from album.many import create_photos
from album.queries import made_in, page

photo = Photo(title="sunrise")
photo.save()
print(type(photo.id).__name__, photo.id > 2**53)
photos = create_photos([f"photo {n}" for n in range(1000)])
ids = [photo.id for photo in photos]
print(len(set(ids)), [photo.id] + ids == sorted([photo.id] + ids), Photo.objects.get(id=ids[500]).title)
print([photo.title for photo in page(ids[-1] + 1, 2)])
hour = timedelta(hours=1)
print(made_in(timezone.now() - hour, timezone.now() + hour).count())
Comment.objects.create(photo=photo, body="a serial key")

print(type(Photo.objects.bulk_create([Photo(title="none")])[0].id).__name__)
print([str(photo.id) == JsonResponse({"id": photo.id}).content.decode()[7:-1],
       Photo.objects.annotate(json=JSONObject(id="id")).get(id=photo.id).json == {"id": photo.id}])
print('"' not in JsonResponse({"id": photo.id}).content.decode()[7:])
END
is(statements_like($recipe, 'INSERT INTO "album_photo"%'), 3, 'INSERTs of a photo, of 1,000, and of one more');

# A BigAutoField becomes one.
run_shell($recipe, q(python3 - <<'END'
text = open("album/models.py").read()
key = next(line for line in text.splitlines() if "db_default" in line)
open("album/models.py", "w").write(text.replace("class Comment(models.Model):\n", f"class Comment(models.Model):\n{key}\n"))
END));
run_shell($recipe, 'python3 manage.py makemigrations album --name comment_id');
run_shell($recipe, 'python3 manage.py migrate --verbosity 0');
run_shell($recipe, 'python3 manage.py makemigrations album', $nothing);
in_shell('comments', <<'END', "[1, True]\n");
from album.models import Comment, Photo

photo = Photo.objects.get(title="sunrise")
Comment.objects.create(photo=photo, body="later")
first, later = Comment.objects.order_by("id")
print([first.id, later.id > photo.id])
END
is(asked_as_app($recipe, sprintf($default, 'comment')), 'snowid_next()', 'the default of a key that was a BigAutoField');

# The type snowid, by a migration from bigint.
run_shell($recipe, q(sed -i 's/models.BigIntegerField/SnowidField/; s/^from django.db import models$/&\nfrom .fields import SnowidField/' album/models.py));
run_shell($recipe, 'python3 manage.py makemigrations album --name types');
run_shell($recipe, 'python3 manage.py migrate --verbosity 0');
run_shell($recipe, 'python3 manage.py makemigrations album', $nothing);
run_shell($recipe, 'python3 manage.py test 2>&1 | grep "^OK$"', "OK\n");
is(asked_as_app($recipe, q(SELECT string_agg(DISTINCT atttypid::regtype::text, ' ') FROM pg_attribute
    WHERE attrelid IN ('album_photo'::regclass, 'album_comment'::regclass) AND attname IN ('id', 'photo_id'))), 'snowid', 'keys, and a foreign key');
is(asked_as_app($recipe, sprintf($default, 'photo')), 'snowid_next()', 'the default stays');
in_shell('typed', <<'END', "int int True ['later', 'a serial key']\n");
from django.db.models.functions import JSONObject

from album.models import Comment, Photo

photo = Photo.objects.create(title="typed")
sunrise = Photo.objects.get(title="sunrise")
comment = Comment.objects.filter(photo__id=sunrise.id, photo__id__in=[sunrise.id]).latest("id")
print(type(photo.id).__name__, type(comment.photo_id).__name__,
      Photo.objects.annotate(json=JSONObject(id="id")).get(id=photo.id).json == {"id": str(photo.id)},
      [comment.body for comment in sunrise.comment_set.order_by("-id")])
END

# What the page says of the first migration.
run_shell($recipe, q(sed -i 's/CreateExtension("snowid")//' album/migrations/0001_snowid.py));
run_shell($recipe, q(python3 manage.py test 2>&1 | grep '^django.*Error' | tail -n 1),
    "django.db.utils.ProgrammingError: function snowid_next() does not exist\n");

$recipe->{node}->stop;
done_testing();
