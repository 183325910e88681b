/**
 * Tests policies of thirty lines outside the project, in their own folder, whose only import is `import …
 * from "tutti"`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const SPACE = `
import { definePolicy, NO_JOB, ORDER_PARAMETER, StartRule, WaitingQueue } from "tutti";
import type { JobIndex, JobsView, ParameterValues, Policy, Pool } from "tutti";

class InOrder implements Policy {
  pool: Pool;
  jobs: JobsView;
  queue: WaitingQueue;
  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.pool = pool;
    this.jobs = jobs;
    this.queue = new WaitingQueue(jobs, parameters);
  }
  depart() {}
  decide(arrived: readonly JobIndex[]) {
    for (const job of arrived) this.queue.add(job);
    this.queue.update(this.pool.nowS);
    const { list } = this.queue;
    for (let job = list.first(); job !== NO_JOB && this.jobs.size[job] <= this.pool.free; job = list.first()) {
      list.removeFirst();
      this.pool.start(job, StartRule.head);
    }
  }
}

export default definePolicy({
  name: "in-order",
  sharing: "space",
  parameters: [ORDER_PARAMETER],
  make: (pool, jobs, parameters) => new InOrder(pool, jobs, parameters),
});
`;
const GANG = `
import { definePolicy, type GangMachine, type JobIndex, type JobsView, type Policy } from "tutti";

class FirstGap implements Policy {
  machine: GangMachine;
  jobs: JobsView;
  constructor(machine: GangMachine, jobs: JobsView) {
    this.machine = machine;
    this.jobs = jobs;
  }
  depart() {}
  decide(arrived: readonly JobIndex[]) {
    const { machine } = this;
    for (let i = machine.rowCount - 1; i >= 0 && machine.rowCount > 1; i--) {
      if (machine.firstRun(machine.rowAt(i)) < 0) machine.deleteRow(machine.rowAt(i));
    }
    for (const job of arrived) this.placeFirst(job, this.jobs.size[job]);
  }
  placeFirst(job: JobIndex, size: number) {
    for (let i = 0; i < this.machine.rowCount; i++) {
      const row = this.machine.rowAt(i);
      for (let first = 0; first + size <= this.machine.processors; first++) {
        if (this.machine.isIdle(row, first, first + size)) return this.machine.place(job, row, first);
      }
    }
    this.machine.place(job, this.machine.addRow(), 0);
  }
}

export default definePolicy({ name: "first-gap", sharing: "time", make: (machine, jobs) => new FirstGap(machine, jobs) });
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-own-"));
  writeFileSync(join(folder, "in-order.ts"), SPACE);
  writeFileSync(join(folder, "first-gap.ts"), GANG);
});
afterAll(() => rmSync(folder, { recursive: true }));

function tutti(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  expect([status, stderr.includes("Cannot")]).toEqual([0, false]);
  return { stdout, stderr };
}

/** The hashes of each policy's schedules. */
function hashes(...words: readonly string[]): string[][] {
  const { policies } = JSON.parse(tutti("compare", ...words, "--json").stdout);
  return policies.map((policy: { replicationHashes: { schedule: string }[] }) =>
    policy.replicationHashes.map(({ schedule }) => schedule),
  );
}

describe.each([
  ["in-order", "fcfs"],
  ["in-order:order=shortest", "fcfs:order=shortest"],
  ["first-gap", "gang:extraSlots=none"],
])("%s, written outside of the checkout", (own, builtIn) => {
  const file = `./${own.replace(/^[\w-]+/, "$&.ts")}`;
  const source = "downey:jobs=400:processors=64:load=0.8";

  test("runs under --audit", () => {
    expect(tutti("simulate", source, "--policy", file, "--audit").stderr).toContain("no rule is broken");
  });

  test(`gives the schedules of ${builtIn}, over worker threads`, () => {
    const words = [source, "--policy", `${builtIn},${file}`, "--replications", "2", "--workers", "2"];
    const [theirs, ours] = hashes(...words);
    expect(ours).toEqual(theirs);
    expect(new Set(ours).size).toBe(2);
  });
});

const QUEUES = (arrive: string) => `export default { name: "mine", sharing: "space", make(pool, jobs) {
  console.log("made once");
  const queue = [];
  return { ${arrive} depart() {}, decide(arrived) {
    queue.push(...arrived);
    while (queue.length > 0 && jobs.size[queue[0]] <= pool.free) pool.start(queue.shift());
  } };
} };`;

test("a policy that takes every job from two hooks learns this from the message", () => {
  writeFileSync(join(folder, "twice.mjs"), QUEUES("arrive(job) { queue.push(job); },"));
  const words = ["simulate", "downey:jobs=30:processors=64", "--policy", "./twice.mjs"];
  const { status, stderr } = spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /it started at .* s; the policy has arrive\(job\) and decide\(arrived\), and every job goes to both/,
  );
});

test("--audit prints what the policy prints in the run whose result is shown, and not of its other runs", () => {
  writeFileSync(join(folder, "prints.mjs"), QUEUES(""));
  const { stderr } = tutti("simulate", "downey:jobs=30:processors=64", "--policy", "./prints.mjs", "--audit");
  expect(stderr).toContain("no rule is broken");
  expect(stderr.split("made once").length - 1).toBe(1);
});

test("each has no more than thirty lines of code", () => {
  for (const text of [SPACE, GANG]) {
    const lines = text.split("\n").filter((line) => line.trim().length > 1);
    expect(lines.length).toBeLessThanOrEqual(30);
  }
});
