# A section keeps as many keys as snowid.section_keys says, also where that is changed: past that keys leave, none before at least half as
# many others were used since it was; and those who come back go on above every number of those who left.
# Runs in make test-all: it draws for long.

use Snowid;

my $node = ready_server('keys', conf => "track_counts = off\n", sql => 'CREATE SEQUENCE resized INCREMENT 1000');

# What is known of a section that one session draws from. `used_at` is when each key was last used, counted
# in draws; the same times are marked in `marks`, a Fenwick tree. Of keys not used since `changed`, when the
# capacity was changed, nothing is checked. A new key has those leave that are too many: `is_kept`.
sub new_model
{
    my ($section, $capacity) = @_;
    return { section => $section, capacity => $capacity, last => {}, used_at => {}, marks => [], time => 0, changed => 0, is_kept => 1, floor => 0 };
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
    my $list = join ',', @keys;
    my @draws = split /\n/, ask($session, "SELECT snowid_section_current('$section', k), snowid_section_next('$section', k) FROM unnest('{$list}'::bigint[]) k");
    my @wrong;
    foreach my $key (@keys)
    {
        my ($current, $number) = split /\|/, shift @draws // '|none';
        my $last = $model->{last}{$key};
        note_left($model, $key), $model->{is_kept} = 1 if $current eq '';
        push @wrong, "key $key: knows '$current', draws $number, last was " . ($last // 'none') . ", all up to $model->{floor} left"
          if $current eq ''
          ? must_be_known($model, $key) || $number !~ /^\d+$/ || $number <= $model->{floor}
          : $current ne ($last // 'none') || $number ne $current + 1;
        mark($model, $model->{used_at}{$key}, -1) if defined $last;
        mark($model, $model->{used_at}{$key} = ++$model->{time}, 1);
        $model->{last}{$key} = $number;
    }
    is(join(', ', splice @wrong, 0, 9), '', "$name: the numbers");
    my %known = map { split /\|/ } grep { /\d$/ } split /\n/, ask($session, "SELECT k, snowid_section_current('$section', k) FROM generate_series(1, $all) k");
    cmp_ok(scalar(keys %known), '<=', $model->{capacity}, "$name: no more are known than there is room for") if $model->{is_kept};
    @wrong = grep { exists $known{$_} ? $known{$_} ne ($model->{last}{$_} // 'none') : must_be_known($model, $_) } 1 .. $all;
    is(join(', ', splice @wrong, 0, 9), '', "$name: the last used are among them, all with their numbers");
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

# Small tables, and one that has to grow, with ten times as many keys as fit.
my $session = open_session($node);
foreach my $capacity (1, 2, 3, 4, 5, 50, 2500)
{
    reload_with($node, 'snowid.section_keys', $capacity, $session);
    my $section = "of_$capacity";
    ask($session, "CREATE SEQUENCE $section INCREMENT 100");
    my $model = new_model($section, $capacity);
    my $all = 10 * $capacity;
    draw_and_compare("$capacity keys, $_", $session, $model, $all, 1 .. $all) foreach 'in turn', 'again';
    draw_and_compare("$capacity keys, at random", $session, $model, $all, some_keys(10 * $capacity + 100, $all));
    draw_and_compare("$capacity keys, backwards", $session, $model, $all, reverse 1 .. $all);
    # Keys that are known all the time, in another order each time, between keys that come and go: so one is
    # used again at any age, and the next is its last use for long.
    draw_and_compare("$capacity keys, old ones between new", $session, $model, $all,
        map { (1 + int(rand($capacity)), $capacity + 1 + int(rand($all - $capacity))) } 1 .. 3 * $capacity + 100);
    is(ask($session, "SELECT snowid_section_current('$section', $all + 1) IS NULL"), 't',
        "$capacity keys: nothing of a key never used");
}

# The setting lowered and raised while keys are in memory, for sessions that go on.
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
end_test($node);
