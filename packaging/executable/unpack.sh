#!/bin/sh
# Tutti @VERSION@ for Linux on @ARCH@: this script, followed by a compressed archive of Tutti and of Node, which runs
# it. At the first start it is unpacked to a folder of its own; later starts run what is there.
set -eu
name=@VERSION@-@HASH@
if [ "$(id -u)" = 0 ]; then
  # Jobs of all users run programs from there.
  base=/var/cache/tutti
else
  base=${XDG_CACHE_HOME:-${HOME:?tutti: Cannot unpack: expected the variable HOME}/.cache}/tutti
fi
fail() {
  echo "tutti: $1" >&2
  exit 74
}
program=$base/$name
if [ ! -d "$program" ]; then
  umask 022
  mkdir -p "$base" || fail "Cannot unpack to $base: expected a folder that can be written; XDG_CACHE_HOME names another one"
  # What somebody else can change must not run.
  [ -O "$base" ] && [ ! -h "$base" ] || fail "Cannot unpack to $base: expected a folder of your own"
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
[ -O "$program" ] || fail "Cannot run $program: expected a folder of your own"
exec "$program/node" "$program/bin/tutti.js" "$@"
