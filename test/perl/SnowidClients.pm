# Recipes of docs/clients: what stands on a page is run, in its order, against a server of its own.
#
# A page's blocks of code are told apart by their language:
#   ```sql       is run by psql, one session for each block; lines after "-->" are its results.
#   ```console   commands, in lines that begin with "$ ", of a shell; the lines below one, if there are any, are what
#                it prints. Without them its output is not looked at. A line that ends in a backslash goes on. What ends
#                in " &" is a server: it is waited for, and ends with the test.
#   any other    is a file, whose name stands in a comment on its first line: "// photos.js", "# photos.py",
#                "<?php // photos.php", "<!-- photos.xml -->", "; pgbouncer.ini". A later block of that name replaces it.
#   ```text, and a block without a language, are only shown.
#
# Commands run in a directory of the recipe's own, where its files are, and npm's packages in node_modules. The
# database is "app", whose owner is the role "app", and has snowid. How to get there is in the environment, as PGHOST,
# PGPORT, PGDATABASE, PGUSER, PGPASSWORD, and as DATABASE_URL.
package SnowidClients;

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname basename);
use File::Path qw(make_path);
use IPC::Run;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SnowidPrograms;
use SnowidServers;
use Test::More;

our @EXPORT = qw(new_recipe run_page run_sections run_blocks blocks_of put_file run_shell asked_as_app recipe_environment
  try_page statements_like names_version use_debian_crates);

