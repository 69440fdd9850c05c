# Sections: their memory. A section keeps as many keys as snowid.section_keys says: past that keys leave,
# none before at least half as many others were used since it was; and those who come back go on above
# every number of those who left. It takes 64 bytes a key at most, does not grow however many keys there
# are, and is given back when the section is dropped. What memory knows of a key, and who may ask.
#
# Runs in make test-all: it fills shared memory.

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

# What is known of a section that one session draws from. `used_at` is when each key was last used, counted
# in draws; the same times are marked in `marks`, a Fenwick tree. Of keys not used since `changed`, when the
# capacity was changed, nothing is checked. A new key has those leave that are too many: `is_kept`.
sub new_model
{
    my ($section, $capacity) = @_;
    return { section => $section, capacity => $capacity, last => {}, used_at => {}, marks => [], time => 0,
        changed => 0, is_kept => 1, floor => 0 };
}

my $most_draws = 1 << 20;

sub mark
{
    my ($model, $time, $by) = @_;
    for (; $time < $most_draws; $time += $time & -$time) { $model->{marks}[$time] += $by }
    return;
}

# How many keys were used since a time.
sub used_since
{
    my ($model, $time) = @_;
    my $count = keys %{ $model->{used_at} };
    for (; $time > 0; $time -= $time & -$time) { $count -= $model->{marks}[$time] // 0 }
    return $count;
}

# Whether a key must still be known.
sub must_be_known
{
    my ($model, $key) = @_;
    my $time = $model->{used_at}{$key} // return 0;
    return $time > $model->{changed} && used_since($model, $time) <= $model->{capacity} / 2;
}

sub note_left
{
    my ($model, $key) = @_;
    my $number = $model->{last}{$key} // return;
    $model->{floor} = $number if $number > $model->{floor};
    return;
}

# Draws a number for each of the keys, one after another, and checks them: one more for a key that is
# known, which it is at least as long as it was promised; for one that is not, more than any that was
# given to a key that was seen to have left. Then checks what is known of every key from 1 to `all`.
sub draw_and_compare
{
    my ($name, $session, $model, $all, @keys) = @_;
    my $section = $model->{section};
    my @draws = split /\n/,
      ask($session, "SELECT snowid_section_current('$section', k), snowid_section_next('$section', k) FROM unnest('{"
          . join(',', @keys) . "}'::bigint[]) k");
    my @wrong;
    foreach my $key (@keys)
    {
        my ($current, $number) = split /\|/, shift @draws // '|none';
        my $last = $model->{last}{$key};
        if ($current eq '')
        {
            note_left($model, $key);
            $model->{is_kept} = 1;
        }
        push @wrong, "key $key: knows '$current', draws $number, last was " . ($last // 'none') . ", all up to $model->{floor} left"
          if $current eq ''
          ? must_be_known($model, $key) || $number !~ /^\d+$/ || $number <= $model->{floor}
          : $current ne ($last // 'none') || $number ne $current + 1;
        mark($model, $model->{used_at}{$key}, -1) if defined $last;
        mark($model, $model->{used_at}{$key} = ++$model->{time}, 1);
        $model->{last}{$key} = $number;
    }
    is("@wrong[0 .. ($#wrong > 9 ? 9 : $#wrong)]", '', "$name: the numbers");
    my %known = map { split /\|/ } split /\n/, ask($session, <<"SQL");
SELECT k, snowid_section_current('$section', k) FROM generate_series(1, $all) k
WHERE snowid_section_current('$section', k) IS NOT NULL
SQL
    cmp_ok(scalar(keys %known), '<=', $model->{capacity}, "$name: no more are known than there is room for") if $model->{is_kept};
    @wrong = grep { exists $known{$_} ? $known{$_} ne ($model->{last}{$_} // 'none') : must_be_known($model, $_) } 1 .. $all;
    is("@wrong[0 .. ($#wrong > 9 ? 9 : $#wrong)]", '', "$name: the last used are among them, all with their numbers");
    note_left($model, $_) foreach grep { !exists $known{$_} } keys %{ $model->{last} };
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
foreach my $capacity (1, 2, 3, 4, 5, 50, 2500)
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
    # Keys that are known all the time, in another order each time, between keys that come and go: so one is
    # used again at any age, and the next is its last use for long.
    draw_and_compare("$capacity keys, old ones between new", $session, $model, $all,
        map { (1 + int(rand($capacity)), $capacity + 1 + int(rand($all - $capacity))) } 1 .. 3 * $capacity + 100);
    is(ask($session, "SELECT snowid_section_current('$section', $all + 1) IS NULL"), 't',
        "$capacity keys: nothing of a key never used");
}

# 2. The setting lowered and raised while keys are in memory, for sessions that go on.
sub set_capacity
{
    my ($model, $capacity) = @_;
    $model->{changed} = $model->{time};
    $model->{is_kept} = $capacity >= $model->{capacity};
    $model->{capacity} = $capacity;
    return;
}

# The keys, those last used first.
sub by_use
{
    my ($model) = @_;
    return sort { $model->{used_at}{$b} <=> $model->{used_at}{$a} } keys %{ $model->{used_at} };
}
ask($session, 'CREATE SEQUENCE resized INCREMENT 1000');
my $resized = new_model('resized', 2500);
foreach my $capacity (2500, 40, 400, 1, 3, 2, 1500, 1499, 5000, 10)
{
    reload_with($node, 'snowid.section_keys', $capacity, $session);
    set_capacity($resized, $capacity);
    # With a key that is known as the first, and with one that is not.
    my $newest = (by_use($resized))[0] // 1;
    draw_and_compare("now $capacity keys, one known", $session, $resized, 6000, $newest);
    draw_and_compare("now $capacity keys", $session, $resized, 6000, 5999, some_keys(1500, 6000));
}
reload_with($node, 'snowid.section_keys', 400, $session);
set_capacity($resized, 400);
draw_and_compare('the last used leave last', $session, $resized, 6000, some_keys(2000, 6000));
reload_with($node, 'snowid.section_keys', 100, $session);
set_capacity($resized, 100);
draw_and_compare('lowered, first a key that leaves', $session, $resized, 6000, (by_use($resized))[399]);
draw_and_compare('lowered, then others', $session, $resized, 6000, some_keys(1000, 6000));

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
cmp_ok($node->safe_psql('postgres',
        "SELECT count(snowid_section_current('crowded', k)) FROM generate_series(0, 199) k"), '<=', 27, 'no more keys are known than the setting says, but one a session');
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
