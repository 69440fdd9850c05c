# A PostgreSQL that is built from Debian's source package, for those goals that look for faults of memory. To be sourced
# by bash, after common.sh, when MAJOR and WORK are set. It has assertions, and tells valgrind of what palloc gives and
# pfree takes back. The first time that takes minutes; it is kept in SNOWID_CACHE, by default in the user's cache
# directory, or in /var/cache/snowid for root.
# shellcheck shell=bash

# Where a server's user, who is not root, can read it.
if [ "$(id -u)" = 0 ]; then CACHE=/var/cache; else CACHE=${XDG_CACHE_HOME:-$HOME/.cache}; fi
CACHE=${SNOWID_CACHE:-$CACHE/snowid}

# private_apt PROGRAM ARGUMENT...: apt with lists of its own, of the sources of what the machine has packages
# of. The machine's lists stay as they are.
private_apt() {
  local program=$1
  shift
  (cd "$WORK/source" && "$program" -o Dir::Etc::sourcelist=/dev/null \
    -o Dir::Etc::sourceparts="$WORK/apt/parts" -o Dir::State::lists="$WORK/apt/lists" \
    -o Dir::Cache="$WORK/apt/cache" -o APT::Sandbox::User= -o Acquire::Check-Valid-Until=false "$@")
}

# download_source: gets PostgreSQL's own tarball into $WORK/source, the newest that can be had: a mirror may
# list a version whose source it has not.
download_source() {
  local list version
  mkdir -p "$WORK/source" "$WORK/apt/parts" "$WORK/apt/lists/partial" "$WORK/apt/cache/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $list in
      *.list) sed -n 's/^deb /deb-src /p' "$list" ;;
      *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" ;;
    esac 2>/dev/null >"$WORK/apt/parts/${list##*/}" || true
  done
  # Some of the lists may have no sources.
  private_apt apt-get update >"$WORK/apt/log" 2>&1 || true
  for version in $(private_apt apt-cache showsrc "postgresql-$MAJOR" 2>>"$WORK/apt/log" |
    sed -n 's/^Version: //p' | sort -rVu); do
    if private_apt apt-get source --download-only "postgresql-$MAJOR=$version" >>"$WORK/apt/log" 2>&1; then
      return
    fi
  done
  die "$(cat "$WORK/apt/log")" "The source of PostgreSQL $MAJOR cannot be had."
}

# build_server PREFIX: with assertions, without what snowid does not meet. valgrind.supp, which says what valgrind is
# not to tell of in it, comes last.
build_server() {
  local tree=$WORK/source/tree
  download_source
  # Under another make PostgreSQL's would take part of the work for done.
  unset MAKELEVEL MAKEFLAGS
  mkdir "$tree"
  tar -C "$tree" --strip-components=1 -xf "$(ls "$WORK"/source/*.orig.tar.*)"
  cd "$tree" || exit
  quietly ./configure --prefix="$1" --enable-cassert --enable-debug --enable-tap-tests --without-readline \
    --without-zlib --without-icu CFLAGS="-O1 -g -DUSE_VALGRIND"
  quietly make -s -j"$(nproc)"
  quietly make -s -j"$(nproc)" -C contrib
  quietly make -s install
  quietly make -s -C contrib install
  cp src/tools/valgrind.supp "$1"
  cd "$SOURCE" || exit
}

# take_built_server: has PG_CONFIG and BINDIR be those of the server that is kept, which is built where there is none;
# and KEPT the directory that it is in.
take_built_server() {
  KEPT=$CACHE/postgresql-$MAJOR-assertions
  if command -v dpkg-query >/dev/null; then
    install_packages g++ make bison flex perl libipc-run-perl valgrind
  fi
  if [ ! -f "$KEPT/valgrind.supp" ]; then
    say "Building PostgreSQL $MAJOR with assertions, to be kept in $KEPT"
    rm -rf "$KEPT"
    mkdir -p "$KEPT"
    build_server "$KEPT"
  fi
  # shellcheck disable=SC2034
  PG_CONFIG=$KEPT/bin/pg_config
  # shellcheck disable=SC2034
  BINDIR=$KEPT/bin
}
