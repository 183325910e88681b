/** Tests sentences of tutti why that tell what a stranger must do. */

import type { Job, WhyAnswer } from "@tutti/protocol/answers.ts";
import { expect, test } from "vitest";
import { whySentences } from "./why.ts";

const JOB = { job: 3, queue: "default", state: "queued" } as Job;

function sentencesOf(obstacle: WhyAnswer["obstacles"][number]): string[] {
  const why: WhyAnswer = {
    schema: "tutti.why/1",
    job: 3,
    state: "queued",
    waitedMs: 1000,
    tasks: 1,
    freeCpus: 1,
    queuedBefore: 0,
    obstacles: [obstacle],
    forecast: { p10Ms: 0, p50Ms: 0, p90Ms: 0, endP10Ms: 0, endP50Ms: 0, endP90Ms: 0 },
  };
  return whySentences(why, JOB).slice(1);
}

test("a job that asks for more units than are configured cannot start; one that paused jobs block waits", () => {
  const units = { kind: "capacity-units" as const, resource: "gpu", needed: 4 };
  expect(sentencesOf({ ...units, present: 2, configured: 2 })).toEqual([
    "It cannot start: it needs 4 units of gpu, and the configuration now names only 2. It waits until an administrator names more; tutti update --use gpu:2 or tutti cancel ends the wait.",
  ]);
  expect(sentencesOf({ ...units, present: 0, configured: 0 })).toEqual([
    "It cannot start: it needs 4 units of gpu, and the configuration no longer names any. It waits until an administrator names more; tutti cancel ends the wait.",
  ]);
  expect(sentencesOf({ ...units, present: 1, configured: 4 })).toEqual([
    "It needs 4 units of gpu, but only 1 can be given to jobs now.",
  ]);
});

test("a job that is too large for now says how much there is, of one pilot if there are several", () => {
  const cpus = { kind: "capacity" as const, needed: 8, most: 8 };
  const first = (obstacle: WhyAnswer["obstacles"][number]) => sentencesOf(obstacle)[0];
  expect([
    first({ ...cpus, present: 0 }),
    first({ ...cpus, present: 1 }),
    first({ ...cpus, present: 6, next: "the next pilot is submitted when pilot 5 drains" }),
    first({ ...cpus, present: 6, parts: 2 }),
  ]).toEqual([
    "It needs 8 CPUs, but there are none now; there can be 8.",
    "It needs 8 CPUs, but there is only 1 now; there can be 8.",
    "It needs 8 CPUs, but there are only 6 now; there can be 8: the next pilot is submitted when pilot 5 drains.",
    "It needs 8 CPUs on one pilot, and the largest of 2 has only 6 now; there can be 8.",
  ]);
  const memory = { kind: "capacity-memory" as const, neededBytes: 4 * 2 ** 30, presentBytes: 2 ** 30 };
  expect([first(memory), first({ ...memory, parts: 3 })]).toEqual([
    "It needs 4 GiB of memory, but there is only 1 GiB now.",
    "It needs 4 GiB of memory on one pilot, and the largest of 3 has only 1 GiB now.",
  ]);
  const threads = { kind: "capacity-threads" as const, tasks: 2, threads: 4, present: 1 };
  expect(first({ ...threads, parts: 2 })).toBe(
    "It needs 2 tasks of 4 threads, and the threads of a task need CPUs on one node; those of the largest pilot have room for only 1 of the tasks now.",
  );
});

test("a job that nothing can hold says what each kind lacks", () => {
  const message = 'no kind of pilots can hold it: "wide" is there for limits up to 1.00 h';
  expect(sentencesOf({ kind: "never", message })).toEqual([
    `It cannot start: ${message}. tutti update asks for less; tutti cancel ends the wait.`,
  ]);
});
