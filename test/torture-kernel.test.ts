/**
 * The simulated kernel against the real one: the same signals and freezes in the same random order must leave
 * a process in the same state. Freezers take part where this machine lets us make their groups.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findMounts } from "@tutti/host/cgroups.ts";
import { parseStat, readStat, signal } from "@tutti/host/processes.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { Bench } from "@tutti/torture/world/kernel/machine-for-tests.ts";
import fc from "fast-check";
import { expect, test } from "vitest";

/** Longer than the kernel needs on a quiet machine; a busy one is waited for. */
const SETTLE_MS = 10;
const PATIENCE_MS = 5_000;
const FREEZERS = {
  one: { file: "freezer.state", stop: "FROZEN", go: "THAWED" },
  two: { file: "cgroup.freeze", stop: "1", go: "0" },
} as const;

type Freezer = keyof typeof FREEZERS;
type Act = { readonly signal: NodeJS.Signals } | { readonly freezer: Freezer; readonly isFrozen: boolean };

const SIGNALS: readonly NodeJS.Signals[] = ["SIGSTOP", "SIGCONT", "SIGUSR1", "SIGTERM", "SIGKILL"];

/** A group of our own in the real hierarchy of that version; undefined: we may not make one. */
function realGroup(freezer: Freezer): string | undefined {
  const isOne = freezer === "one";
  const mounts = findMounts(
    readFileSync("/proc/self/mountinfo", "utf8"),
    readFileSync("/proc/self/cgroup", "utf8"),
    true,
  );
  const mount = mounts.find(({ version, controllers }) =>
    isOne ? controllers.includes("freezer") : version === 2,
  );
  if (mount === undefined) return undefined;
  const group = join(mount.mountPoint, `tutti-test-kernel-${process.pid}`);
  try {
    mkdirSync(group);
    if (existsSync(join(group, FREEZERS[freezer].file))) return group;
    rmdirSync(group);
  } catch {}
  return undefined;
}

const groups = { one: realGroup("one"), two: realGroup("two") };

/** What can be seen of a process: its state, or that it has ended; and how often it has handled a signal. */
type Seen = `${string} ${number}`;

class Real {
  readonly #child: ChildProcess;
  #handled = 0;

  constructor() {
    // Bash would wait for the line before it runs the trap.
    const script = `trap 'echo x' USR1; echo x; while :; do read -r line; done`;
    this.#child = spawn("dash", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdout?.on("data", (text: Buffer) => {
      this.#handled += String(text).split("\n").length - 1;
    });
  }

  async begin(): Promise<void> {
    await this.until("S 1");
    for (const group of Object.values(groups))
      if (group !== undefined) writeFileSync(join(group, "cgroup.procs"), String(this.#child.pid));
  }

  do(act: Act): void {
    if ("signal" in act) signal(this.#child.pid!, act.signal);
    else setFrozen(act.freezer, act.isFrozen);
  }

  get #seen(): Seen {
    const state = readStat(this.#child.pid!)?.state ?? "Z";
    return `${state} ${state === "Z" ? 0 : this.#handled}`;
  }

  /** @returns what is seen in the end */
  async until(expected: Seen): Promise<Seen> {
    const untilMs = performance.now() + PATIENCE_MS;
    await sleep(SETTLE_MS);
    while (this.#seen !== expected && performance.now() < untilMs) await sleep(SETTLE_MS);
    return this.#seen;
  }

  async close(): Promise<void> {
    for (const freezer of ["one", "two"] as const) setFrozen(freezer, false);
    this.#child.kill("SIGKILL");
    await this.until("Z 0");
  }
}

function setFrozen(freezer: Freezer, isFrozen: boolean): void {
  const group = groups[freezer];
  const { file, stop, go } = FREEZERS[freezer];
  if (group !== undefined) writeFileSync(join(group, file), isFrozen ? stop : go);
}

class Simulated {
  readonly #bench = new Bench({ groups: "hybrid" });
  readonly #process;
  #handled = 1;

  constructor() {
    this.#process = this.#bench.start(
      function* (this: Simulated, sys: never) {
        const { onSignal } = sys as { onSignal: (name: string, call: () => void) => void };
        onSignal.call(sys, "SIGUSR1", () => this.#handled++);
        for (;;) yield { for: "signal" } as const;
      }.bind(this) as never,
    );
    this.#bench.group("freezer/gang", this.#process);
    this.#bench.group("unified/gang", this.#process);
    this.#bench.run(10);
  }

  do(act: Act): void {
    const { machine } = this.#bench;
    if ("signal" in act) {
      if (machine.processes.has(this.#process.pid)) machine.kill(this.#process.pid, act.signal);
    } else {
      const { file, stop, go } = FREEZERS[act.freezer];
      const mount = act.freezer === "one" ? "freezer" : "unified";
      this.#bench.write(`/sys/fs/cgroup/${mount}/gang/${file}`, act.isFrozen ? stop : go);
    }
    this.#bench.run(10);
  }

  get seen(): Seen {
    const path = `/proc/${this.#process.pid}/stat`;
    const isThere = this.#bench.machine.processes.has(this.#process.pid);
    const state = isThere ? parseStat(this.#bench.read(path))!.state : "Z";
    return `${state} ${state === "Z" ? 0 : this.#handled}`;
  }
}

test.runIf(existsSync("/bin/dash"))("signals and freezes leave a process in the same state", async () => {
  const freezers = (["one", "two"] as const).filter((freezer) => groups[freezer] !== undefined);
  const kill = fc.constantFrom<Act>({ signal: "SIGTERM" }, { signal: "SIGKILL" });
  const act = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom<Act>(...SIGNALS.slice(0, 3).map((name) => ({ signal: name }))) },
    { weight: 1, arbitrary: kill },
    {
      weight: freezers.length * 6,
      arbitrary: fc.record({
        freezer: fc.constantFrom(...(freezers.length > 0 ? freezers : (["one"] as const))),
        isFrozen: fc.boolean(),
      }) as fc.Arbitrary<Act>,
    },
  );
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 8, maxLength: 16 }), async (acts) => {
        const simulated = new Simulated();
        const real = new Real();
        try {
          await real.begin();
          for (const one of acts) {
            simulated.do(one);
            real.do(one);
            expect(await real.until(simulated.seen), JSON.stringify(one)).toBe(simulated.seen);
          }
        } finally {
          await real.close();
        }
      }),
      { numRuns: 20 },
    );
  } finally {
    for (const group of Object.values(groups)) if (group !== undefined) rmdirSync(group);
  }
});
