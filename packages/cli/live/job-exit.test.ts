import type { Job } from "@tutti/protocol/schema.ts";
import { expect, test } from "vitest";
import { exitCodeOf } from "./job-exit.ts";

test.each([
  [{ state: "done", code: 0 }, 0],
  [{ state: "failed", code: 3 }, 3],
  [{ state: "failed", signal: "SIGTERM" }, 143],
  [{ state: "failed", signal: "SIGUSR1" }, 138],
  [{ state: "failed", reason: 'lost: Cannot run "./nothere": no such command' }, 127],
  [{ state: "failed", reason: 'lost: Task 0: On h1: Cannot run "x": no such command' }, 127],
  [{ state: "cancelled", reason: "cancelled" }, 1],
] as const)("%j: exit code %i, as in a shell", (job, code) => {
  expect(exitCodeOf(job as unknown as Job)).toBe(code);
});
