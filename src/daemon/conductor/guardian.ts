/**
 * The guardian: a shell that waits at a pipe from the conductor. When the conductor dies, in whatever way, the pipe closes, and
 * the guardian continues everything that the conductor may have stopped. So nothing stays stopped although nobody restarts it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { ProcessIdentity } from "../protocol.ts";
import type { Containment } from "./freezers/choose.ts";
import { identityOf } from "./processes.ts";

/** Arguments: folder of the v2 freezer, of the v1 freezer, of cpu weights, and the file of members; empty for what there is not. */
const GUARDIAN = `
trap '' HUP INT TERM
while read -r word; do
  [ "$word" = release ] && exit 0
done
read -r boot < /proc/sys/kernel/random/boot_id
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
    read -r stat < "/proc/$pid/stat" || continue
    set -- \${stat##*) }
    shift 19
    [ "$1" = "$ticks" ] && kill -CONT "$pid"
  done < "$members"
fi
`;

export class Guardian {
  readonly #arguments: readonly string[];
  readonly #onStart: (identity: ProcessIdentity) => void;
  #process: ChildProcess | undefined;
  #released = false;

  /** @param onStart told who the guardian is, so that a restarted conductor can wait for it to have finished */
  constructor({ freezer, groups, membersFile }: Containment, onStart: (identity: ProcessIdentity) => void) {
    const frozen = groups.of("freezer")?.folder ?? "";
    this.#arguments = [
      freezer.kind === "cgroup2" ? frozen : "",
      freezer.kind === "cgroup1" ? frozen : "",
      groups.of("cpu")?.folder ?? "",
      freezer.kind === "signals" ? membersFile : "",
    ];
    this.#onStart = onStart;
  }

  /** Starts it, and again whenever it ends. */
  start(): void {
    const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "tutti-guardian", ...this.#arguments], {
      cwd: "/",
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: "/usr/bin:/bin" },
    });
    this.#process = guardian;
    guardian.stdin.on("error", () => {});
    guardian.once("error", () => this.#restart());
    guardian.once("exit", () => this.#restart());
    guardian.unref();
    const identity = guardian.pid === undefined ? undefined : identityOf(guardian.pid);
    if (identity !== undefined) this.#onStart(identity);
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
