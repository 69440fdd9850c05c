# A shard goes from portable/snowid.sql to the extension, and back, by one statement that is run where it goes to, while
# sessions draw from it on both sides: no ID comes twice, and those of one side are above those of the other. A dump
# takes along where shards are.
#
# Runs in make test-all: sessions draw for long.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $node = new_server('takes_over');
start_server($node);
my $owner = portable_owner();
create_portable($node, 'portable', shards => [ 1, 2 ]);
$node->safe_psql('postgres', 'CREATE DATABASE extension');
$node->safe_psql('extension', 'CREATE EXTENSION snowid; CREATE EXTENSION dblink');
$node->safe_psql('portable', 'CREATE EXTENSION dblink');

# Sessions that draw from shard 1 again and again, whether or not it is here.
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/draws", "SELECT snowid_next(1);\n" x 200000);
my $files = 0;
sub draw_on
{
    my ($database) = @_;
    my $file = "$dir/drawn" . $files++;
    return { file => $file, run => IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($database),
            '-f', "$dir/draws" ], '<', \undef, '>', $file, '2>', "$file.err") };
}

# The statement that the page has.
my ($statement) = blocks_of('docs/portable.md', 'To the extension, and back');
sub take_over
{
    my ($from, $to) = @_;
    my $connection = $node->connstr($from);
    my $here = $statement =~ s/host=old\.example dbname=app/$connection/r =~ s/'(.*)', *\n/\$c\$$1\$c\$,\n/r;
    is($node->safe_psql($to, $here =~ s/(release_shard|accept_shard)\(0/$1(1/gr), '', "$to takes over from $from");
    return;
}

# The one that is to take over first has the shard closed.
$node->safe_psql('extension', 'SELECT snowid.release_shard(1)');
my @sides = (portable => [ map { draw_on('portable') } 1 .. 4 ], extension => [ map { draw_on('extension') } 1 .. 4 ]);
my %sides = @sides;
my $floor = 0;
my @seen;
foreach my $turn ([ qw(portable extension) ], [ qw(extension portable) ], [ qw(portable extension) ])
{
    my ($from, $to) = @$turn;
    wait_to_go_on(@{ $sides{$from} });
    take_over($from, $to);
    wait_to_go_on(@{ $sides{$to} });
    my $id = attempt($node, 'SELECT snowid_next(1)', dbname => $from);
    is($id, 'ERROR 55000', "$from draws no more");
    push @seen, [ $from, $to ];
}
$_->{run}->kill_kill foreach map { @$_ } values %sides;
my (%times, %at);
foreach my $side (sort keys %sides)
{
    foreach my $session (@{ $sides{$side} })
    {
        my ($last, $unordered) = (0, 0);
        foreach my $id (@{ ids($session) })
        {
            $unordered++ if $id <= $last;
            $times{ $last = $id }++;
            $at{$id} = $side;
        }
        is($unordered, 0, "IDs of a session of $side are in order");
    }
}
is(scalar(grep { $_ > 1 } values %times), 0, 'none of ' . keys(%times) . ' IDs came twice');
cmp_ok(scalar(keys %times), '>', 100, 'there were some');
my ($changes, $before) = (0, '');
foreach my $id (sort { $a <=> $b } keys %at)
{
    $changes++ if $at{$id} ne $before;
    $before = $at{$id};
}
is($changes, 4, 'those of a side are above all that the other has made before');
is(join(' ', sort keys %{ { map { $_ => 1 } errors_of(map { @$_ } values %sides) =~ /ERROR:  (\w{5}):/g } }), '55000', 'who was refused was so for that');

# Where the ID that it goes on above is too far ahead of this clock, it is waited for, or refused.
is(attempt($node, q(SET snowid.max_wait = 0; SELECT snowid.accept_shard(1, snowid_encode(now() + interval '1 h', 1, 0))), dbname => 'portable'), 'ERROR SN001',
    'an ID that is far ahead is refused');
# Its IDs go on above that one, and above all of here, whichever is greater: also while the clock is behind both.
stop_clock(time + 5, $node);
my ($least) = $node->safe_psql('portable', 'SELECT max(id) FROM snowid_next_batch(0, 20000) id');
is(attempt($node, 'SELECT snowid.accept_shard(0, 0)', dbname => 'portable'), 'ERROR 55000', 'an ID below what was issued');
cmp_ok($node->safe_psql('portable', 'SELECT snowid_next(0)'), '>', $least, 'nothing goes back');
my $ahead = $node->safe_psql('portable', q(SELECT snowid_encode(now() + interval '500 ms', 0, 5)));
$node->safe_psql('portable', "SELECT snowid.accept_shard(0, $ahead)");
cmp_ok($node->safe_psql('portable', 'SELECT snowid_next(0)'), '>', $ahead, 'above what was accepted');
set_clock(0);
# A rollback does not open it again: it would not be known where it is.
$node->safe_psql('portable', 'BEGIN; SELECT snowid.release_shard(0); ROLLBACK');
is(attempt($node, 'SELECT snowid_next(0)', dbname => 'portable'), 'ERROR 55000', 'a release that was rolled back counts');

# Tables go to the extension with their defaults, columns and indexes, which call functions of the same names.
$node->safe_psql('portable', <<'SQL', extra_params => [ '-U', $owner ]);
SELECT snowid.accept_shard(0, snowid.release_shard(0) + (1 << 23));
SELECT snowid.create_shard(7, 'twitter');
CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), at timestamptz GENERATED ALWAYS AS (snowid_timestamp(id)) STORED,
  tweet bigint DEFAULT snowid_next(7, 'twitter'));
