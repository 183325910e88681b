/** A small form of `npm run bench:forecasts`, on generated jobs: real logs are not part of the project. */

import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { expect, test } from "vitest";
import { calibrate, type Log, withFailures } from "../bench/forecast-calibration.ts";

const USERS = 12;
const KINDS = 3;

/** Each kind of each user needs about the same share of its limits. */
async function modelled(): Promise<Log> {
  const workload = await openSource("lublin:jobs=700:processors=64:load=0.85", 3);
  const random = new Random(3, "users");
  const uids = Array.from({ length: workload.count }, () => random.below(USERS));
  const kinds = uids.map(() => random.below(KINDS));
  const shares = Array.from({ length: USERS * KINDS }, () => 0.05 + 0.9 * random.uniform());
  const estimateS = workload.jobs.runS.map((runS, row) =>
    Math.max(60, runS / Math.min(1, shares[KINDS * uids[row] + kinds[row]] * (0.7 + 0.6 * random.uniform()))),
  );
  const instance = prepare({ ...workload, jobs: { ...workload.jobs, estimateS } }, 64, DEFAULT_RULES);
  return { instance, uid: (row) => uids[row], name: (row) => `kind ${kinds[row]}`, state: () => "done" };
}

test("80 % ranges hold at least three starts in four, with failures in the history", async () => {
  const halves = calibrate(withFailures(await modelled(), 5, 0.28, 0.26), "easy");
  const [judged, within] = [halves[0].judged + halves[1].judged, halves[0].within + halves[1].within];
  expect(judged).toBeGreaterThan(200);
  expect(within / judged).toBeGreaterThan(0.75);
});
