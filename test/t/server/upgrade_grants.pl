# Rights on members of the extension that somebody has granted stay when it is upgraded, and are nothing of the extension's.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidUpgrades;

my ($install_path, $scripts) = new_prefix();
add_version_before($scripts);
my $node = versions_server($install_path);
my ($fresh, $dbname) = map { database_of($node, 'alice', $_) } current_version(), 'before';
is(as_role($node, 'alice', $dbname, 'GRANT EXECUTE ON FUNCTION snowid.advance_shard TO plain', 'ALTER EXTENSION snowid UPDATE'), '', 'upgraded');
is(as_role($node, 'plain', $dbname, 'SELECT snowid.advance_shard(1)'), '', 'kept');
my @differences = differences(map { as_role($node, 'postgres', $_, describing(), q(SELECT pg_temp.describe('snowid'))) } $fresh, $dbname);
like("@differences", qr/[+] .*proacl = .*plain=X/, 'seen');
is(join("\n", grep { !/snowid.advance_shard\(.*(?:proacl =|: concerns)/ } @differences), '', 'and nothing else');
end_test($node);
