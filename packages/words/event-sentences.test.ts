/** Tests the sentences of events. */

import type { Event } from "@tutti/protocol/answers.ts";
import type { EventKind } from "@tutti/protocol/events.ts";
import { expect, test } from "vitest";
import { eventSentence } from "./event-sentences.ts";

function sentence(kind: EventKind, data: Event["data"] | undefined) {
  const event: Event = { sequence: 1, atMs: 0, kind, ...(data !== undefined && { data }) };
  return eventSentence(event, "job 7 (sim)");
}

test("what people do to jobs, in words", () => {
  expect(sentence("held", undefined)).toBe("job 7 (sim) was held");
  expect(sentence("held", { because: "it may have run" })).toBe("job 7 (sim) was held: it may have run");
  expect(sentence("released", undefined)).toBe("job 7 (sim) was released");
  expect(sentence("requeued", { attempt: 1, reason: "requeued", ranMs: 5 })).toBe("job 7 (sim) was requeued");
  expect(sentence("paused", { by: "ana" })).toBe("ana paused job 7 (sim)");
  expect(sentence("paused", { by: "ana", release: true })).toBe(
    "ana paused job 7 (sim), and other jobs may use its CPUs",
  );
  expect(sentence("resumed", { by: "ana" })).toBe("ana resumed job 7 (sim)");
  expect(
    sentence("updated", { by: "ana", tasks: 8, limitMs: 7_200_000, before: "tasks=4", was: { tasks: 4 } }),
  ).toBe("ana changed job 7 (sim): tasks 8, limit 2 h");
  expect(sentence("updated", { by: "ana", name: "a\u001b", use: "gpu:1", before: "" })).toBe(
    "ana changed job 7 (sim): name a\\x1b, resources gpu:1",
  );
  expect(sentence("eligible", { attempt: 0 })).toBe("job 7 (sim) joined the queue at its begin");
  expect(sentence("eligible", { attempt: 1 })).toBe("job 7 (sim) joined the queue for its next attempt");
  expect(sentence("drained", { by: "root", reason: "disk" })).toBe(
    "root drained the scheduler: nothing starts: disk",
  );
  expect(sentence("undrained", { by: "root" })).toBe("root undrained the scheduler: jobs start again");
  expect(sentence("requeued", { attempt: 1, reason: "lost", ranMs: 5 })).toBe(
    "job 7 (sim) was requeued: lost",
  );
  expect(sentence("priority", { before: 0, after: 5 })).toBe("priority of job 7 (sim) changed from 0 to 5");
  expect(sentence("cancelled", undefined)).toBe("job 7 (sim) was asked to end");
  expect(sentence("cancelled", { attempt: 2, stray: true, by: "root" })).toBe(
    "root asked attempt 2 of job 7 (sim) to end",
  );
});

test("what happens to the scheduler, in words", () => {
  expect(sentence("policy", { before: "fcfs", after: "gang", by: "root" })).toBe(
    "root switched the policy from fcfs to gang",
  );
  expect(sentence("policy", { after: "fcfs" })).toBe("the policy failed, so fcfs is in force");
  expect(sentence("policy", { policy: "gang", adopted: "a CPU is gone" })).toBe(
    "policy gang continued with the current jobs: a CPU is gone",
  );
  expect(sentence("conductor", { pid: 9, attempts: 1 })).toBe("the conductor connected, with 1 attempt");
  expect(sentence("conductor", { refused: "no\u202efolder" })).toBe(
    "the conductor refused a command: no\\u202efolder",
  );
  expect(sentence("conductor", undefined)).toBe("the conductor refused a command");
  expect(sentence("recovered", { because: "an old store" })).toBe("recovered: an old store");
  expect(sentence("recovered", { attempt: 1, found: true })).toBe(
    "job 7 (sim) ended while the scheduler was away",
  );
  expect(sentence("recovered", { attempt: 1, found: false })).toBe(
    "job 7 (sim) was lost while the scheduler was away",
  );
  expect(sentence("recovered", { attempt: 1, stray: true, command: "a\u001b" })).toBe(
    "attempt 1 of job 7 (sim) runs without a record: a\\x1b",
  );
});

test("steps of a decision, what jobs say themselves, and unknown kinds are left out", () => {
  expect(sentence("matrix", { sequence: 11, fromSlot: 3, rows: 1, jobs: "7" })).toBeUndefined();
  expect(sentence("starting", { attempt: 1, cpus: "0", rule: "placed", timeMs: 1 })).toBeUndefined();
  expect(sentence("placed", { row: 0 })).toBeUndefined();
  expect(sentence("removed", { row: 0 })).toBeUndefined();
  expect(sentence("cancelled", { reason: "cancelled by root" })).toBeUndefined();
  for (const kind of ["submitted", "started", "ended", "toString", "future"])
    expect(eventSentence({ sequence: 1, atMs: 0, kind }, "job 7")).toBeUndefined();
});
