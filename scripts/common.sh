# What the scripts share: setting the machine up, building the extension, private servers. To be
# sourced by bash. The caller may set PG_CONFIG to choose among several PostgreSQL installations.
#
# Afterwards: SOURCE, the checkout; SERVER_USER, who servers run as. After make_work: WORK, a temporary
# directory that goes, with its servers, when the script ends. After get_ready: PG_CONFIG, BINDIR and
# MAJOR, too. After build_and_install: BUILD, in WORK, the copy of the checkout that was built; PREFIX, in WORK,
# a copy of PostgreSQL's installation that has the extension, and PG_CONFIG and BINDIR are that one's; INSTALLATION,
# the directories of the machine's own, whose state before is in WORK/installation.
# shellcheck shell=bash

set -euo pipefail

# The server's user reads what is made here; and cd goes where it says, and says nothing.
umask 022
unset CDPATH

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SUPPORTED_MAJORS="19 18 17 16 15"
SERVERS=()
export DEBIAN_FRONTEND=noninteractive

say() { printf '%s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# What a script of tests counts.
passed=0
failed=0

# outcome STATUS WHAT: counts it, and says how it went.
outcome() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    say "ok: $2"
  else
    failed=$((failed + 1))
    say "FAILED: $2"
  fi
}

# Prints the last line, and fails where anything has.
verdict() {
  say "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

# outside COMMAND...: runs a command that acts outside of this machine. With DRY_RUN it is printed instead.
outside() { if [ -n "${DRY_RUN:-}" ]; then echo "$@"; else "$@"; fi; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "This needs root, or sudo: $*. Have an administrator run it, then run this again."
  fi
}

# PostgreSQL does not run as root.
if [ "$(id -u)" = 0 ]; then SERVER_USER=postgres; else SERVER_USER=$(id -un); fi
as_server_user() {
  if [ "$(id -un)" = "$SERVER_USER" ]; then
    "$@"
  else
    (cd / && HOME=/ runuser -u "$SERVER_USER" -- "$@")
  fi
}

# Runs a command whose output matters only when it fails.
quietly() {
  local log
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "This failed: $*"
  fi
  rm -f "$log"
}

# quietly_with_progress STEP COMMAND...: as quietly, with a bar if there is a terminal. STEP LINE is called for each line
# that the command prints, and may set PERCENT and WHAT is being done.
quietly_with_progress() {
  local step=$1 line log PERCENT=0 WHAT="" bar=########################################
  shift
  if [ ! -t 1 ]; then
    quietly "$@"
    return
  fi
  log=$(mktemp)
  if ! "$@" 2>&1 | tee "$log" | while read -r line; do
    "$step" "$line"
    printf '\r\033[K%-12s [%-40s] %3d%%' "$WHAT" "${bar:0:PERCENT * 2 / 5}" "$PERCENT"
  done; then
    say
    cat "$log" >&2
    die "This failed: $*"
  fi
  printf '\r\033[K'
  rm -f "$log"
}

# apt_get ARGUMENT...: as root. apt closes the descriptor of its progress before it runs dpkg. It is not the standard
# output, to which scripts of packages write; and a shell opens it, since sudo closes what is above 2.
apt_get() {
  # shellcheck disable=SC2016 # to be expanded by the inner shell
  quietly_with_progress apt_step as_root env DEBIAN_FRONTEND=noninteractive \
    sh -c 'exec apt-get -o APT::Status-Fd=3 "$@" 3>&1' apt-get "$@"
}
apt_step() {
  case $1 in
    dlstatus:*) WHAT=Downloading ;;
    pmstatus:*) WHAT=Installing ;;
    *) return 0 ;;
  esac
  IFS=: read -r _ _ PERCENT _ <<<"$1"
  PERCENT=${PERCENT%.*}
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

update_package_lists() {
  [ -z "${LISTS_UPDATED:-}" ] || return 0
  apt_get update
  LISTS_UPDATED=1
}

# archives_of DISTRIBUTION: the addresses and suites of Debian's or Ubuntu's archives: those in apt's configuration, or
# DEBIAN_MIRROR or UBUNTU_MIRROR.
archives_of() {
  local variable=${1^^}_MIRROR
  if [ -n "${!variable:-}" ]; then
    printf '%s\n' "${!variable} release" "${!variable} release-updates"
  else
    # shellcheck disable=SC2016 # for apt
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
      sed -n "s/^$1 main //p"
  fi
}

