/** Tests the result of each migration, and the state after a migration was killed in the middle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { MIGRATIONS } from "./migrations.ts";
import { Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-migrations-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("migration 4, from CPUs of a machine to CPUs of nodes", () => {
  const JOBS = 20_000;

  /** A store of version 3 with many jobs and a matrix. */
  function oldStore(name: string, jobs: number): string {
    const path = join(folder, name);
    copyFileSync(fileURLToPath(new URL("./golden/v3.db", import.meta.url)), path);
    const database = new DatabaseSync(path);
    const matrix = {
      sequence: 7,
      slotMs: 100,
      mode: "gang",
      fromSlot: -3,
      rows: [
        [
          { job: 2, attempt: 1, cpus: [0, 1] },
          { job: 12, attempt: 2, cpus: [3] },
        ],
        [],
        [{ job: 3, attempt: 1, cpus: [1, 3] }],
      ],
    };
    database.prepare("INSERT INTO meta VALUES ('matrix', ?)").run(JSON.stringify(matrix));
    const copy = `INSERT INTO jobs SELECT 100 + n, uid, state, priority, place, attempt, json_array(n % 64, 64 + n % 64), started_ms, NULL,
      ran_ms, code, signal, reason, ending, NULL, environment, spec, script, NULL FROM jobs, numbers WHERE job = 2`;
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${jobs})`;
    database.exec(`${copy.replace("INSERT INTO jobs", `INSERT INTO jobs ${numbers}`)}`);
    database.exec(
      `INSERT INTO attempts (job, attempt, cpus, decided_ms) SELECT job, attempt, cpus, 1 FROM jobs WHERE job > 100`,
    );
    database.close();
    return path;
  }

  const on = (...cpus: number[]) => [{ node: "localhost", cpus }];

  test("CPUs of jobs, of attempts and of the matrix become those of this machine; empty lists stay empty", () => {
    const path = oldStore("small.db", 3);
    const store = new Store(path, 0);
    const jobs = [2, 3, 101, 103].map((job) => store.job(job)?.nodes);
    expect(jobs).toEqual([on(0, 1), [], on(1, 65), on(3, 67)]);
    expect(JSON.parse(store.meta("matrix")!)).toEqual({
      sequence: 7,
      slotMs: 100,
      mode: "gang",
      fromSlot: -3,
      rows: [
        [
          { job: 2, attempt: 1, nodes: on(0, 1) },
          { job: 12, attempt: 2, nodes: on(3) },
        ],
        [],
        [{ job: 3, attempt: 1, nodes: on(1, 3) }],
      ],
    });
    store.close();
    const database = new DatabaseSync(path);
    const [attempt] = database.prepare("SELECT nodes FROM attempts WHERE job = 102").all();
    expect(JSON.parse(String(attempt.nodes))).toEqual(on(2, 66));
    database.close();
  });

  test("killed at any moment, it has changed everything or nothing, and the next start continues", async () => {
    const original = oldStore("large.db", JOBS);
    const path = join(folder, "killed.db");
    const file = fileURLToPath(new URL("./store.ts", import.meta.url));
    const code = `const { Store } = await import(${JSON.stringify(file)}); process.stdout.write("begins"); new Store(${JSON.stringify(path)}, 0).close(); process.stdout.write("ended");`;
    /** @returns the duration of the migration, or undefined if it was killed before its end */
    const migrate = async (killAfterMs: number): Promise<number | undefined> => {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
      copyFileSync(original, path);
      const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      const startMs = performance.now();
      const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
      const [status] = await ended;
      clearTimeout(timer);
      return status === 0 ? performance.now() - startMs : undefined;
    };
    const tookMs = (await migrate(60_000))!;
    const versions = new Set<number>();
    for (const share of [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.5, 2, 4]) {
      await migrate(tookMs * share);
      const database = new DatabaseSync(path);
      const version = Number(database.prepare("SELECT max(number) AS latest FROM migrations").get()!.latest);
      versions.add(version);
      const column = version === 3 ? "cpus" : "nodes";
      const [first] = database.prepare(`SELECT min(${column}) AS one, count(*) AS jobs FROM jobs`).all();
      expect(first.jobs).toBeGreaterThan(JOBS);
      const isNew = database
        .prepare(`SELECT DISTINCT json_type(${column}, '$[0]') AS kind FROM jobs WHERE ${column} <> '[]'`)
        .all();
      expect(isNew).toMatchObject([{ kind: version === 3 ? "integer" : "object" }]);
      database.close();
      const store = new Store(path, 0);
      expect(store.job(100 + JOBS)?.nodes).toEqual(on(JOBS % 64, 64 + (JOBS % 64)));
      store.close();
    }
    // Other versions last only until the next migration.
    expect([...versions].filter((version) => version < 4 || version === MIGRATIONS.length).sort()).toEqual([
      3,
      MIGRATIONS.length,
    ]);
  }, 120_000);
});

describe("migration 9, from copies in each entry of news to references", () => {
  /** News as releases with version 8 wrote it. */
  function oldNews(n: number, more: object = {}) {
    const id = `${String(9000 + n).padStart(14, "0")}-${String(n).padStart(24, "0")}`;
    const data = { TUTTI_JOB: "1", TUTTI_ATTEMPT: "1", TUTTI_EVENT_ID: id };
    const fields = { job: 1, hook: "onEnd", event: "end", user: "anna", tries: 0, notBeforeMs: 0, data };
    return { id, uid: 1000, target: "echo ended", ...fields, ...more };
  }

  function opened(name: string, rows: readonly (readonly [name: string, value: object])[]): Store {
    const path = join(folder, name);
    copyFileSync(fileURLToPath(new URL("./golden/v8.db", import.meta.url)), path);
    const database = new DatabaseSync(path);
    const put = database.prepare("INSERT INTO meta VALUES (?, ?)");
    for (const [key, value] of rows) put.run(key, JSON.stringify(value));
    database.close();
    return new Store(path, 0);
  }

  test("news of kept jobs waits as before, of users and of the machine; news of forgotten jobs goes", () => {
    const all = [
      oldNews(1),
      oldNews(2, { hook: "webhook", tries: 2, notBeforeMs: 99_000 }),
      oldNews(3, { uid: "machine", target: undefined }),
      oldNews(4, { job: 77 }),
      // The first job of the array is forgotten.
      oldNews(5, { job: 77, hook: "mail", array: { last: 3, states: { done: 2 } } }),
    ];
    const outcome = {
      hook: "webhook",
      event: "end",
      id: all[1].id,
      state: "waiting",
      text: "try 3 of 6 follows",
    };
    const done = { hook: "onEnd", event: "end", id: "x", state: "done" };
    const store = opened("news.db", [
      ...all.map((one) => [`news ${one.id}`, one] as const),
      ["outcome 1 webhook", outcome],
      ["outcome 77 onEnd", done],
    ]);
    expect(store.news.turns()).toEqual([
      { uid: 1000, isMachines: false },
      { uid: 1000, isMachines: true },
    ]);
    const next = (isMachines: boolean) => store.news.next({ uid: 1000, isMachines }, 9);
    expect(next(false)).toMatchObject([
      { id: all[0].id, job: 1, hook: "onEnd", event: "end", attempt: 1, atMs: 9001, tries: 0, dueMs: 9001 },
      { job: 3, array: 77, states: { last: 3, states: { done: 2 } } },
      { hook: "webhook", tries: 2, dueMs: 99_000 },
    ]);
    expect(next(true)).toMatchObject([{ id: all[2].id, job: 1, hook: "onEnd" }]);
    expect(store.news.outcomesOf(1)).toEqual([
      { hook: "onEnd", event: "end", id: all[0].id, state: "waiting" },
      outcome,
    ]);
    expect(store.news.outcomesOf(77)).toMatchObject([{ hook: "mail", state: "waiting" }]);
    expect(store.ledger.of(1000, "news").rows).toBe(4);
    store.close();
  });
});
