/** Compares the store with a plain model, after its log was cut off at any byte, and across its versions. */

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import type { JobRecord } from "../contract/record.ts";
import { FIRST_VERSION, LATEST_VERSION } from "./migrations.ts";
import { specOf, specsOf } from "./rows.ts";
import { Statements } from "./statements.ts";
import { Store } from "./store.ts";

// In memory if possible: the test makes thousands of commits and need not survive a power failure.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-store-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

function recordOf(job: number, fields: Partial<JobRecord> = {}): JobRecord {
  return {
    job,
    name: `job ${job}`,
    uid: 1000,
    user: "anna",
    queue: "default",
    state: "queued",
    tasks: 2,
    priority: 0,
    command: ["solve", "--n", "4"],
    cwd: "/home/anna",
    limitMs: 60_000,
    estimateMs: 60_000,
    stdout: "/o",
    stderr: "/e",
    after: [{ job: 1, ok: true }],
    retries: 1,
    environment: 1,
    submittedAtMs: 1000 * job,
    queueRank: job,
    attempt: 0,
    nodes: [],
    ranMs: 0,
    ...fields,
  };
}

/** The attempts of a job in a store's file, as another program reads them. */
function attemptsIn(path: string, job: number) {
  const database = new DatabaseSync(path, { readOnly: true });
  const sql = "SELECT job, attempt, identity, decided_ms, started_ms, ended_ms FROM attempts WHERE job = ?";
  const rows = database.prepare(sql).all(job);
  database.close();
  return rows;
}

