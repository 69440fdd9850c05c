# What is in monitoring/: the queries that metrics are made of, and the expressions over them. Not part of
# Snowid: the tests of monitoring use it.
package SnowidMonitoring;

use strict;
use warnings;

use CPAN::Meta::YAML;
use Exporter 'import';
use JSON::PP;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(monitoring_queries metrics_of alert_rules dashboard panel_expressions metrics_in documented_metrics);

sub yaml_of
{
    my ($file) = @_;
    my $yaml = CPAN::Meta::YAML->read_string(slurp_file("monitoring/$file"));
    die "$file: ", CPAN::Meta::YAML->errstr unless $yaml;
    return $yaml->[0];
}

# The queries, by the name that their metrics begin with: sql, and columns, which say how each is used.
sub monitoring_queries
{
    my $queries = yaml_of('queries.yaml');
    return map {
        my %columns = map { %$_ } @{ $queries->{$_}{metrics} };
        ($_ => { sql => $queries->{$_}{query}, columns => \%columns })
    } keys %$queries;
}

# The metrics that queries give: LABEL, COUNTER or GAUGE, whichever it is, by their names.
sub metrics_of
{
    my (%queries) = @_;
    my %metrics;
    foreach my $name (keys %queries)
    {
        my $columns = $queries{$name}{columns};
        foreach my $column (keys %$columns)
        {
            my $usage = $columns->{$column}{usage};
            $metrics{"${name}_$column"} = $usage unless $usage eq 'LABEL';
        }
    }
    return %metrics;
}

# The alerts: alert, expr, labels and so on.
sub alert_rules { return map { @{ $_->{rules} } } @{ yaml_of('alerts.yaml')->{groups} } }

sub dashboard { return decode_json(slurp_file('monitoring/dashboard.json')) }

# What the dashboard's panels show: a panel's title and an expression, a pair for each.
sub panel_expressions
{
    my @pairs;
    foreach my $panel (map { $_, @{ $_->{panels} // [] } } @{ dashboard()->{panels} })
    {
        push @pairs, map { [ $panel->{title}, $_->{expr} ] } @{ $panel->{targets} // [] };
    }
    return @pairs;
}

# The metrics that an expression names: all names in it but those of labels, functions and operators.
sub metrics_in
{
    my ($expression) = @_;
    my $labels = qr/\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^()]*\)/;
    foreach my $other (qr/"[^"]*"/, $labels, qr/[{][^{}]*[}]/, qr/\[[^\[\]]*\]/, qr/\b(?:and|or|unless|group_left|group_right|bool|offset)\b/,
        qr/\b\w+(?=\s*\()/)
    {
        $expression =~ s/$other/ /g;
    }
    my %names = map { $_ => 1 } grep { /^[a-zA-Z_:]/ } $expression =~ /[\w:]+/g;
    return sort keys %names;
}

# The metrics that the page on monitoring explains, in its tables.
sub documented_metrics { return slurp_file('docs/monitoring.md') =~ /^\|`(snowid_\w+)`/mg }

1;
