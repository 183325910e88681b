/**
 * A conductor of its own for a test, in a folder of its own, and the front end's side of its socket. `clear` kills whatever the
 * test left and says what it was, so that a test that leaks fails.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConductorClient } from "../conductor-client.ts";
import type {
  AttemptEnd,
  FreezerKind,
  FromConductor,
  LaunchSpec,
  PlacedGang,
  TurningMatrix,
} from "../protocol.ts";
import { connectConductor } from "./client.ts";
import { openContainment } from "./freezers/choose.ts";
import { allPids, readStat, signal } from "./processes.ts";

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

export async function until(what: string, condition: () => boolean, mostMs = 20_000): Promise<void> {
  const end = performance.now() + mostMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`Waited ${mostMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-stage-"));
  readonly home = join(this.folder, "home");
  readonly kind: FreezerKind | undefined;
  readonly heard: FromConductor[] = [];
  client: ConductorClient;
  #sequence = 0;
  #marks: string;

  constructor(kind?: FreezerKind) {
    this.kind = kind;
    mkdirSync(this.home, { mode: 0o700 });
    const containment = openContainment(this.home, "signals");
    this.#marks = containment?.marks ?? "";
    this.client = this.connect();
  }

  connect(startConductor = true): ConductorClient {
    const client = connectConductor({
      home: this.home,
      name: "test",
      startConductor,
      ...(this.kind === undefined ? {} : { freezer: this.kind }),
    });
    client.onMessage((message) => this.heard.push(message));
    return client;
  }

  async ready(): Promise<void> {
    await until("the conductor answers", () => this.client.connected);
  }

  conductorPid(): number {
    const state = this.heard.findLast((message) => message.type === "state");
    if (state === undefined) throw new Error("The conductor has not answered");
    return state.pid;
  }

  spec(job: number, command: readonly string[], more: Partial<LaunchSpec> = {}): LaunchSpec {
    const folder = join(this.folder, `${job}.${more.attempt ?? 1}`);
    mkdirSync(folder, { recursive: true });
    return {
      job,
      attempt: 1,
      folder,
      command,
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? "" },
      stdout: join(folder, "out"),
      stderr: join(folder, "err"),
      graceMs: 300,
      ...more,
    };
  }

  launch(job: number, script: string, more: Partial<LaunchSpec> = {}): LaunchSpec {
    const spec = this.spec(job, ["sh", "-c", script], more);
    this.client.send({ type: "launch", spec });
    return spec;
  }

  /** Rows of jobs; each on the CPUs that are given, CPU 0 otherwise. */
  turn(
    rows: readonly (readonly (number | PlacedGang)[])[],
    more: Partial<Pick<TurningMatrix, "slotMs" | "mode">> = {},
  ): void {
    const placed = rows.map((row) =>
      row.map((gang) => (typeof gang === "number" ? { job: gang, attempt: 1, cpus: [0] } : gang)),
    );
    const matrix = { sequence: ++this.#sequence, slotMs: 100, mode: "gang", ...more, rows: placed } as const;
    this.client.send({ type: "matrix", matrix });
  }

  ends(job: number): AttemptEnd[] {
    return this.heard.flatMap((message) =>
      message.type === "ended" && message.end.job === job ? [message.end] : [],
    );
  }

  async end(job: number): Promise<AttemptEnd> {
    await until(`job ${job} has ended`, () => this.ends(job).length > 0);
    return this.ends(job)[0] as AttemptEnd;
  }

  async begun(job: number): Promise<void> {
    await until(`job ${job} has begun`, () =>
      this.heard.some((message) => message.type === "launched" && message.attempt.job === job),
    );
  }

  out(job: number): string {
    const path = join(this.folder, `${job}.1`, "out");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Processes of the job by the mark in their environment, an oracle of its own: the freezers are not asked. */
  processes(job?: number): number[] {
    const mark = `TUTTI_GANG=${this.#marks}${job === undefined ? "" : `${job}.`}`;
    return allPids().filter((pid) => {
      try {
        return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${mark}`);
      } catch {
        return false;
      }
    });
  }

  /** Whether the process makes no progress: CPU time between two looks 120 ms apart. */
  async stands(pids: readonly number[]): Promise<boolean> {
    const before = pids.map(cpuTicks);
    await new Promise((resolve) => setTimeout(resolve, 120));
    return pids.every((pid, i) => cpuTicks(pid) === before[i]);
  }

  /** Ends everything. @returns names of what was still there */
  async clear(): Promise<string[]> {
    this.client.send({ type: "shutdown", killJobs: true });
    const pid = this.heard.some(({ type }) => type === "state") ? this.conductorPid() : undefined;
    const wasConnected = this.client.connected;
    const gone = () => pid === undefined || readStat(pid) === undefined || readStat(pid)?.state === "Z";
    if (wasConnected) await until("the conductor has ended", gone, 8000).catch(() => {});
    this.client.close();
    const left: string[] = [];
    if (wasConnected && !gone()) left.push(`conductor ${pid}`);
    const ours = () => allPids().filter((one) => this.#isOurs(one));
    await until("shims and guardian have ended", () => ours().length === 0, 2500).catch(() => {});
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
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "latin1");
      if (command.includes(this.folder)) return true;
      if (command.includes("tutti-guardian") && command.includes(this.#marks.slice(0, -1))) return true;
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`TUTTI_GANG=${this.#marks}`);
    } catch {
      return false;
    }
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

/** Clock ticks of CPU time that the process has had; −1 when it is gone. */
export function cpuTicks(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return -1;
  }
}

/** Thaws, empties and removes the control groups of a conductor. @returns those that would not go */
function removeGroupsOf(home: string): string[] {
  const left: string[] = [];
  for (const kind of ["cgroup2", "cgroup1"] as const) {
    const containment = openContainment(home, kind);
    if (containment === undefined) continue;
    for (const gang of containment.groups.gangs()) {
      containment.freezer.thaw(gang);
      if (!containment.freezer.kill(gang) || !containment.groups.remove(gang)) {
        if (gang !== "probe") left.push(`group ${gang} (${kind})`);
      }
    }
    containment.groups.close();
  }
  return left;
}
