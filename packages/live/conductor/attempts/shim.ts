/**
 * The shim: a POSIX shell script per attempt that outlives front end and conductor, in a session of its own.
 *
 *   folder/launch   the script, including command, environment and files
 *          claim    symbolic link to "boot:pid:ticks:identity" of the shim; made in one step, so that an
 *                   attempt is claimed at most once
 *          job      the same for the first process of the job, which waits at the gate
 *          gate     named pipe; the conductor puts the job into its groups, and writes "go CPUS" when the row
 *                   of the job has its first slot
 *          input    named pipe of a job with an input (job-input.ts); ready: another one for its beginning
 *          asked    the conductor is about to send signals, so a death by TERM or KILL is no surprise
 *          exit     "status identity", moved there when it is safely on disk; 256 + n stands for signal n
 *          lost     why the command could not be started, for people
 *          end      what the conductor has found in the end (kept-end.ts)
 *
 * The identity is that of the attempt (protocol.ts). A file with another identity was written for another
 * attempt whose folder had the same name, and is left alone. Attempts of the first release and their files
 * have no identity.
 *
 * The shell cannot tell an exit with 137 from a death by SIGKILL, but awk's system() can. So the shim becomes
 * an awk that waits for the job. The job has its own session, because many scripts end with `kill 0`.
 * A cluster that ends a step kills its processes one after the other. So there, if a job dies by TERM or KILL
 * and nobody of us has asked for that, its shim waits before it writes the status: if it is killed, too, the
 * attempt is lost.
 * Everything runs as the job's user, with a clean environment until the command. So whatever a job does to
 * its folder harms only that job. A user can rename any other user's file into the folder, so the conductor
 * reads and writes only files there that clearly belong to the job's user.
 */

import { isPlainFileOf, readText } from "@tutti/host/files.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
  writeSync,
} from "@tutti/host/ports/fs.ts";
import { constants as osConstants } from "@tutti/host/ports/os.ts";
import { basename, dirname, join } from "@tutti/host/ports/path.ts";
import { readSmall } from "@tutti/host/processes.ts";
import { environmentInShell, quote } from "@tutti/host/shell.ts";
import type { AttemptEnd, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { MARK_VARIABLE } from "../freezers/signals.ts";
import { type AttemptFolder, identitySuffix, ownerOf } from "./claim.ts";
import { holdTerminal, inTerminal, MAKE_INPUT, readFromClient, readFromFeeder } from "./job-input.ts";
import { rightsFor } from "./rights.ts";

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_NONBLOCK, O_NOFOLLOW } = constants;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/**
 * Soft limit on open files for a job, the same as at a login. Node has raised its own limit to the maximum,
 * which jobs would otherwise inherit.
 */
const OPEN_FILES = 1024;
/** How a shim waits for its own death on a node of a cluster. Two seconds are long for a loop of kills. */
const EXPECT_KILL = `case $status in ${256 + 9} | ${256 + 15}) [ -e asked ] || sleep 1; [ -e asked ] || sleep 1; esac
    `;
/** Exit status of a shim that finds the attempt already claimed. */
const ALREADY_CLAIMED = 75;
/** Umask of jobs that were submitted to the first release. */
const FIRST_RELEASE_UMASK = 0o022;
/** Variables that a cluster sets for each task, such as SLURM_PROCID and PMIX_RANK. */
const OF_TASKS = /^(SLURM|PMI|OMPI_|I_MPI_|MPI_)/;

/** Makes the shim of a task lead a session; `setsid -w` waits, because the cluster waits for its task. */
const LEAD_SESSION = `  leads() {
    read -r stat < /proc/$$/stat || exit 74
    set -- \${stat##*) }
    [ "$4" = $$ ]
  }
  leads || exec setsid -w /bin/sh "$PWD/launch"
`;

/**
 * Who starts a shim: the conductor of this machine or of a node of a cluster, or the cluster, which gives
 * each task variables of its own. The task keeps them.
 */
type Starter = "machine" | "node" | "cluster";

