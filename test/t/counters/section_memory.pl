# A section takes at most 64 bytes a key, no more memory however many keys there are, and gives it back when it is dropped.
# Runs in make test-all: it fills shared memory.

use Snowid;

# With mmap dynamic shared memory consists of files, which can be weighed. Statistics would have some.
my $node = ready_server('memory', conf => "dynamic_shared_memory_type = mmap\ntrack_counts = off\n", sql => join '; ', map { "CREATE SEQUENCE s$_ INCREMENT 10000" } 1 .. 8);

sub shared_bytes
{
    my $bytes = 0;
    $bytes += -s $_ // 0 foreach glob $node->data_dir . '/pg_dynshmem/*';
    return $bytes;
}
is($node->safe_psql('postgres', q(LOAD 'snowid'; SHOW snowid.section_keys)), 100_000, 'the default');
my $empty = shared_bytes();
my $filler = open_session($node);

# What gives a number to each of the keys. It tells the greatest number.
sub filling { my ($section, $from, $to) = @_; return "SELECT max(snowid_section_next('$section', k)) FROM generate_series(@{[ $from // 1 ]}, @{[ $to // 100_000 ]}) k" }
sub known_of { my ($section) = @_; return ask($filler, "SELECT count(snowid_section_current('$section', k)) FROM generate_series(1, 100000) k") }

# (Who had to look through all keys to find one to leave would not answer for hours.)
my $greatest = ask($filler, filling('s1'));
is(known_of('s1'), 100_000, 'as many keys fit');
my $filled = shared_bytes();
cmp_ok(ask($filler, filling('s1', 100_001, 1_000_000)), '>=', $greatest, 'a million keys: all served');
is(shared_bytes(), $filled, 'a million keys: no more memory');
cmp_ok(ask($filler, filling('s1') =~ s/max/min/r), '>', $greatest, 'those who come back go on above what they had');
is(shared_bytes(), $filled, 'and take no more memory');

# What a key takes, where several sections are full. (Shared memory comes in pieces, each pair of
# which is twice as large as the last, so there may be one that is hardly used yet.)
ask($filler, filling("s$_")) foreach 2 .. 8;
my $bytes = (shared_bytes() - $empty) / 800_000;
cmp_ok($bytes, '<=', 64, sprintf('8 full sections: %.1f bytes a key', $bytes));
is(known_of("s$_"), 100_000, "full section $_: all of its keys are known") foreach 2 .. 8;
$filled = shared_bytes();

# What is dropped gives its memory back: eight at a time, one at a time, by sessions of their own, with a database.
foreach my $round (1 .. 2)
{
    ask($filler, "DROP SEQUENCE s$_; CREATE SEQUENCE s$_ INCREMENT 10000") foreach 1 .. 8;
    ask($filler, filling("s$_")) foreach 1 .. 8;
}
cmp_ok(shared_bytes(), '<=', $filled, 'eight dropped and made again: no more memory');
ask($filler, "DROP SEQUENCE s$_") foreach 1 .. 8;
my @life = ('CREATE SEQUENCE passing INCREMENT 10000', filling('passing'), 'DROP SEQUENCE passing');
foreach my $round (1 .. 12) { ask($filler, $_) foreach @life }
cmp_ok(shared_bytes(), '<=', $filled, 'one after another made, filled and dropped: no more memory');
foreach my $round (1 .. 12) { $node->safe_psql('postgres', $_) foreach @life }
cmp_ok(shared_bytes(), '<=', $filled, 'the same by many sessions: no more memory');
foreach my $round (1 .. 2)
{
    $node->safe_psql('postgres', 'CREATE DATABASE passing');
    $node->safe_psql('passing', join '; ', 'CREATE EXTENSION snowid', map { ("CREATE SEQUENCE s$_ INCREMENT 10000", filling("s$_")) } 1 .. 8);
    $node->safe_psql('postgres', 'DROP DATABASE passing');
}
# What was dropped last here is not found from there. That takes one piece more, where 16 sections that
# were not given back would have taken twice as much as all others.
cmp_ok(shared_bytes(), '<=', 1.5 * $filled, 'with a database dropped: hardly more memory');
ask($filler, 'CREATE SEQUENCE set_again INCREMENT 10000');
foreach my $round (1 .. 12) { ask($filler, filling('set_again')); ask($filler, "SELECT setval('set_again', $round * 1000000)") }
cmp_ok(shared_bytes(), '<=', 1.5 * $filled, 'set again and again: nor then');
end_test($node);
