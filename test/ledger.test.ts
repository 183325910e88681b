/**
 * Fills the store by everything that a user can send, and checks that the user is refused, that nobody else
 * is, and that the ledger counts what is there. A table or a route that is not listed here fails the test.
 */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ROUTES } from "@tutti/live/api/contract/routes.ts";
import type { Caller, Change } from "@tutti/live/daemon/contract/service.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { EVERYBODY } from "@tutti/live/daemon/store/ledger.ts";
import type { HookResult } from "@tutti/protocol/news/runner.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// In memory if possible: the test makes thousands of commits.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));

const EVE: Caller = { uid: 3001, user: "eve", isAdministrator: false };
const DAN: Caller = { uid: 3002, user: "dan", isAdministrator: false };

/** Why a table cannot be filled by a user; "charged": the ledger counts its rows. */
const TABLES: Readonly<Record<string, string>> = {
  jobs: "charged",
  attempts: "charged",
  events: "charged",
  forecasts: "charged",
  news: "charged",
  outcomes: "charged",
  leftovers: "charged",
  environments: "charged to all who have them, by book/holdings.ts and book/kept-contents.ts",
  scripts: "charged to all who have them, by book/holdings.ts and book/kept-contents.ts",
  meta: "a list of names (MetaName)",
  forgotten: "a row for each user",
  share_usage: "a row for each user",
  ledger: "a row for each user and kind",
  migrations: "a row for each version",
  sqlite_sequence: "a row, of SQLite",
};

type Send = (bench: Bench, caller: Caller) => Promise<unknown>;
const HOOKS = {
  onStart: "s",
  onEnd: "e",
  onFail: "f",
  webhook: "http://h/",
  mail: "eve",
  notify: ["end", "start"],
} as const;
const LONG = "x".repeat(2000);

const submit =
  (fields: Partial<SubmitJob>): Send =>
  ({ clock, frontEnd }, caller) =>
    answerOf(clock, frontEnd.submit(caller, [request({ ...HOOKS, cwd: `/${LONG}`, ...fields })]));
/** Changes a job of the caller, after a submit of one if there is none that can be changed. */
const change =
  (action: Change, more: Partial<SubmitJob>): Send =>
  async (bench, caller) => {
    const { clock, frontEnd } = bench;
    const live = frontEnd.jobs(caller, { states: ["queued", "held", "running", "paused"] });
    if (live.length === 0) return await submit(more)(bench, caller);
    const answer = await answerOf(
      clock,
      frontEnd.change(
        caller,
        action,
        live.map(({ job }) => job),
      ),
    );
    return Array.isArray(answer) ? answer[0] : answer;
  };
/** Two changes, of which each undoes the other. */
const thenBack =
  (first: Change, second: Change, more: Partial<SubmitJob>): Send =>
  async (bench, caller) => {
    const answer = await change(first, more)(bench, caller);
    return isRefused(answer) && answer.refused === "full"
      ? answer
      : await change(second, more)(bench, caller);
  };
let names = 0;
const rename: Send = (bench, caller) =>
  change({ action: "update", update: { name: `${LONG.slice(0, 200)}${names++}` } }, { held: true })(
    bench,
    caller,
  );

