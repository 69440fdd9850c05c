# What the tests are made of: counting, and the stages that need a server. To be sourced by bash, after
# common.sh.
# shellcheck shell=bash

# The first process of a container may reap no orphans, and PostgreSQL takes a server that was killed, and is a zombie,
# for one that runs. So the script is the one that its orphans go to, and bash reaps them: prctl(PR_SET_CHILD_SUBREAPER).
if [ -z "${ADOPTS_ORPHANS:-}" ]; then
  # shellcheck disable=SC2016 # for Perl
  ADOPTS_ORPHANS=1 exec perl -MPOSIX -e '
    my %prctl = (x86_64 => 157, ppc64le => 171, s390x => 172);
    syscall($prctl{ (uname)[4] } // 167, 36, 1, 0, 0, 0);
    exec @ARGV' "$0" "$@"
fi

since=$SECONDS

# show_failures LOG: what TAP or GoogleTest say of the first tests that failed, which may be far up; and the end.
show_failures() {
  grep -E -A 8 '^not ok |: Failure$' "$1" | head -n 60 || true
  tail -n 40 "$1"
}

# show_logs DIR: logs of a test that failed, in PostgreSQL's tmp_check/log. The message of a test that died is in its own log
# alone, after the last check and before the stops of its servers.
show_logs() {
  local file
  for file in "$1"/*; do
    say "== $file"
    grep -A 8 "#   Failed test '" "$file" | head -n 60 || true
    case $file in
      */regress_log_*)
        awk '/(^|\) )(not )?ok [0-9]/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$file" | tail -n 60
        ;;
      *) tail -n 15 "$file" ;;
    esac
  done
}

# add NAME PASSED FAILED [LOG] [SECONDS]: counts a stage, and shows what its log has of it if anything failed.
# It has taken all the time since the stage before, unless told otherwise.
add() {
  passed=$((passed + $2))
  failed=$((failed + $3))
  printf '%-28s %5d passed, %d failed %5d s\n' "$1" "$2" "$3" "${5:-$((SECONDS - since))}"
  since=$SECONDS
  if [ "$3" -gt 0 ] && [ -n "${4:-}" ]; then show_failures "$4"; fi
}

# count PATTERN LOG: how many lines match. grep's failure at none is no failure here.
count() { grep -cE "$1" "$2" || true; }

# judge NAME STATUS PASSED FAILED LOG [SECONDS]: a stage that exits non-zero has failed, whatever it
# counted; so has one that ran nothing.
judge() {
  local not_ok=$4
  if [ "$not_ok" = 0 ] && { [ "$2" != 0 ] || [ "$3" = 0 ]; }; then not_ok=1; fi
  add "$1" "$3" "$not_ok" "$5" "${@:6}"
}

# judge_script NAME COMMAND...: a stage that is a script of its own, whose last line says what it has counted.
judge_script() {
  local name=$1 log=$WORK/$1.out status=0
  "${@:2}" >"$log" 2>&1 || status=$?
  [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || die "$(cat "$log")"
  judge "$name" "$status" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "$log"
}

# judge_goal NAME STATUS LOG: a goal whose program tells TAP. Where a MUTANT is tried it is to fail.
judge_goal() {
  if [ -z "${MUTANT:-}" ]; then
    judge "$1" "$2" "$(count '^ok ' "$3")" "$(count '^not ok ' "$3")" "$3"
  elif [ "$(count '^not ok ' "$3")" -gt 0 ]; then
    add "$MUTANT was seen" 1 0
  else
    add "$MUTANT SURVIVED" 0 1 "$3"
  fi
}

# installcheck NAME SETTINGS [MAKE ARGUMENT]...: the regression and isolation tests, as `make installcheck`
# runs them anywhere, on a server with these settings, a line each.
installcheck() {
  local name=$1 settings log=$WORK/installcheck.log status=0 server=$WORK/installcheck
  mapfile -t settings <<<"$2"
  shift 2
  start_server "$server" "max_prepared_transactions = 10" "${settings[@]}"
  as_server_user env PGHOST="$server" PGUSER=postgres \
    make -C "$BUILD" installcheck PG_CONFIG="$PG_CONFIG" "$@" >"$log" 2>&1 || status=$?
  if [ "$status" != 0 ]; then
    cat "$BUILD"/regression.diffs "$BUILD"/output_iso/regression.diffs >>"$log" 2>/dev/null || true
  fi
  # Up to PostgreSQL 15 "test NAME ... ok", from 16 on "ok N - NAME".
  judge "$name" "$status" "$(count '^(test .* ok|ok )' "$log")" \
    "$(count '^(test .* FAILED|not ok )' "$log")" "$log"
  stop_server "$server"
  rm -r "$server"
}

JIT_SETTINGS="jit = on
jit_above_cost = 0
jit_inline_above_cost = 0
jit_optimize_above_cost = 0"

# Whether the server was built to compile expressions. Debian has what it needs for that in a package of
# its own from PostgreSQL 18 on; install_jit gets it, before anything is built: what is installed later is not in
# PREFIX.
has_jit() { "$PG_CONFIG" --configure | grep -q -e --with-llvm; }
install_jit() {
  if has_jit && [ ! -f "$("$PG_CONFIG" --pkglibdir)/llvmjit.so" ] && command -v dpkg-query >/dev/null; then
    install_packages "postgresql-$MAJOR-jit"
  fi
}

# tests_of_the_library: the regression tests, except those of SQL and PL/pgSQL alone. Where each query is compiled, or caches
# are discarded all the time, these take many minutes.
tests_of_the_library() {
  local test all tests=()
  read -ra all < <(sed -n 's/^REGRESS = //p' "$BUILD/Makefile")
  for test in "${all[@]}"; do
    case $test in
      ranges) ;; # SQL functions
      adopt | adopt_looks) ;; # snowid.adopt(), PL/pgSQL
      partitions | partitions_uuid) ;; # snowid.create_partitions() and the others, PL/pgSQL
      *) tests+=("$test") ;;
    esac
  done
  echo "${tests[*]}"
}

