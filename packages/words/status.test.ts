/** Tests what people read about the nodes of a cluster. */

import type { NodeAnswer } from "@tutti/protocol/answers.ts";
import { expect, test } from "vitest";
import { conductorText, nodesText, nodeText, nodeWarnings, noJobsText, strayText } from "./status.ts";

const up: NodeAnswer = {
  node: "n1",
  state: "up",
  cpus: 4,
  offsetMs: 1_000_000.26,
  uncertaintyMs: 0.0123,
  skewP50Ms: 0.44,
  skewP99Ms: 1.21,
};
const nodes: readonly NodeAnswer[] = [
  up,
  { node: "n2", state: "up", cpus: 1, offsetMs: -3, uncertaintyMs: 12, isUncertain: true },
  { node: "n3", state: "silent", cpus: 4 },
  { node: "n\u001b4", state: "lost", cpus: 0 },
];

test("nodes: how many answer, and how exactly each is known", () => {
  expect(nodesText(nodes)).toBe("2 up, 1 silent, 1 lost");
  expect(nodesText([])).toBe("none now");
  expect(nodes.map(nodeText)).toEqual([
    "n1 up, 4 CPUs, clock known to ± 0.01 ms, slots begin 0.4 ms after the first node (p50), 1.2 ms (p99)",
    "n2 up, 1 CPU, clock known to ± 12.00 ms",
    "n3 silent, 4 CPUs",
    "n\\x1b4 lost, 0 CPUs",
  ]);
});

test("a node that does not answer, is lost, or has an uncertain clock is a warning", () => {
  expect(nodeWarnings([up])).toEqual([]);
  expect(nodeWarnings(nodes)).toEqual([
    "The clock of node n2 is known only within 12.0 ms, more than a tenth of a slot: its gangs may change later than on other nodes. Use longer slots (--slot).",
    "Node n3 does not answer: its gangs are stopped on their other nodes.",
    "Node n\\x1b4 is lost: its gangs are killed on their other nodes, and nothing starts on it.",
  ]);
});

test("the executor of a cluster has no process of its own; a stray names its nodes", () => {
  expect(conductorText({ connected: true, freezer: "signals" })).toBe(
    "connected, gangs are stopped by signals",
  );
  expect(conductorText({ connected: false })).toContain("nothing starts or ends until it is");
  expect(conductorText({ connected: false }, false)).toBe("none yet: there are no nodes now");
  expect(conductorText({ connected: false, rests: "no job waits" }, false)).toBe("none: no job waits");
  const stray = {
    job: 7,
    attempt: 1,
    uid: 1,
    user: "anna",
    state: "running",
    command: ["a"],
    cwd: "/",
  } as const;
  expect(strayText({ ...stray, command: ["a"], folder: "/f", ranMs: 1000, nodes: ["n1", "n2"] })).toBe(
    "job 7, attempt 1, of anna: running on n1, n2 for 1 s: a",
  );
});

test("a user without jobs reads whether others have some", () => {
  const none = {
    queued: 0,
    held: 0,
    starting: 0,
    running: 0,
    paused: 0,
    ending: 0,
    done: 9,
    failed: 1,
    cancelled: 0,
  };
  expect(noJobsText(none)).toBe("No jobs are waiting or running.");
  expect(noJobsText({ ...none, running: 2, ending: 1, queued: 4, held: 1 })).toBe(
    "None of your jobs are waiting or running. Of other users, 3 are running and 5 are waiting.",
  );
  expect(noJobsText({ ...none, running: 1, queued: 1 })).toContain("1 is running and 1 is waiting.");
});
