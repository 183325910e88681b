import type { Job, UpdateBody } from "@tutti/protocol/schema.ts";
import { expect, test } from "vitest";
import { updatedText } from "./updated-text.ts";

const JOB = {
  queue: "night",
  tasks: 8,
  threads: 2,
  priority: -5,
  name: "x",
  limitMs: 7_200_000,
  memoryBytes: 2 ** 31,
  use: { gpu: 2 },
  retries: 1,
  retryOn: ["fail", "75"],
  retryDelayMs: 60_000,
  beginAtMs: new Date(2040, 0, 2, 23, 0, 0).getTime(),
} as unknown as Job;

test.each<[UpdateBody, string]>([
  [{ limitMs: 7_200_000 }, ", limit 2 h"],
  [{ tasks: 8, threads: 2 }, ", tasks 8, threads 2"],
  [{ queue: "night", memoryBytes: 2 ** 31 }, ", queue night, memory 2 GiB"],
  [{ use: { gpu: 2 } }, ", resources gpu:2"],
  [{ beginAtMs: 1 }, ", begin 2040-01-02 23:00:00"],
  [
    { retries: 1, retryOn: ["fail", "75"], retryDelayMs: 60_000 },
    ", retries 1, retry on fail,75, retry delay 1 min",
  ],
  [{ name: "x", priority: -5 }, ""],
  [{ retries: 1 }, ", retries 1"],
])("after %j", (update, text) => {
  expect(updatedText(JOB, update)).toBe(text);
});