# forced_jit: the regression tests with every expression compiled and snowid's bitcode linked into it.
forced_jit() {
  bitcode_is_used
  has_jit || return 0
  installcheck "regression with forced JIT" "$JIT_SETTINGS" ISOLATION= REGRESS="$(tests_of_the_library)"
}

# bitcode_is_used: that JIT links snowid's bitcode, where there is JIT. A function's own name is in what was compiled once
# as what is called, and a second time where its body has come from snowid's bitcode.
bitcode_is_used() {
  local server=$WORK/jit log=$WORK/jit.log settings bodies
  if ! has_jit; then
    say "No test of JIT: this server is built without it."
    return
  fi
  mapfile -t settings <<<"$JIT_SETTINGS"
  start_server "$server" "${settings[@]}"
  as_server_user "$BINDIR/psql" -X -q -At -h "$server" -U postgres -v ON_ERROR_STOP=1 >"$log" 2>&1 <<'SQL' || true
CREATE EXTENSION snowid;
SET jit_dump_bitcode = on;
SELECT count(*) FROM objectid_next() AS a, objectid_next() AS b WHERE a < b;
SET jit_dump_bitcode = off;
SET jit = off;
SELECT 'names: ' || max(regexp_count(encode(pg_read_binary_file(file), 'escape'), 'objectid_lt'))
FROM pg_ls_dir('.') AS file WHERE file ~ ('^' || pg_backend_pid() || '[.]\d+[.]bc$');
SQL
  bodies=$(count '^names: 2$' "$log")
  stop_server "$server"
  judge "JIT uses snowid's bitcode" 0 "$bodies" $((1 - bodies)) "$log"
}

# no_trace: that the machine's own installation is as it was before anything was built, to the last time stamp.
no_trace() {
  local log=$WORK/trace.log status=0
  diff "$WORK/installation" <(state_of "${INSTALLATION[@]}") >"$log" || status=$?
  judge "no trace in PostgreSQL" "$status" "$((status == 0))" "$((status != 0))" "$log"
}

# Seconds after which a TAP test is ended: several times what the longest takes, on a machine that does other work, too.
TAP_LIMIT=1500

# run_program NAME DIR ARGUMENT...: a goal's program, DIR/run.pl, whose servers are in $WORK/NAME, and its output in
# $WORK/NAME.log. What it says that is no check which has passed is shown as it comes, and the logs if it fails.
run_program() {
  local dir=$WORK/$1 program=$2 log=$WORK/$1.log status=0 pgxs
  shift 2
  pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
  as_server_user mkdir -p "$dir/left"
  # Debian's packages are for Debian's Perl, whatever else there is.
  as_server_user env -C "$BUILD" PATH="$BINDIR:/usr/bin:$PATH" TESTDIR="$dir" TESTDATADIR="$dir/tmp_check" \
    TESTLOGDIR="$dir/tmp_check/log" PG_CONFIG="$PG_CONFIG" TMPDIR="$WORK" ONLY="${ONLY:-}" \
    PG_REGRESS="$pgxs/src/test/regress/pg_regress" \
    PERL5LIB="$pgxs/src/test/perl:$BUILD/test/perl:$BUILD/$program" perl "$program/run.pl" "$@" 2>&1 | tee "$log" |
    { grep --line-buffered -v -e '^ok ' -e '^1[.][.]' || true; } || status=$?
  [ "$status" = 0 ] || [ -n "${MUTANT:-}" ] || show_logs "$dir/tmp_check/log"
  return "$status"
}

# initdb_once: has PREFIX's initdb make files of a kind once, and copy them from then on. To be called once, before
# anything uses it.
initdb_once() {
  local initdb=$BINDIR/initdb
  as_server_user mkdir -p "$WORK/clusters"
  mv "$initdb" "$initdb.itself"
  printf '%s\n' '#!/bin/sh' "exec perl '$BUILD/test/initdb.pl' '$initdb.itself' '$WORK/clusters' \"\$@\"" >"$initdb"
  chmod 755 "$initdb"
}

