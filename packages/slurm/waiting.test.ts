import { expect, test } from "vitest";
import { newPilot, type Pilot } from "./pilot.ts";
import { nextText } from "./waiting.ts";

function pilot(jobId: string, state: string, reason = "None"): Pilot {
  const job = {
    ...{ id: jobId, state, reason, comment: "", leftS: 60, nodes: [], nodeList: "", batchHost: "" },
    ...{ restarts: 0, startS: undefined, eligibleS: undefined },
  };
  return { ...newPilot({ mark: `tutti:0123456789abcdef:${jobId}`, jobId }, 0), job };
}

test("which pilot takes the jobs that wait for the end of the one in use", () => {
  const inUse = pilot("4", "RUNNING");
  expect(nextText([inUse, pilot("5", "RUNNING")], inUse, true, false)).toBe(
    "the next pilot, 5, has its nodes and takes the waiting jobs when nothing runs on pilot 4, at the latest at that time",
  );
  expect(nextText([inUse, pilot("5", "PENDING", "Resources")], inUse, true, false)).toBe(
    "the next pilot, 5, is pending in Slurm (Resources); Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse, newPilot({ mark: "tutti:0123456789abcdef:5" }, 0)], inUse, true, false)).toBe(
    "the next pilot is being submitted; Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse], inUse, true, false)).toBe(
    "the next pilot is submitted when pilot 4 drains; Slurm decides when it starts, so there is no forecast",
  );
  expect(nextText([inUse], inUse, false, false)).toContain("no other pilot follows");
  expect(nextText([inUse, { ...pilot("5", "RUNNING"), isGivenUp: true }], inUse, false, false)).toContain(
    "no other",
  );
  expect(nextText([pilot("5", "PENDING")], undefined, true, false)).toBeUndefined();
});
