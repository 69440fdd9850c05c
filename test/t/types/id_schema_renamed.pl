# A column of the type works where the type's schema is not in search_path, and where that schema gets another name.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $node = new_server('renamed');
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA "my home";
CREATE EXTENSION snowid SCHEMA "my home";
CREATE TABLE photos (id "my home".snowid PRIMARY KEY DEFAULT "my home".snowid_next(), parent "my home".snowid);
INSERT INTO photos (parent) VALUES (5);
SQL
my $use = "SELECT count(*) FROM photos WHERE id > 5 AND id <> '7' AND parent = 5 AND parent IN (5, 6) AND coalesce(parent, 0) = 5";
is($node->safe_psql('postgres', $use), '1', 'where it is not in search_path');
$node->safe_psql('postgres', 'ALTER SCHEMA "my home" RENAME TO other');
is($node->safe_psql('postgres', "$use; SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'photos'::regclass AND attname = 'id'; SELECT snowid.adopt('photos', 'parent')"),
    "1\nother.snowid\nother.snowid_next()", 'where it was renamed');
end_test($node);