/** Without undefined fields, which JSON does not have. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

describe("Store against a model", () => {
  type Change = {
    readonly job: number;
    readonly state: JobRecord["state"];
    readonly nodes: readonly NodeCpus[];
    readonly code: number | undefined;
    readonly key: string | undefined;
    readonly uid: number;
  };
  const change: fc.Arbitrary<Change> = fc.record({
    job: fc.integer({ min: 1, max: 8 }),
    state: fc.constantFrom("queued", "held", "starting", "running", "ending", "done", "failed", "cancelled"),
    nodes: fc.array(
      fc.record({
        node: fc.constantFrom("localhost", "n1"),
        cpus: fc.uniqueArray(fc.integer({ min: 0, max: 7 })),
      }),
    ),
    code: fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }),
    key: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
    uid: fc.integer({ min: 1, max: 2 }),
  });
  const end = fc.constantFrom("commit", "rollback", "reopen");

  test("a job beyond today's limits, from an earlier release, is read unchanged", () => {
    const path = newPath();
    const store = new Store(path);
    const over = {
      name: "x".repeat(1000),
      queue: "q".repeat(200),
      tasks: 100_000,
      retries: 5000,
      after: Array.from({ length: 2000 }, (_, i) => ({ job: i + 1, ok: true })),
    };
    store.begin();
    store.insertJob(recordOf(3000, over));
    store.commit();
    store.close();
    const again = new Store(path);
    expect(again.job(3000)).toMatchObject(over);
    again.close();
  });

  test("has exactly what was committed, also after it is reopened", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(change, { maxLength: 6 }), end)), (turns) => {
        const path = newPath();
        let store = new Store(path, 0);
        let model = new Map<number, JobRecord>();
        let events = 0;
        for (const [changes, how] of turns) {
          const before = new Map(model);
          const eventsBefore = events;
          store.begin();
          for (const { job, state, nodes, code, key, uid } of changes) {
            const endedAtMs = isEnded(state) ? 5 : undefined;
            const known = model.get(job);
            const environment = store.contents.keep(store.contents.ofEnvironment({ WHO: String(uid) }));
            const record =
              known === undefined
                ? recordOf(job, {
                    state,
                    nodes,
                    code,
                    key,
                    uid,
                    environment,
                    endedAtMs,
                    ranMs: 100 * (job % 2),
                  })
                : { ...known, state, nodes, code, endedAtMs };
            if (known === undefined) store.insertJob(record);
            else store.updateJob(record);
            model.set(job, record);
            expect(store.contents.environment(record.environment)).toEqual({ WHO: String(record.uid) });
            store.addEvent({ event: { sequence: ++events, atMs: 1, kind: "priority", job }, uid });
            store.setMeta("boot", String(job));
          }
          if (how === "commit") store.commit();
          else {
            if (how === "rollback") store.rollback();
            else {
              store.close();
              store = new Store(path, 0);
            }
            model = before;
            events = eventsBefore;
          }
          const all = [...model.values()].sort((a, b) => a.job - b.job);
          expect(plain(store.liveJobs())).toEqual(plain(all.filter(({ state }) => !isEnded(state))));
          const ended = all.filter(({ state }) => state === "done" || state === "failed").reverse();
          const ran = ended.slice(0, 4).filter(({ state, ranMs }) => state === "done" || ranMs >= 50);
          expect(plain(store.jobsThatRan(50, 2, 4))).toEqual(plain(ran.slice(0, 2)));
          const keyed = all.filter(({ key, uid }) => key === "a" && uid === 2);
          expect(plain(store.jobsByKey(2, "a"))).toEqual(plain(keyed));
          expect(store.latestJob()).toBe(Math.max(0, ...model.keys()));
          expect(store.latestEvent()).toBe(events);
          expect(store.eventsAfter(0, 1e6).map(({ event }) => event.sequence)).toEqual(
            Array.from({ length: events }, (_, i) => i + 1),
          );
          const count = ({ uid, state, attempt }: (typeof all)[number]) => `${uid} ${state} ${attempt > 0}`;
          const counted = store.kept.counts().flatMap(({ uid, state, wasStarted, jobs }) => {
            return Array(jobs).fill(`${uid} ${state} ${wasStarted}`);
          });
          expect(counted.sort()).toEqual(all.map(count).sort());
        }
        store.close();
      }),
      { numRuns: 60 },
    );
  });

  test("a script is stored byte for byte, and only once", () => {
    const store = new Store(":memory:", 0);
    const bytes = Buffer.from([0xff, 0x00, 0x0a, 0x41]);
    const keep = (base64: string) => store.contents.keep(store.contents.ofScript(base64));
    const id = keep(bytes.toString("base64"));
    expect(keep("AAAA")).not.toBe(id);
    expect(keep(bytes.toString("base64"))).toBe(id);
    expect(Buffer.from(store.contents.script(id)!)).toEqual(bytes);
    expect(store.contents.script(99)).toBeUndefined();
  });

  test("jobs of one request are stored like any others, whatever they have of their own", () => {
    const own = fc.record(
      {
        array: fc.nat(),
        arrayIndex: fc.nat(),
        values: fc.dictionary(fc.string(), fc.string()),
        after: fc.array(fc.record({ job: fc.nat(), ok: fc.boolean() })),
        repeats: fc.nat(),
        stdout: fc.string({ unit: "binary" }),
        stderr: fc.string({ unit: "binary" }),
        state: fc.constantFrom("queued", "held", "cancelled"),
        arrayLimit: fc.constant(5),
      },
      { requiredKeys: ["stdout", "stderr"] },
    );
    fc.assert(
      fc.property(fc.array(own, { minLength: 1, maxLength: 4 }), (owns) => {
        const arrayLimit = owns[0].arrayLimit;
        const specOfJob = specsOf(recordOf(99, { arrayLimit, name: "job" }));
        for (const [i, fields] of owns.entries()) {
          const record = recordOf(i + 1, { submittedAtMs: 99_000, name: "job", ...fields, arrayLimit });
          expect(JSON.parse(specOfJob(record))).toEqual(JSON.parse(specOf(record)));
        }
      }),
    );
  });

  test("a dropped environment is stored again for the next job, one that a job has is kept", () => {
    const store = new Store(":memory:", 0);
    const { contents } = store;
    const content = contents.ofEnvironment({ HOME: "/h" });
    const id = contents.keep(content);
    store.insertJob(recordOf(1, { environment: id, after: [] }));
    const had = contents.of({ environment: id })[0];
    expect(had).toEqual({ table: "environments", id, name: `environments ${id}`, bytes: content.bytes });
    contents.drop(had);
    expect(contents.environment(id)).toEqual({ HOME: "/h" });
    store.endJob(recordOf(1, { environment: contents.nothing(), state: "done", endedAtMs: 5 }), 7);
    contents.drop(had);
    expect(contents.find(content)).toBeUndefined();
    expect(contents.environment(contents.keep(content))).toEqual({ HOME: "/h" });
    contents.drop({ table: "environments", id: contents.nothing(), bytes: 2 });
    expect(store.job(1)).toMatchObject({ environment: contents.nothing() });
    expect(store.kept.endedOf(1000, 9)).toMatchObject([{ job: 1, bytes: 7, wasStarted: false }]);
  });

  test("attempts and forecasts are kept", () => {
    const path = newPath();
    const store = new Store(path, 0);
    const environment = store.contents.keep(store.contents.ofEnvironment({}));
    store.insertJob(recordOf(3, { environment, after: [] }));
    store.insertAttempt({ job: 3, attempt: 1, uid: 1000 }, [{ node: "localhost", cpus: [0, 1] }], 10);
    store.noteAttemptStart({ job: 3, attempt: 1 }, 12);
    store.noteAttemptEnd({ job: 3, attempt: 1, reason: "none", code: 0, endedAtMs: 20, ranMs: 8 });
    store.insertAttempt({ job: 3, attempt: 2, uid: 1000 }, [{ node: "n1", cpus: [1] }], 30, "c0ffee");
    expect(attemptsIn(path, 3)).toEqual([
      { job: 3, attempt: 1, identity: null, decided_ms: 10, started_ms: 12, ended_ms: 20 },
      { job: 3, attempt: 2, identity: "c0ffee", decided_ms: 30, started_ms: null, ended_ms: null },
    ]);
    // The second attempt has not started.
    expect(store.launchTimes(9)).toEqual([2]);
    expect(store.launchTimes(1)).toEqual([]);
    store.noteForecast({ job: 3, uid: 1000 }, 0, 1, 5, 9);
    store.noteForecast({ job: 3, uid: 1000 }, 1, 2, 6, 10);
    expect(store.judgedForecasts(9)).toEqual([]);
    store.noteForecastStart(3, 7);
    expect(store.judgedForecasts(9)).toEqual([{ uid: 1000, errorMs: 2, expectedMs: 5, isWithin: true }]);
  });
});

test("events are forgotten by age, oldest first, but never the last one; and by user, in any place", () => {
  const store = new Store(":memory:", 0);
  for (let sequence = 1; sequence <= 9; sequence++) {
    const atMs = sequence === 2 ? 99 : sequence;
    store.addEvent({
      event: { sequence, atMs, kind: "matrix" },
      uid: sequence % 3 === 0 ? 1000 : undefined,
    });
  }
  const left = (uid?: number) => store.eventsAfter(0, 99, uid).map(({ event }) => event.sequence);
  expect(store.kept.forgetEventsBefore(1, 10)).toBe(false);
  // Event 2 has a later time than its neighbours; the events after it wait for it.
  expect(store.kept.forgetEventsBefore(5, 10)).toBe(true);
  expect(left()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  store.kept.forgetEventsOf(undefined, 2);
  expect(left()).toEqual([3, 5, 6, 7, 8, 9]);
  store.kept.forgetEventsOf(1000, 1);
  expect([left(), left(1000), left(1001)]).toEqual([
    [5, 6, 7, 8, 9],
    [5, 6, 7, 8, 9],
    [5, 7, 8],
  ]);
  expect(store.kept.forgetEventsBefore(1000, 2)).toBe(true);
  expect(left()).toEqual([7, 8, 9]);
  store.kept.forgetEventsBefore(1000, 100);
  expect(left()).toEqual([9]);
  expect(store.kept.forgetEventsBefore(1000, 100)).toBe(false);
  expect(store.latestEvent()).toBe(9);
});

test("jobs and events to forget are found by index, in order, without reading everything", () => {
  const path = newPath();
  const store = new Store(path, 0);
  const asked: string[] = [];
  const spy = vi.spyOn(Statements.prototype, "all").mockImplementation((sql) => {
    asked.push(sql);
    return [];
  });
  store.kept.endedBefore(9, 9);
  for (const wasStarted of [undefined, true, false]) store.kept.endedOf(1000, 9, wasStarted);
  store.kept.forgetEventsBefore(9, 9);
  store.eventsAfter(0, 9, 1000);
  store.kept.endedRuns(0, undefined, 9);
  store.launchTimes(9);
  spy.mockRestore();
  store.close();
  const database = new DatabaseSync(path);
  const plans = asked.map((sql) => [
    sql,
    ...database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  ]);
  database.close();
  expect(plans).toHaveLength(8);
  for (const plan of plans) {
    expect(
      plan.filter((step) => /^SCAN (?:jobs|events)\b/.test(step)),
      plan[0],
    ).toEqual([]);
    // The index has jobs in order; no more events are sorted than are requested.
    if (plan[0].includes("FROM jobs")) expect(plan.join()).not.toContain("TEMP B-TREE");
  }
});

describe("a log that is cut off or damaged", () => {
  /** Each transaction adds a job and an event. */
  const TRANSACTIONS = 6;
  const path = newPath();
  const store = new Store(path, 0);
  for (let job = 1; job <= TRANSACTIONS; job++) {
    store.begin();
    const { contents } = store;
    const environment = contents.keep(contents.ofEnvironment({ JOB: String(job), FILL: "x".repeat(600) }));
    store.insertJob(recordOf(job, { environment }));
    store.addEvent({ event: { sequence: job, atMs: 1, kind: "submitted", job }, uid: 1000 });
    store.commit();
  }
  const database = readFileSync(path);
  const log = readFileSync(`${path}-wal`);
  store.close();

  function openWith(wal: Buffer): number | undefined {
    const copy = newPath();
    writeFileSync(copy, database);
    writeFileSync(`${copy}-wal`, wal);
    const opened = new Store(copy, 0);
    const jobs = opened.liveJobs();
    expect(jobs.map(({ job }) => job)).toEqual(Array.from({ length: jobs.length }, (_, i) => i + 1));
    // Only complete transactions.
    expect(opened.latestEvent()).toBe(jobs.length);
    for (const { job, environment } of jobs)
      expect(opened.contents.environment(environment)).toMatchObject({ JOB: String(job) });
    // The store is usable.
    opened.begin();
    opened.insertJob(recordOf(99, { environment: opened.contents.nothing() }));
    opened.commit();
    opened.close();
    return jobs.length;
  }

  test("opens with complete transactions, wherever it is cut", () => {
    expect(log.length).toBeGreaterThan(20_000);
    expect(openWith(log)).toBe(TRANSACTIONS);
    const lengths = new Set<number | undefined>();
    let before = 0;
    for (let length = 0; length < log.length; length += 509) {
      const found = openWith(log.subarray(0, length)) ?? 0;
      expect(found).toBeGreaterThanOrEqual(before);
      before = found;
      lengths.add(found);
    }
    expect(lengths.size).toBeGreaterThan(TRANSACTIONS - 2);
  });

  test("a flipped bit, or zeros in the middle, end the log there", () => {
    for (let at = 100; at < log.length; at += 2003) {
      const flipped = Buffer.from(log);
      flipped[at] ^= 0x10;
      openWith(flipped);
    }
    const zeroed = Buffer.from(log);
    zeroed.fill(0, 12_000, 20_192);
    openWith(zeroed);
  });
});

