# The reference has everything, and nothing else: each function with all of its signatures; its volatility and who may execute it, once for a group;
# each setting with its description, default, range and context, each view and table with its columns, and each type, as a fresh
# server has them. What it says of each is the object's comment, and every comment is a sentence or a short noun phrase.
# And what any page calls by a name of snowid's is there.

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
   WHERE nspname NOT IN ('snowid', 'snowid_internal') OR proname IN ('register', 'join', 'check_node', 'take_over_node', 'accept_registry', 'leave', 'retire_node', 'recover_registry', 'reset_stats', 'return_to_clock', 'future_times', 'last_allocated',
         'adopt', 'guess_layout', 'release_shard', 'accept_shard', 'advance_shard', 'advance_past', 'create_partitions', 'drop_partitions', 'detach_partitions'))
SQL
my $signatures = rows("$functions SELECT name || '(' || regexp_replace(arguments, '(, )?OUT .*', '') || ') → '"
      . " || replace(result, 'record', '(' || coalesce(replace(substring(arguments FROM 'OUT .*'), 'OUT ', ''), '') || ')')"
      . " || '`|' || obj_description(oid, 'pg_proc') FROM f");
my $properties = rows("$functions SELECT DISTINCT name || ': ' || CASE provolatile WHEN 'v' THEN 'volatile' WHEN 's' THEN 'stable'"
      . " ELSE 'immutable' END || CASE WHEN proisstrict THEN ', strict' ELSE '' END || ', parallel ' || CASE proparallel"
      . " WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted' ELSE 'unsafe' END || '. ' || CASE WHEN proacl::text ~ '[{,]=X' THEN 'everyone'"
      . " WHEN proacl::text ~ 'X[*]/' THEN 'the database''s owner' ELSE 'superusers' END FROM f");