# run_tap FILE: runs a TAP test, with servers of its own, and leaves its output, exit status, seconds and
# servers' logs in $WORK/tap/FAMILY/NAME.
run_tap() {
  local dir=$WORK/tap/${1#test/t/} status=0 begun=$SECONDS pgxs
  pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
  as_server_user mkdir -p "$dir" "$WORK/libraries"
  as_server_user env -C "$BUILD" PATH="$BINDIR:$PATH" TESTDIR="$dir" TESTDATADIR="$dir/tmp_check" \
    TESTLOGDIR="$dir/tmp_check/log" PG_CONFIG="$PG_CONFIG" TMPDIR="$WORK" \
    PG_REGRESS="$pgxs/src/test/regress/pg_regress" SNOWID_LIBRARIES="$WORK/libraries" \
    PERL5LIB="$pgxs/src/test/perl:$BUILD/test/perl" \
    prove -v --exec "timeout --verbose --kill-after=60 $TAP_LIMIT perl" "$1" >"$dir.log" 2>&1 || status=$?
  echo "$status $((SECONDS - begun))" >"$dir.status"
}

# What a TAP test that takes long has a line of.
LONG='^# Runs in make test-all'

# leave_out_long: leaves of TAP those that make test runs, too.
leave_out_long() { mapfile -t TAP < <(cd "$SOURCE" && grep -L "$LONG" "${TAP[@]}"); }

# tap FILE: a TAP test as a stage.
tap() {
  local name=${1#test/t/} status dir
  dir=$WORK/tap/$name
  run_tap "$1"
  read -r status _ <"$dir.status"
  # One that is not for this server says so, and has not passed.
  if [ "$status" = 0 ] && grep -q '[.]pl [.]* skipped: ' "$dir.log"; then
    say "${name%.pl}: not tried: $(sed -n 's/.*[.]pl [.]* skipped: //p' "$dir.log")"
    return
  fi
  judge "${name%.pl}" "$status" "$(count '^ok ' "$dir.log")" "$(count '^not ok ' "$dir.log")" "$dir.log"
  [ "$status" != 0 ] || return 0
  show_logs "$dir/tmp_check/log"
}

# Stages that run beside one another, by process; each one's output, and what it has counted, in $WORK/beside.
declare -A BESIDE=()

# beside NAME COMMAND [ARGUMENT]...: has a stage run in the background as soon as there are fewer than four for each
# processor, since mostly they wait. What it says and counts follows when it has ended.
beside() {
  mkdir -p "$(dirname "$WORK/beside/$1")"
  while [ ${#BESIDE[@]} -ge $((4 * $(nproc))) ]; do end_of_one; done
  run_beside "$@" >"$WORK/beside/$1" 2>&1 &
  BESIDE[$!]=$1
}

# run_beside NAME COMMAND [ARGUMENT]...: the process of such a stage, which counts for itself and has servers of its own.
run_beside() {
  passed=0
  failed=0
  # shellcheck disable=SC2034
  SERVERS=()
  since=$SECONDS
  trap stop_servers EXIT
  "${@:2}"
  echo "$passed $failed" >"$WORK/beside/$1.counted"
}

# end_of_one: waits until one of them has ended, and counts it. A stage that broke off has failed.
end_of_one() {
  local pid log count_passed count_failed
  wait -n -p pid "${!BESIDE[@]}" || true
  log=$WORK/beside/${BESIDE[$pid]}
  cat "$log"
  if [ ! -f "$log.counted" ]; then
    say "${BESIDE[$pid]} broke off"
    echo "0 1" >"$log.counted"
  fi
  read -r count_passed count_failed <"$log.counted"
  passed=$((passed + count_passed))
  failed=$((failed + count_failed))
  rm "$log.counted"
  unset "BESIDE[$pid]"
}

# all_beside: waits until all of them have ended.
all_beside() {
  if [ ${#BESIDE[@]} -gt 1 ]; then say "To end: ${BESIDE[*]}"; fi
  while [ ${#BESIDE[@]} -gt 0 ]; do end_of_one; done
  since=$SECONDS
}

# taps FILE...: TAP tests, named as in the tree, beside one another. First those that build, then the longest
# files, which are about the longest tests, or one of them would be left to end alone.
taps() {
  local file order
  order=$(cd "$BUILD" && for with in -l -L; do grep -E $with "build_library|lower_bounds|'make'|make -C" "$@" | xargs -r ls -S || true; done)
  [ "$(wc -w <<<"$order")" = $# ] || die "Not all are TAP tests of the tree: $*"
  say "$# TAP tests, each in seconds to minutes, up to $((4 * $(nproc))) stages beside one another"
  for file in $order; do beside "${file#test/t/}" tap "$file"; done
  all_beside
}
