# Ruby on Rails: tables whose keys are IDs, schema.rb and structure.sql that load again and are the same afterwards, rows
# from ActiveRecord, a bigserial that becomes one, and keys of the type snowid. insert_all is one statement.
# Debian: forky
# Needs: ruby-railties ruby-activerecord ruby-pg rake

use strict;
use warnings;

use SnowidClients;
use Test::More;

my $recipe = new_recipe(statements => 1);
names_version($recipe, 'Rails', 'dpkg-query -W ruby-railties');
# Where the schema is loaded again.
$recipe->{node}->safe_psql('postgres', "CREATE DATABASE $_ OWNER app TEMPLATE template0 ENCODING 'UTF8'") foreach qw(other third);

# The smallest application.
put_file($recipe, 'ruby', $_) foreach (<<'APPLICATION', <<'ENVIRONMENT', <<'RAKEFILE', <<'RECORD');
# config/application.rb
require "rails"
require "active_record/railtie"

class Album < Rails::Application
  config.load_defaults 7.2
  config.eager_load = false
  config.logger = Logger.new(IO::NULL)
  config.active_record.schema_format = ENV.fetch("SCHEMA_FORMAT", "ruby").to_sym
end
APPLICATION
# config/environment.rb
require_relative "application"
Rails.application.initialize!
ENVIRONMENT
# Rakefile
require_relative "config/application"
Rails.application.load_tasks
RAKEFILE
# app/models/application_record.rb
class ApplicationRecord < ActiveRecord::Base
  primary_abstract_class
end
RECORD
run_page($recipe);
put_file($recipe, 'ruby', $_) foreach (<<'COMMENT', <<'ORDER', <<'ORDERS');
# app/models/comment.rb
class Comment < ApplicationRecord
  belongs_to :photo
end
COMMENT
# app/models/order.rb
class Order < ApplicationRecord
end
ORDER
# db/migrate/20260101000002_create_orders.rb
class CreateOrders < ActiveRecord::Migration[7.2]
  def change
    create_table :orders do |t|
      t.text :item, null: false
      t.timestamps
    end
  end
end
ORDERS

run_shell($recipe, 'rake db:migrate');
run_shell($recipe, q(grep -E 'snowid|"orders"|create_schema' db/schema.rb), <<'END');
  enable_extension "snowid"
  create_table "comments", id: :bigint, default: -> { "snowid_next((7)::bigint, 'twitter'::snowid_layout)" }, force: :cascade do |t|
  create_table "orders", force: :cascade do |t|
  create_table "photos", id: :bigint, default: -> { "snowid_next()" }, force: :cascade do |t|
END
sub load_again
{
    my ($file, $options) = @_;
    run_shell($recipe, "cp $file dumped");
    run_shell($recipe, "export DATABASE_URL=\${DATABASE_URL%/app}/$_ && rake db:schema:load && rake db:schema:dump && diff -I restrict dumped $file")
      foreach @$options;
    return;
}
load_again('db/schema.rb', [qw(app other)]);
{
    # pg_dump's newest versions write a random word into each dump, in a line \restrict.
    local $ENV{SCHEMA_FORMAT} = 'sql';
    run_shell($recipe, 'rake db:schema:dump');
    run_shell($recipe, q(grep -E '^CREATE EXTENSION.* snowid|DEFAULT.*snowid' db/structure.sql), <<'END');
CREATE EXTENSION IF NOT EXISTS snowid WITH SCHEMA public;
    id bigint DEFAULT public.snowid_next((7)::bigint, 'twitter'::public.snowid_layout) NOT NULL,
    id bigint DEFAULT public.snowid_next() NOT NULL,
END
    load_again('db/structure.sql', ['third']);
}
my $defaults = q(SELECT attrelid::regclass, pg_get_expr(adbin, adrelid) FROM pg_attribute
    JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid::regclass::text IN ('photos', 'comments') ORDER BY attrelid::regclass::text);
foreach my $database (qw(app other third))
{
    is($recipe->{node}->safe_psql($database, $defaults),
        "comments|snowid_next((7)::bigint, 'twitter'::snowid_layout)\nphotos|snowid_next()", "the defaults in $database");
}

put_file($recipe, 'ruby', <<'END');
# rows.rb
require_relative "config/environment"