/** The script of an attempt. `mark` is put into the job's environment (freezers/signals.ts). */
function launchScript(spec: LaunchSpec, mark: string, starter: Starter): string {
  const isTask = starter === "cluster";
  const { exported, prefix } = environmentInShell(spec.env);
  const exports = exported.map(([name, value]) => {
    const keep = isTask && OF_TASKS.test(name) ? `[ -n "\${${name}+x}" ] || ` : "";
    return `${keep}export ${name}=${quote(value)}`;
  });
  const [program = ""] = spec.command;
  // What one node lacks, such as a program or a folder, others may have.
  const where = starter === "machine" ? "" : `On \${SLURMD_NODENAME:-$(uname -n)}: `;
  const folder = quote(spec.folder);
  const fail = (why: string) => `fail ${quote(why)}`;
  const noFolder = fail(
    `Cannot change to the folder "${spec.cwd}": it is missing or not allowed, expected the job's working directory; make it there, or name another one with --cwd`,
  );
  const ofGang = `${MARK_VARIABLE}=${quote(mark)}`;
  const readInput = starter === "machine" ? readFromClient(fail) : readFromFeeder(ofGang, quote, fail);
  const [stdout, stderr] = [spec.stdout, spec.stderr].map((path) => quote(fromFolder(spec, path)));
  const open = spec.openMode === "truncate" ? ">" : ">>";
  return `PATH=${PATH}; export PATH
# The job is there already, also if the folder was moved away since.
case "\${1-}" in job | terminal) ;; *) cd ${folder} || exit 74 ;; esac
identity() {
  read -r boot < /proc/sys/kernel/random/boot_id && read -r stat < /proc/$$/stat || exit 74
  set -- \${stat##*) }
  shift 19
  identity=$boot:$$:$1${identitySuffix(spec)}
}
fail() {
  # Without its reason, this would be an exit of the command: a disk that refuses it may take it later.
  until printf '%s\\n' "${where}$1" > lost; do
    case $(stat -c %h .) in 0 | "") exit 74 ;; esac
    sleep 1
  done 2> /dev/null
  exit 74
}
begin() {
unset OLDPWD
${exports.join("\n")}
set -- ${spec.command.map(quote).join(" ")}
if ! command -v -- "$1" > /dev/null; then
  # The attempt's folder, wherever it is by now.
  cd /proc/$$/fd/9/ 2> /dev/null || exit 74
  ${fail(`Cannot run "${program}": no such command, expected a program in the job's PATH or a path to one`)}
fi
exec 9<&-
exec ${prefix}"$@"
}
${spec.input === "terminal" ? inTerminal(quote(spec.cwd)) : ""}identity
if [ "\${1-}" != job ]; then
${isTask ? LEAD_SESSION : ""}  if ! ln -s "$identity" claim 2>/dev/null; then
    [ -L claim ] && exit ${ALREADY_CLAIMED}
    exit 74
  fi
  rm -f job lost gate asked exit.new
  ${spec.input === undefined ? "" : MAKE_INPUT}  mkfifo -m 600 gate || { echo "Cannot make a named pipe in the attempt's folder" > lost; exit 74; }
  # Reserve space for the status now, so that it can be written even if the disk fills up.
  printf '%-63s\\n' pending > exit.new
  setsid=
  command -v setsid > /dev/null && setsid=setsid
  # A folder without a name is gone for good; one that was only moved away takes the status.
  finish='${starter === "machine" ? "" : EXPECT_KILL}until printf "%-63s\\n" "$status${spec.identity === undefined ? "" : ` ${spec.identity}`}" 1<> exit.new; do
      case $(stat -c %h .) in 0 | "") exit 74 ;; esac
      sleep 1
    done
    sync exit.new 2> /dev/null
    mv -f exit.new exit; rm -f launch gate'
  if ! command -v awk > /dev/null; then
    $setsid /bin/sh launch job
    status=$?
    [ $status -gt 128 ] && status=$((status + 128))
    eval "$finish"
    exit 0
  fi
  export finish
  exec awk 'BEGIN {
    status = system("unset finish; exec '$setsid' /bin/sh launch job")
    system("status=" status "; " ENVIRON["finish"])
  }' > /dev/null 2> shim.log
