/** Tests the result of each migration, and the state after a migration was killed in the middle. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { withTexts } from "../book/event-texts.ts";
import { Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-migrations-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("migration 10, from texts in the data of events to JSON", () => {
  const EVENTS = 2000;
  const OLD: readonly (readonly [kind: string, data: object, now: object])[] = [
    [
      "updated",
      {
        by: "ana",
        tasks: 4,
        use: "gpu:2,licence:1",
        name: "a=b c",
        before: "tasks=2 retryOn=fail,75 name=x y=1 z",
      },
      {
        by: "ana",
        was: { tasks: 2, retryOn: ["fail", "75"], name: "x y=1 z" },
        now: { tasks: 4, use: { gpu: 2, licence: 1 }, name: "a=b c" },
      },
    ],
    ["updated", { by: "ana", use: "", before: "" }, { by: "ana", was: {}, now: { use: {} } }],
    [
      "updated",
      { by: "ana", name: "2", before: "name=" },
      { by: "ana", was: { name: "" }, now: { name: "2" } },
    ],
    ["placed", { row: 1 }, { row: 1 }],
    [
      "placed",
      { cpus: "0,1", rule: "head of queue" },
      { nodes: [{ node: "localhost", cpus: [0, 1] }], rule: "head of queue" },
    ],
    [
      "placed",
      { cpus: "3", before: "0,2" },
      { nodes: [{ node: "localhost", cpus: [3] }], before: [{ node: "localhost", cpus: [0, 2] }] },
    ],
    [
      "starting",
      {
        attempt: 1,
        cpus: "0,1,2,0",
        nodes: "n2:0-2 n1:0",
        units: "gpu 0,1; licence l2",
        rule: "r",
        timeMs: 5.5,
      },
      {
        attempt: 1,
        nodes: [
          { node: "n2", cpus: [0, 1, 2] },
          { node: "n1", cpus: [0] },
        ],
        units: { gpu: ["0", "1"], licence: ["l2"] },
        rule: "r",
        timeMs: 5.5,
      },
    ],
    [
      "starting",
      { attempt: 2, cpus: "7", units: "", rule: "r", timeMs: 5 },
      { attempt: 2, nodes: [{ node: "localhost", cpus: [7] }], units: {}, rule: "r", timeMs: 5 },
    ],
    [
      "reserved",
      { name: "w", fromMs: 1, untilMs: 2, by: "root", users: "ana,ben", reason: "disk" },
      { name: "w", fromMs: 1, untilMs: 2, by: "root", reason: "disk", users: ["ana", "ben"] },
    ],
    ["window-began", { name: "w", running: 2, jobs: "1,7" }, { name: "w", running: 2, jobs: [1, 7] }],
    ["window-began", { name: "w", running: 0 }, { name: "w", running: 0 }],
    [
      "matrix",
      { sequence: 3, fromSlot: 9, rows: 3, jobs: "1 2 |  | 3" },
      { sequence: 3, fromSlot: 9, rows: [[1, 2], [], [3]] },
    ],
    ["matrix", { sequence: 4, fromSlot: 9, rows: 0, jobs: "" }, { sequence: 4, fromSlot: 9, rows: [] }],
    ["matrix", { sequence: 4, fromSlot: 9, rows: 1, jobs: "" }, { sequence: 4, fromSlot: 9, rows: [[]] }],
  ];

  /** A store of version 9 with these events, each of them often. */
  function oldStore(name: string, times: number): string {
    const path = join(folder, name);
    copyFileSync(fileURLToPath(new URL("./golden/v9.db", import.meta.url)), path);
    const database = new DatabaseSync(path);
    const insert = database.prepare(
      "INSERT INTO events (at_ms, kind, job, uid, data) VALUES (9, ?, 1, 1000, ?)",
    );
    database.exec("BEGIN");
    for (let i = 0; i < times; i++) for (const [kind, data] of OLD) insert.run(kind, JSON.stringify(data));
    database.exec("COMMIT");
    database.close();
    return path;
  }

  test("the data say the same, and the user pays for what they take", () => {
    const store = new Store(oldStore("small.db", 1), 0);
    const events = store.eventsAfter(2, 99).map(({ event }) => event);
    expect(events.map(({ kind, data }) => [kind, data])).toEqual(OLD.map(([kind, , now]) => [kind, now]));
    const bytes = store.eventsAfter(0, 99).map(({ event }) => 200 + JSON.stringify(event.data).length);
    expect(store.ledger.of(1000, "events").bytes).toBe(bytes.reduce((sum, one) => sum + one, 0));
    store.close();
  });

  test("clients read the texts that they read before, and what updated jobs were", () => {
    const store = new Store(oldStore("texts.db", 1), 0);
    const read = store.eventsAfter(2, 99).map(({ event }) => withTexts(event).data);
    // In one update, the name is the last of the texts.
    const [first, ...others] = OLD.map(([, data]) => data);
    expect(read[0]).toMatchObject(first);
    expect(read[0]).toMatchObject({ was: { tasks: 2, name: "x y=1 z" } });
    expect(read.slice(1)).toMatchObject(others);
    store.close();
  });

  test("killed at any moment, it has changed everything or nothing, and the next start continues", async () => {
    const original = oldStore("large.db", EVENTS);
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
      const forms = database
        .prepare("SELECT DISTINCT json_type(data, '$.was') AS was FROM events WHERE kind = 'updated'")
        .all();
      expect(forms).toMatchObject([{ was: version === 9 ? null : "object" }]);
      database.close();
      const store = new Store(path, 0);
      expect(store.eventsAfter(2, 1)[0].event.data).toEqual(OLD[0][2]);
      store.close();
    }
    expect([...versions].sort()).toEqual([10, 9]);
  });
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
