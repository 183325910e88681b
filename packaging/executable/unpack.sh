#!/bin/sh
# Tutti @VERSION@ for Linux on @ARCH@: this script, followed by a compressed archive of Tutti and of Node, which runs
# it. At the first start it is unpacked to a folder of its own; later starts run what is there.
set -eu
name=@VERSION@-@HASH@
home=
if [ "$(id -u)" = 0 ]; then
  # Jobs of all users run programs from there.
  base=/var/cache/tutti
  elsewhere=
else
  elsewhere="; XDG_CACHE_HOME names another one"
  base=${XDG_CACHE_HOME:-${HOME:?tutti: Cannot unpack: expected the variable HOME}/.cache}/tutti
  home=$(CDPATH='' cd -P -- "${HOME:-/}" 2>/dev/null && pwd -P) || home=
fi
fail() {
  echo "tutti: $1" >&2
  exit 74
}
umask 022
mkdir -p "$base" 2>/dev/null || fail "Cannot unpack to $base: expected a folder that can be written$elsewhere"
[ -O "$base" ] && [ ! -h "$base" ] || fail "Cannot use $base: expected a folder of your own that is no link$elsewhere"
# From here on, the path has no links.
base=$(CDPATH='' cd -P -- "$base" && pwd -P)

# What somebody else can change must not run: whoever may write to a folder on the path could put another one in
# its place at any time. Who can do that to the home folder has other ways.
check() {
  while [ "$1" != / ] && [ "$1" != "$home" ]; do
    above=${1%/*}
    set -- "${above:-/}" "$@"
  done
  stat -c '%a %u %g %n' -- / "$@" | {
    # In a container, root may have another number.
    read -r _ root _
    count=0
    while read -r mode owner group path; do
      why=
      case $owner in
        0 | "$root" | "$(id -u)") ;;
        *) why="belongs to user $owner" ;;
      esac
      case $mode in
        [1357]?[2367]? | [1357]??[2367]) [ "$path" != "$base" ] || why="can be written by others" ;;
        *[2367]) why="can be written by others" ;;
        # A group of one user, who has its name.
        *[2367]?) [ "$group $(id -gn)" = "$(id -g) $(id -un)" ] || why="can be written by its group" ;;
      esac
      [ -z "$why" ] || fail "Cannot use $base: $path $why, expected folders that only you or root can change$elsewhere"
      count=$((count + 1))
    done
    [ $count = $# ] || fail "Cannot use $base: the path to it has just changed"
  }
}
check "$base"
program=$base/$name
if [ ! -d "$program" ]; then
  new=$(mktemp -d "$base/new-XXXXXX")
  trap 'rm -rf "$new"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  tail -n +@LINES@ "$0" | tar -xzf - -C "$new" || fail "Cannot unpack to $base: is the disk full, or this file cut off?"
  chmod 755 "$new"
  library=$("$new/node" --version 2>&1) || fail "Cannot run Node on this machine: $library"
  # Another start may have been faster.
  mv -T "$new" "$program" 2>/dev/null || [ -d "$program" ] || fail "Cannot unpack to $program"
  rm -rf "$new"
  trap - EXIT INT TERM HUP
fi
[ -O "$program" ] && [ ! -h "$program" ] || fail "Cannot run $program: expected a folder of your own that is no link"
# Shells drop variables whose names they could not write, such as functions that bash has exported, and set some of
# their own: the program begins with what was typed.
n=0
for piece in $(base64 -w 100000 "/proc/$$/environ" 2>/dev/null); do
  n=$((n + 1))
  export "TUTTI_ENVIRONMENT_$n=$piece"
done
# How to call it again, where PATH does not lead to it.
[ "$(command -v tutti)" = "$0" ] || export TUTTI_LAUNCHER="$0"
exec "$program/node" "$program/bin/executable.js" "$@"
