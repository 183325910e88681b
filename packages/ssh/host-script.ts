/**
 * Writes the shell script that ssh runs on a host. All that Tutti has there is in one private folder of the
 * user who is logged in, below `base`:
 *
 *   /var/tmp/tutti-1000/            only its owner can write there; it outlives a reboot
 *     0123456789abcdef-elm/         `root`: name of the state folder, and of the host
 *       programs/SHA256/            Node and the programs, named after their checksums (carried.ts)
 *       home/                       the conductor's folder
 *       jobs/12.1-IDENTITY/         an attempt, with its script and its output
 *       lock                        held by the keeper
 *
 * The keeper is a shell that starts the conductor again when it dies. It has left the session of ssh, so it
 * outlives the connection.
 *
 *   the conductor ends with 0       nobody needs it: the keeper removes its folder and ends
 *   3                               an older conductor works here: the keeper waits
 *   any other way                   the keeper starts another one, at most 3 times in 10 minutes; then the
 * next
 *                                   connection starts a keeper
 */
import { quote } from "@tutti/host/shell.ts";
import {
  MAY_START,
  NO_NODE_VARIABLES,
  OWN_FOLDER,
} from "@tutti/live/daemon/executor/cluster/keeper-parts.ts";

/** First word of the line that comes before everything that the script prints on purpose. */
export const MARKER = "tutti-host/1";

/** Arguments: root, node program, folder of the programs, name of the cluster. */
const KEEPER = `
${MAY_START}
exec 9> "$1/lock"
flock -n 9 || exit 0
while may_start; do
  "$2" "$3/conductor.mjs" "$1/home" signals --cluster "$4" --independent \\
    < /dev/null >> "$1/conductor.log" 2>&1 9>&- &
  wait $!
  status=$?
  if [ $status -eq 0 ]; then
    rm -rf "$1/home" "$1/jobs" "$1/conductor.log"
    exit 0
  fi
  [ $status -eq 3 ] && times=\${times% *}
  sleep 1 9>&-
done
`;

/**
 * Arguments: what to do, name of the folder, checksum of the programs, name of the cluster, path of Node on
 * the host or nothing. It must leave its input for the program that it becomes.
 *
 *   facts     prints what the host is like
 *   connect   starts a keeper if there is none, and joins the streams with the conductor's socket
 *   carry     reads the programs as an archive, and puts them in their place
 *   remove    removes the folder, unless a conductor works there
 */
const SCRIPT = `
umask 077
${NO_NODE_VARIABLES}
fail() {
  echo "$*" >&2
  exit 1
}
for tool in base64 flock sha256sum setsid mktemp tar; do
  command -v $tool > /dev/null || fail "the host has no program $tool, expected coreutils, util-linux and tar"
done
${OWN_FOLDER}
own_folder "/var/tmp/tutti-$(id -u)"
root=$base/$2
programs=$root/programs/$3
mode=700
[ "$(id -u)" -eq 0 ] && mode=711
for folder in "$base" "$root" "$root/programs" "$root/jobs"; do
  [ "$1" = remove ] && break
  mkdir "$folder" 2> /dev/null
  if [ -L "$folder" ] || ! [ -d "$folder" ] || ! [ -O "$folder" ] || ! chmod $mode "$folder"; then
    fail "cannot use the folder $folder: expected one of user $(id -un) that is no link, on a disk with room"
  fi
done
# A running conductor needs its programs no more than it has them: only then is it cheap to look.
has_programs() {
  [ -x "$programs/node" ] || return 1
  [ -e "$root/lock" ] && ! flock -n "$root/lock" true && return
  ( cd "$programs" && sha256sum -c --status sums && [ "$(sha256sum < sums)" = "$3  -" ] ) 2> /dev/null < /dev/null
}
case $1 in
remove)
  if [ -e "$root/lock" ]; then
    flock -w 15 "$root/lock" true || fail "a conductor works in $root on this host"
  fi
  rm -rf "$root"
  rmdir "$base" 2> /dev/null
  exit 0
  ;;
carry)
  new=$(mktemp -d "$root/programs/new.XXXXXXXX") || fail "cannot make a folder in $root/programs"
  trap 'rm -rf "$new"' EXIT
  tar -x -o -f - -C "$new" || fail "cannot write the programs to $root/programs"
  [ -z "$5" ] || ln -s "$5" "$new/node"
  chmod 755 "$new" "$new"/*
  rm -rf "$programs"
  mv "$new" "$programs" || fail "cannot rename $new"
  ;;
esac
state=ready
has_programs "$@" || state=missing
[ $state = ready ] && ! "$programs/node" --version > /dev/null 2>&1 < /dev/null && state=broken
echo "${MARKER} $root $state $(uname -m) $(id -u)"
if [ $state = broken ]; then
  "$programs/node" --version < /dev/null 2>&1 | head -n 1 >&2
  exit 1
fi
[ $state = ready ] || exit 0
[ "$1" = connect ] || exec "$programs/node" "$programs/facts.mjs" "$base" < /dev/null
keeper=${quote(KEEPER)}
setsid /bin/sh -c "$keeper" tutti-keeper "$root" "$programs/node" "$programs" "$4" < /dev/null > /dev/null 2>&1 &
exec "$programs/node" "$programs/connect.mjs" "$root/home" --say
`;

export interface HostCommand {
  readonly what: "facts" | "connect" | "carry" | "remove";
  /** Name of the folder on the host. */
  readonly folder: string;
  readonly checksum: string;
  readonly cluster: string;
  readonly nodeProgram: string | undefined;
}

/**
 * One word for ssh, which the login shell of the user reads, whatever shell that is: so it has no line ends,
 * and nothing in it that csh or fish would read in another way.
 */
export function remoteCommand({ what, folder, checksum, cluster, nodeProgram = "" }: HostCommand): string {
  const script = Buffer.from(SCRIPT).toString("base64");
  const words = [what, folder, checksum, cluster, nodeProgram].map(quote).join(" ");
  return `exec /bin/sh -c 'eval "$(printf %s ${script} | base64 -d)"' tutti-host ${words}`;
}
