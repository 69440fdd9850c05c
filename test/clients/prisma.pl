# Prisma: its client leaves IDs to the database, and has them back as strings, or as BigInt. Its migrations are not tested,
# since the program that does them is no package of npm's.
# Debian: forky
# Npm: prisma@7.10.1 @prisma/client@7.10.0 @prisma/adapter-pg@7.10.1 tsx@4.23.15

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Neither downloads it, nor reports its use.
my $recipe = new_recipe(env => { PRISMA_SCHEMA_ENGINE_BINARY => '/bin/true', CHECKPOINT_DISABLE => 1 });
run_page($recipe);

# A BigInt is exact, too, and so are nested IDs of relations that PostgreSQL joins and builds JSON of; Unsupported cannot be a
# key.
sub schema_with
{
    my ($type) = @_;
    return <<"END";
// schema.prisma
generator client {
  provider        = "prisma-client"
  output          = "./joined"
  previewFeatures = ["relationJoins"]
}

datasource db {
  provider = "postgresql"
}

model Photo {
  id       $type \@id \@default(dbgenerated("snowid_next()"))
  title    String
  comments Comment[]
  @\@map("photos")
}

model Comment {
  id      $type \@id \@default(dbgenerated("snowid_next()"))
  photoId $type \@map("photo")
  photo   Photo \@relation(fields: [photoId], references: [id])
  body    String
  @\@map("comments")
}
END
}

# What generate leaves of a schema, and what a program that uses it prints.
sub joined
{
    my ($type) = @_;
    put_file($recipe, 'prisma', schema_with($type));
    run_shell($recipe, 'npx prisma generate --schema schema.prisma');
    put_file($recipe, 'ts', <<'END');
// joined.mts
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './joined/client.ts';

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
for (const relationLoadStrategy of ['join', 'query'] as const) {
  const found = await prisma.photo.findMany({ relationLoadStrategy, where: { title: 'nested' },
    include: { comments: { include: { photo: true }, orderBy: { id: 'asc' } } } });
  for (const { id, comments } of found) {
    console.log(typeof id, String(id), ...comments.map((comment) => `${comment.id}/${comment.photoId}/${comment.photo.id}`));
  }
}
await prisma.$disconnect();
END
    return run_shell($recipe, 'npx tsx joined.mts');
}

my $photo = '4039854975688376321';
my $nested = join(' ', $photo, map { "403985497568837632$_/$photo/$photo" } 1 .. 3);
asked_as_app($recipe, <<'SQL');
INSERT INTO photos (id, title) VALUES (4039854975688376321, 'nested');
INSERT INTO comments (id, photo, body) SELECT 4039854975688376321 + n, 4039854975688376321, 'nested' FROM generate_series(0, 2) AS n;
SQL
is(joined('String'), "string $nested\n" x 2, 'String and snowid: nested IDs');
is(joined('BigInt'), "bigint $nested\n" x 2, 'BigInt and snowid: nested IDs');
asked_as_app($recipe, 'ALTER TABLE comments ALTER id TYPE bigint, ALTER photo TYPE bigint; ALTER TABLE photos ALTER id TYPE bigint');
is(joined('BigInt'), "bigint $nested\n" x 2, 'BigInt and bigint: nested IDs');

put_file($recipe, 'prisma', schema_with('Unsupported("snowid")'));
like(run_shell($recipe, '! npx prisma generate --schema schema.prisma 2>&1'), qr/unique criterias were not considered/, 'Unsupported cannot be a key');

$recipe->{node}->stop;
done_testing();
