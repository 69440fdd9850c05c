# Hibernate: a pooled generator over snowid_reserve. It asks for no more blocks than it uses up, or than have become too
# old, and Hibernate's own tool finds nothing to change in its tables.
# Needs: default-jdk-headless libhibernate3-java libjavassist-java libpostgresql-jdbc-java

use strict;
use warnings;

use SnowidClients;
use Test::More;

# What Hibernate stands on, as Debian's packages have it.
my @jars = qw(hibernate-core hibernate-commons-annotations geronimo-jpa_2.0_spec geronimo-jta-1.2-spec dom4j
  commons-collections3 antlr slf4j-api slf4j-nop javassist postgresql);
my $recipe = new_recipe(env => { CLASSPATH => join(':', '.', map { "/usr/share/java/$_.jar" } @jars) });
run_page($recipe);

# Three blocks for 120 photos, one for each of three comments, and an ID for the row by hand.
is(asked_as_app($recipe, q(SELECT issued FROM snowid.stat_shards WHERE layout = 'instagram' AND shard = 0)), 6 * 50 + 1,
    'as many blocks as are needed');
is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (ORDER BY id) - 1 AS place FROM photos
    WHERE title <> 'by hand') rows WHERE title = 'photo ' || place)), '120', 'IDs are in the order of saving');

$recipe->{node}->stop;
done_testing();
