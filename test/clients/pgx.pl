# pgx: an ID is an int64, of either type, also in COPY and in JSON.
# Debian: forky
# Needs: golang-go golang-github-jackc-pgx-v5-dev

use strict;
use warnings;

use SnowidClients;
use Test::More;

# Debian's packages are sources, without modules. Nothing is fetched.
my $recipe = new_recipe(env => { GO111MODULE => 'off', GOPATH => '/usr/share/gocode', CGO_ENABLED => '0' });
run_page($recipe);
is(asked_as_app($recipe, 'SELECT count(*) FROM comments WHERE id > 9007199254740991'), '1002', 'IDs that a number would round');

put_file($recipe, 'go', <<'GO');
// types.go
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, "")
	check(err)
	var id int64
	var any any
	var all []int64
	var count int
	check(db.QueryRow(ctx, "SELECT min(id), array_agg(id) FROM comments").Scan(&id, &all))
	check(db.QueryRow(ctx, "SELECT id FROM comments WHERE id = $1", id).Scan(&any))
	check(db.QueryRow(ctx, "SELECT count(*) FROM comments WHERE id = ANY ($1)", all).Scan(&count))
	fmt.Printf("%T %d\n", any, count)
}
GO
run_shell($recipe, 'go run types.go', "string 1002\n");

$recipe->{node}->stop;
done_testing();
