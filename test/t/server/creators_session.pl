# CREATE EXTENSION makes the same whatever the session has set that runs it, who may be the database's owner, and
# whatever default privileges give; and what reads expressions does so whatever a caller has set.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidCatalog;
use Test::More;

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

# What adopts a table of somebody's evaluates no expression that may be his code.
my @others = ('ALTER DATABASE postgres SET search_path = "a b", public', 'ALTER DATABASE postgres SET quote_all_identifiers = on',
    map { "ALTER DATABASE postgres SET $_" } grep { !/^default_table/ } @settings);
$node->safe_psql('postgres', join ';', @others);
$node->safe_psql('postgres', q(CREATE SCHEMA "a b"; CREATE EXTENSION snowid SCHEMA "a b";
CREATE FUNCTION public.noted(bigint) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE TABLE looked_at (id bigint CHECK (noted(id)), plain bigint CHECK (plain + 1 > 0));
CREATE TABLE messages (id bigint DEFAULT snowid_next(layout => 'discord', shard => 5) PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders (id uuid CHECK (snowid_is_uuidv7(id))) PARTITION BY RANGE (id);
CREATE TABLE orders_0 PARTITION OF orders FOR VALUES FROM (MINVALUE) TO (snowid_uuidv7_first_at('2016-01-01Z'))));
is($node->safe_psql('postgres', q(SELECT string_agg(snowid.is_plain(conbin)::text, ' ' ORDER BY conname)
    FROM pg_constraint WHERE conrelid = 'looked_at'::regclass AND contype = 'c')), 'false true', 'whose expressions are code');
$node->safe_psql('postgres', q(CREATE FUNCTION public.made() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowid_next(); END';
CREATE TABLE by_text (id bigint DEFAULT made())));
is($node->safe_psql('postgres', q(SELECT found_in FROM snowid.columns WHERE table_name = 'by_text'::regclass)),
    'default: text of function public.made()', 'a column whose IDs come from a function with text');
is($node->safe_psql('postgres', q(SELECT s.* FROM snowid.source_of_ids('messages'::regclass, 1::int2) AS s)), '5|discord', 'what a default draws from');
$node->safe_psql('postgres', q(SELECT snowid.create_partitions('messages', '1 day', now() + interval '2 days')));
$node->safe_psql('postgres', q(SELECT snowid.create_partitions('orders', '1 year', now())));
is($node->safe_psql('postgres', q(SELECT snowid.drop_partitions('orders', '2016-01-01'))), '"a b"."orders_0"', 'a partition by UUID goes');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT parent), count(*) >= 3, bool_and(NOT is_default AND range_end > range_start) FROM snowid.partitions'),
    '2|t|t', 'what partitions hold');
$node->stop;
done_testing();
