# A shard goes from portable/snowid.sql to the extension, and back, by one statement that is run where it goes to, while sessions
# draw from it on both sides: no ID comes twice, and those of one side are above those of the other.
# Runs in make test-all: sessions draw for long.

use IPC::Run;
use Snowid;

my $node = ready_server('takes_over', sql => 'CREATE DATABASE extension');
create_portable($node, 'portable', shards => [1]);
$node->safe_psql('extension', 'CREATE EXTENSION snowid; CREATE EXTENSION dblink');
$node->safe_psql('portable', 'CREATE EXTENSION dblink');
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/draws", "SELECT snowid_next(1);\n" x 200000);
sub portable { my ($sql) = @_; return attempt($node, $sql, dbname => 'portable') }

# Sessions that draw from shard 1 again and again, whether or not it is here. The one that is to take over first has it closed.
$node->safe_psql('extension', 'SELECT snowid.release_shard(1)');
my %sides;
foreach my $database ('portable', 'extension')
{
    $sides{$database} = [ map { my $file = "$dir/$database$_";
            { file => $file, run => IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr($database), '-f', "$dir/draws" ],
                '<', \undef, '>', $file, '2>', "$file.err") } } 1 .. 4 ];
}
# The statement is the page's.
my ($statement) = blocks_of('docs/portable.md', 'To the extension, and back');
foreach my $turn ([ qw(portable extension) ], [ qw(extension portable) ], [ qw(portable extension) ])
{
    my ($from, $to) = @$turn;
    wait_to_go_on(@{ $sides{$from} });
    my $connection = $node->connstr($from);
    my $here = $statement =~ s/host=old\.example dbname=app/$connection/r =~ s/'(.*)', *\n/\$c\$$1\$c\$,\n/r;
    is($node->safe_psql($to, $here =~ s/(release_shard|accept_shard)\(0/$1(1/gr), '', "$to takes over from $from");
    wait_to_go_on(@{ $sides{$to} });
    is(attempt($node, 'SELECT snowid_next(1)', dbname => $from), 'ERROR 55000', "$from draws no more");
}
my @all = map { @$_ } values %sides;
$_->{run}->kill_kill foreach @all;
my ($count) = check_round('both sides', 0, @all);
cmp_ok($count, '>', 100, 'there were some');
my %at;
foreach my $side (keys %sides) { $at{$_} = $side foreach map { @{ ids($_) } } @{ $sides{$side} } }
my $order = join ' ', map { $at{$_} } sort { $a <=> $b } keys %at;
is($order =~ s/\b(\w+)(?: \1\b)+/$1/gr, 'portable extension portable extension', 'those of a side are above all that the other has made before');
is(join(' ', sort keys %{ { map { $_ => 1 } errors_of(@all) =~ /ERROR:  (\w{5}):/g } }), '55000', 'who was refused was so for that');

# Where the ID that it goes on above is too far ahead of this clock, it is refused. Its IDs go on above that one, and above all of
# here, whichever is greater: also while the clock is behind both.
is(portable(q(SET snowid.max_wait = 0; SELECT snowid.accept_shard(1, snowid_encode(now() + interval '1 h', 1, 0)))), 'ERROR SN001', 'an ID that is far ahead is refused');
stop_clock(time + 5, $node);
my $least = portable('SELECT max(id) FROM snowid_next_batch(0, 20000) id');
is(portable('SELECT snowid.accept_shard(0, 0)'), 'ERROR 55000', 'an ID below what was issued');
cmp_ok(portable('SELECT snowid_next(0)'), '>', $least, 'nothing goes back');
my $ahead = portable(q(SELECT snowid_encode(now() + interval '500 ms', 0, 5)));
cmp_ok(portable("SELECT snowid_next(0) FROM snowid.accept_shard(0, $ahead)"), '>', $ahead, 'above what was accepted');
set_clock(0);
# A rollback does not open it again: it would not be known where it is.
is(portable('BEGIN; SELECT FROM snowid.release_shard(0); ROLLBACK; SELECT snowid_next(0)'), 'ERROR 55000', 'a release that was rolled back counts');
end_test($node);
