/** Tests the result of each migration. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-migrations-"));
afterAll(() => rmSync(folder, { recursive: true }));

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
