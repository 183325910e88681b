/** Which pilots there are, by what jobs want: the rules in need.ts, in virtual time. */
import { describe, expect, test } from "vitest";
import { BOTH, HERE, LOST, NOTHING, OTHERS, Stage } from "./slurm-for-tests.ts";

const S = 1000;
const MIN = 60 * S;
/** Slurm is asked at most this much later than something is due. */
const POLL = 6 * S;
/** Another job runs on the pilot. */
const LOST_AND_HERE = LOST;

/** A job waits, and Slurm gives its pilot the nodes. Nothing runs yet. */
async function serving(limits = {}): Promise<Stage> {
  const stage = new Stage(limits, OTHERS);
  await stage.pass(1 * S);
  stage.slurm.run("1");
  await stage.pass(2 * S);
  expect(stage.reports).toEqual(["allocated 1"]);
  stage.want(HERE);
  stage.setBusy(true);
  return stage;
}

/** The jobs have ended. */
function finish(stage: Stage): void {
  stage.setBusy(false);
  stage.want(NOTHING);
}

describe("without jobs", () => {
  test("no pilot is asked for, and that is no trouble; the first job brings one at once", async () => {
    const stage = new Stage({}, NOTHING);
    await stage.pass(24 * 60 * MIN);
    expect(stage.slurm.jobs).toEqual([]);
    expect(stage.trouble).toBeUndefined();
    expect(stage.rests).toBe("no job waits for nodes, so there is no pilot; the next job brings one");
    stage.want(OTHERS);
    await stage.pass(0.1 * S);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["1"]);
    expect([stage.rests, stage.pilots.rests]).toEqual([undefined, undefined]);
  });

  test("a pilot goes back after the idle time, not before; the next job brings another one", async () => {
    const stage = await serving();
    await stage.pass(20 * MIN);
    finish(stage);
    await stage.pass(5 * MIN - 1 * S);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    await stage.pass(1 * S + 2 * POLL);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.reports.slice(1)).toEqual(["released: The pilot 1 is given back: no job runs or waits"]);
    expect([stage.trouble, stage.rests]).toEqual([
      undefined,
      "no job waits for nodes, so there is no pilot; the next job brings one",
    ]);
    // Our own cancellation is nobody else's.
    await stage.pass(60 * MIN);
    expect(stage.slurm.jobs).toHaveLength(1);
    stage.want(OTHERS);
    await stage.pass(1 * S);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["2"]);
  });

  test("a job that comes and goes within the idle time begins it again", async () => {
    const stage = await serving();
    finish(stage);
    await stage.pass(4 * MIN);
    // Shorter than the time between two questions to Slurm.
    stage.want(HERE);
    stage.want(NOTHING);
    await stage.pass(4 * MIN);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    await stage.pass(1 * MIN + 2 * POLL);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
  });

  test("a gang that the store does not know keeps the pilot, too", async () => {
    const stage = await serving();
    stage.want(NOTHING);
    await stage.pass(30 * MIN);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
  });

  test("nothing follows a pilot that drains, unless its jobs may be stopped at its end", async () => {
    for (const [wanted, pilots] of [
      [HERE, 1],
      [BOTH, 2],
    ] as const) {
      const stage = await serving();
      stage.want(wanted);
      await stage.pass(57 * MIN);
      expect(stage.slurm.jobs).toHaveLength(pilots);
    }
  });

  test("a pilot that still waits in Slurm is given up after the idle time", async () => {
    const stage = new Stage({}, OTHERS);
    await stage.pass(1 * MIN);
    stage.want(NOTHING);
    await stage.pass(5 * MIN + 20 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.trouble).toBeUndefined();
  });

  test("a front end that starts again counts the idle time again, and gives the pilot back", async () => {
    const stage = await serving();
    finish(stage);
    await stage.pass(4 * MIN);
    stage.startFrontEnd();
    await stage.pass(10 * S);
    stage.setBusy(false);
    await stage.pass(4 * MIN);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    await stage.pass(1 * MIN + 2 * POLL);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
  });

  test("an administrator may hold one all the same: always, or once", async () => {
    const always = new Stage({ idleMs: undefined }, NOTHING);
    await always.pass(1 * S);
    always.slurm.run("1");
    await always.pass(10 * S);
    always.setBusy(false);
    await always.pass(54 * MIN);
    expect(always.slurm.find("1").state).toBe("RUNNING");

    const once = new Stage({}, NOTHING);
    await once.pass(1 * MIN);
    once.pilots.again();
    await once.pass(1 * S);
    once.slurm.run("1");
    await once.pass(10 * S);
    once.setBusy(false);
    await once.pass(4 * MIN);
    expect(once.slurm.find("1").state).toBe("RUNNING");
    await once.pass(2 * MIN);
    expect(once.slurm.find("1").state).toBe("CANCELLED");
    await once.pass(60 * MIN);
    expect(once.slurm.jobs).toHaveLength(1);
  });
});

describe("jobs that can use only other nodes", () => {
  test("change the pilot as soon as nothing runs on it", async () => {
    const stage = await serving();
    stage.want(LOST_AND_HERE);
    await stage.pass(5 * MIN);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    expect(stage.pilots.next).toBe(
      "pilot 1 has lost nodes; it goes back when nothing runs on it, and then another pilot is asked for; when jobs have waited 10 min for them, nothing else starts on it",
    );
    stage.setBusy(false);
    stage.want(LOST);
    await stage.pass(2 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.reports.slice(1)).toEqual([
      "released: The pilot 1 is given back: the jobs that wait need other nodes",
    ]);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["2"]);
  });

  test("let nothing else start after they have waited ten minutes for lost nodes", async () => {
    const stage = await serving();
    stage.pilots.setLostJobs("n2", [7]);
    stage.want(LOST_AND_HERE);
    await stage.pass(10 * MIN - 1 * S);
    expect(stage.reports).toHaveLength(1);
    await stage.pass(1 * S + 2 * POLL);
    expect(stage.reports.slice(1)).toEqual([expect.stringMatching(/^closing: The pilot 1 has lost nodes/)]);
    expect(stage.notices).toContain("pilot-closed");
    expect(stage.slurm.find("1").state).toBe("RUNNING");
  });

  test("bring three pilots at most on which nothing can start", async () => {
    const stage = new Stage({}, OTHERS);
    for (const id of ["1", "2", "3"]) {
      await stage.pass(2 * S);
      stage.slurm.run(id);
      await stage.pass(2 * S);
      stage.setBusy(false);
      await stage.pass(2 * S);
      expect(stage.slurm.find(id).state).toBe("CANCELLED");
    }
    await stage.pass(60 * MIN);
    expect(stage.slurm.jobs).toHaveLength(3);
    expect(stage.trouble).toBe(
      `nothing could start on 3 pilots in a row, although jobs waited; "tutti allocations start" asks for another one`,
    );
  });
});
