# JDBC: generated keys are those of the rows; how many statements each way takes: batches that return keys are not
# rewritten; how a snowid is read and written; a notification ends the wait of an outbox's consumer.
# Debian: forky
# Needs: default-jdk-headless libpostgresql-jdbc-java

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1, env => { CLASSPATH => '/usr/share/java/postgresql.jar:.' });
names_version($recipe, 'driver', 'dpkg-query -W libpostgresql-jdbc-java');
run_sections($recipe, 'docs/read-in-order.md', 'An outbox', 'Wake up');
run_blocks($recipe, grep { $_->{language} eq 'sql' || $_->{text} =~ m{\A// \w} } blocks_of('docs/clients/jdbc.md'));
my ($wait) = map { $_->{text} } grep { $_->{text} =~ /getNotifications/ } blocks_of('docs/clients/jdbc.md');
put_file($recipe, 'java', <<'END');
// Rows.java
import java.sql.*;
import java.util.*;

public class Rows {
    static Connection connect(String more) throws SQLException {
        Map<String, String> env = System.getenv();
        return DriverManager.getConnection("jdbc:postgresql://" + env.get("PGHOST") + ":" + env.get("PGPORT") + "/" + env.get("PGDATABASE")
            + "?user=" + env.get("PGUSER") + "&password=" + env.get("PGPASSWORD") + more);
    }

    static List<Long> longs(ResultSet rows) throws SQLException {
        List<Long> longs = new ArrayList<>();
        while (rows.next()) {
            longs.add(rows.getLong(1));
        }
        return longs;
    }

    public static void main(String[] arguments) throws SQLException {
        List<Long> ids = new ArrayList<>();
        try (Connection db = connect("&reWriteBatchedInserts=true")) {
            ids.add(Photos.insert(db, "sunrise"));
            ids.addAll(Photos.insertAll(db, "noon", "sunset"));
            try (var batch = db.prepareStatement("INSERT INTO photos (title) VALUES (?)", new String[] {"id"})) {
                for (int n = 0; n < 100; n++) {
                    batch.setString(1, "keys");
                    batch.addBatch();
                }
                batch.executeBatch();
                ids.addAll(longs(batch.getGeneratedKeys()));
            }
            List<Long> next;
            try (var select = db.prepareStatement("SELECT snowid_next_batch(?)")) {
                select.setInt(1, 1000);
                next = longs(select.executeQuery());
                ids.addAll(next);
            }
            try (var batch = db.prepareStatement("INSERT INTO photos (id, title) VALUES (?, ?)")) {
                for (long id : next) {
                    batch.setLong(1, id);
                    batch.setString(2, "drawn " + id);
                    batch.addBatch();
                }
                batch.executeBatch();
            }
            try (var all = db.prepareStatement("INSERT INTO photos (title) VALUES ('all')", Statement.RETURN_GENERATED_KEYS)) {
                all.executeUpdate();
                System.out.println(all.getGeneratedKeys().getMetaData().getColumnCount() + " columns");
            }
        }
        System.out.println((ids.get(0) > 1L << 53) + " " + ids.size() + " " + ids.equals(new ArrayList<>(new TreeSet<>(ids))));

        try (Connection db = connect(""); Statement statement = db.createStatement()) {
            statement.execute("CREATE TABLE posts (id snowid PRIMARY KEY DEFAULT snowid_next(), title text NOT NULL)");
            ResultSet row = statement.executeQuery("INSERT INTO posts (title) VALUES ('first') RETURNING id, to_json(id) AS json, id::bigint AS number");
            row.next();
            long id = row.getLong("id");
            System.out.println(row.getString("json").equals("\"" + id + "\"") + " " + row.getObject("id").getClass().getSimpleName() + " "
                + row.getObject("number", Long.class).equals(id));
            try {
                row.getObject("id", Long.class);
            } catch (SQLException refused) {
                System.out.println("no Long");
            }
            try (var insert = db.prepareStatement("INSERT INTO posts VALUES (?, 'second')")) {
                insert.setLong(1, id + 1);
                insert.executeUpdate();
            }
            try (var select = db.prepareStatement("SELECT count(*) FROM posts WHERE id = ? OR id = ANY (?)")) {
                select.setLong(1, id);
                select.setArray(2, db.createArrayOf("bigint", new Long[] {id + 1}));
                ResultSet found = select.executeQuery();
                found.next();
                System.out.println(found.getLong(1));
            }
        }
    }
}
END
run_shell($recipe, 'javac *.java && java Rows', "2 columns\ntrue 1103 true\ntrue PGobject true\nno Long\n2\n");
is(asked_as_app($recipe, q(SELECT string_agg(title, ' ' ORDER BY id) FROM photos WHERE title ~ '^[ns]')), 'sunrise noon sunset', 'IDs are in order');
is(asked_as_app($recipe, q(SELECT count(*) FROM photos WHERE title = 'drawn ' || id)), '1000', 'each row has the ID that was generated for it');
is(statements_like($recipe, 'INSERT INTO photos (title) SELECT%'), 1, 'an array');
is(statements_like($recipe, 'INSERT INTO photos (title) VALUES ($1)%RETURNING%'), 102, 'two rows, and a batch that returns keys');
is(statements_like($recipe, 'INSERT INTO photos (id, title)%'), 6, 'a batch of 1,000 without keys that is rewritten');

put_file($recipe, 'java', <<"END");
// Consume.java
import java.sql.*;

public class Consume {
    public static void main(String[] arguments) throws SQLException {
        try (Connection db = Rows.connect(""); Statement statement = db.createStatement()) {
            db.setAutoCommit(false);
            statement.execute("LISTEN outbox");
            db.commit();
            try (Connection other = Rows.connect(""); Statement insert = other.createStatement()) {
                insert.execute("INSERT INTO outbox (order_id, body) VALUES (2, 'end')");
            }
            long begun = System.nanoTime();
            var notifications =
                $wait
            System.out.println(notifications.length + " " + (System.nanoTime() - begun < 50_000_000_000L));
        }
    }
}
END
run_shell($recipe, 'javac Consume.java && java Consume', "1 true\n");

$recipe->{node}->stop;
done_testing();