photo = Photo.create!(title: "sunrise")
puts "#{photo.id.class} #{photo.id > 2**53} #{Photo.find(photo.id).title} #{photo.to_json}"
comment = Comment.create!(photo: photo)
puts Comment.find(comment.id).photo_id == photo.id
ids = Photo.insert_all((0...1000).map { |n| { title: "photo #{n}" } }).rows.flatten
puts "#{ids.uniq.size} #{[photo.id, *ids] == [photo.id, *ids].sort} #{Photo.find(ids[500]).title}"
puts Photo.made_in(1.hour.ago, 1.hour.from_now).count, Photo.page(ids[3]).map(&:title).inspect
Order.create!(item: "tea")
END
run_shell($recipe, q(ruby rows.rb | sed -E 's/"id":"[0-9]+"/"id":"DIGITS"/'), <<'END');
Integer true sunrise {"id":"DIGITS","title":"sunrise"}
true
1000 true photo 500
1001
["photo 2", "photo 1", "photo 0", "sunrise"]
END
is(asked_as_app($recipe, q(SELECT snowid_shard(id, 'twitter') FROM comments)), '7', 'the layout and shard are those of the migration');
is(statements_like($recipe, 'INSERT INTO "photos"%VALUES%'), 2, 'INSERTs: one row, and insert_all');

# A serial key that is converted, and keys of the type snowid.
put_file($recipe, 'ruby', $_) foreach (<<'ADOPT', <<'POST', <<'ROWS');
# db/migrate/20260101000003_adopt_orders.rb
class AdoptOrders < ActiveRecord::Migration[7.2]
  def up
    execute "SELECT snowid.adopt('orders', 'id')"
    create_table(:posts, id: :snowid, default: -> { "snowid_next()" }) { |t| t.text :title }
  end
end
ADOPT
# app/models/post.rb
class Post < ApplicationRecord
end
POST
# orders.rb
require_relative "config/environment"

Order.create!(item: "milk")
puts Order.order(:id).map { |order| "#{order.item} #{order.id > 2**53}" }
post = Post.create!(title: "first")
json = Post.connection.select_value("SELECT json_build_object('id', id) ->> 'id' = id::text AND json_typeof(to_json(id)) = 'string' FROM posts")
puts "#{post.id.class} #{Post.find(post.id).title} #{Post.where(id: [post.id]).count} #{json}"
ROWS
run_shell($recipe, 'rake db:migrate');
run_shell($recipe, 'ruby orders.rb', "tea false\nmilk true\nInteger first 1 true\n");
run_shell($recipe, q(grep -E '"(orders|posts)"' db/schema.rb), <<'END');
  create_table "orders", id: :bigint, default: -> { "snowid_next()" }, force: :cascade do |t|
  create_table "posts", id: :snowid, default: -> { "snowid_next()" }, force: :cascade do |t|
END
load_again('db/schema.rb', ['other']);

# Rails' times in UTC, read by a session that is elsewhere.
is(asked_as_app($recipe, <<'SQL'), 't|f', 'IDs for old rows, with the zone named and without');
INSERT INTO orders (item, created_at, updated_at) VALUES ('sugar', '2026-01-01', '2026-01-01');
SET timezone = 'America/New_York';
SELECT bool_and(snowid_timestamp(named) = date_trunc('milliseconds', created_at AT TIME ZONE 'UTC')),
       bool_or(snowid_timestamp(unnamed) = date_trunc('milliseconds', created_at AT TIME ZONE 'UTC'))
FROM (SELECT created_at,
        snowid_backfill(created_at AT TIME ZONE 'UTC', 8191) OVER (ORDER BY created_at AT TIME ZONE 'UTC', id) AS named,
        snowid_backfill(created_at, 8191) OVER (ORDER BY created_at::timestamptz, id) AS unnamed
      FROM orders) AS filled;
SQL

# What the page says of the initializer.
run_shell($recipe, q(rm config/initializers/*.rb; sed -i /posts/d db/migrate/*adopt*; psql -qc 'DROP TABLE posts'; rake db:schema:dump && grep -c 'create_schema "snowid"' db/schema.rb), "1\n");

$recipe->{node}->stop;
done_testing();