CREATE INDEX ON photos (snowid_shard(tweet, 'twitter'));
INSERT INTO photos SELECT FROM generate_series(1, 10);
UPDATE snowid.settings SET max_lead = 86400000;
SQL
my $greatest = $node->safe_psql('portable', 'SELECT max(id) FROM photos');
$node->safe_psql('postgres', "CREATE DATABASE tables; CREATE DATABASE whole OWNER $owner");
$node->safe_psql('tables', 'CREATE EXTENSION snowid');
my ($command) = section_of('docs/portable.md', 'To the extension, and back') =~ /`(pg_dump [^`]*)`/;
$command =~ s/-d app/-d '@{[ $node->connstr('portable') ]}'/;
system_or_bail('sh', '-c', "$command | psql -Xq -v ON_ERROR_STOP=1 -o '$dir/out' -d '" . $node->connstr('tables') . "'");
is($node->safe_psql('tables', 'INSERT INTO photos DEFAULT VALUES; SELECT count(*), count(*) FILTER (WHERE at = snowid_timestamp(id)), '
      . q(count(*) FILTER (WHERE snowid_shard(tweet, 'twitter') = 7) FROM photos)), '11|11|11', 'tables draw from the extension');

# A whole dump has the functions, settings, and the shards as they were; also where the clock is behind.
$node->safe_psql('portable', 'SELECT snowid.release_shard(2)');
system_or_bail('sh', '-c', "pg_dump -U $owner -d '" . $node->connstr('portable') . "' -N evil | grep -v 'EXTENSION' | psql -Xq -v ON_ERROR_STOP=1 -o '$dir/out' -U $owner -d '"
      . $node->connstr('whole') . "'");
set_clock(-3600);
cmp_ok($node->safe_psql('whole', 'INSERT INTO photos DEFAULT VALUES RETURNING id'), '>', $greatest, 'restored, with the clock behind: above all in the dump');
is(attempt($node, 'SELECT snowid_next(2)', dbname => 'whole'), 'ERROR 55000', 'a shard that was released is so there');
is($node->safe_psql('whole', q(SELECT count(*) FROM pg_proc WHERE proname = 'snowid_release_shard' AND has_function_privilege('public', oid, 'EXECUTE'))), '0',
    'and rights are as they were');
set_clock(0);

$node->stop;
done_testing();
