# Bare machines: roots of Debian releases, with the checkout in each. To be sourced by bash, after common.sh.
# MATRIX chooses among the releases. Needs root.
#
# Afterwards: RELEASES; ROOTS, a temporary directory that goes, with all that runs in it, when the script ends.
# The caller defines prepare RELEASE, which makes its root, $ROOTS/RELEASE, by make_root.
# shellcheck shell=bash

# Debian 12, 13 and 14 bring PostgreSQL 15, 17 and 18.
read -ra RELEASES <<<"${MATRIX:-bookworm trixie forky}"

[ "$(id -u)" = 0 ] || die "This needs root: it makes roots and mounts."
install_packages mmdebstrap util-linux

ROOTS=$(mktemp -d "${TMPDIR:-/tmp}/snowid-roots.XXXXXX")
PREPARING=""
remove_roots() {
  local status=$?
  # The whole group, which then ends what is in the root, too.
  if [ -n "$PREPARING" ]; then kill -KILL -- "-$PREPARING" 2>/dev/null || true; fi
  wait
  rm -rf --one-file-system "$ROOTS"
  exit "$status"
}
trap remove_roots EXIT
trap 'exit 130' INT TERM HUP

# Runs a command in a root as the first process of a process namespace, with proc and dev/shm mounted
# in a mount namespace: whatever happens, both are gone when it ends, and all that it has started.
in_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016 # to be expanded by the inner shell
  unshare --mount --propagation private --pid --fork --kill-child \
    sh -euc 'mount -t proc proc "$0/proc"; mkdir -p "$0/dev/shm"; mount -t tmpfs tmpfs "$0/dev/shm"
             exec chroot "$0" "$@"' "$root" "$@"
}

# in_checkout RELEASE COMMAND: runs a shell command in the copy of the checkout that is in its root.
in_checkout() {
  in_root "$ROOTS/$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root TERM=dumb sh -c "cd /snowid && $2"
}

# make_root RELEASE: with nothing in it but make, and the checkout in /snowid.
make_root() {
  # Some releases' files have expired and are the newest there are all the same.
  mmdebstrap --variant=apt --include=make --aptopt='Acquire::Check-Valid-Until "false"' "$1" "$ROOTS/$1" &&
    copy_checkout "$ROOTS/$1/snowid"
}

# start_preparing [RELEASE]: in the background. Most of it is downloading and unpacking, so that it goes on
# beside the tests of the release before.
start_preparing() {
  PREPARING=""
  [ $# -gt 0 ] || return 0
  # A process group of its own.
  set -m
  prepare "$1" >"$ROOTS/$1.prepared" 2>&1 </dev/null &
  PREPARING=$!
  set +m
}

# judge STATUS COMMAND LOG
judge() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    say "ok: $2"
    grep -E '^PostgreSQL |^[0-9]+ passed' "$3" || true
  else
    failed=$((failed + 1))
    say "FAILED: $2"
    tail -n 80 "$3"
  fi
}

# prepared NUMBER: waits for the preparing of that release, has that of the next begun, and fails where it has.
prepared() {
  local status=0
  wait "$PREPARING" || status=$?
  start_preparing "${RELEASES[@]:$1+1:1}"
  return $status
}
