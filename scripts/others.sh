# What the tests of others' programs are made of: choosing among the tests of a directory, and getting what they
# need. To be sourced by bash, after common.sh.
# shellcheck shell=bash

# choose_tests DIRECTORY KIND: sets CHOSEN to the tests whose names begin as ONLY says, to all where it says nothing.
choose_tests() {
  local beginning beginnings=() found=()
  read -ra beginnings <<<"${ONLY:-}"
  [ ${#beginnings[@]} -gt 0 ] || beginnings=("")
  CHOSEN=()
  for beginning in "${beginnings[@]}"; do
    mapfile -t found < <(cd "$SOURCE" && find "$1" -name "$beginning*.pl")
    [ ${#found[@]} -gt 0 ] || die "ONLY: there is no $2 called $beginning."
    CHOSEN+=("${found[@]}")
  done
  mapfile -t CHOSEN < <(printf '%s\n' "${CHOSEN[@]}" | sort -u)
}

# says FILE WHAT: what a test says of itself, in lines of the name WHAT.
says() { sed -n "s/^# $2: //p" "$SOURCE/$1" | sed "s/MAJOR/$MAJOR/g"; }

# can_get PACKAGE: whether Debian's package is there, or can be.
can_get() { installed "$1" || { update_package_lists && apt-cache show "$1" >/dev/null 2>&1; }; }

# unpack PACKAGE...: programs that serve a machine are not installed but unpacked, in WORK. Debian starts such
# a service when it is installed, and, even if a policy-rc.d has kept it from that, at every start of the
# machine from then on. What they stand on is installed.
unpack() {
  local package missing=() below=() debs=$WORK/debs unpacked=$WORK/unpacked
  for package; do installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  update_package_lists
  mapfile -t below < <(apt-get -s install --no-install-recommends "${missing[@]}" |
    sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -vxF -f <(printf '%s\n' "${missing[@]}"))
  install_packages "${below[@]}"
  say "Unpacking ${missing[*]}"
  mkdir "$debs" "$unpacked"
  # apt gives its rights up to download.
  chmod a+rwx "$debs"
  (cd "$debs" && quietly apt-get download "${missing[@]}")
  for package in "$debs"/*.deb; do dpkg -x "$package" "$unpacked"; done
  rm -r "$debs"
  export PATH="$unpacked/usr/bin:$unpacked/usr/sbin:$PATH"
  export PYTHONPATH="$unpacked/usr/lib/python3/dist-packages${PYTHONPATH:+:$PYTHONPATH}"
}
