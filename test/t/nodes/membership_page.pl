# What another version of the library has stored of a node's number is not taken for what this one would have: whatever it makes is
# refused, and goes on with that version.
# Runs in make test-all: make test has the main tests of its module.

use Snowid;

my $registry = ready_server('registry');
my $node = ready_server('node');
add_source($node, $registry, name => 'registry');
is(attempt($node, q(SELECT snowid.join('registry', 'a node'))), '1', 'joined');
$node->safe_psql('postgres', 'CHECKPOINT');
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q(SELECT pg_relation_filepath('snowid_internal.membership_page')));

sub write_version
{
    my ($version) = @_;
    $node->stop;
    open my $page, '+<:raw', $file or die "$file: $!";
    # At the beginning of the special space of the second page, whose header says where that is.
    seek $page, 8192 + 16, 0;
    read $page, my $special, 2;
    my $place = 8192 + unpack 'S', $special;
    seek $page, $place, 0;
    read $page, my $before, 4;
    seek $page, $place, 0;
    print $page pack 'L', $version;
    close $page;
    start_server($node);
    return unpack 'L', $before;
}
is(write_version(2), 1, 'the page is of version 1');
is(attempt($node, "SELECT $_"), 'ERROR 0A000', "of version 2: $_") foreach 'snowid_next()', 'snowid_next(42)', 'snowid.check_node()', 'snowid.leave()',
  'snowid_uuidv7()';
write_version(1);
is(attempt($node, 'SELECT snowid_shard(snowid_next())'), '1', 'version 1 again: as before');
end_test($node, $registry);
