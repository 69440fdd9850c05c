# Sections: their memory. A section keeps as many keys as snowid.section_keys says: past that exactly
# the longest-unused leave, and those who come back go on above every number of those who left. It
# takes 64 bytes a key at most, does not grow however many keys there are, and is given back when the
# section is dropped. What memory knows of a key, and who may ask.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('keys');
# With mmap dynamic shared memory consists of files, which can be weighed. Statistics would have some.
$node->append_conf('postgresql.conf', "dynamic_shared_memory_type = mmap\ntrack_counts = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION snowid; CREATE SEQUENCE stamp');

# The bytes of dynamic shared memory that the server has.
sub shared_bytes
{
    my $bytes = 0;
    $bytes += -s $_ // 0 foreach glob $node->data_dir . '/pg_dynshmem/*';
    return $bytes;
}

# What a section should know, that one session draws from. `uses` is who used it, the oldest first; of
# several uses of a key the last one counts, which used_at has the number of.
sub new_model
{
    my ($section, $capacity) = @_;
    return { section => $section, capacity => $capacity, last => {}, uses => [], used_at => {}, time => 0,
        floor => 0 };
}

# Has the longest-unused keys leave, until there is room for so many more.
sub make_room
{
    my ($model, $room) = @_;
    while (keys(%{ $model->{last} }) + $room > $model->{capacity})
    {
        my ($key, $time) = @{ shift @{ $model->{uses} } };
        next if $model->{used_at}{$key} != $time;
        my $number = delete $model->{last}{$key};
        $model->{floor} = $number if $number > $model->{floor};
    }
    return;
}

# Draws a number for each of the keys, one after another, and checks them: one more for a key that is
# known; for one that is not, more than any that was given to a key that had left. Then checks what is
# known of every key from 1 to `all`.
sub draw_and_compare
{
    my ($name, $session, $model, $all, @keys) = @_;
    my $section = $model->{section};
    my @numbers = split /\n/,
      ask($session, "SELECT snowid_section_next('$section', k) FROM unnest('{"
          . join(',', @keys) . "}'::bigint[]) k");
    my @wrong;
    foreach my $key (@keys)
    {
        my $number = shift @numbers // 'none';
        make_room($model, 0);
        my $last = $model->{last}{$key};
        push @wrong, "key $key: $number after " . ($last // "all up to $model->{floor}")
          if defined $last ? $number ne $last + 1 : $number !~ /^\d+$/ || $number <= $model->{floor};
        make_room($model, 1) unless defined $last;
        push @{ $model->{uses} }, [ $key, ++$model->{time} ];
        $model->{used_at}{$key} = $model->{time};
        $model->{last}{$key} = $number;
    }
    is("@wrong[0 .. ($#wrong > 9 ? 9 : $#wrong)]", '', "$name: the numbers");
    my %known = map { split /\|/ } split /\n/, ask($session, <<"SQL");
SELECT k, snowid_section_current('$section', k) FROM generate_series(1, $all) k
WHERE snowid_section_current('$section', k) IS NOT NULL
SQL
    is_deeply(\%known, $model->{last}, "$name: just the last used keys are known, and their numbers");
    return;
}

# So many of the keys from 1 to `all`, low ones more often.
sub some_keys
{
    my ($count, $all) = @_;
    return map { 1 + int($all * rand()**2) } 1 .. $count;
}

srand(4711);

# 1. Small tables, and one that has to grow, with ten times as many keys as fit.
my $session = open_session($node);
foreach my $capacity (1, 2, 3, 50, 2500)
{
    reload_with($node, 'snowid.section_keys', $capacity, $session);
    my $section = "of_$capacity";
    ask($session, "CREATE SEQUENCE $section INCREMENT 100");
    my $model = new_model($section, $capacity);
    my $all = 10 * $capacity;
    draw_and_compare("$capacity keys, in turn", $session, $model, $all, 1 .. $all);
    draw_and_compare("$capacity keys, again", $session, $model, $all, 1 .. $all);
    draw_and_compare("$capacity keys, at random", $session, $model, $all, some_keys(10 * $capacity + 100, $all));
    draw_and_compare("$capacity keys, backwards", $session, $model, $all, reverse 1 .. $all);
    is(ask($session, "SELECT snowid_section_current('$section', $all + 1) IS NULL"), 't',
        "$capacity keys: nothing of a key never used");
}

# 2. The setting lowered and raised while keys are in memory, for sessions that go on.
ask($session, 'CREATE SEQUENCE resized INCREMENT 1000');
my $resized = new_model('resized', 2500);
foreach my $capacity (2500, 40, 400, 1, 3, 2, 1500, 1499, 5000, 10)
{
    reload_with($node, 'snowid.section_keys', $capacity, $session);
    $resized->{capacity} = $capacity;
    # With a key that is known as the first, and with one that is not.
    my ($newest) = $resized->{uses}[-1] ? $resized->{uses}[-1][0] : 1;
    draw_and_compare("now $capacity keys, one known", $session, $resized, 6000, $newest);
    draw_and_compare("now $capacity keys", $session, $resized, 6000, 5999, some_keys(1500, 6000));
}
reload_with($node, 'snowid.section_keys', 400, $session);
$resized->{capacity} = 400;
draw_and_compare('the last used leave last', $session, $resized, 6000, some_keys(2000, 6000));
reload_with($node, 'snowid.section_keys', 100, $session);
$resized->{capacity} = 100;
draw_and_compare('lowered, first a key that leaves', $session, $resized, 6000,
    (sort { $resized->{used_at}{$a} <=> $resized->{used_at}{$b} } keys %{ $resized->{last} })[0]);

# 3. Many sessions, and many keys that leave and come back all the time.
reload_with($node, 'snowid.section_keys', 20, $session);
$node->safe_psql('postgres', 'CREATE SEQUENCE crowded INCREMENT 100');
my $key = '(generate_series * 7919) % 200';
my @drawing = map {
    draw($node, "nextval('stamp'), $key, snowid_section_next('crowded', $key), nextval('stamp')", 3_000)
} 1 .. 8;
finish(@drawing);
my ($count) = check_keys('eight sessions, keys that leave and come back', 0, @drawing);
is($count, 24_000, 'all are served');
is($node->safe_psql('postgres',
        "SELECT count(snowid_section_current('crowded', k)) FROM generate_series(0, 199) k"), 20, 'as many keys are known as the setting says');
close_session($session);

# 4. The default, and a million keys. (Who had to look through all keys to find one to leave would not
# answer for hours.)
$node->safe_psql('postgres', "LOAD 'snowid'; ALTER SYSTEM RESET ALL");
$node->stop;
$node->start;
is($node->safe_psql('postgres', "LOAD 'snowid'; SHOW snowid.section_keys"), 100_000, 'the default');
my $empty = shared_bytes();
$node->safe_psql('postgres', "CREATE SEQUENCE filled$_ INCREMENT 10000") foreach 1 .. 8;
my $filler = open_session($node);

# Has a section give a number to each of the keys. Returns the greatest number.
sub fill
{
    my ($section, $from, $to) = @_;
    return ask($filler, "SELECT max(snowid_section_next('$section', k)) FROM generate_series($from, $to) k");
}

my $greatest = fill('filled1', 1, 100_000);
is(ask($filler, "SELECT count(snowid_section_current('filled1', k)) FROM generate_series(1, 100000) k"),
    100_000, 'as many keys fit');
my $filled = shared_bytes();
cmp_ok(fill('filled1', 100_001, 1_000_000), '>=', $greatest, 'a million keys: all served');
is(shared_bytes(), $filled, 'a million keys: no more memory');
cmp_ok(ask($filler, "SELECT min(snowid_section_next('filled1', k)) FROM generate_series(1, 100000) k"),
    '>', $greatest, 'those who come back go on above what they had');
is(shared_bytes(), $filled, 'and take no more memory');

# 5. What a key takes, where several sections are full. (Shared memory comes in pieces, each pair of
# which is twice as large as the last, so there may be one that is hardly used yet.)
fill("filled$_", 1, 100_000) foreach 2 .. 8;
my $bytes = (shared_bytes() - $empty) / 800_000;
cmp_ok($bytes, '<=', 64, sprintf('8 full sections: %.1f bytes a key', $bytes));
is(ask($filler, "SELECT count(snowid_section_current('filled$_', k)) FROM generate_series(1, 100000) k"),
    100_000, "full section $_: all of its keys are known") foreach 2 .. 8;
$filled = shared_bytes();

# 6. What is dropped gives its memory back: eight at a time, one at a time, with a database.
foreach my $round (1 .. 2)
{
    ask($filler, "DROP SEQUENCE filled$_; CREATE SEQUENCE filled$_ INCREMENT 10000") foreach 1 .. 8;
    fill("filled$_", 1, 100_000) foreach 1 .. 8;
}
cmp_ok(shared_bytes(), '<=', $filled, 'eight dropped and made again: no more memory');
ask($filler, "DROP SEQUENCE filled$_") foreach 1 .. 8;
foreach my $round (1 .. 12)
{
    ask($filler, "CREATE SEQUENCE passing$round INCREMENT 10000");
    fill("passing$round", 1, 100_000);
    ask($filler, "DROP SEQUENCE passing$round");
}
cmp_ok(shared_bytes(), '<=', $filled, 'one after another made, filled and dropped: no more memory');
foreach my $round (1 .. 12)
{
    # By sessions of their own, one of which drops it.
    $node->safe_psql('postgres', "CREATE SEQUENCE another$round INCREMENT 10000");
    $node->safe_psql('postgres',
        "SELECT max(snowid_section_next('another$round', k)) FROM generate_series(1, 100000) k");
    $node->safe_psql('postgres', "DROP SEQUENCE another$round");
}
cmp_ok(shared_bytes(), '<=', $filled, 'the same by many sessions: no more memory');
foreach my $round (1 .. 2)
{
    $node->safe_psql('postgres', 'CREATE DATABASE passing');
    $node->safe_psql('passing', 'CREATE EXTENSION snowid');
    $node->safe_psql('passing', <<"SQL") foreach 1 .. 8;
CREATE SEQUENCE filled$_ INCREMENT 10000;
SELECT max(snowid_section_next('filled$_', k)) FROM generate_series(1, 100000) k;
SQL
    $node->safe_psql('postgres', 'DROP DATABASE passing');
}
# What was dropped last here is not found from there. That takes one piece more, where 16 sections that
# were not given back would have taken twice as much as all others.
$filled *= 1.5;
cmp_ok(shared_bytes(), '<=', $filled, 'with a database dropped: hardly more memory');
ask($filler, 'CREATE SEQUENCE set_again INCREMENT 10000');
foreach my $round (1 .. 12)
{
    fill('set_again', 1, 100_000);
    ask($filler, "SELECT setval('set_again', $round * 1000000)");
}
cmp_ok(shared_bytes(), '<=', $filled, 'set again and again: nor then');
close_session($filler);

$node->stop;
check_log($node);
done_testing();
