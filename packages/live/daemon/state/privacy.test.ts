/** Tests what a user can see of other users' jobs: numbers and CPUs, how many there are, and nothing else. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import { afterAll, expect, test } from "vitest";
import { EventFeed } from "../book/event-feed.ts";
import type { Caller } from "../contract/service.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
} from "../front-end/front-end-for-tests.ts";
import { Store } from "../store/store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-privacy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function eventsOf({ frontEnd }: Pick<Bench, "frontEnd">, caller: Caller): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  frontEnd.listen(caller, 0, (event) => events.push(event))();
  return events;
}

/** The reasons of adoptions, as a user sees them. */
function reasons(events: readonly DaemonEvent[]): unknown[] {
  return events.filter(({ kind }) => kind === "policy").map(({ data }) => data?.adopted);
}

test("the job's owner and administrators see why a policy takes over; others see only that it does", async () => {
  const bench = makeBench({ config: { policy: "connected-reservation" }, runMs: () => 1e6 });
  const { clock, frontEnd, machine, store } = bench;
  const received: DaemonEvent[] = [];
  frontEnd.listen(BEN, 0, (event) => received.push(event));
  const jobs = [request({ tasks: 4 }), request({ tasks: 4 }), request({ tasks: 4 }), request({ tasks: 4 })];
  await answerOf(clock, frontEnd.submit(ANNA, jobs));
  await answerOf(clock, frontEnd.hold(ANNA, 2));
  await answerOf(clock, frontEnd.setPriority(ANNA, 3, -5));
  await answerOf(clock, frontEnd.cancel(ANNA, 4));
  const secrets = ["job 2 is held", "job 3 has another priority", "job 4 was cancelled"];
  expect(reasons(eventsOf(bench, ANNA))).toEqual(expect.arrayContaining(secrets));
  expect(reasons(eventsOf(bench, ROOT))).toEqual(expect.arrayContaining(secrets));
  const secret = /held|priority|cancel|anna|submitted|job [0-9]/;
  for (const events of [received, eventsOf(bench, BEN)]) {
    expect(reasons(events)).toHaveLength(reasons(eventsOf(bench, ROOT)).length);
    expect(JSON.stringify(events)).not.toMatch(secret);
  }
  // The same after a restart, from the disk.
  frontEnd.stop();
  const again = makeBench({ store, clock, machine });
  expect(reasons(eventsOf(again, ANNA))).toEqual(expect.arrayContaining(secrets));
  expect(JSON.stringify(eventsOf(again, BEN))).not.toMatch(secret);
});

test("administrators see what the conductor refuses", () => {
  const store = new Store(":memory:", 0);
  const feed = new EventFeed(store);
  feed.add("conductor", 1, undefined, undefined, { data: { refused: "/home/anna" }, of: undefined });
  feed.commit();
  const seenBy = (caller: Caller) => {
    const events: DaemonEvent[] = [];
    feed.listen(caller, 0, (event) => events.push(event))();
    return events;
  };
  expect(seenBy(BEN)).toEqual([{ sequence: 1, atMs: 1, kind: "conductor" }]);
  expect(seenBy(ROOT)).toMatchObject([{ sequence: 1, data: { refused: "/home/anna" } }]);
});

test("counts of ended jobs do not include other users' jobs", async () => {
  const bench = makeBench({ config: { policy: "fcfs" } });
  const { clock, machine, frontEnd } = bench;
  await answerOf(clock, frontEnd.submit(ANNA, [request(), request(), request({ held: true })]));
  machine.end({ job: 1, attempt: 1 }, "none", { code: 3 });
  await answerOf(clock, frontEnd.submit(BEN, [request({ held: true })]));
  await answerOf(clock, frontEnd.cancel(BEN, 4));
  clock.advanceTo(5000);
  const none = { done: 0, failed: 0, cancelled: 0 };
  expect(frontEnd.status(BEN).counts).toMatchObject({ ...none, held: 1, cancelled: 1 });
  expect(frontEnd.status(ANNA).counts).toMatchObject({ ...none, held: 1, done: 1, failed: 1 });
  expect(frontEnd.status(ROOT).counts).toMatchObject({ held: 1, done: 1, failed: 1, cancelled: 1 });
});
