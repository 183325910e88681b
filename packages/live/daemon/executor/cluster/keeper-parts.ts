/**
 * Parts of the shell scripts that keep a conductor alive on its node. Providers start conductors in different
 * ways, so each has a keeper of its own.
 */

/**
 * Removes Node's variables of the user's environment: our programs need none of them. With some, such as
 * NODE_EXTRA_CA_CERTS, another thread of Node opens a file at the start that it would pass on, and
 * closeInherited (host/surroundings.ts) would close it under that thread's hands.
 */
export const NO_NODE_VARIABLES = `
for name in $(env | sed -n 's/^\\(NODE_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset "$name"; done`;

/** Seconds in which a conductor, or a step, may be started again three times. */
const WINDOW_S = 600;

/**
 * Returns 1 when called for the fourth time within ten minutes. Each caller is a process of its own, with
 * its own times.
 */
export const MAY_START = `
times=
may_start() {
  now=$(date +%s) kept= count=0
  for time in $times; do
    if [ $((now - time)) -lt ${WINDOW_S} ]; then kept="$kept $time" count=$((count + 1)); fi
  done
  times="$kept $now"
  [ $count -lt 4 ]
}`;

/**
 * Sets `base` to a folder of this user: $1, such as /tmp/tutti-UID, or $1.* if another
 * user has taken that name; conductor/connect.ts looks there, too. Nobody can forge the owner. Several may
 * ask at once: the folder that another one has just made is this user's as well.
 */
export const OWN_FOLDER = `
own_folder() {
  for look in first again; do
    for base in "$1" "$1".*; do
      [ ! -L "$base" ] && [ -d "$base" ] && [ -O "$base" ] && return
    done
    mkdir "$1" 2> /dev/null
  done
  base=$(mktemp -d "$1.XXXXXXXX")
}`;
