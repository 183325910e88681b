import { expect, test } from "vitest";
import { newPilot, type Pilot } from "./pilot.ts";
import { comingText, nextText } from "./waiting.ts";

function pilot(jobId: string, state: string, reason = "None"): Pilot {
  const job = {
    ...{ id: jobId, state, reason, comment: "", leftS: 60, nodes: [], nodeList: "", batchHost: "" },
    ...{ restarts: 0, startS: undefined, eligibleS: undefined },
  };
  return { ...newPilot({ mark: `tutti:0123456789abcdef:${jobId}`, jobId }, 0), job };
}

const used = (jobId: string): Pilot => {
  return { ...pilot(jobId, "RUNNING"), allocation: { name: jobId, nodes: [], memoryBytes: 0 } };
};

test("which pilot takes the jobs that wait for the end of those in use", () => {
  const inUse = used("4");
  expect(nextText([inUse, used("5")], true, false)).toBe(
    "another pilot follows when none of the pilots 4 and 5 can hold what waits, and there is room for it; Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse, pilot("5", "PENDING", "Resources")], true, false)).toBe(
    "the next pilot, 5, is pending in Slurm (Resources); Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse, newPilot({ mark: "tutti:0123456789abcdef:5" }, 0)], true, false)).toBe(
    "the next pilot is being submitted; Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse], true, false)).toBe(
    "another pilot follows when pilot 4 cannot hold what waits, and there is room for it; Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse], false, false)).toContain("no other pilot follows");
  expect(nextText([inUse, { ...pilot("5", "RUNNING"), isGivenUp: true }], false, false)).toContain(
    "no other",
  );
  expect(nextText([pilot("5", "PENDING")], true, false)).toBeUndefined();
});

test("which pilots are on their way", () => {
  const ended = { ...pilot("6", "PENDING"), isGivenUp: true as const };
  expect(comingText([used("4"), ended])).toBeUndefined();
  expect(comingText([used("4"), pilot("5", "PENDING")])).toBe("pilot 5 is pending in Slurm");
  expect(comingText([pilot("5", "PENDING"), ended, pilot("7", "PENDING")])).toBe(
    "pilots 5 and 7 are pending in Slurm",
  );
});
