# docs/replication.md, "The old primary comes back", followed word by word: it follows the new one, and makes no IDs.
# Runs in make test-all: it starts servers again and again.

use Snowid;

my $page = 'docs/replication.md';

# Until the new one has written a checkpoint, pg_rewind of PostgreSQL 15 finds nothing to
# do; its checkpointer is held, so that this does not depend on how quick it is.
my $back = 'The old primary comes back';
my $old = ready_server('old', allows_streaming => 1, conf => "wal_log_hints = on\nwal_keep_size = '64MB'\n",
    sql => 'CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(5), n int); INSERT INTO photos (n) VALUES (1)');
my $new = new_standby($old, 'new');
$new->append_conf('postgresql.conf', 'checkpoint_timeout = 1h');
start_server($new);
$old->wait_for_catchup($new);
my $checkpointer = $new->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'));
kill 'STOP', $checkpointer or die "checkpointer: $!";
$new->promote;
$old->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (2)');
$old->stop;
$new->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (3)');

my ($checkpoint, $command, $streams) = blocks_of($page, $back);
my $source = 'host=' . $new->host . ' port=' . $new->port . ' user=postgres dbname=postgres';
my $data = $old->data_dir;
my @rewind = split / /, $command =~ s/\n\z//r =~ s/--source-server='.*'//r =~ s/DATADIR/$data/r;
# It brings the new primary's configuration, which a test has in the data directory.
my $settings = slurp_file("$data/postgresql.conf");
sub rewound { return join '', run_command([ @rewind, "--source-server=$source" ]) }
my ($symptom) = section_of($page, $back) =~ /prints\n?\s*`(no rewind required)`/;
like(rewound(), qr/\Q$symptom\E/, 'before a checkpoint: the symptom') if $old->pg_version < 16;
kill 'CONT', $checkpointer;
follow($new, 'the new primary', $checkpoint);
like(rewound(), qr/Done!/, 'after a checkpoint: rewound');
unlink "$data/postgresql.conf";
append_to_file("$data/postgresql.conf", $settings);
start_server($old);
wait_for(sub { $new->safe_psql('postgres', 'SELECT state FROM pg_stat_replication') eq 'streaming' }, 'the old primary to follow');
follow($new, 'the new primary', $streams);
$new->safe_psql('postgres', 'INSERT INTO photos (n) VALUES (4)');
wait_for(sub { $old->safe_psql('postgres', q(SELECT string_agg(n::text, ' ' ORDER BY n) FROM photos)) eq '1 3 4' }, 'the rows of the new primary');
is(attempt($old, 'SELECT snowid_next(5)'), 'ERROR 25006', 'and makes no IDs');
$old->stop;
end_test($new);
