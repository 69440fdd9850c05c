# What the demos share: statements on their servers, shown as they are typed, with color on a terminal. To be sourced
# after common.sh.
# shellcheck shell=bash

# shellcheck disable=SC2034 # the scripts use them
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  BOLD=$'\033[1m' CYAN=$'\033[36m' GREEN=$'\033[32m' PLAIN=$'\033[0m'
else
  BOLD="" CYAN="" GREEN="" PLAIN=""
fi

# explain TEXT: what comes next.
explain() { say "
$BOLD$1$PLAIN"; }

psql() {
  local server=$1
  shift
  as_server_user "$BINDIR/psql" -X -q -P pager=off -h "$WORK/$server" -U postgres -v ON_ERROR_STOP=1 "$@"
}

# value SERVER STATEMENT: what it gives, bare.
value() { psql "$1" -At -c "$2"; }

# run SERVER STATEMENT: prints it as a user would type it, and runs it.
run() {
  say "
$CYAN$1=# $2$PLAIN"
  psql "$1" -c "$2"
}

# show_plan SERVER QUERY: in 80 columns.
show_plan() {
  say "
$CYAN$1=# EXPLAIN (COSTS OFF) $2$PLAIN"
  psql "$1" -At -c "EXPLAIN (COSTS OFF) $2" | fold -s -w 80
}
