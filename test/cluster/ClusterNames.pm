# The functions by which shards move and go on, as statements.

package ClusterNames;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(release_sql accept_sql advance_to_moment_sql advance_to_ceiling);

sub release_sql { my ($shard, $layout, $to) = @_; return "SELECT snowid.release_shard($shard, '$layout', '$to')" }
sub accept_sql { my ($shard, $id, $layout) = @_; return "SELECT snowid.accept_shard($shard, $id, '$layout')" }

# moment: an expression.
sub advance_to_moment_sql { my ($moment) = @_; return "SELECT snowid.advance_past($moment)" }

# What a server hands over, and the statement that has another one go on above it.
sub advance_to_ceiling { return ('SELECT snowid_last_at(snowid_ceiling())', sub { "SELECT snowid.advance_past($_[0])" }) }

1;
