# Hibernate: a pooled generator over snowid_reserve. It asks for no more blocks than it uses up, or than have become too
# old, and goes on in no old block after a refusal. Hibernate's own tool finds nothing to change in its tables.
# Needs: default-jdk-headless libhibernate3-java libjavassist-java libpostgresql-jdbc-java

use strict;
use warnings;

use SnowidClients;
use Test::More;

# What Hibernate stands on, as Debian's packages have it.
my @jars = qw(hibernate-core hibernate-commons-annotations geronimo-jpa_2.0_spec geronimo-jta-1.2-spec dom4j
  commons-collections3 antlr slf4j-api slf4j-nop javassist postgresql);
my $recipe = new_recipe(statements => 1, env => { CLASSPATH => join(':', '.', map { "/usr/share/java/$_.jar" } @jars) });
run_page($recipe);

# Three blocks for 120 photos, one for each of three comments, and an ID for the row by hand.
is(asked_as_app($recipe, q(SELECT issued FROM snowid.stat_shards WHERE layout = 'instagram' AND shard = 0)), 6 * 50 + 1,
    'as many blocks as are needed');
is(asked_as_app($recipe, q(SELECT count(*) FROM (SELECT title, row_number() OVER (ORDER BY id) - 1 AS place FROM photos
    WHERE title <> 'by hand') rows WHERE title = 'photo ' || place)), '120', 'IDs are in the order of saving');

is(statements_like($recipe, 'SELECT snowid_reserve(%'), 6, 'a statement for each block');

# A generator whose block has become too old, and which is refused another one, does not go on in the old one.
put_file($recipe, 'java', <<'END');
// Refused.java
import java.util.Properties;
import org.hibernate.*;
import org.hibernate.engine.SessionImplementor;

public class Refused {
    static void role(Session session, String role) throws Exception {
        ((SessionImplementor) session).connection().rollback();
        Transaction transaction = session.beginTransaction();
        session.createSQLQuery("SET ROLE " + role).executeUpdate();
        transaction.commit();
    }

    public static void main(String[] arguments) throws Exception {
        Session session = Album.configuration().buildSessionFactory().openSession();
        SnowidGenerator generator = new SnowidGenerator();
        Properties properties = new Properties();
        properties.setProperty("max_age", "5000");
        generator.configure(null, properties, null);
        long first = (Long) generator.generate((SessionImplementor) session, null);
        Thread.sleep(5100);
        role(session, "nobody");
        try {
            generator.generate((SessionImplementor) session, null);
        } catch (HibernateException e) {
            System.out.println(((java.sql.SQLException) e.getCause()).getSQLState());
        }
        role(session, "app");
        System.out.println((Long) generator.generate((SessionImplementor) session, null) - first >= 50);
        System.exit(0);
    }
}
END
$recipe->{node}->safe_psql('app', <<'SQL');
CREATE ROLE nobody ROLE app;
REVOKE ALL ON FUNCTION snowid_reserve FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowid_reserve TO app;
SQL
run_shell($recipe, 'javac Refused.java && java Refused', "42501\ntrue\n");

$recipe->{node}->stop;
done_testing();