# sources_of DISTRIBUTION RELEASE: the lines of sources.list for a release of Debian or Ubuntu, with its updates if the
# archives have them.
sources_of() {
  local address suite components=main lines
  [ "$1" = Debian ] || components="main universe"
  # Before it has lists, apt does not know whose an archive is.
  update_package_lists
  lines=$(archives_of "$1" | while read -r address suite; do
    case $suite in
      *-updates | *-security) [[ $2 =~ ^(sid|experimental)$ ]] || echo "deb $address $2-${suite##*-} $components" ;;
      *-*) ;; # such as backports
      *) echo "deb $address $2 $components" ;;
    esac
  done | sort -u)
  [ -n "$lines" ] || die "apt's configuration has no archive of $1. Set ${1^^}_MIRROR to the address of one."
  say "$lines"
}

# Installs those of the named Debian packages that are missing.
install_packages() {
  local package missing=()
  for package; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing ${missing[*]}"
  update_package_lists
  apt-get install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null | grep '^Need to get ' || true
  (without_cluster apt_get install -y --no-install-recommends "${missing[@]}") || exit
}

# install_programs PACKAGE:PROGRAM...: installs the packages of those programs that are missing. Others than Debian may have
# brought them.
install_programs() {
  local program missing=()
  for program; do command -v "${program#*:}" >/dev/null || missing+=("${program%:*}"); done
  [ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
}

# without_cluster COMMAND...: has a server's package that is installed not make and start a cluster of its own, which
# nobody has asked for. What it reads is a file alone, which goes whatever ends this. To be called in a subshell.
without_cluster() {
  local file=/etc/postgresql-common/createcluster.d/snowid-setup.conf
  # shellcheck disable=SC2064 # it is known now
  trap "as_root rm -f $file" EXIT
  trap 'exit 130' INT TERM HUP
  as_root mkdir -p "${file%/*}"
  as_root sh -c "echo 'create_main_cluster = false' >$file"
  "$@"
}

# Sets MAJOR and PG_CONFIG: the caller's choice, else the newest supported server that is installed,
# else the newest that can be.
choose_postgres() {
  local major
  if [ -n "${PG_CONFIG:-}" ]; then
    MAJOR=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
    [[ " $SUPPORTED_MAJORS " == *" $MAJOR "* ]] || die "snowid supports PostgreSQL $SUPPORTED_MAJORS, and $PG_CONFIG is of" \
      "$("$PG_CONFIG" --version)."
    return
  fi
  for major in $SUPPORTED_MAJORS; do
    if [ -x "/usr/lib/postgresql/$major/bin/postgres" ]; then
      MAJOR=$major
      PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
      return
    fi
  done
  command -v apt-get >/dev/null || die "Install PostgreSQL, with its server headers, and set PG_CONFIG."
  update_package_lists
  for major in $SUPPORTED_MAJORS; do
    if apt-cache show "postgresql-server-dev-$major" >/dev/null 2>&1; then
      MAJOR=$major
      PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
      return
    fi
  done
  die "No supported PostgreSQL ($SUPPORTED_MAJORS) can be installed from this machine's package sources." \
    "The PostgreSQL project has packages for older releases, too: https://wiki.postgresql.org/wiki/Apt"
}

stop_servers() {
  local server
  for server in "${SERVERS[@]}"; do
    as_server_user "$BINDIR/pg_ctl" -D "$server/data" -m immediate -s stop >/dev/null 2>&1 || true
  done
}

clean_up() {
  local status=$?
  stop_servers
  # What is still in the background would write there.
  wait
  [ -z "${WORK:-}" ] || rm -rf "$WORK"
  exit "$status"
}

# can_run DIR: whether programs that are in it can be run.
can_run() {
  local program=$1/snowid.$$ can=0
  cp /bin/true "$program" 2>/dev/null || return 1
  "$program" 2>/dev/null || can=1
  rm -f "$program"
  return $can
}

# Whether there is plenty of memory, and /dev/shm is there and good for programs.
has_memory() {
  local free=0 available
  free=$(df --output=avail -m /dev/shm 2>/dev/null | tail -n 1) || return 1
  available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  [ "$free" -ge 6000 ] && [ "$available" -ge 12000 ] && can_run /dev/shm
}

# To be called before WORK is made: has it be in memory, unless TMPDIR says where. What tests of servers do is mostly
# to make files and to delete them, which a disk makes several times as slow.
prefer_memory() { if [ -z "${TMPDIR:-}" ] && has_memory; then TMPDIR=/dev/shm; fi; }

# Makes WORK.
make_work() {
  local dir=${TMPDIR:-/tmp}
  [[ $dir != *[[:space:]]* ]] ||
    die "make cannot work in a directory whose name has spaces, such as $dir. Set TMPDIR to another one."
  can_run "$dir" || die "Programs cannot be made and run in $dir. Set TMPDIR to a directory where they can."
  WORK=$(mktemp -d "$dir/snowid.XXXXXX")
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
}

# copy_checkout DIR: makes DIR, with the checkout in it but for what builds and make dist leave.
copy_checkout() {
  mkdir "$1"
  tar -C "$SOURCE" --exclude=./.git --exclude=./{deb,rpm,image-root} --exclude='./output_*' --exclude='./*.'{zip,tar.gz,cdx.json} --exclude='*.o' \
    --exclude='*.bc' --exclude='*.so' --exclude='*.d' -cf - . | tar -C "$1" -xf -
}

# The extension's version, which the control file names.
version() { sed -n "s/^default_version = '\(.*\)'/\1/p" "$SOURCE/snowid.control"; }

# state_of DIRECTORY...: what is in them, a line for each file, with all that tells whether it was changed, replaced,
# or given to somebody else.
state_of() { find "$@" -printf '%p %y %i %U:%G %m %s %T@ %C@ %l\n' | sort; }

# link_into PREFIX DIRECTORY: has PREFIX/DIRECTORY hold all that DIRECTORY does, by links, but for what is there
# already, and an extension of this name that the machine has.
link_into() {
  local prefix=$1 dir=$2 entry links=()
  if [ ! -e "$prefix$dir" ]; then
    mkdir -p "$(dirname "$prefix$dir")"
    ln -s "$dir" "$prefix$dir"
  fi
  # Where a directory above it is a link it is all there, and not to be written to.
  [ "$(realpath "$prefix$dir")" = "$prefix$dir" ] || return 0
  for entry in "$dir"/*; do
    if [ ! -e "$entry" ] || [ -e "$prefix$entry" ] || [[ ${entry##*/} == snowid* ]]; then continue; fi
    links+=("$entry")
  done
  [ ${#links[@]} = 0 ] || ln -s -t "$prefix$dir" "${links[@]}"
}

# Makes PREFIX, and has PG_CONFIG and BINDIR be there: PostgreSQL's installation once more, at the same paths below
# PREFIX, with directories of its own where an extension is installed. So the machine's own, which a cluster may
# load at any time, stays as it is. Servers and pg_config look for those directories where they are themselves, so
# programs are copied; all else is links. Of what would do without a copy, extension_control_path is PostgreSQL
# 18's alone, and a mount namespace takes root's help.
make_prefix() {
  local dir own theirs
  mapfile -t theirs < <("$PG_CONFIG" --bindir --sharedir --pkglibdir --libdir --includedir --pkgincludedir \
    --includedir-server --sysconfdir --localedir --mandir --docdir)
  PREFIX=$(realpath "$WORK")/postgresql-$MAJOR
  own=("${theirs[0]}" "${theirs[1]}/extension" "${theirs[2]}/bitcode")
  mkdir -p "${own[@]/#/$PREFIX}"
  [ -z "${UNPACK_HEADERS:-}" ] || [ -d "$("$PG_CONFIG" --includedir-server)" ] || unpack_headers "$PREFIX"
  # The others, such as psql, are at home anywhere; and they may be in one directory with all of the machine's.
  cp -a "${theirs[0]}"/{postgres,initdb,pg_*} "$PREFIX${theirs[0]}"
  for dir in "${own[@]}" "${theirs[@]}"; do
    if [ -d "$dir" ]; then link_into "$PREFIX" "$dir"; fi
  done
  PG_CONFIG=$PREFIX${theirs[0]}/pg_config
  BINDIR=$PREFIX${theirs[0]}
  [ "$("$PG_CONFIG" --sharedir --pkglibdir)" = "$(printf '%s\n' "$PREFIX${theirs[1]}" "$PREFIX${theirs[2]}")" ] ||
    die "This PostgreSQL does not go by where it is: $(dirname "${theirs[0]}"). So snowid cannot be tried without" \
      "being installed there."
}

# unpack_headers DIR: what extensions are built with, unpacked there. Installed, its package would bring Clang and LLVM, which
# make bitcode: more than all else.
unpack_headers() {
  update_package_lists
  (cd "$WORK" && quietly apt-get download "postgresql-server-dev-$MAJOR")
  dpkg -x "$WORK/postgresql-server-dev-$MAJOR"_*.deb "$1"
}

# put_fault NAME DIR: puts one of the faults of test/mutants into DIR, a copy of the checkout, and names the file.
put_fault() { perl "$SOURCE/test/mutants/mutants.pl" put "$1" "$2"; }

# build_and_install [MAKE ARGUMENT]...: builds a copy of the checkout, so that no build for another server gets into
# it, and installs it into PREFIX. MUTANT names a fault that is put into it. KEEP_BUILD names a directory where the next
# goal finds what this one has built, of the same checkout for the same server.
build_and_install() {
  say "Building snowid for PostgreSQL $MAJOR"
  mapfile -t INSTALLATION < <("$PG_CONFIG" --bindir --sharedir --pkglibdir)
  state_of "${INSTALLATION[@]}" >"$WORK/installation"
  make_prefix
  BUILD=$WORK/build-$MAJOR
  if [ -d "${KEEP_BUILD:-}" ]; then cp -a "$KEEP_BUILD" "$BUILD"; else copy_checkout "$BUILD"; fi
  [ -z "${MUTANT:-}" ] || put_fault "$MUTANT" "$BUILD"
  local compiled=0 to_compile
  to_compile=$(find "$BUILD/src/pg" -name '*.cpp' | wc -l)
  quietly_with_progress make_step \
    make -C "$BUILD" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" SNOWID_CXXFLAGS="${SNOWID_CXXFLAGS:-}" "$@"
  [ -z "${KEEP_BUILD:-}" ] || [ -d "$KEEP_BUILD" ] || cp -a "$BUILD" "$KEEP_BUILD"
  quietly make -C "$BUILD" install PG_CONFIG="$PG_CONFIG" "$@"
  # The tests write there. (Not in PREFIX, which is full of links.)
  if [ "$(id -un)" != "$SERVER_USER" ]; then
    chown "$SERVER_USER": "$WORK"
    chown -R "$SERVER_USER": "$BUILD"
  fi
}

# Of build_and_install, whose variables it counts by.
make_step() {
  [[ $1 =~ \ -c\ .*[.]cpp ]] || return 0
  WHAT=Compiling
  PERCENT=$((100 * compiled / to_compile))
  compiled=$((compiled + 1))
}

# Installs what is missing (the server, the compilers, and the packages named), says which server it is, and makes WORK. With
# UNPACK_HEADERS, missing headers are left to make_prefix.
get_ready() {
  choose_postgres
  if [ "${PG_CONFIG#/usr/lib/postgresql/}" != "$PG_CONFIG" ]; then
    [ -n "${UNPACK_HEADERS:-}" ] || set -- "postgresql-server-dev-$MAJOR" "$@"
    install_packages g++ "postgresql-$MAJOR" "$@"
  elif command -v dpkg-query >/dev/null; then
    install_packages g++ "$@"
  fi
  say "$("$PG_CONFIG" --version)"
  BINDIR=$("$PG_CONFIG" --bindir)
  make_work
}

# The same, and builds and installs the extension.
setup() {
  get_ready "$@"
  build_and_install
}

# start_server DIR [LINE OF postgresql.conf]...: makes a cluster in DIR/data and starts its server,
# which listens on a socket in DIR alone. The superuser is postgres.
start_server() {
  local dir=$1
  shift
  as_server_user mkdir -p "$dir"
  quietly as_server_user "$BINDIR/initdb" -D "$dir/data" -U postgres -A trust -N -E UTF8 --locale=C
  printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$dir'" "$@" |
    as_server_user sh -c "cat >>'$dir/data/postgresql.conf'"
  as_server_user "$BINDIR/pg_ctl" -D "$dir/data" -l "$dir/log" -w -s start ||
    die "$(as_server_user tail -n 20 "$dir/log")"
  SERVERS+=("$dir")
}

stop_server() {
  local dir=$1 server rest=()
  as_server_user "$BINDIR/pg_ctl" -D "$dir/data" -m fast -w -s stop
  for server in "${SERVERS[@]}"; do [ "$server" = "$dir" ] || rest+=("$server"); done
  SERVERS=("${rest[@]}")
}