fi
ln -s "$identity" job || fail "Cannot write to the attempt's folder"
# Also opened for writing: a conductor that dies between opening and writing does not end our reading, and what
# the next one writes meanwhile is not lost.
go=
[ -p gate ] && read -r go cpus <> gate
[ "$go" = go ] || fail "Cannot start: the gate is gone"
[ -z "$cpus" ] || taskset -pc "$cpus" $$ > /dev/null 2>&1
[ "$(ulimit -S -n)" = ${OPEN_FILES} ] || ulimit -S -n ${OPEN_FILES} 2> /dev/null || :
# The output is usually next to the folder, and must not make what was moved away.
until [ -d ${folder} ]; do
  case $(stat -c %h . 2> /dev/null) in 0 | "") exit 74 ;; esac
  sleep 0.2
done
umask ${(spec.umask ?? FIRST_RELEASE_UMASK).toString(8)}
( cd ${quote(spec.cwd)} ) 2> /dev/null || ${noFolder}
# Opening a pipe that nobody reads would take forever.
for file in ${quote(spec.stdout)} ${quote(spec.stderr)}; do
  if [ -e "$file" ] && ! [ -f "$file" ] && ! [ -c "$file" ]; then
    fail "Cannot write to \\"$file\\": it is a pipe, a folder or the like, expected a regular file or a device such as /dev/null"
  fi
done
for file in ${outputsElsewhere(spec).map(quote).join(" ")}; do
  [ -d "\${file%/*}/" ] || mkdir -p -- "\${file%/*}/" 2> /dev/null
