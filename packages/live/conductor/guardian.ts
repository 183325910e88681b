/**
 * Makes sure that no gang stays stopped if the conductor dies or hangs. The guardian is a shell that reads
 * from a pipe, into which the conductor writes "beat" each second:
 *
 *   pipe closed           continue all gangs, end
 *   5 s without a beat    continue all gangs, report it to the log and to the conductor, which stops gangs
 *                         again once it reads the report
 *   "release"             end
 *
 * If the conductor dies, in whatever way, the pipe closes; if it hangs, the beats stop. In both cases the
 * guardian continues everything that the conductor may have stopped, even if nobody restarts the conductor.
 *
 * Continuing too early, because the conductor was only late, does no harm: all gangs run until the conductor
 * reads the report. The report is sent after everything has been continued, so the guardian does not undo
 * what the conductor does next. A machine that sleeps causes no false alarm, because time stands still for
 * both.
 *
 * The guardian starts no processes in its loop, because it may be needed exactly when no process can be
 * started.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { identityOf, isAlive, type ProcessIdentity } from "@tutti/host/processes.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";
import type { Containment } from "./freezers/open-containment.ts";

const BEAT_MS = 1000;
const PATIENCE_S = 5;
/** After this time, a guardian has continued everything or never will. */
const GONE_MS = 2000;
/**
 * Bash's `read` has a timeout, which POSIX does not require. Other shells notice only the conductor's death.
 */
const BASH = ["/bin/bash", "/usr/bin/bash"];

/**
 * Arguments: folder of the v2 freezer, of the v1 freezer, of cpu weights, and the file of members, each empty
 * if there is none. Then the time to wait for a beat, in seconds; empty: forever. Then the folder with a file
 * for each paused gang, which is not continued.
 */
const GUARDIAN = `
trap '' HUP INT TERM PIPE
read -r boot < /proc/sys/kernel/random/boot_id
# Whether the folder of a control group is that of a paused gang.
is_paused() {
  gang=\${1%/}
  [ -e "$2/\${gang##*/}" ]
}
continue_all() {
  if [ -n "$1" ]; then
    for group in "$1"/*/; do is_paused "$group" "$6" || echo 0 > "$group/cgroup.freeze"; done
  fi
  if [ -n "$2" ]; then
    for group in "$2"/*/; do is_paused "$group" "$6" || echo THAWED > "$group/freezer.state"; done
  fi
  if [ -n "$3" ]; then
    for group in "$3"/*/; do
      if [ -e "$group/cpu.weight" ]; then echo 100 > "$group/cpu.weight"; else echo 1024 > "$group/cpu.shares"; fi
    done
  fi
  if [ -r "$4" ]; then
    # Below, the arguments are replaced by the fields of a process.
    members=$4
    paused=$6
    while read -r booted pid ticks gang; do
      [ "$booted" = "$boot" ] || continue
      [ -n "$gang" ] && [ -e "$paused/$gang" ] && continue
      # The name of a process may contain newlines; what follows the name is on the last line.
      stat=
      while read -r line; do stat=$line; done < "/proc/$pid/stat"
      [ -n "$stat" ] || continue
      set -- \${stat##*) }
      shift 19
      [ "$1" = "$ticks" ] && kill -CONT "$pid"
    done < "$members"
  fi
}
hung=
while :; do
  read -r \${5:+-t "$5"} word
  status=$?
  if [ $status -eq 0 ]; then
    [ "$word" = release ] && exit 0
    hung=
  elif [ $status -gt 128 ]; then
    [ -n "$hung" ] || printf '%(%FT%TZ)T No sign of life from the conductor for %s s: letting all gangs run\\n' -1 "$5" >&2
    hung=yes
    continue_all "$@" 2> /dev/null
    echo continued
  else break
  fi
done
continue_all "$@" 2> /dev/null
`;

interface GuardianListener {
  /** Receives the guardian's identity, so that a restarted conductor can wait until it has finished. */
  onStart(identity: ProcessIdentity): void;
  /** The guardian has continued everything because there was no beat for too long. */
  onContinued(): void;
}

export class Guardian {
  readonly #command: readonly [string, ...string[]];
  readonly #listener: GuardianListener;
  #process: ChildProcess | undefined;
  #released = false;

  constructor({ freezer, groups, membersFile, paused }: Containment, listener: GuardianListener) {
    const frozen = groups.of("freezer")?.folder ?? "";
    const bash = BASH.find((path) => existsSync(path));
    this.#command = [
      // With a socket as its input, bash assumes a remote login and would read the user's start-up file.
      ...(bash === undefined ? (["/bin/sh"] as const) : ([bash, "--norc"] as const)),
      "-c",
      GUARDIAN,
      "tutti-guardian",
      freezer.kind === "cgroup2" ? frozen : "",
      freezer.kind === "cgroup1" ? frozen : "",
      groups.of("cpu")?.folder ?? "",
      freezer.kind === "signals" ? membersFile : "",
      bash === undefined ? "" : String(PATIENCE_S),
      paused.folder,
    ];
    this.#listener = listener;
  }

  /** Starts the guardian, and restarts it whenever it ends. */
  start(): void {
    const [shell, ...words] = this.#command;
    const guardian = spawn(shell, words, {
      cwd: "/",
      detached: true,
      // It writes to our log when we cannot.
      stdio: ["pipe", "pipe", "inherit"],
      env: OWN_ENVIRONMENT,
    });
    this.#process = guardian;
    guardian.stdin.on("error", () => {});
    // Beats do not pile up while the guardian itself is stopped.
    const beat = () => guardian.stdin.writableLength === 0 && guardian.stdin.write("beat\n");
    const beats = setInterval(beat, BEAT_MS).unref();
    guardian.stdout.on("data", () => this.#listener.onContinued());
    for (const end of ["error", "exit"]) {
      guardian.once(end, () => {
        clearInterval(beats);
        this.#restart();
      });
    }
    guardian.unref();
    const identity = guardian.pid === undefined ? undefined : identityOf(guardian.pid);
    if (identity !== undefined) this.#listener.onStart(identity);
  }

  /** Everything has been continued, so the guardian may end. */
  release(): void {
    this.#released = true;
    this.#process?.stdin?.end("release\n");
  }

  #restart(): void {
    this.#process = undefined;
    if (!this.#released) setTimeout(() => this.#process ?? (this.#released || this.start()), 100).unref();
  }
}

/**
 * Waits until the guardian of the last conductor has finished. Otherwise that guardian might continue what
 * this conductor stops.
 */
export async function guardianDone(guardian: ProcessIdentity | undefined): Promise<void> {
  const until = monotonicMs() + GONE_MS;
  while (guardian !== undefined && isAlive(guardian) && monotonicMs() < until) {
    await sleep(10);
  }
}
