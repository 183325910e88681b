/** Plays pilots whose end nobody sees, or that everybody sees, against a Slurm in virtual time. */
import { expect, test } from "vitest";
import { Stage } from "./slurm-for-tests.ts";

const S = 1000;

async function running(): Promise<Stage> {
  const stage = new Stage();
  await stage.pass(1 * S);
  stage.slurm.run("1");
  await stage.pass(2 * S);
  expect(stage.reports).toEqual(["allocated 1"]);
  return stage;
}

test.each([
  ["TIMEOUT", "released: The pilot 1 has reached its time limit", 2],
  ["CANCELLED", "released: The pilot 1 was cancelled", 1],
  ["forgotten", "released: Slurm no longer knows the pilot 1", 1],
])(
  "a pilot that ends (%s) while no front end is there is reported by the next one",
  async (how, report, jobs) => {
    const stage = await running();
    await stage.pass(100 * S);
    stage.pilots.close();
    if (how === "forgotten") stage.slurm.forget("1");
    else stage.slurm.end("1", how);
    await stage.pass(600 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
    stage.isHeard = false;
    stage.startFrontEnd();
    await stage.pass(20 * S);
    expect(stage.reports).toEqual(["allocated 1", report]);
    expect(stage.slurm.jobs).toHaveLength(jobs);
    // Once is enough.
    stage.startFrontEnd();
    await stage.pass(20 * S);
    expect(stage.reports).toHaveLength(2);
  },
);

test("a pilot that is given back is reported once", async () => {
  const stage = await running();
  await stage.pass(3545 * S);
  stage.setBusy(false);
  await stage.pass(60 * S);
  expect(stage.reports).toEqual(["allocated 1", "released: The pilot 1 is given back"]);
});
