# In a session that has not used snowid PostgreSQL does not know its settings: ALTER DATABASE and ALTER ROLE are refused to all but
# superusers, whose values are looked at when they are used; and so is ALTER SYSTEM up to PostgreSQL 16. GRANT SET lets others.

use Snowid;
use SnowidSettings;

my $node = server_with_roles();
sub in_new { return in_session($node, @_) }
foreach my $way (ways('boss'))
{
    check_stored('not used', $node, 'boss', '', $way);
    # Nobody takes the default for a bad value.
    is(join('|', map { in_new('boss', '', $_) } "$way SET snowid.default_shard = 'x'", 'SELECT snowid_next()', "$way RESET snowid.default_shard"), '|ERROR 22023|', "boss, $way: a bad value");
}
foreach my $user (qw(owner plain))
{
    is(in_new($user, '', "$_ SET snowid.default_shard = 7"), 'ERROR 42501', "$user: $_: refused") foreach ways($user);
}
foreach my $user (qw(boss owner plain))
{
    is(in_new($user, '', 'SHOW snowid.default_shard'), 'ERROR 42704', "$user: SHOW");
    is(in_new($user, '', 'SET snowid.default_shard = 9; SELECT snowid_shard(snowid_next())'), '9', "$user: SET");
}
my $version = $node->pg_version->major;
my $system = in_new('boss', '', 'ALTER SYSTEM SET snowid.default_shard = 7');
is($system, $version < 16 ? 'ERROR 42704' : '', 'ALTER SYSTEM') if $version != 16;
is(in_new('boss', q(LOAD 'snowid'), 'ALTER SYSTEM RESET snowid.default_shard'), '', 'ALTER SYSTEM is taken back');
is(in_new('owner', '', q(LOAD 'snowid')), 'ERROR 42501', 'LOAD is for superusers');

is(in_new('boss', '', 'GRANT SET ON PARAMETER snowid.default_shard TO PUBLIC'), '', 'granted');
check_stored('granted', $node, 'owner', '', 'ALTER DATABASE app');
check_stored('granted', $node, 'plain', '', 'ALTER ROLE plain');
is(in_new('plain', '', $_), 'ERROR 42501', "granted: $_") foreach 'ALTER DATABASE app SET snowid.default_shard = 7', 'ALTER ROLE plain SET snowid.max_wait = 7';
is(in_new('boss', '', 'REVOKE SET ON PARAMETER snowid.default_shard FROM PUBLIC'), '', 'revoked');
is(in_new('owner', '', 'ALTER DATABASE app SET snowid.default_shard = 7'), 'ERROR 42501', 'revoked: refused again');
end_test($node);
