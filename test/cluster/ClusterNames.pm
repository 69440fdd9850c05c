# The functions by which shards move and go on, as statements.

package ClusterNames;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(release_sql accept_sql advance_to_moment_sql advance_to_ceiling accept_refuses_stale);

# Whether they are snowid.release_shard() and so on, which refuse an ID that has opened the shard before.
my $is_named_anew = 0;

sub accept_refuses_stale { return $is_named_anew }

sub release_sql
{
    my ($shard, $layout, $to) = @_;
    return 'SELECT ' . ($is_named_anew ? 'snowid.release_shard' : 'snowid_release') . "($shard, '$layout', '$to')";
}

sub accept_sql
{
    my ($shard, $id, $layout) = @_;
    return $is_named_anew ? "SELECT snowid.accept_shard($shard, $id, '$layout')" : "SELECT snowid_accept($id, '$layout')";
}

# moment: an expression.
sub advance_to_moment_sql { my ($moment) = @_; return 'SELECT ' . ($is_named_anew ? 'snowid.advance_past' : 'snowid_advance_all') . "($moment)" }

# What a server hands over, and the statement that has another one go on above it.
sub advance_to_ceiling
{
    return $is_named_anew ? ('SELECT snowid_max(snowid_ceiling())', sub { "SELECT snowid.advance_past($_[0])" })
      : ('SELECT snowid_ceiling()', sub { advance_to_moment_sql("'$_[0]'") });
}

1;
