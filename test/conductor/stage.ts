/**
 * Starts a conductor for a test, in its own folder, and connects to its socket as the front end does. `clear`
 * kills all processes that the test has left and returns them, so a test that leaves processes behind fails.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monotonicMs } from "@tutti/host/clock.ts";
import { allPids, hasEnded, readStat, signal } from "@tutti/host/processes.ts";
import { ConductorClient } from "@tutti/live/conductor/client.ts";
import { slotAt } from "@tutti/live/conductor/clock.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { MARK_VARIABLE } from "@tutti/live/conductor/freezers/signals.ts";
import type { AttemptEnd, FreezerKind, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix, FromConductor } from "@tutti/protocol/conductor.ts";

/** Kinds of freezer that work on this machine. */
export function kindsHere(): FreezerKind[] {
  const home = mkdtempSync(join(tmpdir(), "tutti-kinds-"));
  try {
    return (["cgroup2", "cgroup1", "signals"] as const).filter((kind) => {
      const containment = openContainment(home, kind);
      containment?.groups.close();
      return containment !== undefined;
    });
  } finally {
    removeGroupsOf(home);
    rmSync(home, { recursive: true });
  }
}

export async function until(what: string, condition: () => boolean, maxMs = 60_000): Promise<void> {
  const end = performance.now() + maxMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited ${maxMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Whether a process has ended; not one that waits for its disk. */
export function isGone(pid: number): boolean {
  const stat = readStat(pid);
  return stat === undefined || hasEnded(stat);
}

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-stage-"));
  readonly home = join(this.folder, "home");
  readonly kind: FreezerKind | undefined;
  readonly messages: FromConductor[] = [];
  client: ConductorClient;
  #sequence = 0;
  #marks: string;
  /** Each test counts its jobs from 1; this offset keeps the numbers of earlier tests apart. */
  #test = 0;
  #jobs: number[] = [];

  constructor(kind?: FreezerKind) {
    this.kind = kind;
    mkdirSync(this.home, { mode: 0o700 });
    const containment = openContainment(this.home, "signals");
    this.#marks = containment?.marks ?? "";
    this.client = this.connect();
  }

  connect(startConductor = true): ConductorClient {
    const client = new ConductorClient({
      home: this.home,
      name: "test",
      startConductor,
      ...(this.kind === undefined ? {} : { freezer: this.kind }),
    });
    client.on("message", (message) => this.messages.push(message));
    return client;
  }

  async ready(): Promise<void> {
    await until("the conductor answers", () => this.client.connected);
  }

  /**
   * Waits until no second conductor is starting. On a busy machine, the client starts one if the first is
   * slow to answer; it ends, but if the first dies before, it takes over.
   */
  async alone(): Promise<void> {
    await until("only one conductor is there", () => {
      const pid = this.conductorPid();
      const words = (one: number) => commandOf(one).split("\0");
      return allPids().every((one) => one === pid || !words(one).includes(this.home));
    });
  }

  conductorPid(): number {
    const state = this.messages.findLast((message) => message.type === "state");
    if (state === undefined) throw new Error("The conductor has not answered");
    return state.pid;
  }

  /** Number of the test's job as the conductor knows it. */
  key(job: number): { readonly job: number; readonly attempt: number } {
    return { job: this.#test * 100 + job, attempt: 1 };
  }

  /** Identity of the job's attempt. */
  identity(job: number): string {
    return createHash("sha256").update(this.folderOf(job)).digest("hex").slice(0, 32);
  }

  folderOf(job: number): string {
    return join(this.folder, `${this.key(job).job}.1`);
  }

  spec(job: number, command: readonly string[], more: Partial<LaunchSpec> = {}): LaunchSpec {
    const folder = this.folderOf(job);
    mkdirSync(folder, { recursive: true });
    this.#jobs.push(job);
    return {
      ...this.key(job),
      identity: this.identity(job),
      folder,
      command,
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? "" },
      stdout: join(folder, "out"),
      stderr: join(folder, "err"),
      graceMs: 300,
      uid: process.getuid!(),
      gid: process.getgid!(),
      ...more,
    };
  }

  launch(job: number, script: string, more: Partial<LaunchSpec> = {}): LaunchSpec {
    const spec = this.spec(job, ["sh", "-c", script], more);
    this.client.send({ type: "launch", spec });
    return spec;
  }

  /** Sets rows of jobs: on CPU 0, or [job, CPU, …]. The first row has the present slot. */
  turn(
    rows: readonly (readonly (number | readonly [number, ...number[]])[])[],
    more: Partial<Pick<ConductorMatrix, "slotMs" | "mode" | "paused">> = {},
  ): void {
    const placed = rows.map((row) =>
      row.map((gang) => {
        const [job, ...cpus] = typeof gang === "number" ? [gang, 0] : gang;
        return { ...this.key(job), cpus };
      }),
    );
    const { slotMs = 100, mode = "gang", paused = [] } = more;
    const epochMs = this.messages.findLast((message) => message.type === "state")?.epochMs ?? 0;
    const fromSlot = slotAt(monotonicMs(), epochMs, slotMs);
    const matrix = { sequence: ++this.#sequence, slotMs, mode, fromSlot, rows: placed, paused };
    this.client.send({ type: "matrix", matrix });
  }

  ends(job: number): AttemptEnd[] {
    return this.messages.flatMap((message) =>
      message.type === "ended" && message.end.job === this.key(job).job ? [message.end] : [],
    );
  }

  async end(job: number): Promise<AttemptEnd> {
    await until(`job ${job} has ended`, () => this.ends(job).length > 0);
    return this.ends(job)[0] as AttemptEnd;
  }

  async begun(job: number): Promise<void> {
    await until(`job ${job} has begun`, () =>
      this.messages.some(
        (message) => message.type === "launched" && message.attempt.job === this.key(job).job,
      ),
    );
    // The shell that went through the gate becomes the command.
    await until(`job ${job} runs`, () => this.processes(job).length > 0 || this.ends(job).length > 0);
  }

  out(job: number): string {
    const path = join(this.folderOf(job), "out");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  processes(job?: number): number[] {
    return marked(`${this.#marks}${job === undefined ? "" : `${this.key(job).job}.`}`);
  }

  /** Whether the process makes no progress: compares its CPU time 120 ms apart. */
  async stands(pids: readonly number[]): Promise<boolean> {
    const before = pids.map(cpuTicks);
    await new Promise((resolve) => setTimeout(resolve, 120));
    return pids.every((pid, i) => cpuTicks(pid) === before[i]);
  }

  /** Kills the jobs, so that the next test finds none. */
  async killJobs(): Promise<void> {
    const running = this.#jobs.filter((job) => this.ends(job).length === 0);
    for (const job of running) {
      this.client.send({ type: "stop", attempt: this.key(job), kill: true, reason: "cancelled" });
    }
    for (const job of running) await this.end(job);
    this.#jobs = [];
    this.#test++;
    const state = this.messages.findLast((message) => message.type === "state");
    this.messages.splice(0, this.messages.length, ...(state === undefined ? [] : [state]));
  }

  /** Ends the conductor but not its jobs. If the client may, it starts the next conductor. */
  async stopConductor(): Promise<void> {
    const pid = this.conductorPid();
    signal(pid, "SIGTERM");
    await until("the conductor has ended", () => isGone(pid));
  }

  /** Ends everything. @returns what was still there although it should not have been */
  async clear(): Promise<string[]> {
    this.client.close();
    const ours = () => allPids().filter((one) => this.#isOurs(one));
    // On a busy machine, the client may have started another conductor, which comes after the first one.
    for (let i = 0; i < 2 && (i === 0 || ours().length > 0); i++) {
      const last = this.connect(false);
      await until("connected", () => last.connected, 2000).catch(() => {});
      last.send({ type: "shutdown", killJobs: true });
      await until("all have ended", () => ours().length === 0, 8000).catch(() => {});
      last.close();
    }
    const left: string[] = [];
    for (const one of ours()) {
      left.push(
        `${one}: ${readFileSync(`/proc/${one}/cmdline`, "latin1").replaceAll("\0", " ").slice(0, 100)}`,
      );
      signal(one, "SIGKILL");
      signal(one, "SIGCONT");
    }
    left.push(...(await this.#clearGroups()));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    return left;
  }

  #isOurs(pid: number): boolean {
    if (pid === process.pid) return false;
    const command = commandOf(pid);
    if (command.includes(this.folder)) return true;
    if (command.includes("tutti-guardian") && command.includes(this.#marks.slice(0, -1))) return true;
    return isMarked(pid, this.#marks);
  }

  async #clearGroups(): Promise<string[]> {
    let left: string[] = [];
    for (let round = 0; round < 20; round++) {
      left = removeGroupsOf(this.home);
      if (left.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return left;
  }
}

/** Empty if the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/**
 * Living processes whose environment has a mark with this prefix. An independent oracle, which does not use
 * the freezers.
 */
export function marked(marks: string): number[] {
  return allPids().filter((pid) => isMarked(pid, marks));
}

function isMarked(pid: number, marks: string): boolean {
  try {
    // Empty once the process has ended.
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${MARK_VARIABLE}=${marks}`);
  } catch {
    return false;
  }
}

/** Clock ticks of CPU time that the process has had; −1 if it is gone. */
export function cpuTicks(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return -1;
  }
}

/** Thaws, empties and removes the control groups of a conductor. @returns those that could not be removed */
function removeGroupsOf(home: string): string[] {
  const left: string[] = [];
  for (const kind of ["cgroup2", "cgroup1"] as const) {
    const containment = openContainment(home, kind);
    if (containment === undefined) continue;
    for (const gang of containment.groups.gangs()) {
      containment.freezer.thaw(gang);
      if (!containment.freezer.kill(gang) || !containment.groups.remove(gang)) {
        left.push(`group ${gang} (${kind})`);
      }
    }
    containment.groups.close();
  }
  return left;
}
