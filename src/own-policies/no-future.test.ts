/**
 * Runs a policy that tries to learn about jobs before they arrive, and checks that what it sees does not
 * depend on which jobs come later.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instance } from "../core/jobs.ts";
import { instanceOf, type TestJob } from "../policies/instances-for-tests.ts";
import { simulate } from "../simulator/simulate.ts";
import { loadPolicy } from "./own-policy.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-cheat-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const PRESENT: readonly TestJob[] = [
  { submitS: 0, runS: 5, size: 1 },
  { submitS: 0, runS: 7, size: 2 },
];
/** Futures that differ in the number of jobs, also beyond a power of two, and in all fields of the jobs. */
const FUTURES: readonly (readonly TestJob[])[] = [
  [{ submitS: 3, runS: 1, size: 4 }],
  Array.from({ length: 200 }, (_, i) => ({ submitS: 4 + i, runS: 9, size: 1 + (i % 4), id: 5000 + i })),
];

/** With the columns of a trace, so that users, groups, queues and applications could be looked up, too. */
function workloadOf(future: readonly TestJob[]): Instance {
  const instance = instanceOf(4, [...PRESENT, ...future]);
  const numbers = Int32Array.from(
    { length: instance.count },
    (_, job) => 7 * job + future.length * +(job > 1),
  );
  const column = (): Int32Array => numbers.slice();
  const trace = { user: column(), group: column(), queue: column(), application: column() };
  return {
    ...instance,
    workload: { ...instance.workload, trace: trace as never },
    shape: { processes: column(), threads: column(), queue: column() },
    memoryKB: Float64Array.from(numbers),
  };
}

const LOOKS = `
  const seen = [];
  const tried = (look) => {
    try { seen.push(String(look())); } catch (error) { seen.push(error.name + ": " + error.message); }
  };
  const columnsOf = (object) => Object.entries(object).map(([name, value]) => name + ": " + (
    ArrayBuffer.isView(value) ? [...value] : value !== null && typeof value === "object" ? columnsOf(value) : String(value)));
  const rows = [...Array(12).keys()].map((i) => 2 ** i).concat(2, 3);
  tried(() => columnsOf(jobs).join());
  tried(() => columnsOf({ shape: jobs.shape, memoryKB: [jobs.memoryKB], origin: jobs.origin }).join());
  tried(() => Reflect.ownKeys(jobs).join());
  tried(() => jobs.count);
  tried(() => jobs.capacity);
`;
const SPACE = `${LOOKS}
  for (const job of rows) if (job > 1) tried(() => machine.start(job, 0));
  for (const job of arrived) machine.start(job, 0);
`;
const TIME = `${LOOKS}
  for (const job of rows) {
    if (job < 2) continue;
    tried(() => machine.slotsOf(job));
    tried(() => machine.servedSlots(job));
    tried(() => machine.firstRunOfJob(job));
    tried(() => machine.place(job, machine.addRow(), 0));
    tried(() => machine.release(job, machine.rowAt(0)));
    tried(() => machine.migrate(job, machine.rowAt(0), 0));
    machine.deleteRow(machine.rowAt(0));
  }
  const row = machine.addRow();
  let first = 0;
  for (const job of arrived) {
    machine.place(job, row, first);
    first += jobs.size[job];
  }
`;

/** What the policy saw at its first decision. */
async function seenBy(sharing: string, decide: string, future: readonly TestJob[]): Promise<unknown> {
  const file = join(folder, `${sharing}.mjs`);
  writeFileSync(
    file,
    `export default { name: "cheat", sharing: "${sharing}", make: (machine, jobs) => ({
       depart() {},
       decide(arrived) {
         if (globalThis.seenByCheat !== undefined) return;
         ${decide}
         globalThis.seenByCheat = seen;
       } }) };`,
  );
  const reached = globalThis as { seenByCheat?: readonly string[] };
  delete reached.seenByCheat;
  simulate(workloadOf(future), await loadPolicy(file), { slotS: 1, switchS: 0 });
  return reached.seenByCheat;
}

test.each([
  ["space", SPACE],
  ["time", TIME],
])("a policy of %s sharing sees nothing of future jobs", async (sharing, decide) => {
  const nothing = await seenBy(sharing, decide, []);
  expect(String(nothing)).toContain("has not arrived");
  for (const future of FUTURES) expect(await seenBy(sharing, decide, future)).toEqual(nothing);
});