/** What a user can send to make something longer, by route; or why a route makes nothing longer. */
const SENDS: Readonly<Record<string, readonly Send[] | string>> = {
  submit: [
    submit({ array: "0-19" }),
    submit({ held: true, env: { NEW: LONG } }),
    // Cancelled in its own submit: job 1 of the caller has failed.
    async (bench, caller) => {
      const [failed] = bench.frontEnd.jobs(caller, { states: ["failed"] });
      if (failed === undefined) return await submit({ command: ["false"] })(bench, caller);
      return await submit({ array: "0-19", after: [{ job: failed.job, ok: true }] })(bench, caller);
    },
    submit({ retries: 9, retryOn: ["fail"], command: ["false"] }),
    submit({ script: { base64: Buffer.from(LONG).toString("base64"), word: 0 } }),
  ],
  rerun: [
    async (bench, caller) => {
      const { clock, frontEnd } = bench;
      const ended = frontEnd.jobs(caller, { states: ["done", "failed", "cancelled"] }).slice(-20);
      if (ended.length === 0) return await submit({})(bench, caller);
      return await answerOf(
        clock,
        frontEnd.rerun(
          caller,
          ended.map(({ job }) => job),
        ),
      );
    },
  ],
  hold: [thenBack({ action: "hold" }, { action: "release" }, { held: true })],
  release: [thenBack({ action: "release" }, { action: "hold" }, { held: true })],
  update: [rename],
  batch: [rename],
  pause: [thenBack({ action: "pause" }, { action: "resume" }, {})],
  resume: [thenBack({ action: "resume" }, { action: "pause" }, {})],
  requeue: [change({ action: "requeue" }, { retries: 9 })],
  cancel: "each job once; refused to nobody",
  signal: "writes nothing",
  ...Object.fromEntries(
    "page webFile description openapi status jobs dryRun job why logs input matrix queues usage shares policy whatIf timeline exportSwf exportJsonl events metrics windows allocations pilot prove"
      .split(" ")
      .map((id) => [id, "reads; requests at a time are limited (api/server/fairness/)"]),
  ),
  ...Object.fromEntries(
    "setPolicy drain undrain reserve unreserve shutdown startAllocation startPilot sayOff"
      .split(" ")
      .map((id) => [id, "administrators only"]),
  ),
  sendInput: "not kept: a piece of at most 64 KiB waits here, and what was not taken stays with its sender",
  makeLink: "16 of a user (api/server/web/links.ts)",
  makeSession: "not kept: a session is a signed text",
};

function isRefused(answer: unknown): answer is { readonly refused: string; readonly message: string } {
  return typeof answer === "object" && answer !== null && "refused" in answer;
}

test("every table and every route says who pays", () => {
  const bench = makeBench({ path: join(folder, "tables.db") });
  const database = new DatabaseSync(bench.store.path);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  database.close();
  bench.kill();
  expect(tables.map(({ name }) => String(name))).toEqual(Object.keys(TABLES).sort());
  expect(Object.keys(SENDS).sort()).toEqual(ROUTES.map(({ id }) => id).sort());
});

/** Naive twin of the ledger: reads all rows, and counts them one by one. */
function recount(path: string): Record<string, { rows: number; bytes: number }> {
  const database = new DatabaseSync(path, { readOnly: true });
  const found: Record<string, { rows: number; bytes: number }> = {};
  const owners = new Map(
    database
      .prepare("SELECT job, uid FROM jobs")
      .all()
      .map((row) => [row.job, row.uid]),
  );
  const size = (value: unknown) => (value === null ? 0 : Buffer.byteLength(String(value)));
  const prices: Record<string, (row: Record<string, unknown>) => number> = {
    jobs: ({ spec }) => 600 + size(spec),
    attempts: ({ nodes }) => 200 + 2 * size(nodes),
    events: ({ data, secret }) => 200 + size(data) + size(secret),
    forecasts: () => 60,
    news: ({ states }) => 300 + size(states),
    outcomes: ({ value }) => 60 + size(value),
    leftovers: () => 30,
  };
  for (const [table, price] of Object.entries(prices)) {
    for (const row of database.prepare(`SELECT * FROM ${table}`).all()) {
      const uid = "uid" in row ? (row.uid ?? EVERYBODY) : owners.get(row.job);
      found[`${uid} ${table}`] ??= { rows: 0, bytes: 0 };
      found[`${uid} ${table}`].rows++;
      found[`${uid} ${table}`].bytes += price(row);
    }
  }
  database.close();
  return found;
}

function ledgerOf({ store }: Bench): Record<string, { rows: number; bytes: number }> {
  const kinds = ["jobs", "attempts", "events", "forecasts", "news", "outcomes", "leftovers"] as const;
  return Object.fromEntries(
    [...store.ledger.users()].flatMap((uid) =>
      kinds.flatMap((kind) => {
        const amount = store.ledger.of(uid, kind);
        return amount.rows === 0 ? [] : [[`${uid} ${kind}`, amount]];
      }),
    ),
  );
}

