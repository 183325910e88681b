/** Plays pilots whose end nobody sees, or that everybody sees, against a Slurm in virtual time. */
import { describe, expect, test } from "vitest";
import { KIND, NOTHING, Stage } from "./slurm-for-tests.ts";

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

/** A job for one node. By hand: there is room for another pilot of all kinds but the first. */
const WAITS = () => [{ tasks: 2, takenBy: [], isForLost: false }];
const RANGE = { ...KIND, nodes: { min: 1, max: 4 } };
const KINDS = { fixed: [KIND], range: [RANGE], two: [RANGE, { ...RANGE, name: "other" }] };

describe.each(Object.entries(KINDS))("a pilot that somebody cancels while a job runs (%s)", (_, kinds) => {
  async function withJob(): Promise<Stage> {
    const stage = new Stage({ kinds }, WAITS);
    await stage.pass(1 * S);
    stage.slurm.run("1", ["n1"]);
    stage.want(NOTHING);
    await stage.pass(2 * S);
    stage.setBusy({ "1": 1 });
    await stage.pass(100 * S);
    return stage;
  }
  /** What the nodes say of the end comes before Slurm's last word: the job waits again, and has no nodes. */
  function nodesGo(stage: Stage): void {
    stage.setBusy(false);
    stage.want(WAITS);
  }
  async function expectHalted(stage: Stage): Promise<void> {
    stage.slurm.end("1", "CANCELLED");
    await stage.pass(60 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.reports).toEqual(["allocated 1", "released: The pilot 1 was cancelled"]);
    expect(stage.notices).toContain("pilots-halted");
    expect(stage.trouble).toMatch(/^The pilot 1 was cancelled by somebody else; "tutti allocations start"/);
  }

  test("has no successor, whether its end takes long", async () => {
    const stage = await withJob();
    stage.slurm.end("1", "COMPLETING");
    nodesGo(stage);
    await stage.pass(20 * S);
    await expectHalted(stage);
  });

  test("or comes while Slurm is asked", async () => {
    const stage = await withJob();
    stage.slurm.whileAsked = () => {
      stage.slurm.end("1", "COMPLETING");
      nodesGo(stage);
    };
    await stage.pass(20 * S);
    await expectHalted(stage);
  });

  test("or is late because a node hangs: then another one follows, and is given up at the end", async () => {
    const stage = await withJob();
    stage.slurm.end("1", "COMPLETING");
    nodesGo(stage);
    await stage.pass(70 * S);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["1", "2"]);
    stage.slurm.end("1", "CANCELLED");
    await stage.pass(60 * S);
    expect(stage.slurm.alive).toEqual([]);
    expect(stage.notices).toContain("pilots-halted");
  });
});
