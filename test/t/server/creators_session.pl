# CREATE EXTENSION makes the same whatever the session has set that runs it, who may be the database's owner, and whatever default
# privileges give.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;
use SnowidCatalog;

my $node = new_server('creators');
$node->append_conf('postgresql.conf', 'client_min_messages = error');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE reporting; CREATE ROLE owner; ALTER DATABASE postgres OWNER TO owner; CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler');
my $session = open_session($node);
is(ask($session, describing()), '', 'what describes an extension');

# What is there after CREATE EXTENSION by the database's owner, in a transaction with some SQL before it.
sub described
{
    my (@sql) = @_;
    my $answer = ask($session, join ';', 'BEGIN', @sql, 'SET LOCAL ROLE owner', 'CREATE EXTENSION snowid', 'RESET ROLE',
        'SET LOCAL standard_conforming_strings = on', q(SELECT pg_temp.describe('snowid')));
    my $error = $session->{err};
    ask($session, 'ROLLBACK');
    die "@sql: $error" if $answer =~ /^ERROR/;
    return $answer;
}
my $plain = described();
cmp_ok(scalar(split /\n/, $plain), '>', 5000, 'there is much to be said of it');

# From version 19 on strings cannot be read in another way.
my @settings = ('default_table_access_method = other', $node->pg_version->major < 19 ? 'standard_conforming_strings = off' : ());
is_deeply([ differences($plain, described("SET LOCAL $_")) ], [], $_) foreach @settings;
my @roles = ('reporting', 'owner', 'pg_monitor', 'pg_database_owner');
foreach my $objects ('TABLES', 'SEQUENCES', 'SCHEMAS')
{
    my @sql = map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $objects TO $_" } @roles, 'PUBLIC';
    is_deeply([ differences($plain, described(@sql)) ], [], "default privileges on $objects");
}
# Of what everybody may use a list of rights says so then, which is none otherwise.
foreach my $objects ('FUNCTIONS', 'TYPES')
{
    my @different = differences($plain, described(map { "ALTER DEFAULT PRIVILEGES GRANT ALL ON $objects TO $_" } @roles));
    is(join("\n", grep { !/(?:acl =|initial rights = e) =[UX]\S+ (\w+)=[UX]\/\1$/ } @different), '', "default privileges on $objects");
}
close_session($session);

end_test($node);