describe.each(
  Object.entries(SENDS).flatMap(([id, sends]) =>
    typeof sends === "string" ? [] : sends.map((send, i) => [`${id} ${i + 1}`, send] as const),
  ),
)("a user who fills the store by %s", (name, send) => {
  let bench: Bench;
  const path = join(folder, `${name.replace(" ", "-")}.db`);
  let results: ((result: HookResult) => void) | undefined;
  beforeAll(() => {
    bench = makeBench({
      path,
      config: { policy: "fcfs", keepJobs: 100_000 },
      maxStoreBytes: 1_000_000,
      accounts: () => ({ uid: ANNA.uid, gid: ANNA.uid }),
      ends: (job) => ({ code: job % 2 }),
      runMs: () => 1000,
    });
    // Every third hook ends, so that outcomes are stored, too.
    bench.frontEnd.news.start((onResult) => {
      results = onResult;
      let count = 0;
      return {
        run: ({ id }) => {
          if (count++ % 3 === 0)
            bench.clock.soon(() => results?.({ id, state: "done", text: "exit code 0" }));
        },
        close: () => {},
      };
    });
  });

  test("is refused, another user and root are not, and the ledger has what is there", async () => {
    let answer: unknown;
    for (let i = 0; i < 5000; i++) {
      answer = await send(bench, EVE);
      if (isRefused(answer) && answer.refused === "full") break;
      bench.clock.advanceTo(bench.clock.nowMs() + 500);
    }
    expect(answer).toMatchObject({
      refused: "full",
      message: expect.stringContaining("of each user"),
    });
    expect(bench.frontEnd.jobs(EVE, {}).length).toBeGreaterThan(0);
    // The quarter of 1 MB, and what her last changes and her running jobs still add.
    expect(bench.store.ledger.bytesOf(EVE.uid)).toBeLessThan(350_000);
    expect(bench.store.usedBytes()).toBeLessThan(0.875 * 1_000_000);
    for (const caller of [DAN, ROOT]) {
      const given = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request({ held: true })]));
      expect(given).toHaveProperty("jobs.length", 1);
    }
    expect(ledgerOf(bench)).toEqual(recount(path));
  });

  test("a cycle that is rolled back changes nothing, and a restart finds the same", async () => {
    const before = ledgerOf(bench);
    const { commit } = bench.store;
    bench.store.commit = () => {
      throw new Error("the disk is full");
    };
    expect(await submit({ held: true })(bench, DAN)).toMatchObject({ refused: "unavailable" });
    bench.store.commit = commit;
    expect(ledgerOf(bench)).toEqual(before);
    bench.kill();
    bench = makeBench({
      path,
      clock: bench.clock,
      machine: bench.machine,
      config: { policy: "fcfs", keepJobs: 100_000 },
      maxStoreBytes: 1_000_000,
      accounts: () => ({ uid: ANNA.uid, gid: ANNA.uid }),
    });
    bench.clock.settle();
    expect(ledgerOf(bench)).toEqual(recount(path));
  });

  test("what is forgotten is given back, and she is accepted again", async () => {
    const { clock, frontEnd, store } = bench;
    for (const { job } of frontEnd.jobs(ROOT, {
      states: ["queued", "held", "running", "paused", "starting", "ending"],
    }))
      await answerOf(clock, frontEnd.cancel(ROOT, job));
    runToEnd(clock, clock.nowMs() + 60_000);
    clock.advanceTo(clock.nowMs() + 40 * 86_400_000);
    while (frontEnd.retention.step());
    const leftovers = store.kept.leftovers(0, 1e6);
    store.tryTransaction(() => store.kept.forgetLeftovers(leftovers));
    expect(frontEnd.jobs(ROOT, {})).toEqual([]);
    // The last event is always kept: the next one's number follows from it.
    expect(Object.values(ledgerOf(bench)).reduce((sum, { rows }) => sum + rows, 0)).toBeLessThanOrEqual(1);
    expect(ledgerOf(bench)).toEqual(recount(path));
    expect(await submit({ held: true })(bench, EVE)).toHaveProperty("jobs.length", 1);
    expect(ledgerOf(bench)).toEqual(recount(path));
    bench.kill();
  });
});
