/** Removes or replaces files of the state folder while the front end runs, or damages the store. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StorageError } from "@tutti/kernel/core/errors.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import { afterAll, describe, expect, test } from "vitest";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";
import { Store } from "../store/store.ts";
import { DamagedStoreError, fileError } from "../store/store-error.ts";
import { lineFile, NumbersFile } from "./numbers.ts";
import { StateWatch } from "./state-watch.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-watch-"));
afterAll(() => rmSync(folder, { recursive: true }));
let states = 0;

/** A front end with all its files and a watch. */
function start(): Bench & { readonly state: string } {
  const state = join(folder, String(++states));
  const database = join(state, "tutti.db");
  const jobs = join(state, "jobs");
  mkdirSync(jobs, { recursive: true, mode: 0o700 });
  const store = new Store(database, 0);
  const numbers = new NumbersFile(lineFile(join(state, "numbers")), "boot");
  const watch = new StateWatch({
    kept: [state, database, `${database}-wal`, `${database}-shm`],
    jobs: { path: jobs, mode: 0o700 },
    numbers: { path: join(state, "numbers"), recreate: () => numbers.recreate() },
  });
  const bench = makeBench({ config: { policy: "fcfs" }, store, numbers, watch, jobsFolder: jobs });
  return { ...bench, state };
}

const submit = ({ clock, frontEnd }: Bench) => answerOf(clock, frontEnd.submit(ANNA, [request()]));
const pass = ({ clock }: Bench, ms: number) => clock.advanceTo(clock.nowMs() + ms);
const stateOf = ({ frontEnd }: Bench, job: number) => frontEnd.job(ROOT, job);

function recovered({ frontEnd }: Bench): unknown[] {
  const events: DaemonEvent[] = [];
  frontEnd.listen(ROOT, 0, (event) => {
    if (event.kind === "recovered") events.push(event);
  })();
  return events.map(({ data }) => data?.because);
}