# A recipe that is named as its test is, with a server that listens on TCP, too. Options: conf, lines of
# postgresql.conf; env, a hash of what else its commands have in their environment; port, where the page says that its
# own server listens. Free ports take the place of that and of 5432. statements, whether statements_like will ask.
sub new_recipe
{
    my (%options) = @_;
    my $name = basename($0, '.pl');
    my $node = new_server($name =~ s/\W/_/gr);
    $node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\ntimezone = 'UTC'\n" . ($options{conf} // ''));
    $node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'") if $options{statements};
    $node->start;
    # In another database than the recipe's, whose tools may look at all that is there, or drop it.
    $node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $options{statements};
    $node->safe_psql('postgres', q(CREATE ROLE app LOGIN PASSWORD 'secret'; CREATE DATABASE app OWNER app TEMPLATE template0 ENCODING 'UTF8'));
    my $dir = abs_path(PostgreSQL::Test::Utils::tempdir());
    my $recipe = { name => $name, node => $node, dir => $dir, env => $options{env} // {}, ports => { 5432 => $node->port } };
    if ($options{port})
    {
        $recipe->{port} = PostgreSQL::Test::Cluster::get_free_port();
        $recipe->{ports}{ $options{port} } = $recipe->{port};
    }
    asked_as_app($recipe, 'CREATE EXTENSION snowid');
    my $modules = ($ENV{SNOWID_NPM} // '') . "/$name/node_modules";
    if (-d $modules)
    {
        symlink $modules, "$dir/node_modules" or die "node_modules: $!";
    }
    return $recipe;
}

# What programs have in their environment to get to the recipe's database.
sub recipe_environment
{
    my ($recipe) = @_;
    my $port = $recipe->{node}->port;
    return (
        PGHOST => '127.0.0.1', PGPORT => $port, PGDATABASE => 'app', PGUSER => 'app', PGPASSWORD => 'secret',
        DATABASE_URL => "postgres://app:secret\@127.0.0.1:$port/app", HOME => $recipe->{dir}, %{ $recipe->{env} });
}

# Runs SQL as the role "app", and returns its results; an error ends the test.
sub asked_as_app
{
    my ($recipe, $sql) = @_;
    local $ENV{PGUSER} = 'app';
    return $recipe->{node}->safe_psql('app', $sql);
}

# How many statements of the recipe's database, so far, PostgreSQL has counted whose text is LIKE a pattern.
sub statements_like
{
    my ($recipe, $pattern) = @_;
    return $recipe->{node}->safe_psql('postgres', <<"SQL");
SELECT COALESCE(sum(calls), 0) FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid
WHERE datname = 'app' AND query LIKE \$\$$pattern\$\$
SQL
}

# The defaults of columns that call snowid, as PostgreSQL prints them, a line each.
sub defaults_of
{
    my ($recipe) = @_;
    return asked_as_app($recipe, <<'SQL') . "\n";
SELECT format('%s.%s: %s', adrelid::regclass, attname, pg_get_expr(adbin, adrelid))
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE pg_get_expr(adbin, adrelid) ~ 'snowid' AND attrelid::regclass::text !~ '^snowid\.' ORDER BY 1
SQL
}

# All that belongs to the extension, a line each, with object IDs: what was dropped and made again shows, too.
sub objects_of_extension
{
    my ($recipe) = @_;
    return asked_as_app($recipe, <<'SQL');
SELECT classid::regclass, objid, pg_describe_object(classid, objid, objsubid) FROM pg_depend
WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'snowid') ORDER BY 1, 2, 3
SQL
}

# A page's blocks, in order, as hashes of `language`, `text`, and `heading`, the one above.
sub blocks_of
{
    my ($file) = @_;
    my (@blocks, $heading);
    my $page = slurp_file($file);
    while ($page =~ /^#+ ([^\n]*)$|^```(\w*)\n(.*?)^```$/msg)
    {
        if (defined $1) { $heading = $1 }
        else            { push @blocks, { language => $2, text => $3, heading => $heading } }
    }
    return @blocks;
}

# Runs the recipe's page, which names one of the versions that its test takes from npm.
sub run_page
{
    my ($recipe) = @_;
    my $page = "docs/clients/$recipe->{name}.md";
    my @blocks = grep { $_->{language} !~ /^(?:text)?$/ } blocks_of($page);
    cmp_ok(scalar(@blocks), '>', 0, "$page has something to run");
    if (my ($npm) = slurp_file($0) =~ /^# Npm: (.*)$/m)
    {
        my $versions = join '|', map { quotemeta } $npm =~ /\@(\d+[.]\d+)[.]/g;
        like(slurp_file($page), qr/^Run with [^\n]*\b(?:$versions)\b/m, 'the page names the version that was run');
    }
    run_blocks($recipe, @blocks);
    return;
}

# The whole test of a recipe that is about defaults: runs its page, and checks that it has made these, as PostgreSQL
# prints them, and that the extension is as it was. `more` is called with the recipe in the end. Options are new_recipe's.
sub try_page
{
    my ($defaults, $more, %options) = @_;
    my $recipe = new_recipe(%options);
    my $before = objects_of_extension($recipe);
    run_page($recipe);
    is(defaults_of($recipe), $defaults, 'the defaults, as PostgreSQL prints them');
    is(objects_of_extension($recipe), $before, 'the extension is as it was');
    is(asked_as_app($recipe, 'SELECT count(*) FROM snowid_internal.ceiling'), '1', 'it has its ceiling');
    $more->($recipe) if $more;
    $recipe->{node}->stop;
    done_testing();
    return;
}

# Checks that the page names the version that was run: "PROGRAM 5.2" where a command prints "5.2.17", or "3:5.2.17-2".
sub names_version
{
    my ($recipe, $program, $command) = @_;
    my ($named) = slurp_file("docs/clients/$recipe->{name}.md") =~ /\b\Q$program\E (\d+(?:[.]\d+)*)/;
    $named //= 'no version';
    like(run_shell($recipe, $command), qr/(?<![\d.])\Q$named\E(?!\d)/, "the page names the version of $program");
    return;
}

# Has cargo take crates from Debian's packages, which are sources, and fetch none.
sub use_debian_crates
{
    my ($recipe) = @_;
    put_file($recipe, 'toml', <<'END');
# .cargo/config.toml
[net]
offline = true
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "/usr/share/cargo/registry"
END
    return;
}

# Runs what stands below some headings of another page, each up to the next one.
sub run_sections
{
    my ($recipe, $page, @headings) = @_;
    foreach my $heading (@headings)
    {
        my @blocks = grep { ($_->{heading} // '') eq $heading && $_->{language} ne '' } blocks_of($page);
        cmp_ok(scalar(@blocks), '>', 0, "$page, $heading: there is something to run");
        run_blocks($recipe, @blocks);
    }
    return;
}

sub run_blocks
{
    my ($recipe, @blocks) = @_;
    foreach my $block (@blocks)
    {
        my $language = $block->{language};
        my $text = $block->{text} =~ s/\b(\d{4})\b/$recipe->{ports}{$1} \/\/ $1/egr;
        if ($language eq 'sql') { run_sql($recipe, $text) }
        elsif ($language eq 'console') { run_console($recipe, $text) }
        else { put_file($recipe, $language, $text) }
    }
    return;
}

sub run_sql
{
    my ($recipe, $sql) = @_;
    my ($title) = $sql =~ /^(.*)$/m;
    my @expected = $sql =~ /^--> (.*)$/mg;
    local $ENV{PGUSER} = 'app';
    my ($status, $out, $err) = $recipe->{node}->psql('app', $sql);
    is("$status: $err", '0: ', "SQL: $title");
    is($out, join("\n", @expected), "its results: $title") if @expected;
    return;
}

sub run_console
{
    my ($recipe, $text) = @_;
    my @commands = split /^\$ /m, $text;
    my $before = shift @commands;
    die "a console begins with a command, not with $before" if $before ne '';
    foreach (@commands)
    {
        my ($command, $expected) = /\A((?:[^\n]*\\\n)*[^\n]*)\n(.*)\z/s;
        if ($command =~ s/ &\z//) { serve($recipe, $command) }
        else { run_shell($recipe, $command, $expected) }
    }
    return;
}

# Starts a server of the page's own, and waits until it listens.
sub serve
{
    my ($recipe, $command) = @_;
    local %ENV = (%ENV, recipe_environment($recipe));
    push @{ $recipe->{programs} }, start_program(log_of("served.$recipe->{port}"), 'bash', '-c', "cd '$recipe->{dir}' && exec $command");
    wait_for(sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $recipe->{port}) }, "$command to listen");
    return;
}

# Runs a command of the shell in the recipe's directory. It has to succeed and, where `expected` is not empty, to
# print that. Returns what it printed.
sub run_shell
{
    my ($recipe, $command, $expected) = @_;
    my ($out, $err) = ('', '');
    local %ENV = (%ENV, recipe_environment($recipe));
    my $run = eval {
        IPC::Run::run([ 'bash', '-c', "cd '$recipe->{dir}' || exit; $command" ], '<', \undef, '>', \$out, '2>', \$err, IPC::Run::timeout(500));
    };
    ok($run, "\$ $command") or diag($@, $out, $err);
    if (($expected // '') ne '')
    {
        is($out, $expected, "what that prints: $command") or diag($err);
    }
    return $out;
}

# Puts a block into the file that its first line names.
sub put_file
{
    my ($recipe, $language, $text) = @_;
    my ($name) = $text =~ m{\A(?:<\?php )?(?://|\#|--|;|<!--|/\*) ([\w./-]+)(?: -->| \*/)?\n}
      or die "a block of $language names no file on its first line";
    my $file = "$recipe->{dir}/$name";
    make_path(dirname($file));
    open my $handle, '>', $file or die "$file: $!";
    print $handle $text;
    close $handle or die "$file: $!";
    return $file;
}

1;
