/**
 * The guardian: a shell that waits at a pipe from the conductor, which says "beat" each second. When the conductor dies, in whatever
 * way, the pipe closes; when it hangs, the beats stay out. Either way the guardian continues everything that the conductor may have
 * stopped. So nothing stays stopped although nobody restarts it.
 *
 *   pipe closed           continue all, end
 *   5 s without a beat    continue all, say so to the log and to the conductor, which stops them anew once it can hear
 *   "release"             end
 *
 * Continuing too early, since a conductor was merely late, does no harm: gangs run side by side until the conductor hears of it. The
 * word comes after all has been continued, so what the conductor does then is not undone. A machine that sleeps gives no false
 * alarm: time stands still for both.
 *
 * In its loop it starts no process, since it may be needed just when none can be started.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { monotonicMs } from "../host/clock.ts";
import { pause } from "../host/pause.ts";
import { identityOf, isAlive, type ProcessIdentity } from "../host/processes.ts";
import { OWN_ENVIRONMENT } from "../host/surroundings.ts";
import type { Containment } from "./freezers/open-containment.ts";

const BEAT_MS = 1000;
const PATIENCE_S = 5;
/** A guardian has continued everything by then, or never will. */
const GONE_MS = 2000;
/** Its `read` can wait with a limit, which POSIX does not ask for; with another shell only death is noticed. */
const BASH = ["/bin/bash", "/usr/bin/bash"];

/**
 * Arguments: folder of the v2 freezer, of the v1 freezer, of cpu weights, and the file of members; empty for what there is not. Then
 * how long to wait for a beat, in seconds; empty: for ever.
 */
const GUARDIAN = `
trap '' HUP INT TERM PIPE
read -r boot < /proc/sys/kernel/random/boot_id
continue_all() {
  if [ -n "$1" ]; then
    for group in "$1"/*/; do echo 0 > "$group/cgroup.freeze"; done
  fi
  if [ -n "$2" ]; then
    for group in "$2"/*/; do echo THAWED > "$group/freezer.state"; done
  fi
  if [ -n "$3" ]; then
    for group in "$3"/*/; do
      if [ -e "$group/cpu.weight" ]; then echo 100 > "$group/cpu.weight"; else echo 1024 > "$group/cpu.shares"; fi
    done
  fi
  if [ -r "$4" ]; then
    members=$4
    while read -r booted pid ticks; do
      [ "$booted" = "$boot" ] || continue
      # The name of a process may hold line ends; what follows it is on the last line.
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
    [ -n "$hung" ] || printf '%(%FT%TZ)T No sign of life from the conductor for %s s: all gangs go on\\n' -1 "$5" >&2
    hung=yes
    continue_all "$@" 2> /dev/null
    echo continued
  else break
  fi
done
continue_all "$@" 2> /dev/null
`;

interface GuardianListener {
  /** Told who the guardian is, so that a restarted conductor can wait for it to have finished. */
  onStart(identity: ProcessIdentity): void;
  /** It has continued everything, since it has not heard from us for too long. */
  onContinued(): void;
}

export class Guardian {
  readonly #command: readonly [string, ...string[]];
  readonly #listener: GuardianListener;
  #process: ChildProcess | undefined;
  #released = false;

  constructor({ freezer, groups, membersFile }: Containment, listener: GuardianListener) {
    const frozen = groups.of("freezer")?.folder ?? "";
    const bash = BASH.find((path) => existsSync(path));
    this.#command = [
      // It takes a socket as its input for a remote login, and would read the user's own start-up file.
      ...(bash === undefined ? (["/bin/sh"] as const) : ([bash, "--norc"] as const)),
      "-c",
      GUARDIAN,
      "tutti-guardian",
      freezer.kind === "cgroup2" ? frozen : "",
      freezer.kind === "cgroup1" ? frozen : "",
      groups.of("cpu")?.folder ?? "",
      freezer.kind === "signals" ? membersFile : "",
      bash === undefined ? "" : String(PATIENCE_S),
    ];
    this.#listener = listener;
  }

  /** Starts it, and again whenever it ends. */
  start(): void {
    const [shell, ...words] = this.#command;
    const guardian = spawn(shell, words, {
      cwd: "/",
      detached: true,
      // It says to our log what we cannot say.
      stdio: ["pipe", "pipe", "inherit"],
      env: OWN_ENVIRONMENT,
    });
    this.#process = guardian;
    guardian.stdin.on("error", () => {});
    // Nothing piles up when the guardian itself is stopped.
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

  /** All has been continued: the guardian may go. */
  release(): void {
    this.#released = true;
    this.#process?.stdin?.end("release\n");
  }

  #restart(): void {
    this.#process = undefined;
    if (!this.#released) setTimeout(() => this.#process ?? (this.#released || this.start()), 100).unref();
  }
}

/** Waits until the guardian of the last conductor has continued what it found, lest it continue what we stop. */
export async function guardianDone(guardian: ProcessIdentity | undefined): Promise<void> {
  const until = monotonicMs() + GONE_MS;
  while (guardian !== undefined && isAlive(guardian) && monotonicMs() < until) {
    await pause(10);
  }
}