const REMOVALS: readonly (readonly [string, (state: string) => string, RegExp])[] = [
  ["the state folder", (state) => state, /"[^"]+" was removed while the scheduler was running/],
  ["the database", (state) => join(state, "tutti.db"), /tutti\.db" was removed while/],
  ["its log", (state) => join(state, "tutti.db-wal"), /tutti\.db-wal" was removed while/],
  ["its index", (state) => join(state, "tutti.db-shm"), /tutti\.db-shm" was removed while/],
];

describe.each(REMOVALS)("when %s is removed", (_, pathIn, words) => {
  test("nothing is confirmed, users are warned, and running jobs continue", async () => {
    const bench = start();
    await submit(bench);
    rmSync(pathIn(bench.state), { recursive: true });
    // Immediately, not only after the next check.
    const refused = await submit(bench);
    expect(refused).toMatchObject({ refused: "unavailable", message: expect.stringMatching(words) });
    expect(bench.frontEnd.status().trouble).toMatch(words);
    for (const change of ["cancel", "hold", "release"] as const) {
      expect(await answerOf(bench.clock, bench.frontEnd[change](ANNA, 1))).toMatchObject({
        refused: "unavailable",
      });
    }
    expect(bench.machine.sent.filter(({ type }) => type === "stop")).toEqual([]);
    // The job ends, but this cannot be saved, so it is not reported as ended.
    pass(bench, 5000);
    expect(stateOf(bench, 1)).toMatchObject({ state: "running" });
    expect(bench.machine.attempts.size).toBe(1);
    bench.kill();
  });

  test("users are warned within a second, even without a request", async () => {
    const bench = start();
    pass(bench, 3500);
    expect(bench.frontEnd.status().trouble).toBeUndefined();
    rmSync(pathIn(bench.state), { recursive: true });
    pass(bench, 1000);
    expect(bench.frontEnd.status().trouble).toMatch(words);
    bench.kill();
  });

  test("when it is put back, everything goes on and the ends of jobs are saved", async () => {
    const bench = start();
    await submit(bench);
    renameSync(pathIn(bench.state), `${bench.state}.away`);
    pass(bench, 5000);
    expect(bench.frontEnd.status().trouble).toMatch(words);
    renameSync(`${bench.state}.away`, pathIn(bench.state));
    pass(bench, 3000);
    expect(bench.frontEnd.status().trouble).toBeUndefined();
    expect(stateOf(bench, 1)).toMatchObject({ state: "done" });
    expect(await submit(bench)).toMatchObject({ jobs: [{ job: 2 }] });
    bench.kill();
  });
});

test("nothing is written to a replaced database", async () => {
  const bench = start();
  await submit(bench);
  const database = join(bench.state, "tutti.db");
  writeFileSync(`${database}.new`, "another");
  renameSync(`${database}.new`, database);
  expect(await submit(bench)).toMatchObject({
    message: expect.stringMatching(/tutti\.db" was replaced while the scheduler was running/),
  });
  expect(readFileSync(database, "utf8")).toBe("another");
  bench.kill();
});

test("the folder of the jobs and the file of numbers are made again, with an event", async () => {
  const bench = start();
  await submit(bench);
  rmSync(join(bench.state, "jobs"), { recursive: true });
  rmSync(join(bench.state, "numbers"));
  pass(bench, 1000);
  expect(statSync(join(bench.state, "jobs")).mode & 0o777).toBe(0o700);
  expect(recovered(bench)).toEqual([
    "the folder of the jobs was removed with their output; it was made again and is empty",
    'the file "numbers" was removed or replaced; it was made again',
  ]);
  expect(bench.frontEnd.status().trouble).toBeUndefined();
  expect(await submit(bench)).toMatchObject({ jobs: [{ job: 2 }] });
  pass(bench, 5000);
  expect(recovered(bench)).toHaveLength(2);
  bench.kill();
});

describe("a damaged store", () => {
  /** A store with many pages and without a front end, with garbage in pages from the middle on. */
  async function damaged(pages: number): Promise<string> {
    const bench = start();
    for (let i = 0; i < 30; i++) {
      const fields = { command: ["true", "x".repeat(2000)], env: { I: `${i}`.repeat(999) }, held: true };
      await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)]));
    }
    bench.store.close();
    const database = join(bench.state, "tutti.db");
    const bytes = readFileSync(database);
    const middle = Math.floor(bytes.length / 4096 / 2) * 4096;
    bytes.fill(0xa5, middle, middle + pages * 4096);
    writeFileSync(database, bytes);
    return database;
  }

  test.each([1, 4])("with garbage in %i pages is refused with advice, and is not changed", async (pages) => {
    const database = await damaged(pages);
    const before = readFileSync(database);
    let error: unknown;
    try {
      new Store(database);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(DamagedStoreError);
    const { message } = error as Error;
    expect(message).toMatch(
      /^Cannot use ".*tutti\.db": .* The file is damaged: `tutti store check` shows where/,
    );
    expect(message).toMatch(/a backup/);
    expect(message).not.toMatch(/remove|delete|no file/);
    expect(readFileSync(database).equals(before)).toBe(true);
  });

  test("found at run time leaves jobs running, and is reported", async () => {
    class DamagedStore extends Store {
      isDamaged = false;
      override begin(): void {
        if (this.isDamaged) throw new DamagedStoreError('Cannot use "tutti.db": it is damaged');
        super.begin();
      }
    }
    const store = new DamagedStore(":memory:", 0);
    const bench = makeBench({ config: { policy: "fcfs" }, store });
    await submit(bench);
    store.isDamaged = true;
    expect(await submit(bench)).toMatchObject({
      refused: "unavailable",
      message: 'Cannot use "tutti.db": it is damaged. Nothing was changed; running jobs continue',
    });
    expect(bench.frontEnd.status().trouble).toBe('Cannot use "tutti.db": it is damaged');
    store.isDamaged = false;
    runToEnd(bench.clock);
    expect(stateOf(bench, 1)).toMatchObject({ state: "done" });
  });
});

test("errors of the file system are explained, and bugs stay bugs", () => {
  const refused = Object.assign(new Error("EROFS: read-only file system, chmod '/state'"), { code: "EROFS" });
  expect(fileError("/state", refused)).toBeInstanceOf(StorageError);
  expect(String(fileError("/state", refused))).toMatch(/expected a writable file system/);
  const foreign = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
  expect(String(fileError("/state", foreign))).toMatch(/the scheduler's user may read and write/);
  const bug = new TypeError("x is not a function");
  expect(fileError("/state", bug)).toBe(bug);
});
