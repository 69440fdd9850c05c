# A mistyped snowid.default_shard where the library is not loaded, and nobody can check it (ALTER DATABASE, ALTER ROLE, the configuration
# file, the connection's options): until it is right, whoever needs the shard is refused, never given another; who names a shard
# is served, without a warning.
# Runs in make test-all: it starts many sessions.

use Snowid;

my $node = ready_server('refused_shard',
    sql => 'CREATE ROLE app LOGIN; CREATE TABLE photos (id bigint PRIMARY KEY DEFAULT snowid_next(), title text); GRANT ALL ON photos TO app');

# What a session of a role gets, and is told.
sub gets
{
    my ($sql, $role) = @_;
    my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', $role // 'postgres' ]);
    return "$out$err";
}

sub is_refused
{
    my ($name, $value, $role) = @_;
    like(gets($_, $role), qr/^psql:<stdin>:\d+: ERROR:  22023: invalid value for parameter "snowid\.default_shard": "\Q$value\E"\nHINT:/, "$name: refused: $_")
      foreach 'SELECT snowid_next()', 'SELECT snowid_default_shard()', 'INSERT INTO photos (title) VALUES (1)',
      q(SELECT snowid_next(snowid_default_shard(), 'twitter'));
    is(gets(q{SELECT node_number IS NULL, source ~ '^setting [(]', problem FROM snowid.node_status}, $role),
        qq(t|t|invalid value for parameter "snowid.default_shard": "$value"), "$name: the view says why");
    is(gets('SELECT snowid_shard(snowid_next(5))', $role), '5', "$name: who names a shard is served");
    is(gets('SET snowid.default_shard = 7; SELECT snowid_shard(snowid_next())', $role), '7', "$name: and so is who sets it right");
    return;
}

sub is_served { my ($name, $shard, $role) = @_; is(gets('SELECT snowid_shard(snowid_next())', $role), $shard, "$name: served"); return }

foreach my $how ('loaded at first use', 'preloaded')
{
    # Those who have loaded it are told, so it is written down before.
    $node->safe_psql('postgres', q(ALTER DATABASE postgres SET snowid.default_shard = 'abc'; ALTER ROLE app SET snowid.default_shard = '12a'));
    $node->append_conf('postgresql.conf', "shared_preload_libraries = 'snowid'\n") if $how eq 'preloaded';
    $node->restart;
    is_refused("ALTER DATABASE, $how", 'abc');
    is_refused("ALTER ROLE, $how", '12a', 'app');
    $node->safe_psql('postgres', 'ALTER ROLE app RESET snowid.default_shard; ALTER DATABASE postgres SET snowid.default_shard = 12');
    is_served("ALTER DATABASE, $how, put right", 12, $_) foreach 'postgres', 'app';
    $node->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.default_shard');
    is_served("ALTER DATABASE, $how, reset", 0);
    is(attempt($node, "SELECT snowid_shard(snowid_next(1)) \\g /dev/null\n$_ SET snowid.default_shard = 'abc'"), 'ERROR 22023', "$_ SET, $how: refused at once")
      foreach '', 'ALTER SYSTEM', 'ALTER DATABASE postgres';
    {
        local $ENV{PGOPTIONS} = '-c snowid.default_shard=oops';
        is_refused("connection's options, $how", 'oops');
    }

    $node->append_conf('postgresql.conf', "snowid.default_shard = 'first'\n");
    my $session = open_session($node);
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '0', "configuration, $how: not read yet");
    $node->reload;
    wait_for(sub { ask($session, 'SHOW snowid.default_shard') eq 'first' }, 'the configuration to be read');
    is(ask($session, 'SELECT snowid_next()'), 'ERROR 22023', "configuration, $how: refused in a session that is open");
    is_refused("configuration, $how", 'first');
    $node->append_conf('postgresql.conf', "snowid.default_shard = 3\n");
    $node->reload;
    wait_for(sub { ask($session, 'SHOW snowid.default_shard') eq '3' }, 'the configuration to be read');
    is(ask($session, 'SELECT snowid_shard(snowid_next())'), '3', "configuration, $how, put right: that session goes on");
    close_session($session);
    $node->append_conf('postgresql.conf', "snowid.default_shard = -1\n");
    $node->restart;
}

# With the library not loaded: other wrong values, and the session's own.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
foreach my $value ('-2', '', '9223372036854775808', '1.5')
{
    $node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.default_shard = '$value'");
    is(attempt($node, 'SELECT snowid_next()'), 'ERROR 22023', "refused: '$value'");
}
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET snowid.default_shard');
is(attempt($node, "SET snowid.default_shard = 'abc'; SELECT snowid_next()"), 'ERROR 22023', 'SET, before: refused');
is(attempt($node, "SET snowid.default_shard = 'abc'; SELECT snowid_shard(snowid_next(1)); RESET snowid.default_shard; SELECT snowid_shard(snowid_next())"),
    "1\n0", 'RESET takes it back');

# Parallel workers are given what the session has, and neither warn nor fail where they need it not.
$node->safe_psql('postgres', 'INSERT INTO photos SELECT n, n FROM generate_series(1, 10000) n; ANALYZE photos');
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
  . ' SET parallel_leader_participation = off; SELECT snowid_shard(snowid_next(4));';
my $count = "$parallel SELECT count(snowid_shard(id)) FROM photos WHERE id > 0";
is(gets("SET snowid.default_shard = 'abc'; $count"), "4\n10000", 'parallel workers are given what the session has set');
$node->safe_psql('postgres', "ALTER DATABASE postgres SET snowid.default_shard = 'abc'");
is(gets($count), "4\n10000", 'or what was refused');
is(attempt($node, "$parallel CREATE TABLE copied AS SELECT snowid_next() AS id FROM photos WHERE id > 0"), 'ERROR 22023', 'and are refused as the session is');
end_test($node);
