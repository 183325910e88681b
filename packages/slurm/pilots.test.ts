/**
 * Plays the pilots of a front end against a Slurm that a test controls, in virtual time. The expected reports
 * are those of the rules in docs/slurm.md.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Stage } from "./slurm-for-tests.ts";

const S = 1000;

async function running(limits?: { readonly pilots?: number }): Promise<Stage> {
  const stage = new Stage(limits);
  await stage.pass(1 * S);
  stage.slurm.run("1");
  await stage.pass(2 * S);
  expect(stage.reports).toEqual(["allocated 1"]);
  return stage;
}

describe("a pilot", () => {
  test("is submitted once, waits, and hands out its nodes with drain and stop by our own clock", async () => {
    const stage = new Stage();
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.trouble).toBe(
      "The pilot 1 is pending in Slurm: Resources. Its nodes are in use by other jobs: squeue --start --jobs=1 says when Slurm expects to start it",
    );
    stage.slurm.run("1");
    await stage.pass(1 * S);
    const [{ name, nodes, memoryBytes, end }] = stage.allocations;
    expect(name).toBe("1");
    expect(nodes.map(({ node }) => node)).toEqual(["n1", "n2", "n3", "n4"]);
    expect(memoryBytes).toBe(4000 * 2 ** 20);
    expect(stage.trouble).toBeUndefined();
    // An hour from the answer on, less 300 and 60 s.
    const startMs = end!.drainAtMs - 3300 * S;
    expect(Math.abs(startMs - stage.clock.nowMs())).toBeLessThanOrEqual(1 * S);
    expect(end!.stopAtMs - startMs).toBe(3540 * S);
  });

  test("says how long it still lasts, once it runs", async () => {
    const stage = new Stage();
    await stage.pass(1 * S);
    expect(stage.pilots.status).toEqual([
      { name: "1", state: "PENDING", nodes: [], kind: "all", askedNodes: 4 },
    ]);
    stage.slurm.run("1");
    await stage.pass(100 * S);
    const [{ leftMs }] = stage.pilots.status;
    // An hour, less 100 s, plus at most the 5 s since Slurm was asked.
    expect(leftMs).toBeGreaterThanOrEqual(3500 * S);
    expect(leftMs).toBeLessThanOrEqual(3506 * S);
  });

  test("says within seconds which nodes it lacks and what to do, and when they are back", async () => {
    const stage = new Stage();
    stage.slurm.away = [
      { node: "n2", state: "drained", reason: "none" },
      { node: "n4", state: "down*", reason: "broken disk" },
    ];
    await stage.pass(3 * S);
    expect(stage.trouble).toBe(
      "The pilot 1 is pending in Slurm: Resources. It needs 4 nodes, and 2 of 4 can be used: n2 is drained, n4 is down* (broken disk). Wait until they are back, or end it (tutti down) and ask for fewer (--nodes 2)",
    );
    stage.slurm.away = [];
    await stage.pass(20 * S);
    expect(stage.trouble).toContain("in use by other jobs");
    stage.slurm.find("1").reason = "PartitionTimeLimit";
    await stage.pass(20 * S);
    expect(stage.trouble).toBe(
      "The pilot 1 is pending in Slurm: PartitionTimeLimit. scontrol show job 1 says more",
    );
    stage.slurm.run("1");
    await stage.pass(2 * S);
    expect(stage.trouble).toBeUndefined();
  });

  test("is found again by the next front end, which submits nothing", async () => {
    const stage = await running();
    stage.startFrontEnd();
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.reports).toEqual(["allocated 1", "allocated 1"]);
  });

  test("is followed by the next one at the drain, which is used at once, and goes back when no gang runs", async () => {
    const stage = await running();
    await stage.pass(3290 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    await stage.pass(20 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
    stage.slurm.run("2");
    await stage.pass(30 * S);
    expect(stage.reports).toEqual(["allocated 1", "allocated 2"]);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    stage.setBusy({ "2": 4 });
    await stage.pass(5 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.reports).toEqual(["allocated 1", "allocated 2", "released: The pilot 1 is given back"]);
    expect(stage.trouble).toBeUndefined();
  });

  test("goes back to Slurm after its stop time even if the next one waits for its nodes", async () => {
    const stage = await running();
    await stage.pass(3545 * S);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    stage.setBusy(false);
    await stage.pass(5 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    stage.slurm.run("2");
    await stage.pass(5 * S);
    expect(stage.reports.at(-1)).toBe("allocated 2");
  });

  test("has another end after somebody has changed its time limit, but not for a rounded second", async () => {
    const stage = await running();
    stage.slurm.find("1").leftS! += 2;
    await stage.pass(6 * S);
    expect(stage.allocations).toHaveLength(1);
    stage.slurm.find("1").leftS = 1000;
    await stage.pass(6 * S);
    const [, { name, nodes, end }] = stage.allocations;
    expect([name, nodes.length]).toEqual(["1", 4]);
    expect(Math.abs(end!.stopAtMs - stage.clock.nowMs() - 940 * S)).toBeLessThanOrEqual(6 * S);
    await stage.pass(60 * S);
    expect(stage.allocations).toHaveLength(2);
  });

  test("remembers which jobs have lost attempts on its nodes, and goes back to Slurm if no other node is left", async () => {
    const stage = await running();
    stage.pilots.setLostJobs("n2", [7, 8]);
    stage.pilots.setLostJobs("n3", [7]);
    stage.pilots.setLostJobs("n3", []);
    stage.startFrontEnd();
    await stage.pass(10 * S);
    const lostJobs = () => stage.allocations.at(-1)!.nodes.map((node) => node.lostJobs);
    expect(lostJobs()).toEqual([undefined, [7, 8], undefined, undefined]);
    for (const node of ["n1", "n3", "n4"]) stage.pilots.setLostJobs(node, [8]);
    await stage.pass(10 * S);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    stage.setBusy(false);
    await stage.pass(10 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    stage.slurm.run("2");
    await stage.pass(10 * S);
    expect(stage.reports.at(-1)).toBe("allocated 2");
    expect(lostJobs()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("is the last one with --pilots 1, until somebody asks", async () => {
    const stage = await running({ pilots: 1 });
    await stage.pass(3600 * S);
    stage.slurm.end("1", "TIMEOUT");
    await stage.pass(60 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.reports.at(-1)).toBe("released: The pilot 1 has reached its time limit");
    expect(stage.trouble).toContain("tutti allocations start");
    stage.pilots.again();
    await stage.pass(5 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
  });

  test("that is cancelled by others has a successor if somebody asked before we noticed, but not minutes later", async () => {
    const stage = await running();
    stage.slurm.end("1", "CANCELLED");
    stage.pilots.again();
    stage.startFrontEnd();
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
    stage.slurm.run("2");
    await stage.pass(600 * S);
    stage.slurm.end("2", "CANCELLED");
    await stage.pass(60 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
    expect(stage.trouble).toContain("tutti allocations start");
  });

  test("that is cancelled by others has no successor until somebody asks, also after a restart", async () => {
    const stage = await running();
    stage.slurm.end("1", "CANCELLED");
    await stage.pass(10 * S);
    expect(stage.reports.at(-1)).toBe("released: The pilot 1 was cancelled");
    stage.startFrontEnd();
    await stage.pass(60 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.trouble).toContain("tutti allocations start");
    stage.pilots.again();
    await stage.pass(5 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
  });

  test("that is cancelled by others while it drains takes the waiting one with it", async () => {
    const stage = await running();
    await stage.pass(3310 * S);
    stage.slurm.end("1", "CANCELLED");
    await stage.pass(30 * S);
    expect(stage.slurm.alive).toEqual([]);
    expect(stage.slurm.jobs).toHaveLength(2);
  });

  test("that ends within a minute is tried three times", async () => {
    const stage = new Stage();
    for (const id of ["1", "2", "3"]) {
      await stage.pass(3 * S);
      stage.slurm.run(id);
      await stage.pass(5 * S);
      stage.slurm.end(id, "FAILED");
      await stage.pass(5 * S);
    }
    await stage.pass(60 * S);
    expect(stage.slurm.jobs).toHaveLength(3);
    expect(stage.notices).toContain("pilots-halted");
  });

  test("that Slurm refuses is tried three times", async () => {
    const stage = new Stage();
    stage.slurm.refusal = "Batch job submission failed: Invalid partition name specified";
    await stage.pass(60 * S);
    expect(stage.trouble).toContain(
      "refused the pilot 3 times: Batch job submission failed: Invalid partition",
    );
    stage.slurm.refusal = undefined;
    stage.pilots.again();
    await stage.pass(5 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
  });

  test("loses nodes that leave its list; without the first one, it goes back when no gang runs", async () => {
    const stage = await running();
    Object.assign(stage.slurm.find("1"), { nodes: ["n1", "n2", "n4"] });
    await stage.pass(6 * S);
    expect(stage.reports).toEqual(["allocated 1", "down n3"]);
    stage.setBusy(false);
    await stage.pass(60 * S);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    stage.setBusy(true);
    Object.assign(stage.slurm.find("1"), { nodes: ["n2", "n4"] });
    await stage.pass(6 * S);
    expect(stage.reports.at(-1)).toBe("down n1");
    expect(stage.notices).toContain("batch-host-lost");
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    stage.setBusy(false);
    await stage.pass(6 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["2"]);
  });
});

describe("a controller that serves many", () => {
  test("is asked by a hundred users less than five times a second, whether their pilots wait or run", async () => {
    const stage = new Stage();
    await stage.passQuietly(1 * S);
    const perSecond = async (ms: number) => {
      const before = stage.slurm.asked;
      await stage.passQuietly(ms);
      return (100 * (stage.slurm.asked - before) * S) / ms;
    };
    await stage.passQuietly(10 * 60 * S);
    // A question about the pilot, and now and then one about nodes.
    expect(await perSecond(3600 * S)).toBeLessThan(5);
    stage.slurm.run("1");
    await stage.passQuietly(60 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
    stage.setBusy(true);
    expect(await perSecond(1800 * S)).toBeLessThan(5);
    // Several pilots, and still one question for all.
    await stage.passQuietly(1460 * S);
    stage.slurm.run("2");
    await stage.passQuietly(60 * S);
    expect(stage.slurm.alive).toHaveLength(2);
    stage.slurm.find("1").leftS = undefined;
    stage.setBusy(true);
    expect(await perSecond(1200 * S)).toBeLessThan(5);
  });

  test("is asked at once when a connection is lost: a pilot that was cancelled is noticed within seconds", async () => {
    const stage = await running();
    await stage.passQuietly(100 * S);
    stage.slurm.end("1", "CANCELLED");
    const before = stage.slurm.asked;
    for (let i = 0; i < 50; i++) stage.pilots.suspect();
    await stage.passQuietly(3 * S);
    expect(stage.reports.at(-1)).toBe("released: The pilot 1 was cancelled");
    expect(stage.slurm.asked - before).toBeLessThan(5);
  });
});

describe("a controller that fails", () => {
  test("is away: gangs go on, and nothing is submitted", async () => {
    const stage = await running();
    stage.slurm.isAway = true;
    await stage.pass(600 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
    expect(stage.trouble).toBeUndefined();
    stage.slurm.isAway = false;
    await stage.pass(20 * S);
    expect(stage.notices).toContain("slurm-back");
    expect(stage.slurm.jobs).toHaveLength(1);
  });

  test("loses the answer of sbatch: the job is found by its mark", async () => {
    const stage = new Stage();
    stage.slurm.losesAnswers = true;
    await stage.pass(30 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    stage.slurm.run("1");
    await stage.pass(5 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
  });

  test("loses an acknowledged job: another one is submitted after 15 s", async () => {
    const stage = new Stage({ pilots: 1 });
    await stage.pass(2 * S);
    stage.slurm.forget("1");
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(0);
    await stage.pass(20 * S);
    expect(stage.slurm.jobs.map(({ id }) => id)).toEqual(["2"]);
  });

  test("whose site changes comments gets three pilots, not one every 15 s", async () => {
    const stage = new Stage();
    stage.slurm.changesComments = true;
    await stage.pass(600 * S);
    expect(stage.slurm.jobs).toHaveLength(3);
    expect(stage.trouble).toMatch(
      /^3 pilots in a row were lost: the comment of Slurm's job 3 is "cost centre 7", expected ".+" \(.*the site changes comments\); "tutti allocations start" asks/,
    );
    expect(stage.slurm.cancelled).toEqual([]);
    stage.slurm.changesComments = false;
    stage.pilots.again();
    await stage.pass(5 * S);
    stage.slurm.run("4");
    await stage.pass(5 * S);
    expect(stage.reports).toEqual(["allocated 4"]);
  });

  test("forgets that the pilot runs: it waits again, and its gangs go on", async () => {
    const stage = await running();
    await stage.pass(100 * S);
    Object.assign(stage.slurm.find("1"), { state: "PENDING", nodes: [], batchHost: "", leftS: 3600 });
    await stage.pass(60 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
    expect(stage.notices.filter((kind) => kind === "pilot-forgotten")).toHaveLength(1);
    stage.slurm.run("1");
    await stage.pass(10 * S);
    expect(stage.notices).toContain("pilot-back");
    // It has another end, but nobody has changed its time limit.
    expect(stage.notices).not.toContain("pilot-end");
    expect(stage.allocations).toHaveLength(2);
    expect(stage.allocations[1].end!.stopAtMs).toBeGreaterThan(stage.allocations[0].end!.stopAtMs + 100 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
  });

  test("ends what it has forgotten, and calls that cancelled: the next pilot follows", async () => {
    const stage = await running();
    await stage.pass(100 * S);
    // Recorded: the time that is left is that of a job without a start.
    Object.assign(stage.slurm.find("1"), { state: "CANCELLED", leftS: 3600 });
    await stage.pass(10 * S);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["2"]);
  });

  test("no longer knows the pilot: its gangs go on as long as a conductor answers", async () => {
    const stage = await running();
    stage.slurm.forget("1");
    await stage.pass(300 * S);
    expect(stage.reports).toEqual(["allocated 1"]);
    stage.isHeard = false;
    await stage.pass(30 * S);
    expect(stage.reports.at(-1)).toBe("released: Slurm no longer knows the pilot 1");
    expect(stage.slurm.jobs).toHaveLength(1);
  });

  test("uses the id again: the other job is never cancelled", async () => {
    const stage = await running();
    stage.slurm.forget("1");
    stage.slurm.add("1", "somebody's");
    await stage.pass(20 * S);
    await Promise.all([stage.pilots.release(), stage.pass(30 * S)]);
    expect(stage.slurm.cancelled).toEqual([]);
    expect(stage.stored.pilots).toEqual([]);
  });

  test("forgets a cancellation: it is repeated", async () => {
    const stage = await running();
    await stage.pass(3545 * S);
    stage.slurm.forgetsCancels = 1;
    stage.setBusy(false);
    await stage.pass(60 * S);
    expect(stage.slurm.cancelled).toEqual(["1", "1"]);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
  });
});

describe("a disk that is full", () => {
  test("hides no end of a pilot, and no pilot is submitted until it is on disk", async () => {
    const stage = await running();
    await stage.pass(100 * S);
    stage.isDiskFull = true;
    stage.slurm.end("1", "TIMEOUT");
    await stage.pass(60 * S);
    expect(stage.reports.at(-1)).toBe("released: The pilot 1 has reached its time limit");
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.notices).toContain("slurm-away");
    expect(stage.trouble).toBe("Cannot write: no space left on device");
    stage.pilots.again();
    stage.isDiskFull = false;
    await stage.pass(20 * S);
    expect(stage.stored.pilots.map(({ jobId }) => jobId)).toEqual(["2"]);
    stage.slurm.run("2");
    await stage.pass(5 * S);
    expect(stage.reports.at(-1)).toBe("allocated 2");
  });

  test("keeps no pilot from being given back", async () => {
    const stage = await running();
    stage.isDiskFull = true;
    await Promise.all([stage.pilots.release(), stage.pass(30 * S)]);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
  });
});

test("whatever happens, at most two pilots live, none is cancelled that is not ours, and release ends all", async () => {
  const event = fc.constantFrom(
    "away",
    "back",
    "deaf",
    "hears",
    "run",
    "end",
    "cancel",
    "restart",
    "idle",
    "again",
    "wait",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 40 }), fc.nat(20), async (events, waitS) => {
      const stage = new Stage();
      const { slurm } = stage;
      slurm.add("900", "somebody's");
      for (const what of events) {
        const first = slurm.alive.find(({ id, state }) => id !== "900" && state === "PENDING");
        const held = slurm.alive.find(({ state }) => state === "RUNNING");
        if (what === "away" || what === "back") slurm.isAway = what === "away";
        else if (what === "deaf" || what === "hears") slurm.losesAnswers = what === "deaf";
        else if (what === "run" && first !== undefined) slurm.run(first.id);
        else if (what === "end" && held !== undefined) slurm.end(held.id, "TIMEOUT");
        else if (what === "cancel" && held !== undefined) slurm.end(held.id, "CANCELLED");
        else if (what === "restart") stage.startFrontEnd();
        else if (what === "idle") stage.setBusy(false);
        else if (what === "again") stage.pilots.again();
        await stage.pass(what === "wait" ? 3550 * S : waitS * S);
        expect(slurm.alive.length).toBeLessThanOrEqual(3);
        const marks = slurm.jobs.map(({ comment }) => comment);
        expect(new Set(marks).size).toBe(marks.length);
      }
      slurm.isAway = false;
      await Promise.all([stage.pilots.release(), stage.pass(60 * S)]);
      expect(slurm.alive.map(({ id }) => id)).toEqual(["900"]);
    }),
    { numRuns: 150 },
  );
});
