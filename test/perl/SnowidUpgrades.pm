# Versions of the extension's script, and databases that have them.
package SnowidUpgrades;

use strict;
use warnings;

use Exporter 'import';
use SnowidPrefix;
use SnowidSessions;
use SnowidServers;
use Test::More;

our @EXPORT = qw(add_version_before versions_server as_role database_of);

# A version "before" the current one: a function, a column, a CHECK and a right less, another view, comment and volatility, a table that
# is not dumped; with the step that puts it right. Returns its script.
sub add_version_before
{
    my ($scripts) = @_;
    my $script = script_of(current_version());
    my $statements = sub {
        my ($pattern) = @_;
        my @found = grep { $_ =~ $pattern } map { "$_;\n" } split /;\n/, $script =~ s/^(?:--|\\echo).*\n//mgr;
        die "no statement matches $pattern" unless @found;
        return join '', @found;
    };
    my $dumped = $statements->(qr/^SELECT.*'snowid_internal[.]moved_shards'/);
    my $column = $statements->(qr/^COMMENT ON COLUMN snowid(?:_internal[.]nodes|[.]registry)[.]retired /);
    my $view = $statements->(qr/^\n?CREATE VIEW snowid[.]registry /);
    my $before = $script;
    foreach my $less (quotemeta $dumped, (map { quotemeta "$_;\n" } split /;\n/, $column), ', n[.]retired(?= FROM snowid_internal[.]nodes)',
        ',\n  retired pg_catalog[.]timestamptz(?=\n\) USING heap;)')
    {
        $before =~ s/$less// or die "the script has no $less";
    }
    $before .= <<'SQL';
DROP FUNCTION snowid.advance_past(pg_catalog.timestamptz);
ALTER TABLE snowid_internal.nodes DROP CONSTRAINT nodes_node_number_check;
CREATE OR REPLACE VIEW snowid.node_status AS SELECT node_number, source, node_name, registry, checked, problem FROM snowid.get_node_status() LIMIT 1;
COMMENT ON FUNCTION @extschema@.snowid_next() IS 'as it was';
ALTER FUNCTION @extschema@.snowid_lastval() PARALLEL UNSAFE;
REVOKE SELECT ON snowid.layouts FROM PUBLIC;
SQL
    my $step = join '', $dumped, $statements->(qr{FUNCTION snowid[.]advance_past\((?:moment |pg_catalog[.]timestamptz)}), "ALTER TABLE snowid_internal.nodes ADD COLUMN retired pg_catalog.timestamptz;\n",
      $view =~ s/CREATE/CREATE OR REPLACE/r, $column, 'ALTER TABLE snowid_internal.nodes ADD CONSTRAINT nodes_node_number_check'
      . " CHECK (node_number OPERATOR(pg_catalog.>=) 1::bigint AND node_number OPERATOR(pg_catalog.<=) 8191::bigint);\n",
      $statements->(qr/^COMMENT ON CONSTRAINT nodes_node_number_check/), $statements->(qr/^\n?CREATE VIEW snowid[.]node_status /) =~ s/CREATE/CREATE OR REPLACE/r,
      $statements->(qr/^COMMENT ON FUNCTION [@]extschema[@][.]snowid_next\(\)/),
      "ALTER FUNCTION \@extschema\@.snowid_lastval() PARALLEL RESTRICTED;\n", "GRANT SELECT ON snowid.layouts TO PUBLIC;\n",
      "REVOKE ALL ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) FROM PUBLIC;\n"
      . "GRANT EXECUTE ON FUNCTION snowid.advance_past(pg_catalog.timestamptz) TO pg_database_owner WITH GRANT OPTION;\n";
    add_version($scripts, 'before', $before, $step);
    return $before;
}

# A server that has them, and roles of whom each may own a database, or nothing.
sub versions_server
{
    my ($install_path) = @_;
    my $node = new_server('script', install_path => $install_path);
    $node->append_conf('postgresql.conf', "client_min_messages = error\ntimezone = 'UTC'");
    $node->start;
    $node->safe_psql('postgres', 'CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE plain LOGIN; CREATE EXTENSION snowid; CREATE SEQUENCE central INCREMENT 100');
    return $node;
}

# Runs statements as a role, up to the first that fails. Returns the answer to the last.
sub as_role
{
    my ($node, $role, $dbname, @sql) = @_;
    my $session = open_session($node, dbname => $dbname, user => $role);
    my $answer;
    foreach my $sql (@sql)
    {
        $answer = ask($session, $sql);
        last if $answer =~ /^ERROR/;
    }
    note($session->{err}) if $session->{err};
    close_session($session);
    return $answer;
}

# A new database with a version of the extension, in a schema other than public.
my $databases = 0;

sub database_of
{
    my ($node, $owner, $version) = @_;
    my $dbname = 'db' . $databases++;
    $node->safe_psql('postgres', qq(CREATE DATABASE $dbname OWNER $owner; ALTER DATABASE $dbname SET search_path = "Its own", public));
    is(as_role($node, $owner, $dbname, 'CREATE SCHEMA "Its own"; GRANT USAGE ON SCHEMA "Its own" TO plain',
            qq(CREATE EXTENSION snowid SCHEMA "Its own" VERSION '$version')), '', "$dbname: $version, created by $owner");
    return $dbname;
}

1;
