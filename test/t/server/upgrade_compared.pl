# That an upgraded extension is the one that CREATE EXTENSION makes, is told by comparing what the catalogs say of
# both. So the comparison has to see whatever a step between versions can forget. Here are versions that are not
# quite the current one, each with a step that does nothing: the comparison reports each, and nothing else.
# Runs in make test-all: it compares the catalogs a hundred times.

use Snowid;

my ($install_path, $scripts) = new_prefix();
my $script = script_of(current_version());
my $node = new_server('compared', install_path => $install_path);
$node->append_conf('postgresql.conf', 'client_min_messages = error');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE other');
my $session = open_session($node);
is(ask($session, describing()), '', 'what describes an extension');

# What is there after some SQL, which is then rolled back.
sub described
{
    my (@sql) = @_;
    my $answer = ask($session, join ';', 'BEGIN', @sql, q(SELECT pg_temp.describe('snowid')));
    my $error = $session->{err};
    ask($session, 'ROLLBACK');
    die "$sql[0]: $error" if $answer =~ /^ERROR/;
    return $answer;
}

# What differs between the current version as it is created, and as it is after a step from another script, and other SQL before the step.
my $fresh = described('CREATE EXTENSION snowid');
my $versions = 0;

sub differences_of
{
    my ($other, @before) = @_;
    my $version = 'other' . $versions++;
    add_version($scripts, $version, $other, '');
    return differences($fresh, described("CREATE EXTENSION snowid VERSION '$version'", @before, 'ALTER EXTENSION snowid UPDATE'));
}

# Each difference there is concerns what was changed, and what is to be told is told.
sub check_seen
{
    my ($name, $about, $told, @differences) = @_;
    ok((grep { $_ =~ $told } @differences), "$name: seen") or diag("of these: @differences");
    is(join("\n", grep { $_ !~ $about } @differences), '', "$name: and nothing else");
    return;
}

cmp_ok(scalar(split /\n/, $fresh), '>', 5000, 'there is much to be said of it');
is_deeply([ differences_of($script) ], [], 'nothing differs where nothing was changed');
like($fresh, qr/^\Q$_\E/m, "described: $_")
  foreach 'function public.snowid_next(): prosrc = snowid_next', 'function public.snowid_next(): comment = Returns the next ID of the default shard',
  'function public.snowid_next(): depends (e) on extension snowid', 'dumped: snowid_internal.ceiling where ', 'schema snowid: nspacl = =U/postgres',
  'table snowid_internal.nodes: columns = node_number, claim, ', 'view snowid.node_status: definition = ', 'extension snowid: extversion = ',
  'trigger keep_own_rows on snowid_internal.nodes: tgenabled = A', 'sequence snowid_internal.ceiling: seqmax = 253402300799999',
  'function snowid_internal.check_move(): initial rights = e postgres=X/postgres';

