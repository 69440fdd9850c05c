# GORM: AutoMigrate makes the defaults, and finds no difference the second time; IDs are int64, and strings in JSON.
# Debian: forky
# Needs: golang-go golang-gorm-gorm-dev golang-gorm-driver-postgres-dev

use strict;
use warnings;

use SnowidClients;
use Test::More;

sub changed_nothing
{
    my ($recipe) = @_;
    is(statements_like($recipe, 'CREATE TABLE%') . ' ' . statements_like($recipe, 'ALTER TABLE%'), '2 0', 'the second AutoMigrate changes nothing');
    return;
}

# Debian's packages are sources, without modules. Nothing is fetched.
try_page(<<'END', \&changed_nothing, statements => 1, env => { GO111MODULE => 'off', GOPATH => '/usr/share/gocode', CGO_ENABLED => '0' });
comments.id: snowid_next()
photos.id: snowid_next()
END
