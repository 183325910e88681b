/**
 * Writes the script of a pilot. It runs one step per node, and starts a step again that has ended too
 * early. The task of a step is a keeper, a shell that only waits for the conductor and starts it again:
 * where Slurm tracks processes by control group, everything that a step has started dies with the step's
 * task, so the conductor itself must not be that task.
 *
 *   the conductor ends with 0       it was asked to: the keeper says "ended" and ends, and with it the step
 *   3                               an older conductor of this pilot still works here: the keeper waits
 *   any other way                   the keeper starts another one, at most 3 times in 10 minutes
 *   slurmstepd is gone              the keeper ends, and cancels its step, because srun does not notice
 *   the keeper is gone              the conductor notices, kills its gangs and ends; the script starts the
 *                                   step again
 */
import { quote } from "@tutti/host/shell.ts";
import {
  MAY_START,
  NO_NODE_VARIABLES,
  OWN_FOLDER,
} from "@tutti/live/daemon/executor/cluster/keeper-parts.ts";

/**
 * Options of srun for each of our steps. Without --overlap, steps would wait for each other.
 * @param bindsTasks whether Slurm binds tasks to CPUs here: it would put all gangs on the same ones
 */
export function stepOptions(bindsTasks: boolean): readonly string[] {
  const binding = bindsTasks ? ["--cpu-bind=none"] : [];
  return ["--overlap", "--no-kill", ...binding, "--mpi=none", "--chdir=/"];
}

/**
 * Arguments: node program, program of the conductor, name of the cluster. Its input is the key by which the
 * conductors know each other (conductor/peers.ts), or nothing.
 */
const KEEPER = `
umask 077
${NO_NODE_VARIABLES}
${OWN_FOLDER}
own_folder "/tmp/tutti-$(id -u)"
home=$base/$3-$SLURMD_NODENAME
mkdir "$home" 2> /dev/null
for folder in "$base" "$home"; do
  if [ -L "$folder" ] || ! [ -d "$folder" ] || ! [ -O "$folder" ] || ! chmod 700 "$folder"; then
    echo "Cannot use $folder on $SLURMD_NODENAME: expected a folder of this user that is no link" >&2
    exit 1
  fi
done
parent() {
  read -r stat < /proc/$$/stat
  set -- \${stat##*) }
  echo "$2"
}
if read -r key; then
  printf '%s\\n' "$key" > "$home/key"
fi
key=
${MAY_START}
stepd=$(parent)
ended=
trap 'ended=yes; kill -TERM "$conductor" 2> /dev/null' TERM INT
while may_start; do
  "$1" "$2" "$home" signals --cluster "$3" --parent $$ --node "$SLURMD_NODENAME" < /dev/null >> "$home/conductor.log" 2>&1 &
  conductor=$!
  while kill -0 "$conductor" 2> /dev/null; do
    if [ "$(parent)" != "$stepd" ]; then
      echo "slurmstepd has died on $SLURMD_NODENAME: ending the step" >> "$home/conductor.log"
      ( for wait in 1 5 15; do
          scancel "$SLURM_JOB_ID.$SLURM_STEP_ID" && break
          sleep $wait
        done ) > /dev/null 2>&1 &
      exit 1
    fi
    sleep 1 &
    wait $! 2> /dev/null
  done
  wait "$conductor"
  status=$?
  if [ $status -eq 0 ] || [ -n "$ended" ]; then
    rm -rf "$home"
    echo ended
    exit 0
  fi
  [ $status -eq 3 ] && times=\${times% *}
  sleep 1
done
echo "The conductor on $SLURMD_NODENAME ended too often: see $home/conductor.log" >&2
exit 1
`;

interface BatchScript {
  /** The program node. */
  readonly node: string;
  readonly conductor: string;
  /** Name of the cluster, the same on all nodes. */
  readonly name: string;
  readonly bindsTasks: boolean;
  /** File with the key by which conductors know each other; undefined: they do not talk to each other. */
  readonly keyFile: string | undefined;
}

export function batchScript({ node, conductor, name, bindsTasks, keyFile }: BatchScript): string {
  const options = stepOptions(bindsTasks).join(" ");
  return `#!/bin/sh
# The pilot of a Tutti scheduler: it holds nodes, and Tutti runs gangs on them. See docs/slurm.md.
keeper=${quote(KEEPER)}
${MAY_START}
${keyFile === undefined ? "input=none" : `input=${quote(keyFile)}\n[ -r "$input" ] || input=none`}
keep() {
  while may_start; do
    # The exit status of srun says nothing: it is 0 for a step that was lost, too.
    said=$(srun ${options} --input="$input" --nodes=1 --ntasks=1 --nodelist="$1" \\
      /bin/sh -c "$keeper" tutti-keeper ${[node, conductor, name].map(quote).join(" ")})
    status=$?
    [ "$said" = ended ] && return
    echo "$(date): the conductor's step on $1 ended with status $status" >&2
    sleep $((1 + count * 5))
  done
}
for name in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do keep "$name" & done
wait
`;
}

/** The usual folder of the conductor on a node. Job ids can be used again; names cannot. */
export function conductorHome(uid: number, name: string, node: string): string {
  return `/tmp/tutti-${uid}/${name}-${node}`;
}