# What was changed, by SQL at the end of the script; what all differences are about; what is told.
my $next = 'function public[.]snowid_next\(\)';
my @changed = (
    [ 'a comment', 'COMMENT ON FUNCTION @extschema@.snowid_next() IS $$another$$', $next, 'comment = another' ],
    [ q(a column's comment), 'COMMENT ON COLUMN snowid_internal.nodes.token IS $$another$$', 'table column snowid_internal.nodes.token', 'comment = another' ],
    [ 'a right too many', 'GRANT EXECUTE ON FUNCTION snowid_internal.check_move() TO PUBLIC', 'check_move', 'proacl = =X/postgres' ],
    [ 'volatility', 'ALTER FUNCTION @extschema@.snowid_next() STABLE', $next, 'provolatile = s' ],
    [ q(an argument's default), 'CREATE OR REPLACE FUNCTION @extschema@.snowid_currval(shard bigint, layout @extschema@.snowid_layout'
          . q{ DEFAULT 'twitter') RETURNS bigint VOLATILE STRICT PARALLEL RESTRICTED LANGUAGE C AS 'MODULE_PATHNAME', 'snowid_currval'},
        'snowid_currval', q(definition = .*twitter) ],
    [ 'no function', 'DROP FUNCTION @extschema@.snowid_lastval()', 'snowid_lastval', '^- function .* exists' ],
    [ 'not a member', 'ALTER EXTENSION snowid DROP FUNCTION @extschema@.snowid_lastval()', 'snowid_lastval', '^- function .* exists' ],
    [ 'what of it is dumped', q(SELECT pg_catalog.pg_extension_config_dump('snowid_internal.nodes', 'WHERE false')), 'snowid_internal[.]nodes', 'where WHERE false' ],
    [ 'a column more', 'ALTER TABLE snowid_internal.nodes ADD COLUMN more int', 'snowid_internal[.]nodes', 'columns = .*, more' ],
    [ 'a column that moved', 'ALTER TABLE snowid_internal.nodes DROP COLUMN claimed_by; ALTER TABLE snowid_internal.nodes ADD COLUMN claimed_by pg_catalog.text NOT NULL;'
          . q( COMMENT ON COLUMN snowid_internal.nodes.claimed_by IS 'role as which the node connected to claim the number'), 'snowid_internal[.]nodes', 'columns = ' ],
    [ q(a column's type), 'ALTER TABLE snowid_internal.nodes ALTER COLUMN token TYPE int', 'snowid_internal[.]nodes', 'token: atttypid = type integer' ],
    [ q(a column's default), 'ALTER TABLE snowid_internal.nodes ALTER COLUMN token SET DEFAULT 7', 'snowid_internal[.]nodes', 'definition = .*7' ],
    [ 'another CHECK', 'ALTER TABLE snowid_internal.nodes DROP CONSTRAINT nodes_node_number_check, ADD CONSTRAINT nodes_node_number_check CHECK (node_number > 2)',
        'nodes_node_number_check', 'definition = CHECK .*> 2' ],
    [ 'no index', 'ALTER TABLE snowid_internal.nodes DROP CONSTRAINT nodes_claim_key', 'nodes', '^- index snowid_internal.nodes_claim_key exists' ],
    [ 'a trigger that replication passes by', 'ALTER TABLE snowid_internal.nodes ENABLE TRIGGER refuse_truncate', 'refuse_truncate', 'tgenabled = O' ],
    [ q(a trigger's function), 'CREATE OR REPLACE TRIGGER refuse_truncate BEFORE TRUNCATE ON snowid_internal.nodes FOR EACH STATEMENT'
          . ' EXECUTE FUNCTION snowid_internal.check_move(); ALTER TABLE snowid_internal.nodes ENABLE ALWAYS TRIGGER refuse_truncate', 'refuse_truncate',
        'definition = .*check_move' ],
    [ 'a view', 'CREATE OR REPLACE VIEW snowid.node_status AS SELECT node_number, source, node_name, registry, checked, problem FROM snowid.get_node_status() WHERE true',
        'snowid[.]node_status', 'definition = .*WHERE true' ],
    [ 'a sequence', 'ALTER SEQUENCE snowid_internal.ceiling CACHE 2', 'snowid_internal[.]ceiling', 'seqcache = 2' ],
    [ 'a policy', 'CREATE POLICY own ON snowid_internal.nodes USING (node_number = 7)', 'nodes', 'definition = .*7' ],
    [ 'how an operator is planned', 'ALTER OPERATOR @extschema@.= (@extschema@.objectid, @extschema@.objectid) SET (RESTRICT = NONE)',
        'operator public.=\(public.objectid', 'oprrest = -' ],
    [ 'what an index calls', 'ALTER OPERATOR FAMILY @extschema@.objectid_ops USING hash DROP FUNCTION 2 (@extschema@.objectid, @extschema@.objectid)',
        'public.objectid_ops USING hash', '^- function of access method .* exists' ],
    [ 'a type more', 'CREATE TYPE snowid.more AS (a int, b text)', 'snowid[.]more', '^[+] type snowid.more exists' ]);
foreach my $change (@changed)
{
    my ($name, $sql, $about, $told) = @$change;
    check_seen($name, qr/^[-+] .*(?:$about)/, qr/$told/, differences_of("$script\n$sql;\n"));
}

# What the script would have done, and somebody else has: it is no right of the extension's, and would be dumped.
my $without = $script =~ s{^GRANT SELECT ON snowid[.]layouts, }{GRANT SELECT ON }mr;
isnt($without, $script, 'a script without a GRANT');
check_seen('a right that is not initial', qr/view snowid[.]layouts: initial rights/, qr/^-/,
    differences_of($without, 'GRANT SELECT ON snowid.layouts TO PUBLIC'));
# Two tables change places among those that are dumped: nothing differs.
$without = $script =~ s/^SELECT pg_catalog[.]pg_extension_config_dump\('snowid_internal[.]ceiling'.*;\n//mr;
isnt($without, $script, 'a script that has not all of it dumped');
check_seen('what is dumped', qr/^- dumped: snowid_internal.ceiling/, qr/^-/, differences_of($without));
is_deeply([ differences_of($without . q(SELECT pg_catalog.pg_extension_config_dump('snowid_internal.ceiling', '');)) ], [], 'in another order: the same');
end_test($node);