describe("versions", () => {
  const VERSIONS = Array.from({ length: LATEST_VERSION - FIRST_VERSION + 1 }, (_, i) => FIRST_VERSION + i);
  const golden = (version: number): string =>
    fileURLToPath(new URL(`./golden/v${version}.db`, import.meta.url));

  test.each(VERSIONS)("a file of version %i opens with all its data", (version) => {
    const path = newPath();
    copyFileSync(golden(version), path);
    const store = new Store(path, 0);
    expect(store.meta("policy")).toBe("easy:order=shortest");
    expect(store.liveJobs()).toMatchObject([
      {
        job: 2,
        state: "running",
        nodes: [{ node: "localhost", cpus: [0, 1] }],
        attempt: 1,
        user: "anna",
        command: ["solve", "--n", "4"],
      },
      { job: 3, state: "held", nodes: [], priority: -3, after: [{ job: 2, ok: true }], key: "mine" },
    ]);
    expect(store.job(1)).toMatchObject({
      state: "failed",
      code: 3,
      reason: "exit code 3",
      endedAtMs: 9000,
    });
    expect(store.contents.environment(store.job(2)!.environment)).toEqual({
      PATH: "/bin",
      LANG: "C.UTF-8",
    });
    const identity = "0123456789abcdef0123456789abcdef";
    expect(attemptsIn(path, 2)).toMatchObject([{ attempt: 1, started_ms: 4000, identity }]);
    expect(store.liveJobs().map((record) => record.identity)).toEqual([identity, undefined]);
    expect(store.eventsAfter(0, 10).map(({ event }) => event.kind)).toEqual(["submitted", "ended"]);
    expect(store.judgedForecasts(5)).toMatchObject([{ errorMs: 500, isWithin: true }]);
    const used = { uid: store.job(1)!.uid, user: "anna", cpuMs: 3600, atMs: 9000 };
    expect(store.shareUsages()).toEqual(version < 8 ? [] : [used]);
    expect(store.job(1)?.usage).toEqual(version < 7 ? undefined : { cpuMs: 1200, peakMemoryBytes: 4096 });
    const { uid } = store.job(1)!;
    expect(store.kept.endedFrom(undefined, 1, 9, 9)).toEqual([{ job: 1, uid, state: "failed" }]);
    expect(store.kept.endedUpTo(uid, 9, 9)).toEqual([{ job: 1, uid, state: "failed" }]);
    const { script, scriptWord } = store.job(3)!;
    expect(scriptWord).toBe(1);
    const content = store.contents.script(script!);
    expect(Buffer.from(content!).toString("latin1")).toBe("#!/bin/sh\necho caf\u00e9\n");
    store.close();
    // The second time, there is nothing to migrate.
    new Store(path, 0).close();
  });

  test("a file of a later version, or of another kind, is refused and not changed", () => {
    const later = newPath();
    new Store(later, 0).close();
    const database = new DatabaseSync(later);
    database.exec("INSERT INTO migrations VALUES (99, 0)");
    database.close();
    expect(() => new Store(later)).toThrow(InputError);
    expect(() => new Store(later)).toThrow(/version 99, expected 5 to \d+; a later version/);
    const other = newPath();
    writeFileSync(other, "Dear diary, this is no database at all. ".repeat(200));
    const before = readFileSync(other);
    expect(() => new Store(other)).toThrow(/expected a database that Tutti has written/);
    expect(readFileSync(other)).toEqual(before);
  });

  test.each([1, 4])("a file of version %i is refused, with the way out, and not changed", (version) => {
    const path = newPath();
    const database = new DatabaseSync(path);
    database.exec(`CREATE TABLE migrations (number INTEGER PRIMARY KEY, applied_ms REAL NOT NULL);
      INSERT INTO migrations VALUES (${version}, 0)`);
    const refusal = /has version \d, expected 5 to \d+; start Tutti of revision e32fa342 with it once/;
    expect(() => new Store(path)).toThrow(refusal);
    expect(plain(database.prepare("SELECT name FROM sqlite_master").all())).toEqual([{ name: "migrations" }]);
    expect(plain(database.prepare("SELECT number FROM migrations").all())).toEqual([{ number: version }]);
    database.close();
  });

  test("a file of any version has the tables and indexes of a new one when it is open", () => {
    const schemaOf = (path: string): unknown[] => {
      new Store(path, 0).close();
      const database = new DatabaseSync(path);
      const rows = database.prepare("SELECT type, name FROM sqlite_master ORDER BY name").all();
      database.close();
      return plain(rows) as unknown[];
    };
    const fresh = schemaOf(newPath());
    for (const version of VERSIONS) {
      const path = newPath();
      copyFileSync(golden(version), path);
      expect(schemaOf(path), `version ${version}`).toEqual(fresh);
    }
  });

  test("every version has its file", () => {
    expect(VERSIONS.filter((version) => !existsSync(golden(version)))).toEqual([]);
  });
});
