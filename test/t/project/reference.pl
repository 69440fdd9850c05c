# The reference has everything, and nothing else: each function with all of its signatures, its volatility and who may execute it,
# each setting with its description, default, range and context, each view and table with its columns, and each type, as a fresh
# server has them. What it says of each is the object's comment, and every comment is a sentence or a short noun phrase.
# Its index is alphabetical. And what any page calls by a name of snowid's is there.

use Encode 'decode_utf8';
use Snowid;

my $reference = slurp_file('docs/reference.md');
my $node = ready_server('reference');

# What a query gives, a list of rows, with the setting's and the types' names as they are commonly written.
sub rows
{
    my ($sql) = @_;
    my $out = $node->safe_psql('postgres', "SET client_encoding = 'UTF8'; SELECT snowid_timestamp(0) IS NULL \\g /dev/null\n $sql");
    return [ map { s/timestamp with time zone/timestamptz/gr } split /\n/, $out ];
}

# A section of the reference, and its parts by their headings.
sub section { return $reference =~ /^## \Q$_[0]\E\n(.*?)(?=^## |\z)/ms ? $1 : die "no section $_[0]" }

sub parts_of
{
    my ($text) = @_;
    my (undef, @parts) = split /^### (.*)\n/m, $text;
    return @parts;
}

# Members of the extension: of a catalog, as `o`.
sub members
{
    my ($catalog) = @_;
    return "$catalog AS o JOIN pg_depend AS d ON d.classid = '$catalog'::regclass AND d.objid = o.oid AND d.deptype = 'e'"
      . " JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND extname = 'snowid'";
}

# Functions. Those that only other functions call are left out; register is called by who joins.
my $functions = <<"SQL";
WITH f AS (
  SELECT o.*, CASE nspname WHEN 'snowid' THEN 'snowid.' ELSE '' END || proname AS name,
         pg_get_function_arguments(o.oid) AS arguments, pg_get_function_result(o.oid) AS result
    FROM @{[ members('pg_proc') ]} JOIN pg_namespace AS n ON n.oid = pronamespace
   WHERE nspname NOT IN ('snowid', 'snowid_internal') OR proname IN ('register', 'join', 'check_node', 'take_over_node', 'accept_registry', 'leave', 'retire_node', 'recover_registry', 'return_to_clock', 'future_times', 'last_allocated',
         'adopt', 'guess_layout', 'release_shard', 'accept_shard', 'advance_shard', 'advance_past', 'create_partitions', 'drop_partitions', 'detach_partitions'))
SQL
my $signatures = rows("$functions SELECT name || '(' || regexp_replace(arguments, '(, )?OUT .*', '') || ') → '"
      . " || replace(result, 'record', '(' || coalesce(replace(substring(arguments FROM 'OUT .*'), 'OUT ', ''), '') || ')') FROM f");
my $properties = rows("$functions SELECT DISTINCT name || ': ' || CASE provolatile WHEN 'v' THEN 'Volatile' WHEN 's' THEN 'Stable'"
      . " ELSE 'Immutable' END || CASE WHEN proisstrict THEN ', strict' ELSE '' END || ', parallel ' || CASE proparallel"
      . " WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END || '. ' || CASE WHEN proacl::text ~ '[{,]=X' THEN 'Everyone'"
      . " WHEN proacl::text ~ 'X[*]/' THEN 'The database''s owner' ELSE 'Superusers' END || '.' FROM f");
my $comments = rows("$functions SELECT DISTINCT ON (name COLLATE \"C\") name || ': ' || obj_description(oid, 'pg_proc')"
      . ' FROM f ORDER BY name COLLATE "C", pronargs');

# Since when: the first released version that has a function of this name, or else the current one.
my %released = map { m{/snowid--(.*)[.]sql$} ? ($1 => slurp_file($_)) : () } glob 'src/upgrade/released/snowid--*.sql';
my ($current) = slurp_file('snowid.control') =~ /^default_version = '(.*)'/m;

sub since
{
    my ($name) = @_;
    my $called = quotemeta($name =~ s/^(?!snowid[.])/\@extschema\@./r);
    my @versions = sort { version->parse($a) <=> version->parse($b) } keys %released;
    return (grep { $released{$_} =~ /^CREATE (?:FUNCTION|AGGREGATE) $called\(/m } @versions)[0] // $current;
}

my (@signatures, @properties, @since, @functions);
foreach my $title ('Functions that make IDs', 'Functions that read IDs', 'Other forms of an ID', 'Counters',
    'Nodes and shards', 'Tables and partitions', 'Statistics')
{
    my @parts = parts_of(section($title));
    while (my ($name, $text) = splice @parts, 0, 2)
    {
        push @functions, $name;
        my ($code, $line, $told) = $text =~ /\A\n```\n(.*?)^```\n\n(.*)\n\n(\S.*)/ms;
        push @signatures, map { s/\n\s+/ /gr } split /\n(?!\s)/, $code // '';
        push @properties, "$name: $1" if ($line // '') =~ /^(.*?) Since/m;
        push @since, "$name $1" if ($line // '') =~ /^.* Since (\S+)[.]$/m;
        ok($told, "$name is told of");
    }
}
# As the reference writes defaults, without the types that PostgreSQL adds.
my $plain = sub { return sort map { s/(DEFAULT (?:'\w+'|NULL))::\w+/$1/gr } @{ $_[0] } };
is_deeply([ sort @signatures ], [ $plain->($signatures) ], 'every function is there, with all of its signatures');
is_deeply([ sort @properties ], [ sort @$properties ], 'with its volatility, and who may execute it');
is_deeply([ sort @since ], [ sort map { "$_ " . since($_) } @functions ], 'and since when');
cmp_ok(scalar(@signatures), '>', 50, 'there are functions');

my @index = section('Index of functions') =~ /^\| \[`(.*?)`\]\(#(\S+)\) \| (.*) \|$/mg;
my (@indexed, @astray);
while (my ($name, $anchor, $comment) = splice @index, 0, 3)
{
    push @indexed, "$name: $comment";
    push @astray, $name if $anchor ne $name =~ s/[.]//gr;
}
is_deeply(\@indexed, $comments, 'the index has each once, in order, with its comment');
is_deeply(\@astray, [], 'and leads to it');

# What a table of the reference says of each name: the second column.
sub said
{
    my ($title) = @_;
    return [ sort map { s/`\]\(#\w+\) \|/ |/r } section($title) =~ /^\| \[`(\w[\w.]*`\]\(#\w+\) \| [^|]+) \|/mg ];
}

# Comments
my $wordy = rows("SELECT description FROM pg_description WHERE (classoid, objoid) IN (SELECT classid, objid FROM pg_depend AS d"
      . " JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' WHERE extname = 'snowid')"
      . " AND (description ~ '\\m(that|which|who|whose|what|where)\\M' OR description !~ '^([A-Z][a-z]+s .*[.]|[^ ]+( [^ ]+){0,7})\$')");
is_deeply($wordy, [], 'every comment is a sentence with a verb in the third person, or at most eight words');

# Types
is_deeply(said('Types'), rows("SELECT typname || ' | ' || obj_description(o.oid, 'pg_type') FROM @{[ members('pg_type') ]}"
        . " WHERE typnamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) AND typelem = 0 ORDER BY typname COLLATE \"C\""),
    'every type is there, with its comment');
is_deeply([ sort grep { !/\n/ } parts_of(section('Types')) ],
    [ @{ rows("SELECT typname FROM @{[ members('pg_type') ]} WHERE typnamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace)"
            . " AND typelem = 0 ORDER BY typname COLLATE \"C\"") } ],
    'every type is there');

# Settings
my %who = (user => 'anyone', superuser => 'superusers', sighup => 'the configuration file');
my @settings = section('Settings') =~ /^\| \[`(snowid.*) \|$/mg;
my $settings = rows("SELECT name || '`](#' || replace(name, '.', '') || ') | ' || short_desc || ' | `' || coalesce(nullif(boot_val, ''), '''''') || '`' || coalesce(' ' || unit, '') || ' | '"
      . " || CASE vartype WHEN 'bool' THEN 'on, off' WHEN 'string' THEN 'text' ELSE min_val || ' to ' || max_val END"
      . " || ' | ' || context FROM pg_settings WHERE name LIKE 'snowid.%'");
is_deeply([ sort @settings ], [ sort map { s/(\w+)$/$who{$1} \/\/ $1/er } @$settings ],
    'every setting is there, with its description, default, range, and who may set it');
my @told = grep { /^snowid[.]\w+$/ } parts_of(section('Settings'));
is_deeply([ sort @told ], rows("SELECT name FROM pg_settings WHERE name LIKE 'snowid.%' ORDER BY name COLLATE \"C\""), 'and told of');

# Views and tables: those that anybody but superusers may read.
my @columns;
my @relations = parts_of(section('Views and tables'));
while (my ($name, $text) = splice @relations, 0, 2)
{
    push @columns, map { "$name $_" } $text =~ /^\| (`\w+` \| [^|]+ \| [^|]+) \|$/mg;
}
is_deeply([ sort @columns ],
    [ sort @{ rows("SELECT 'snowid.' || relname || ' `' || attname || '` | ' || format_type(atttypid, atttypmod) || ' | ' || col_description(c.oid, attnum)"
            . " FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped"
            . " WHERE relnamespace = 'snowid'::regnamespace AND relkind IN ('r', 'v', 'S')"
            . " AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee <> relowner)") } ],
    'every view and table is there, with its columns, their types and comments');
my %readers = map { split / / } @{ rows("SELECT 'snowid.' || relname || ' ' || CASE WHEN EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 0)"
            . " THEN 'everyone' WHEN EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 'pg_monitor'::regrole)"
            . " AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 'pg_database_owner'::regrole AND is_grantable)"
            . " THEN 'pg_monitor' ELSE 'none' END FROM pg_class WHERE relnamespace = 'snowid'::regnamespace AND relkind = 'v'") };
is_deeply(said('Views and tables'), rows("SELECT 'snowid.' || relname || ' | ' || obj_description(oid, 'pg_class') FROM pg_class"
        . " WHERE relnamespace = 'snowid'::regnamespace AND relkind = 'v' ORDER BY relname COLLATE \"C\""),
    'every view has its comment');
is_deeply({ section('Views and tables') =~ /^\| \[`(snowid\.\w+)`\].* \| `?(\w+)[^|]*\|$/mg }, \%readers, 'and who may read it');

# Names that any page uses, also of what only other functions call, and of files.
my %known = map { $_ => 1 } @{ rows("SELECT DISTINCT proname FROM @{[ members('pg_proc') ]} UNION"
        . " SELECT DISTINCT pronamespace::regnamespace || '.' || proname FROM @{[ members('pg_proc') ]} UNION"
        . " SELECT relnamespace::regnamespace || '.' || relname FROM pg_class WHERE relnamespace IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) UNION"
        . " SELECT name FROM pg_settings WHERE name LIKE 'snowid.%' UNION"
        . " SELECT typname FROM @{[ members('pg_type') ]} UNION SELECT 'snowid.' || typname FROM @{[ members('pg_type') ]} UNION VALUES ('snowid.control'), ('snowid.spec'), ('snowid_internal')") };
foreach my $page ('README.md', grep { $_ ne 'docs/monitoring.md' } glob 'docs/*.md')
{
    my $text = slurp_file($page) =~ s/snowid[.](?:stat_[*]|(?:hpp|cpp|sql|so)\b)//gr;
    # A page about another file has that one's names, too.
    my %there = $page eq 'docs/portable.md' ? map { $_ => 1 } slurp_file('portable/snowid.sql') =~ /^CREATE \w+ (?:public[.])?(snowid[._]\w+)/mg : ();
    my %strange = map { $_ => 1 } grep { !$known{$_} && !$there{$_} } $text =~ /(?<![\w\/.-])((?:snowid[._]|objectid_|seq_x_)[a-z]\w*)/g;
    is_deeply([ sort keys %strange ], [], "$page calls nothing that is not there");
}
$node->stop;
done_testing();
