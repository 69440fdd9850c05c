# Databases that have portable/snowid.sql in place of the extension.
package SnowidPortable;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowidServers;

our @EXPORT = qw(create_portable portable_owner);

# Who owns such databases, and is not a superuser.
sub portable_owner { return 'portable_owner' }

# Makes a database of somebody who is not a superuser, and has him read portable/snowid.sql there, as docs/portable.md
# says. Options: shards, numbers to make sequences for, beside 0.
sub create_portable
{
    my ($node, $dbname, %options) = @_;
    my $owner = portable_owner();
    $node->safe_psql('postgres', <<"SQL");
SELECT 'CREATE ROLE $owner LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '$owner') \\gexec
CREATE DATABASE $dbname OWNER $owner TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
SQL
    system_or_bail('psql', '-Xq', '-o', '/dev/null', '-U', $owner, '-d', $node->connstr($dbname), '-f', 'portable/snowid.sql');
    # Not too many in one transaction: each takes locks.
    my @shards = @{ $options{shards} // [] };
    while (my @some = splice @shards, 0, 200)
    {
        $node->safe_psql($dbname, 'SELECT snowid.create_shard(n) FROM unnest(ARRAY[' . join(',', @some) . ']) n',
            extra_params => [ '-U', $owner ]);
    }
    return;
}

1;
