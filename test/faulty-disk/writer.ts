/**
 * Changes a store until its disk ends it, or enough is done. For each transaction it prints "begun NUMBER
 * DIGEST" before the commit, and "done NUMBER" or "refused NUMBER" after it.
 *
 *   node writer.ts STORE SEED FIRST-NUMBER TRANSACTIONS
 */
import { writeSync } from "node:fs";
import { Draws } from "@tutti/torture/world/random.ts";
import type { JobRecord } from "../../packages/live/daemon/contract/record.ts";
import { Store } from "../../packages/live/daemon/store/store.ts";
import { contentsOf, numberTransaction } from "./contents.ts";

const MOST_SUBMITTED = 12;
const MOST_SCRIPT_BYTES = 60_000;
/** Of ended jobs and of events. */
const MOST_KEPT = 40;
const UIDS = [1000, 1001, 1002];

const [path, seed, first, transactions] = process.argv.slice(2);
const random = new Draws(Number(seed));
const say = (...words: readonly (string | number)[]) => writeSync(1, `${words.join(" ")}\n`);

function submit(store: Store, nowMs: number): void {
  const { contents } = store;
  let last = store.latestJob();
  for (let left = random.between(1, MOST_SUBMITTED); left > 0; left--) {
    const uid = random.pick(UIDS);
    const bytes = random.chance(0.2) ? random.below(MOST_SCRIPT_BYTES) : 0;
    const script = Buffer.alloc(bytes, String(random.below(1e9))).toString("base64");
    const record: JobRecord = {
      ...{ job: ++last, name: `job ${last}`, uid, user: `user ${uid}`, queue: "default", state: "queued" },
      ...{ tasks: 1, priority: 0, command: ["solve"], cwd: "/", stdout: "/o", stderr: "/e", after: [] },
      ...{ retries: 0, submittedAtMs: nowMs, queueRank: last, attempt: 0, nodes: [], ranMs: 0 },
      estimateMs: 60_000,
      environment: contents.keep(contents.ofEnvironment({ WHO: String(random.below(20)) })),
      ...(bytes > 0 && { script: contents.keep(contents.ofScript(script)) }),
    };
    store.insertJob(record);
    const event = { sequence: store.latestEvent() + 1, atMs: nowMs, kind: "submitted", job: last } as const;
    store.addEvent({ event, uid });
  }
}

function end(store: Store, nowMs: number): void {
  for (const record of store.liveJobs()) {
    if (random.chance(0.5)) continue;
    const had = store.contents.of(record);
    const ended = {
      ...record,
      state: "done",
      endedAtMs: nowMs,
      environment: store.contents.nothing(),
    } as const;
    store.endJob({ ...ended, script: undefined }, 100);
    for (const content of had) if (!isUsed(store, content)) store.contents.drop(content);
  }
}

function isUsed(store: Store, { table, id }: ReturnType<Store["contents"]["of"]>[number]): boolean {
  return store.liveJobs().some((one) => (table === "scripts" ? one.script : one.environment) === id);
}

function forget(store: Store, nowMs: number): void {
  const ended = store.kept.endedBefore(nowMs + 1, 1e6);
  store.kept.forgetJobs(ended.slice(0, Math.max(0, ended.length - MOST_KEPT)));
  for (const uid of UIDS) store.kept.forgetEventsOf(uid, random.below(5));
}

const store = new Store(path, 0);
for (let number = Number(first); number < Number(first) + Number(transactions); number++) {
  const isDone = store.tryTransaction(() => {
    submit(store, number);
    if (random.chance(0.7)) end(store, number);
    if (random.chance(0.3)) forget(store, number);
    numberTransaction(store, number);
    say("begun", number, contentsOf(store).digest);
  });
  say(isDone ? "done" : "refused", number);
  if (random.chance(0.05)) store.reuseLog();
  if (random.chance(0.1)) store.shrink(100);
}
// Else it ends as if it was killed.
if (random.chance(0.3)) store.close();
