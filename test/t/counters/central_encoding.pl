# A refill asks a central source for nothing but numbers, whatever the encodings of the two databases are. Where
# the connection had another encoding than the database, dblink would ask the source to change it, and would
# heed no cancel until that has answered; so snowid has it begin with the right one, by an environment variable.
# That is as before when dblink has connected, or has failed to.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Snowid;
use Test::More;

my $source = new_server('source');
$source->append_conf('postgresql.conf', "log_statement = 'all'\n");
$source->start;
my $node = new_server('node');
$node->append_conf('postgresql.conf', "snowid.segment_adapt = off\n");
$node->start;

# Whose sequences each begin above the one before.
my @encodings = qw(SQL_ASCII UTF8 LATIN1);
my $create = q(CREATE DATABASE %1$s ENCODING '%1$s' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C');
my $start = 1;
foreach my $encoding (@encodings)
{
    $_->safe_psql('postgres', sprintf($create, $encoding)) foreach $node, $source;
    $source->safe_psql(lc $encoding, "CREATE SEQUENCE there INCREMENT 10 START $start");
    $start += 1000;
    add_source($node, $source, dbname => lc $encoding);
    $node->safe_psql(lc $encoding, q(CREATE SEQUENCE here; SELECT snowid_segment_attach('here', 'central', 'there')));
}

my $setting = qr/statement: set client_encoding/i;
my $at = "host=" . $source->host . " port=" . $source->port . " dbname=utf8";

# What the source has logged since.
sub logged_since { return slurp_file($source->logfile, $_[0]) }

# Has somebody of the database connect by himself, and says whether the source was asked for another encoding.
sub is_set
{
    my ($session) = @_;
    my $from = -s $source->logfile;
    is(ask($session, "SELECT * FROM dblink('$at', 'SELECT 7') AS t(n int)"), '7', 'his own connection');
    return logged_since($from) =~ $setting ? 1 : 0;
}

foreach my $encoding (@encodings)
{
    my $session = open_session($node, dbname => lc $encoding);
    is(ask($session, 'SHOW server_encoding'), $encoding, "$encoding here");
    foreach my $there (@encodings)
    {
        ask($session, sprintf(q(ALTER SERVER central OPTIONS (SET dbname '%s')), lc $there));
        ask($session, q(SELECT setval('here', last_value, is_called) FROM here));
        my $from = -s $source->logfile;
        like(ask($session, q(SELECT snowid_segment_next('here'))), qr/^\d+$/, "$encoding here, $there there: a number");
        my $log = logged_since($from);
        like($log, qr/nextval/, "$encoding here, $there there: the source was asked for it");
        unlike($log, $setting, "$encoding here, $there there: and for no encoding");
    }
    next if $encoding eq 'UTF8';
    is(is_set($session), 1, "$encoding: others connect as before");
    ask($session, q(ALTER SERVER central OPTIONS (SET dbname 'nosuch')));
    ask($session, q(SELECT setval('here', last_value, is_called) FROM here));
    is(ask($session, q(SELECT snowid_segment_next('here'))), 'ERROR 08006', "$encoding: dblink cannot connect");
    is(is_set($session), 1, "$encoding: others connect as before");
    close_session($session);
}

# Where the environment has said it, it says the same.
$node->stop;
{
    local $ENV{PGCLIENTENCODING} = 'LATIN1';
    $node->start;
}
my $session = open_session($node, dbname => 'latin1');
is(is_set($session), 0, 'an encoding of the environment');
ask($session, q(ALTER SERVER central OPTIONS (SET dbname 'latin1')));
like(ask($session, q(SELECT snowid_segment_next('here'))), qr/^\d+$/, 'a number');
is(is_set($session), 0, 'the encoding of the environment is as it was');

close_session($session);
check_log($node);
$_->stop foreach $node, $source;
done_testing();