done
( : ${open} ${stdout} ) 2> /dev/null || ${fail(`Cannot write output to "${spec.stdout}": expected a file that the job's user may make or append to`)}
( : ${open} ${stderr} ) 2> /dev/null || ${fail(`Cannot write errors to "${spec.stderr}": expected a file that the job's user may make or append to`)}
${spec.input === "pipe" ? readInput : "exec < /dev/null"}
# With "command", the shell goes on if that fails: the disk may have become read-only.
command exec >> ${stdout} 2>> ${stderr} || ${fail(`Cannot write output to "${spec.stdout}" and "${spec.stderr}"`)}
${ofGang}; export ${MARK_VARIABLE}
${
  spec.input === "terminal"
    ? holdTerminal(quote, fail)
    : `exec 9< .
cd ${quote(spec.cwd)} 2> /dev/null || ${noFolder}
begin`
}
`;
}

/** A path for the script, which is in the attempt's folder: it stays right if the state is moved away. */
function fromFolder({ folder }: AttemptFolder, path: string): string {
  if (dirname(path) === dirname(folder)) return `../${basename(path)}`;
  return dirname(path) === folder ? `./${basename(path)}` : path;
}

/** Outputs whose folders may have to be made. */
export function outputsElsewhere(
  spec: AttemptFolder & Pick<LaunchSpec, "stdout" | "stderr">,
): readonly string[] {
  return [spec.stdout, spec.stderr].filter((path) => fromFolder(spec, path) === path);
}

/**
 * Writes the script and starts the shim in its own session. The shim does nothing if the attempt is already
 * claimed.
 * @throws Error if it must not or cannot be started
 */
export function startShim(
  spec: LaunchSpec,
  mark: string,
  setpriv: string | undefined,
  starter: Starter = "machine",
): ChildProcess {
  const rights = rightsFor(spec);
  const path = writeLaunch(spec, mark, starter);
  const options = { cwd: "/", env: { PATH }, detached: true, stdio: "ignore" } as const;
  if (rights === undefined) return spawn("/bin/sh", [path], options);
  if (setpriv === undefined) return spawn("/bin/sh", [path], { ...options, ...rights });
  // setpriv also sets the user's supplementary groups, which Node cannot.
  const user = [`--reuid=${rights.uid}`, `--regid=${rights.gid}`, "--init-groups", "--"];
  return spawn(setpriv, [...user, "/bin/sh", path], options);
}

/**
 * Writes the script.
 * @returns its path
 * @throws Error if it must not or cannot be written
 */
export function writeLaunch(spec: LaunchSpec, mark: string, starter: Starter): string {
  const rights = rightsFor(spec);
  const path = join(spec.folder, "launch");
  // The file appears only when it is complete: a shim of an earlier conductor may be about to read it.
  const whole = `${path}.new`;
  rmSync(whole, { force: true });
  const descriptor = openSync(whole, "wx", 0o400);
  try {
    writeFileSync(descriptor, launchScript(spec, mark, starter));
    if (rights !== undefined) fchownSync(descriptor, rights.uid, rights.gid);
  } finally {
    closeSync(descriptor);
  }
  renameSync(whole, path);
  return path;
}

/** Tells the shim of a cluster's node that we end its job. Without it, the shim only waits longer. */
export function noteAsked({ folder }: AttemptFolder): void {
  try {
    closeSync(openSync(join(folder, "asked"), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
  } catch {}
}

/** Path of setpriv, which root needs to give a job all groups of its user. */
export function findSetpriv(): string | undefined {
  return ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => existsSync(path));
}

/**
 * Lets the job begin. Returns false as long as the job does not wait at its gate.
 * @param cpus a list for taskset; empty: no pinning
 */
export function openGate(of: AttemptFolder, cpus: string): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(join(of.folder, "gate"), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    if (!isGate(fstatSync(descriptor), of)) return false;
    writeSync(descriptor, `go ${cpus}\n`);
    return true;
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Closes the gate for good. If the shim was killed, a job process that waits at the gate, now or later, then
 * ends by itself.
 */
export function closeGate(of: AttemptFolder): void {
  const gate = join(of.folder, "gate");
  try {
    if (!isGate(lstatSync(gate), of)) return;
    const descriptor = openSync(gate, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
    try {
      // A process that waits for "go" reads this instead.
      writeSync(descriptor, "gone\n");
      rmSync(gate, { force: true });
    } finally {
      closeSync(descriptor);
    }
  } catch {}
}

function isGate(stats: Stats, of: AttemptFolder): boolean {
  return stats.isFIFO() && stats.uid === ownerOf(of);
}

/** Whether the process is still the shell that waits at a gate or has just passed it. */
export function isAtGate(pid: number): boolean {
  return readSmall(`/proc/${pid}/cmdline`) === "/bin/sh\0launch\0job\0";
}

/** Whether the process waits at the gate of a gang whose mark begins so. Only its script has the mark. */
export function isAtGateOf(pid: number, marks: string): boolean {
  const start = `\n${MARK_VARIABLE}=${quote(marks).slice(0, -1)}`;
  return isAtGate(pid) && (readText(`/proc/${pid}/cwd/launch`, "latin1") ?? "").includes(start);
}

/** Exit status that the shim of this attempt has written; undefined if there is none (yet). */
export function readExit(of: AttemptFolder): Pick<AttemptEnd, "code" | "signal"> | undefined {
  const [number = "", identity, ...more] = readPlain(of, "exit")?.trim().split(" ") ?? [];
  if (!/^[0-9]{1,4}$/.test(number) || identity !== of.identity || more.length > 0) return undefined;
  const status = Number(number);
  if (status < 256) return { code: status };
  // gawk adds 512 when a core was dumped.
  return { signal: signalName(status < 512 ? status - 256 : status - 512) };
}

/**
 * When its shim has written the exit status, or when its first process came to the gate, for a conductor that
 * was not there. Undefined: that has not happened. The job's user can set these times.
 */
export function timeOf(of: AttemptFolder, file: "exit" | "job"): number | undefined {
  try {
    const { uid, mtimeMs } = lstatSync(join(of.folder, file));
    return uid === ownerOf(of) ? Math.trunc(mtimeMs) : undefined;
  } catch {
    return undefined;
  }
}

/** Why the command could not be started, if it failed to start. */
export function readLost(of: AttemptFolder): string | undefined {
  return readPlain(of, "lost")?.trim();
}

/** Name of a signal, such as SIGKILL for 9. */
function signalName(number: number): string {
  const found = Object.entries(osConstants.signals).find(([, value]) => value === number);
  return found === undefined ? `signal ${number}` : found[0];
}

/** The beginning of a file that clearly belongs to the attempt's user, or to this one. */
export function readPlain(
  of: AttemptFolder,
  file: "exit" | "lost" | "end",
  uid = ownerOf(of),
  maxBytes = 1024,
): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(join(of.folder, file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!isPlainFileOf(fstatSync(descriptor), uid)) return undefined;
    const buffer = Buffer.alloc(maxBytes);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer));
  } finally {
    closeSync(descriptor);
  }
}
