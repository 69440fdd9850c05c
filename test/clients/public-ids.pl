# IDs shown in public: what the page makes of an ID is AES of it, as openssl does it, and comes back as that ID. What was
# changed, invented or made with another key is NULL. Only those who were granted the functions may call them, and they
# cannot read the key.
# Debian: forky
# Needs: openssl

use strict;
use warnings;

use Math::BigInt;
use SnowidClients;
use Test::More;

my $recipe = new_recipe();
my $node = $recipe->{node};
$node->safe_psql('postgres', 'ALTER ROLE app CREATEROLE');
names_version($recipe, 'PostgreSQL', 'psql --version');
run_page($recipe);

sub error_of
{
    my ($user, $sql) = @_;
    local $ENV{PGUSER} = $user;
    my (undef, undef, $err) = $node->psql('app', "\\set VERBOSITY sqlstate\n$sql");
    return $err =~ s/.*ERROR:  //sr;
}

# There and back, at both ends of what a bigint holds, too.
is(asked_as_app($recipe, <<'SQL'), '2005|2005|22|22|t', 'each ID comes back, and each text is another one');
WITH ids AS (SELECT snowid_next_batch(0, 2000) AS id
    UNION ALL VALUES (0), (-1), (1), (9223372036854775807), ('-9223372036854775808'::bigint)),
  texts AS MATERIALIZED (SELECT id, public_id('photo', id) AS shown FROM ids)
SELECT count(*), count(DISTINCT shown), min(length(shown)), max(length(shown)),
  bool_and(from_public_id('photo', shown) = id) FROM texts
SQL

# Another program that knows the key finds the same text.
my $id = asked_as_app($recipe, 'SELECT id FROM photos');
my $shown = asked_as_app($recipe, q(SELECT public_id('photo', id) FROM photos));
my $key = asked_as_app($recipe, q(SELECT encode(key, 'hex') FROM public_id_keys WHERE kind = 'photo'));
my $block = sprintf('%016x', $id) . '0' x 16;
my $ciphered = run_shell($recipe,
    qq(printf '$block' | perl -ne 'print pack("H*", \$_)' | openssl enc -aes-256-ecb -nopad -K $key | od -An -v -tx1));
my @digits = (0 .. 9, 'A' .. 'Z', 'a' .. 'z');
# Of a number with its sign inverted, as the order of numbers has it.
sub base62
{
    my ($half) = @_;
    my $number = Math::BigInt->from_hex($half)->bxor(Math::BigInt->new(2)**63);
    return sprintf('%11s', $number->to_base(62, join('', @digits))) =~ tr/ /0/r;
}
my $text = join '', map { base62($_) } $ciphered =~ s/\s//gr =~ /\G(.{16})/g;
is($text, $shown, 'it is AES, in base 62');

# Texts that were changed, in each place; that are too short or too long, have other characters, or are too great; NULL.
my @wrong;
foreach my $place (0 .. 21)
{
    my ($before, $character, $after) = (substr($shown, 0, $place), substr($shown, $place, 1), substr($shown, $place + 1));
    push @wrong, map { "$before$_$after" } grep { $_ ne $character } @digits;
}
my ($first, $second) = (substr($shown, 0, 11), substr($shown, 11));
push @wrong, '', substr($shown, 0, 21), "${shown}0", "${first}0$second", " $shown", "$second$first", 'z' x 22, '-' x 22, "\x{c3}\x{a4}" x 22;
my $list = join(', ', map { "('$_')" } @wrong);
is(asked_as_app($recipe, "SELECT count(*), count(from_public_id('photo', shown)) FROM (VALUES $list) AS wrong (shown)"),
    scalar(@wrong) . '|0', 'a wrong text is no ID');
is(asked_as_app($recipe, "SELECT from_public_id('comment', '$shown') IS NULL"), 't', 'nor is one that another key has made');
is(asked_as_app($recipe, q(SELECT num_nulls(public_id('photo', NULL), public_id(NULL, 1), from_public_id('photo', NULL)))), '3', 'NULL gives NULL');
is(error_of('app', q(SELECT public_id('tag', 1))), 'P0002', 'a kind without a key');
is(error_of('app', qq(SELECT from_public_id('tag', '$shown'))), 'P0002', 'a kind without a key, back');

# It is computed once, so an index serves it.
like(asked_as_app($recipe, "SET enable_seqscan = off; EXPLAIN SELECT FROM photos WHERE id = from_public_id('photo', '$shown')"),
    qr/Index Cond: \(id = from_public_id/, 'the primary key serves the search');

# Rights, and what else is called as the table is.
$node->safe_psql('postgres', 'CREATE ROLE guest LOGIN');
{
    local $ENV{PGUSER} = 'web';
    is($node->safe_psql('app', <<"SQL"), "$shown|$id", 'web calls both, and reads the key, not a table of its own by that name');
CREATE TEMP TABLE public_id_keys AS SELECT 'photo'::text AS kind, '\\x00'::bytea AS key;
SELECT public_id('photo', $id), from_public_id('photo', '$shown');
SQL
}
is(error_of('web', 'SELECT key FROM public_id_keys'), '42501', 'web cannot read the key');
is(error_of('guest', 'SELECT key FROM public_id_keys'), '42501', 'nor can others');
is(error_of('guest', q(SELECT public_id('photo', 1))), '42501', 'who may not call the functions, either');
is(error_of('guest', qq(SELECT from_public_id('photo', '$shown'))), '42501', 'in neither direction');

$node->stop;
done_testing();
