# Statements that call functions of the extension, in every form that SQL has for it. A statement is a hash: sql; calls,
# the signatures of what it calls; reads, for each column of its rows a function that makes of a value what the history
# is to hold of it, or undef.
package CallsStatements;

use strict;
use warnings;

use CallsValues;
use Exporter 'import';

our @EXPORT = qw(call_statement insert_statement @KINDS);

# What the history holds, a line each: the kind, what the number is of, and the number. No line may come twice.
our @KINDS = qw(id uuid objectid segment key);

# The functions that give what never comes again, by name, with what makes lines of a value.
my %draws = (
    snowid_next => \&ids,
    snowid_next_batch => \&ids,
    snowid_reserve => \&reserved,
    snowid_uuidv7 => sub { return "uuid $_[2]" },
    objectid_next => sub { return "objectid $_[2]" },
    snowid_segment_next => sub { return numbers('segment', @_) },
    snowid_segment_batch => sub { return numbers('segment', @_) },
    snowid_section_next => sub { return numbers('key', @_) });

sub ids
{
    my ($world, $plain, $value) = @_;
    my $layout = $world->{canonical}{ $plain->{layout} // 'instagram' } // return;
    push @{ $world->{ids} }, $value;
    shift @{ $world->{ids} } if @{ $world->{ids} } > 40;
    return "id $layout: $value";
}

sub reserved
{
    my ($world, $plain, $value) = @_;
    return map { ids($world, $plain, $value + $_) } 0 .. ($plain->{count} // 1) - 1;
}

# Of sequences that nobody sets back alone.
sub numbers
{
    my ($kind, $world, $plain, $value) = @_;
    my $sequence = $plain->{seq} // $plain->{section} // return;
    return if $sequence !~ /^kept\./;
    return "$kind $sequence " . (defined $plain->{key} ? "of $plain->{key} " : '') . $value;
}

# A call of a function: sql; read, as above; signature. An argument that has a value in `given`, by its place, is that.
sub make_call
{
    my ($world, $function, %given) = @_;
    my @args = @{ $function->{args} };
    my $defaults = $function->{defaults};
    while ($defaults-- > 0 && chance(45)) { pop @args }
    my $named = chance(15) && !grep { $_->{name} eq '' } @args;
    my (@sql, %plain);
    foreach my $i (0 .. $#args)
    {
        my ($sql, $plain) = exists $given{$i} ? ($given{$i}) : value($world, $args[$i]);
        $plain{ $args[$i]{name} } = $plain;
        push @sql, ($named ? "\"$args[$i]{name}\" => " : '') . $sql;
    }
    @sql = reverse @sql if $named;
    my $made = $draws{ $function->{plain} };
    return {
        sql => "$function->{schema}.$function->{name}(" . join(', ', @sql) . ')',
        read => $made && sub { return $made->($world, \%plain, $_[0]) },
        function => $function,
        args => \@args,
        values => \@sql,
        named => $named,
        signature => $function->{signature} };
}

# A function, those that change something more often.
sub some_function
{
    my ($world) = @_;
    my $functions = $world->{functions};
    return one_of(@$functions) if chance(45);
    my @drawing = grep { $draws{ $_->{plain} } } @$functions;
    return one_of(@drawing) if @drawing && chance(55);
    my @volatile = grep { $_->{volatile} } @$functions;
    return @volatile ? one_of(@volatile) : one_of(@$functions);
}

my $names = 0;
my @forms = (
    (\&in_select) x 10,
    (\&in_from) x 5,
    (\&prepared) x 4,
    (\&side_by_side) x 3,
    (\&of_rows) x 3,
    (\&in_block) x 3,
    (\&by_cursor) x 3,
    \&explained,
    \&in_where,
    \&in_lateral,
    \&into_table);

# A statement that calls a function, or a few.
sub call_statement
{
    my ($world) = @_;
    return one_of(@{ $world->{later} }) if @{ $world->{later} } && chance(4);
    return statement('SELECT 1', []) if !@{ $world->{functions} };
    my $function = some_function($world);
    return of_kind($world, $function) if $function->{kind} ne 'f';
    return one_of(@forms)->($world, make_call($world, $function));
}

sub statement
{
    my ($sql, $reads, @calls) = @_;
    return { sql => $sql, reads => $reads, calls => [ map { $_->{signature} } @calls ] };
}

# Aggregates, window functions and procedures.
sub of_kind
{
    my ($world, $function) = @_;
    if ($function->{kind} eq 'p')
    {
        my $call = make_call($world, $function);
        return statement("CALL $call->{sql}", [], $call);
    }
    my $rows = 1 + int rand 20;
    my $from =
      "FROM (SELECT n, clock_timestamp() - n * interval '1 hour' AS at FROM generate_series(1, $rows) AS n) AS rows";
    my %given;
    if ($function->{kind} eq 'w' && chance(70))
    {
        my @args = @{ $function->{args} };
        $given{$_} = 'at' foreach grep { $args[$_]{plain} eq 'timestamptz' } 0 .. $#args;
    }
    my $call = make_call($world, $function, %given);
    my $over = $function->{kind} eq 'w' || chance(30)
      ? ' OVER ('
      . one_of(
        '', 'ORDER BY at', 'ORDER BY at',
        'ORDER BY at DESC',
        'PARTITION BY n % 3 ORDER BY at',
        'ORDER BY at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW')
      . ')'
      : '';
    return statement("SELECT $call->{sql}$over $from", [], $call);
}

sub limit { return ' LIMIT ' . one_of(1, 5, 50, 300) }

sub in_select
{
    my ($world, $call) = @_;
    return statement("SELECT $call->{sql}" . limit(), [ $call->{read} ], $call);
}

sub in_from
{
    my ($world, $call) = @_;
    return statement("SELECT * FROM $call->{sql}" . limit(), [ $call->{read} ], $call);
}

# Prepared with its arguments as parameters, and executed so often that the plan is a generic one; some are left for
# later, for when what they call is gone.
sub prepared
{
    my ($world, $call) = @_;
    return in_select($world, $call)
      if $call->{named}
      || !@{ $call->{args} }
      || grep { $_->{plain} =~ /^(?:any|internal|cstring)/ } @{ $call->{args} };
    # A name is that of one statement for ever: what is kept for later must not read what another one gives.
    my $name = 'p' . ++$names;
    my $types = join ', ', map { $_->{type} } @{ $call->{args} };
    my $parameters = join ', ', map { "\$$_" } 1 .. @{ $call->{args} };
    my $function = "$call->{function}{schema}.$call->{function}{name}";
    my $statement =
      statement("EXECUTE $name(" . join(', ', map { /^\(SELECT/ ? 'NULL' : $_ } @{ $call->{values} }) . ')',
        [ $call->{read} ], $call);
    later($world, $statement);
    return {
        %$statement,
        before =>
          [ (chance(10) ? 'DEALLOCATE ALL' : ()), "PREPARE $name($types) AS SELECT $function($parameters) LIMIT 100" ],
        times => one_of(1, 1, 2, 7) };
}

# Keeps a statement to be run once more, some time.
sub later
{
    my ($world, $statement) = @_;
    push @{ $world->{later} }, $statement;
    shift @{ $world->{later} } if @{ $world->{later} } > 10;
    return;
}

# A few in one statement. Equal calls may be one, see docs/guarantees.md.
sub side_by_side
{
    my ($world, @calls) = @_;
    push @calls, map { make_call($world, $_) } grep { $_->{kind} eq 'f' } map { some_function($world) } 1 .. 2;
    my %seen;
    @calls = grep { !$seen{ $_->{sql} }++ } @calls;
    # Rows that a shorter set is filled up with are null.
    return statement('SELECT ' . join(', ', map { $_->{sql} } @calls) . limit(), [ map { $_->{read} } @calls ], @calls);
}

# For each row of a table, by parallel workers where the session's settings have it so.
sub of_rows
{
    my ($world, $call) = @_;
    my $from =
      chance(60) ? 't.numbers WHERE n <= ' . one_of(3, 30, 100) : 'generate_series(1, ' . one_of(3, 30) . ') AS n';
    return statement("SELECT $call->{sql} FROM $from" . limit(), [ $call->{read} ], $call);
}

# In a subtransaction of PL/pgSQL's, whose error is caught or not.
sub in_block
{
    my ($world, $call) = @_;
    my $condition = one_of('OTHERS', 'OTHERS', 'division_by_zero', 'query_canceled OR OTHERS');
    my $raise = chance(30) ? ' PERFORM 1 / 0;' : '';
    my $loop = chance(40) ? 'FOR i IN 1 .. ' . one_of(3, 20) . ' LOOP' : 'LOOP';
    my $exit = $loop eq 'LOOP' ? 'EXIT; ' : '';
    return statement(
"DO \$do\$ BEGIN $loop BEGIN PERFORM $call->{sql};$raise EXCEPTION WHEN internal_error THEN RAISE; WHEN $condition THEN NULL; END; ${exit}END LOOP; END \$do\$",
        [], $call);
}

# A cursor that is read bit by bit, across savepoints or a transaction's end.
sub by_cursor
{
    my ($world, $call) = @_;
    my $name = 'c' . ++$names;
    # Not WITH HOLD in a transaction: where its COMMIT has the cursor run to its end, PostgreSQL fails an assertion in
    # xact.c at each subtransaction that is rolled back, also of PL/pgSQL's.
    my $hold = $world->{in_transaction} ? '' : ' WITH HOLD';
    # Backwards a row comes again, which is no draw.
    my $scroll = chance(20);
    my $fetch =
      $scroll
      ? one_of('FETCH ABSOLUTE 2', 'FETCH BACKWARD 3', 'FETCH 3', 'MOVE FORWARD ALL')
      : 'FETCH ' . one_of(1, 3, 50);
    my $statement = statement("$fetch FROM $name", [ $scroll ? undef : $call->{read} ], $call);
    later($world, $statement);
    $hold = " CURSOR$hold";
    return {
        %$statement,
        before =>
          [ "CLOSE ALL", "DECLARE $name" . ($scroll ? ' SCROLL' : ' NO SCROLL') . "$hold FOR SELECT $call->{sql}" ],
        times => one_of(1, 1, 3) };
}

sub explained
{
    my ($world, $call) = @_;
    return statement(
        'EXPLAIN ('
          . one_of('ANALYZE', 'VERBOSE', 'ANALYZE, BUFFERS, VERBOSE', 'COSTS OFF')
          . ") SELECT * FROM $call->{sql} LIMIT 5",
        [], $call);
}

sub in_where
{
    my ($world, $call) = @_;
    return statement("SELECT count(*) FROM t.keys WHERE id IS DISTINCT FROM 3 AND ($call->{sql}) IS NOT NULL", [],
        $call)
      if !$call->{function}{set};
    return in_from($world, $call);
}

sub in_lateral
{
    my ($world, $call) = @_;
    return statement(
        "SELECT x.* FROM generate_series(1, 3) AS n, LATERAL (SELECT n, x.* FROM $call->{sql} AS x) AS x" . limit(),
        [], $call);
}

# Into a temporary table, with an index.
sub into_table
{
    my ($world, $call) = @_;
    my $statement =
      statement("CREATE TEMPORARY TABLE made AS SELECT $call->{sql} AS x FROM generate_series(1, 3) LIMIT 100",
        [], $call);
    $statement->{before} = ['DROP TABLE IF EXISTS pg_temp.made'];
    return $statement;
}

# A row whose columns draw by their defaults.
sub insert_statement
{
    my ($world) = @_;
    my @reads = ($draws{snowid_next}, $draws{objectid_next}, $draws{snowid_uuidv7});
    my $rows = one_of(1, 3, 40);
    return statement(
        "INSERT INTO t.drawn (n) SELECT n FROM generate_series(1, $rows) AS n RETURNING id, o, u",
        [
            map {
                my $made = $_;
                sub { return $made->($world, {}, $_[0]) }
            } @reads ]);
}

1;