# A group of functions begins with what holds for all of them, and then for some: `name`, `name`: stable, parallel safe.
my (@signatures, %properties, @parts);
foreach my $title ('Generate IDs', 'Read IDs', 'Ranges of time', 'Watermark', 'UUIDs and other forms', 'ObjectIDs', 'Counters',
    'Node numbers', 'Moving shards', 'Tables and partitions', 'Statistics')
{
    my $group = section($title);
    my $first = $group =~ /\A\n(.*?)\n\n/s ? $1 =~ s/\n/ /gr : '';
    my ($most, $right, $others) = $first =~ /^([VSI]\w+(?:, strict)?, parallel \w+)[.] ([^.]+)[.](.*)$/ or die "no properties of $title";
    my %other;
    while ($others =~ /\G ((?:`[\w.]+`(?:, )?)+): ([^.]+)[.]/gc)
    {
        my ($names, $what) = ($1, $2);
        $other{$_} = $what foreach $names =~ /`([\w.]+)`/g;
    }
    is(substr($others, pos $others // 0), '', "$title: the first line has the properties alone");
    my %named;
    foreach my $row ($group =~ /^\|(`[\w.]+\(.*)\|$/mg)
    {
        my ($signature, $errors) = $row =~ /^`([^|]*\|[^|]*)\|([^|]*)$/ or die "no row: $row";
        push @signatures, $signature;
        my ($name) = $signature =~ /^([\w.]+)/;
        $named{$name} = 1;
        my $what = $other{$name} // lcfirst $most;
        $properties{ "$name: " . ($what eq 'superusers' ? lcfirst($most) . '. superusers' : "$what. " . lcfirst $right) } = 1;
    }
    is_deeply([ grep { !$named{$_} } keys %other ], [], "$title: exceptions are of its functions");
    my @sections = parts_of($group);
    push @parts, grep { !$named{$_} } @sections[ grep { $_ % 2 == 0 } 0 .. $#sections ];
}
# As the reference writes them: defaults without the types that PostgreSQL adds; a layout without its type, in brackets where it has
# the default that the page states; register, which users only grant, by its name.
my $plain = sub {
    return sort map {
        s/(DEFAULT (?:'[\w:]+'|NULL))::\w+/$1/gr =~ s/, layout snowid_layout DEFAULT 'instagram'/ [, layout]/r =~ s/(, |\()layout snowid_layout\)/$1layout)/r
          =~ s/^(snowid[.]register)\(.*?\) → \(.*?\)/$1(…) → record/r
    } @{ $_[0] };
};
is_deeply([ sort @signatures ], [ $plain->($signatures) ], 'every function is there, with all of its signatures and their comments');
is_deeply([ sort keys %properties ], [ sort @$properties ], 'with its volatility, and who may execute it');
is_deeply(\@parts, [], 'each part is of a function of its group');
cmp_ok(scalar(@signatures), '>', 50, 'there are functions');

# What a table of the reference says of each name: the second column.
sub said
{
    my ($title) = @_;
    return [ sort map { s/`\]\(#\w+\)//r } section($title) =~ /^\|\[`(\w[\w.]*`\]\(#\w+\)\|[^|]+)\|/mg ];
}

my $wordy = rows("SELECT description FROM pg_description WHERE (classoid, objoid) IN (SELECT classid, objid FROM pg_depend AS d"
      . " JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' WHERE extname = 'snowid')"
      . " AND (description ~ '\\m(that|which|who|whose|what|where)\\M' OR description !~ '^([A-Z][a-z]+s .*[.]|[^ ]+( [^ ]+){0,7})\$')");
is_deeply($wordy, [], 'every comment is a sentence with a verb in the third person, or at most eight words');

is_deeply(said('Types'), [ sort @{ rows("SELECT typname || '|' || obj_description(o.oid, 'pg_type') FROM @{[ members('pg_type') ]}"
            . " WHERE typnamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) AND typelem = 0") } ],
    'every type is there, with its comment');
is_deeply([ sort grep { !/\n/ } parts_of(section('Types')) ],
    [ @{ rows("SELECT typname FROM @{[ members('pg_type') ]} WHERE typnamespace NOT IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace)"
            . " AND typelem = 0 ORDER BY typname COLLATE \"C\"") } ],
    'every type is there');

my %who = (user => 'anyone', superuser => 'superusers', sighup => 'a reload');
my @settings = section('Settings') =~ /^\|\[`(snowid.*)\|$/mg;
my $settings = rows("SELECT name || '`](#' || replace(name, '.', '') || ')|' || short_desc || '|`' || coalesce(nullif(boot_val, ''), '''''') || '`' || coalesce(' ' || unit, '') || '|'"
      . " || CASE vartype WHEN 'bool' THEN 'on, off' WHEN 'string' THEN 'text' ELSE min_val || ' to ' || max_val END"
      . " || '|' || context FROM pg_settings WHERE name LIKE 'snowid.%'");
is_deeply([ sort @settings ], [ sort map { s/(\w+)$/$who{$1} \/\/ $1/er } @$settings ],
    'every setting is there, with its description, default, range, and who may set it');
my @told = grep { /^snowid[.]\w+$/ } parts_of(section('Settings'));
is_deeply([ sort @told ], rows("SELECT name FROM pg_settings WHERE name LIKE 'snowid.%' ORDER BY name COLLATE \"C\""), 'and told of');

# Views and tables: those that anybody but superusers may read.
my @columns;
my @relations = parts_of(section('Views'));
while (my ($name, $text) = splice @relations, 0, 2)
{
    push @columns, map { "$name $_" } $text =~ /^\|(`\w+`\|[^|]+\|[^|]+)\|$/mg;
}
is_deeply([ sort @columns ],
    [ sort @{ rows("SELECT 'snowid.' || relname || ' `' || attname || '`|' || format_type(atttypid, atttypmod) || '|' || col_description(c.oid, attnum)"
            . " FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped"
            . " WHERE relnamespace = 'snowid'::regnamespace AND relkind IN ('r', 'v', 'S')"
            . " AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee <> relowner)") } ],
    'every view and table is there, with its columns, their types and comments');
my %readers = map { split / / } @{ rows("SELECT 'snowid.' || relname || ' ' || CASE WHEN EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 0)"
            . " THEN 'everyone' WHEN EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 'pg_monitor'::regrole)"
            . " AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE a.grantee = 'pg_database_owner'::regrole AND is_grantable)"
            . " THEN 'pg_monitor' ELSE 'none' END FROM pg_class WHERE relnamespace = 'snowid'::regnamespace AND relkind = 'v'") };
is_deeply(said('Views'), [ sort @{ rows("SELECT 'snowid.' || relname || '|' || obj_description(oid, 'pg_class') FROM pg_class"
            . " WHERE relnamespace = 'snowid'::regnamespace AND relkind = 'v'") } ],
    'every view has its comment');
is_deeply({ section('Views') =~ /^\|\[`(snowid\.\w+)`\].*\|`?(\w+)[^|]*\|$/mg }, \%readers, 'and who may read it');

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
end_test($node);
