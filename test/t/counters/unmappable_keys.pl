# Somebody has changed a section's sequence, and who comes next cannot map the keys that no longer count: he gets an error, and the section has
# begun anew all the same. It must not go on to be half done: who had looked at the sequence before it was changed would begin below
# what was given.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir();
my ($node) = full_server($dir, 'CREATE SEQUENCE other INCREMENT 1000; CREATE SEQUENCE changed INCREMENT 1000');
my ($session, $late) = map { open_session($node) } 1 .. 2;
my $next = q(SELECT snowid_section_next('changed', 1));
is(ask($session, q(SELECT snowid_section_next('other', 1))), 1, 'a section with few keys');
is(ask($session, q(SELECT count(snowid_section_next('changed', k)) FROM generate_series(1, 100000) k)), 100_000, 'one with many, in memory of their own');
is(ask($late, q(SELECT snowid_section_next('other', 1))), 2, 'a session that has mapped the few alone');
my $changed_to = ask($session, q(SELECT nextval('changed')));
append_to_file("$dir/unmappable", '');
is(ask($late, $next), 'ERROR 53200', 'and cannot map the many');
unlink "$dir/unmappable";
is(last_value($node, 'changed'), $changed_to + 1000, 'but has raised the limit');
is(ask($session, $next), $changed_to + 1001, 'others go on above it');
is(ask($late, $next), $changed_to + 1002, 'and then he does');
end_test($node);
