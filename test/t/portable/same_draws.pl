# Functions of the extension and of portable/snowid.sql that make IDs, move shards, and say how far tables may be read give the same
# answers to the same random arguments and settings, by what does not depend on the moment.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidSameAnswers;

my $node = ready_server('same_draws', conf => "max_locks_per_transaction = 256\n", sql => q(CREATE DATABASE extension TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'));
my @as_owner = (extra_params => [ '-U', portable_owner() ]);
create_portable($node, 'portable', shards => [ 1, 2, 8190, 8191 ]);
$node->safe_psql('extension', 'CREATE EXTENSION snowid; CREATE ROLE clerk');
my %layouts = %portable_layouts;
foreach my $layout (sort keys %layouts)
{
    my $max = $layouts{$layout}{max_shard};
    $node->safe_psql('portable', "SELECT snowid.create_shard(n, '$layout') FROM unnest(ARRAY[0, 1, 2, $max - 1, $max]) n", @as_owner);
}
$node->safe_psql($_, <<'SQL') foreach 'extension', 'portable';
CREATE TABLE events (id bigint DEFAULT snowid_next());
CREATE TABLE tweets (id bigint DEFAULT snowid_next(1, 'twitter'), n bigserial);
CREATE TABLE mixed (id bigint DEFAULT snowid_next(), tweet bigint DEFAULT snowid_next(1, 'twitter'));
CREATE TABLE serial (id bigserial);
CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE TABLE by_hand (id bigint DEFAULT 5);
CREATE VIEW recent AS SELECT * FROM events;
CREATE FOREIGN DATA WRAPPER far;
CREATE SERVER far FOREIGN DATA WRAPPER far;
CREATE FOREIGN TABLE there (id bigint) SERVER far;
CREATE TABLE "With far" (id bigint DEFAULT snowid_next(), place text) PARTITION BY LIST (place);
CREATE FOREIGN TABLE far_part PARTITION OF "With far" FOR VALUES IN ('far') SERVER far;
SQL

# A shard that was made, or is none, and its layout.
sub made_shard
{
    my $l = random_layout();
    my $max = $l eq 'NULL' ? 0 : $layouts{$l}{max_shard};
    return ($l eq 'NULL' ? random_bigint() : one_of(0, 1, 2, $max, $max - 1, $max + 1, -1, 'NULL', "'9223372036854775807'", "'-9223372036854775808'"), quoted($l), $l);
}
sub no_shard_of { my ($l) = @_; return one_of('NULL', -1, $l eq 'NULL' ? 1 : $layouts{$l}{max_shard} + 1, "'9223372036854775807'", "'-9223372036854775808'") }
check_same_answers(
    $node, 80,
    snowid_next => sub { my ($shard, $l) = made_shard(); return "SELECT snowid_shard(snowid_next($shard, $l), $l)" },
    snowid_next_batch => sub {
        my ($shard, $l) = made_shard();
        my $count = one_of(0, 1, 3, 1025, -1, 'NULL', -2147483648);
        return "SELECT count(DISTINCT id), min(snowid_shard(id, $l)) FROM snowid_next_batch($shard, $count, $l) AS id";
    },
    snowid_reserve => sub {
        my ($shard, $l, $name) = made_shard();
        my $most = $name eq 'NULL' ? 5 : $layouts{$name}{sequences};
        my $count = one_of(0, 1, -1, $most, $most + 1, 'NULL', 2147483647);
        return "SELECT snowid_shard(snowid_reserve($shard, $count, $l), $l)";
    },
    # What is refused, since what a release has done here no rollback takes back.
    'snowid.accept_shard' => sub {
        my $l = random_layout();
        my $id = one_of('NULL', q('-1'), q('-9223372036854775808'), $l eq 'js53' ? q('9007199254740992') : (), random_number(40));
        return "SELECT snowid.accept_shard(" . no_shard_of($l) . ", $id, " . quoted($l) . ')';
    },
    'snowid.release_shard' => sub { my $l = random_layout(); return 'SELECT snowid.release_shard(' . no_shard_of($l) . ', ' . quoted($l) . ')' },
    snowid_watermark => sub {
        my $table = one_of(qw(events tweets mixed serial identity by_hand recent there far_part pg_catalog.pg_am serial_id_seq), '"With far"');
        return one_of('SELECT', 'SELECT', 'SET LOCAL ROLE clerk'),
          'SELECT w > 0 FROM snowid_watermark(' . one_of(("'$table'") x 3, '0', 'NULL') . one_of('', '', q(, 'twitter')) . ') AS w';
    },
    'a setting of the shard' => sub {
        # An empty one is what PostgreSQL leaves here of one that was set before.
        my $value = one_of(0, 1, -1, 8191, 8192, -2, ' 2 ', "\t2\n", '+2', '-0', '0x2', '2.0', ' ', 'two', '9223372036854775807', '9223372036854775808',
            '0' x 300 . 2, '9' x 300, '٢', "\x{a0}2", '--1', '- 1');
        return "SELECT set_config('snowid.default_shard', '$value', false)", 'SELECT snowid_default_shard()';
    },
    'a setting of the wait' => sub {
        my $value = one_of(0, 1, 5000, '1s', '1 s', '1min', '1h', '1d', '1us', '1.5s', '  1 s  ', '1S', '1 m', '-1', '1e3', 'long', '1 s s', '2147483647', '2147483648',
            '24d', '25d', '600000000us', '.5s', '99999999999', '-5s', '-99999999999', '1e3ms', '.', '1.2.3', ' ', '1ms1', '5.');
        return "SELECT set_config('snowid.max_wait', '$value', false)", 'SELECT snowid_shard(snowid_next(1))';
    });
end_test($node);
