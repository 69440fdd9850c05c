# The steps of docs/node-numbers.md for joining, passwords, and several databases on one server, and those of
# docs/moving-shards.md for many tenants, as printed.
# Runs in make test-all: it follows many steps of the page.

use Snowid;

my $page = 'docs/node-numbers.md';
my $tenants_page = 'docs/moving-shards.md';
my $registry = new_server('registry');
unlink $registry->data_dir . '/pg_hba.conf';
append_to_file($registry->data_dir . '/pg_hba.conf', "local all members scram-sha-256\nlocal all all trust\n");
start_server($registry);
my $berlin = new_server('berlin');
start_server($berlin);
$registry->safe_psql('postgres', 'CREATE DATABASE registry');
$berlin->safe_psql('postgres', 'CREATE DATABASE berlin; CREATE DATABASE app');

sub here
{
    my ($block) = @_;
    my ($host, $port) = ($registry->host, $registry->port);
    return $block =~ s/host 'registry[.]example'/host '$host', port '$port'/r;
}
sub on_registry { my ($block) = @_; return follow($registry, 'registry', $block, dbname => 'registry') }
sub on_berlin { my ($block, $dbname) = @_; return follow($berlin, $dbname // 'berlin', $block, dbname => $dbname // 'berlin', here => \&here) }
sub at { my ($sql, $dbname) = @_; return attempt($berlin, $sql, dbname => $dbname // 'berlin') }
my $number = 'SELECT snowid_default_shard(), snowid_shard(snowid_next())';

# Joining, where the registry asks for a password.
my @blocks = blocks_of($page, 'Joining');
on_registry($blocks[0]);
on_berlin($blocks[1]);
on_registry($blocks[2]);
is(at($number), '1|1', 'joined');

# Another password, and another number, also where the registry is lost between leaving and joining.
my ($password, $mapping, $another) = blocks_of($page, 'Passwords');
on_registry($password);
is(at('SELECT snowid.check_node()'), 'ERROR 28P01', 'the registry has another password');
like(section_of($page, 'Passwords'), qr/28P01/, 'the page says so');
is(at($number), '1|1', 'the node draws on');
on_berlin($mapping);
on_berlin($another);
is(at($number), '2|2', 'another number');
is($registry->safe_psql('registry', 'SELECT count(DISTINCT claim), min(node_number) FILTER (WHERE retired IS NOT NULL) FROM snowid_internal.nodes'),
    '2|1', 'by another claim; the old one is retired');

# Several databases: one that joins, and one that is made from it.
my ($joining, $shop) = blocks_of($page, 'Several databases on one server');
my ($setup) = $blocks[1] =~ /^(CREATE EXTENSION snowid;.*?)^SELECT snowid.join/ms;
is(at(here($setup =~ s/password 'secret'/password 'new secret'/r), 'app'), '', 'step 2 of joining, in another database');
on_berlin($joining, 'app');
$berlin->safe_psql('postgres', said_in($page, 'Several databases on one server', 'CREATE DATABASE shop TEMPLATE app'));
is(at($number, 'shop'), 'ERROR 55000', 'one that is made from another draws nothing');
on_berlin($shop, 'shop');
is(at("$number, snowid.check_node()", $_->[0]), $_->[1], "$_->[0] draws from its own") foreach [ 'berlin', '2|2|2' ], [ 'app', '3|3|3' ], [ 'shop', '4|4|4' ];

# More tenants than numbers.
my ($tenants, $tenant) = blocks_of($tenants_page, 'Many tenants');
on_registry($tenants);
on_berlin($tenant);
my ($layout) = $tenant =~ /'(time:[^']*)'/;
my ($last, $insert) = (65535, 'INSERT INTO tenants (tenant) VALUES');
my $above = said_in($tenants_page, 'Many tenants', q(SELECT setval('tenants_shard_seq', 1000)));
$registry->safe_psql('registry', $above =~ s/1000/$last - 1/r);
is($registry->safe_psql('registry', "$insert ('last') RETURNING shard"), $last, 'as many tenants as the page says');
is(attempt($registry, "$insert ('too many')", dbname => 'registry'), 'ERROR 2200H', 'and no more');
is(at("SELECT snowid_shard(snowid_next($last, '$layout'), '$layout')"), $last, 'the layout has them');
is(at("SELECT snowid_next($last + 1, '$layout')"), 'ERROR 22023', 'and no more');
is(at("SELECT count(DISTINCT snowid_sequence(id, '$layout')) FROM snowid_next_batch(7, 1000, '$layout') AS id"), '128', 'each with 128 IDs a millisecond');
is(at("SELECT snowid.release_shard(1, '$layout') > 0; INSERT INTO acme.orders (item) VALUES ('milk')"), 'ERROR 55000', 'a tenant that has moved is served here no more');

# The registry is lost between leaving and joining: called again, it goes on.
is(at($another =~ s/(snowid.leave.*;)\n/$1\nALTER SERVER registry OPTIONS (SET host '\/nowhere');\n/r), 'ERROR 08006', 'the registry is lost');
is(at($number), 'ERROR 55000', 'the node draws nothing');
point_at($berlin, $registry, name => 'registry', dbname => 'berlin');
like(at($another =~ s/^SELECT snowid.leave.*\n//mr), qr/^5$/, 'it joins');
is(at($number), '5|5', 'then it draws');
end_test($berlin, $registry);
