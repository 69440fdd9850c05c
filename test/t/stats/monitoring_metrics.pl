# Alerts, the dashboard and the page name metrics that the queries of monitoring/ give; each alert leads to its section of the page, on a
# copy, too.

use Snowid;
use SnowidMonitoring;

my %metrics = (metrics_of(monitoring_queries()), pg_exporter_last_scrape_error => 'GAUGE');
my $page = 'docs/monitoring.md';
my ($adapt, $address, $own) = slurp_file($page) =~ m{^(sed 's\|([^|]+)\|([^|]+)\|'.*?) \| sudo}ms;
my $adapted = `$adapt`;

sub check_named
{
    my ($what, $expression) = @_;
    my @named = metrics_in($expression);
    ok(@named > 0 && !(grep { !$metrics{$_} } @named), "$what: its metrics are there") or diag("$expression: @named");
    return;
}
my @alerts = alert_rules();
foreach my $alert (@alerts)
{
    my ($name, $anchor) = ($alert->{alert}, lc $alert->{alert});
    check_named($name, $alert->{expr});
    ok($alert->{annotations}{summary} && $alert->{annotations}{description}, "$name: what it says");
    is($alert->{annotations}{runbook_url}, "$address#$anchor", "$name: where to read on");
    like($adapted, qr/^ *runbook_url: '\Q$own\E#$anchor'$/m, "$name: on one's own copy");
    like("$alert->{labels}{severity}: " . section_of($page, $name), qr/\A(critical|warning): \n\*(?i:\1)\*: /, "$name: how severe it is, as the page says");
}
my ($sections) = slurp_file($page) =~ /^## Alerts\n(.*?)^## /ms;
is(join(' ', sort $sections =~ /^### (.*)$/mg), join(' ', sort map { $_->{alert} } @alerts), 'the page has a section of each alert');
check_named(@$_) foreach panel_expressions();
my @variables = map { $_->{query}{query} =~ /^label_values\((\w+)/ } grep { $_->{type} eq 'query' } @{ dashboard()->{templating}{list} };
is(join(' ', grep { $metrics{$_} } @variables), join(' ', ('snowid_database_ceiling_timestamp_seconds') x 2), "the dashboard's variables");
is(join("\n", sort(documented_metrics())), join("\n", sort grep { /^snowid_/ } keys %metrics), 'the page explains each metric');
done_testing();
