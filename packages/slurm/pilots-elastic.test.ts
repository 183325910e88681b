/** Several pilots at once, of different kinds, sizes and ends, as the queue needs them, in virtual time. */
import type { Wish } from "@tutti/live/daemon/executor/executor.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOTHING, Stage } from "./slurm-for-tests.ts";
import type { PilotKind } from "./slurm-options.ts";

const S = 1000;
const MIN = 60 * S;
const HOUR = 60 * MIN;

/** Nodes of the fake Slurm have 2 CPUs. */
const SMALL: PilotKind = {
  name: "small",
  nodes: { min: 1, max: 2 },
  timeMs: { min: 10 * MIN, max: HOUR },
  sbatch: ["--partition=short"],
};
const LONG: PilotKind = {
  ...SMALL,
  name: "long",
  nodes: { min: 1, max: 4 },
  timeMs: { min: HOUR, max: 8 * HOUR },
};
const KINDS = { kinds: [SMALL, LONG], maxNodes: 6 };

const wish = (tasks: number, limitMs?: number, more: Partial<Wish> = {}): Wish => ({
  ...{ tasks, limitMs, takenBy: [], isForLost: false },
  ...more,
});
/** Each pilot in use takes them. */
const waits =
  (...wishes: readonly Wish[]) =>
  (takenBy: readonly string[]): readonly Wish[] =>
    wishes.map((one) => (one.isForLost ? one : { ...one, takenBy }));

/** The pilots that are alive in Slurm: kind, nodes, minutes. */
const alive = ({ stored, slurm }: Stage) =>
  stored.pilots
    .filter(({ jobId }) => slurm.alive.some(({ id }) => id === jobId))
    .map(({ kind, nodes, timeMs }) => `${kind} ${nodes} ${timeMs! / MIN}`);

describe("pilots", () => {
  test("are as wide and as long as what waits needs, of the first kind that can hold it", async () => {
    const stage = new Stage(KINDS, waits(wish(3, 20 * MIN - 298.5)));
    await stage.pass(10 * S);
    // By hand: 3 CPUs are 2 nodes; 20 min, 1 min before the stop and 1 min to begin, in whole minutes.
    expect(alive(stage)).toEqual(["small 2 22"]);
    const wide = new Stage(KINDS, waits(wish(5, 20 * MIN)));
    await wide.pass(10 * S);
    expect(alive(wide)).toEqual(["long 3 60"]);
    const endless = new Stage(KINDS, waits(wish(1)));
    await endless.pass(10 * S);
    expect(alive(endless)).toEqual(["small 1 60"]);
  });

  test("have a node each: of two that Slurm gives the same one, the second goes without it, and ends alone", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN), wish(2, 3 * HOUR)));
    await stage.pass(10 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.slurm.run("2", ["n2", "n3"]);
    stage.want(NOTHING);
    stage.setBusy({ "1": 2 });
    await stage.pass(10 * S);
    expect(stage.allocations.map(({ nodes }) => nodes.map(({ node }) => node))).toEqual([
      ["n1", "n2"],
      ["n3"],
    ]);
    expect(stage.notices).toContain("node-twice");
    // Jobs run on the first one only.
    stage.setBusy({ "1": 2, "2": 0 });
    await stage.pass(6 * MIN);
    expect(alive(stage)).toEqual(["small 2 12"]);
    expect(stage.endedOn).toEqual(["n3"]);
  });

  test("are several at once: another one for a job that the first cannot hold, and one more as the queue grows", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN), wish(2, 3 * HOUR)));
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["small 2 12", "long 1 182"]);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.slurm.run("2", ["n3"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    expect(stage.reports).toEqual(["allocated 1", "allocated 2"]);
    stage.setBusy({ "1": 2, "2": 1 });
    // Three more jobs wait that these pilots could take, and there may be 6 nodes.
    const more = wish(2, 10 * MIN);
    stage.want(waits(more, more, more));
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["small 2 12", "long 1 182", "small 2 17"]);
    await stage.pass(10 * MIN);
    expect(stage.slurm.alive).toHaveLength(3);
  });

  test("shrink one by one: each goes back after its own idle time", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 40 * MIN), wish(2, 3 * HOUR)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.slurm.run("2", ["n3"]);
    stage.want(NOTHING);
    await stage.pass(5 * S);
    stage.want(NOTHING);
    stage.setBusy({ "1": 2, "2": 1 });
    await stage.pass(2 * MIN);
    stage.setBusy({ "2": 1 });
    await stage.pass(5 * MIN - 10 * S);
    expect(stage.slurm.find("1").state).toBe("RUNNING");
    await stage.pass(25 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    expect(stage.slurm.find("2").state).toBe("RUNNING");
    expect(stage.reports.at(-1)).toBe("released: The pilot 1 is given back: no job runs or waits");
    expect(stage.trouble).toBeUndefined();
  });

  test("replace what was lost: a job that no longer fits gets a pilot of its own", async () => {
    const stage = new Stage({ kinds: [LONG], maxNodes: 6 }, waits(wish(8, 30 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2", "n3", "n4"]);
    stage.want(NOTHING);
    await stage.pass(5 * S);
    stage.setBusy({ "1": 4 });
    Object.assign(stage.slurm.find("1"), { nodes: ["n1", "n2", "n3"] });
    await stage.pass(6 * S);
    expect(stage.reports.at(-1)).toBe("down n4");
    // By hand: 6 nodes at once, 3 of them held: room for 3, and 7 CPUs need 4.
    stage.want(waits(wish(7, 30 * MIN, { isForLost: true })));
    await stage.pass(6 * S);
    expect(alive(stage)).toEqual(["long 4 60"]);
    // What still runs there is short, and 5 CPUs fit into the room that is left.
    stage.want(waits(wish(5, 30 * MIN, { isForLost: true })));
    await stage.pass(6 * S);
    expect(alive(stage)).toEqual(["long 4 60", "long 3 60"]);
    // It pends for long. The first one goes on, since the job has another one to wait for.
    await stage.pass(15 * MIN);
    expect(stage.reports.filter((text) => text.startsWith("closing"))).toEqual([]);
  });

  test("ask for no more node-hours than they may, and say so; who asks begins the count again", async () => {
    const limits = {
      kinds: [{ ...LONG, timeMs: { min: HOUR, max: HOUR } }],
      maxNodes: 4,
      maxNodeMs: 7 * HOUR,
    };
    const stage = new Stage(limits, waits(wish(8, 30 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2", "n3", "n4"]);
    stage.want(NOTHING);
    await stage.pass(5 * S);
    stage.setBusy({ "1": 4 });
    stage.want(waits(wish(8, 30 * MIN)));
    await stage.pass(HOUR);
    stage.slurm.end("1", "TIMEOUT");
    await stage.pass(20 * S);
    // 4 of 7 node-hours are used, and another pilot for the job would need 4.
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.trouble).toBe(
      'What is left of the 7 node-hours of --max-node-hours is less than the waiting jobs need; "tutti allocations start" asks for another one',
    );
    stage.want(waits(wish(4, 30 * MIN)));
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["long 2 60"]);
    stage.want(waits(wish(8, 30 * MIN)));
    await stage.pass(10 * S);
    expect(stage.slurm.alive).toHaveLength(1);
    stage.slurm.end("2", "CANCELLED");
    stage.pilots.again();
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["long 4 60"]);
  });

  test("have a bill: node time asked for, used and idle, over restarts of the front end", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(NOTHING);
    await stage.pass(6 * S);
    const startMs = stage.clock.nowMs();
    stage.setBusy({ "1": 2 });
    await stage.pass(3 * MIN);
    stage.setBusy({ "1": 1 });
    await stage.pass(2 * MIN);
    stage.setBusy({});
    await stage.pass(5 * MIN + 12 * S);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
    const lastedMs = stage.clock.nowMs() - startMs;
    const { askedNodeMs, usedNodeMs, idleNodeMs } = stage.pilots.bill;
    expect(askedNodeMs).toBe(2 * 12 * MIN);
    // Both nodes, and some seconds before and after.
    expect(Math.abs(usedNodeMs - 2 * lastedMs)).toBeLessThan(2 * 12 * S);
    // One of them for 2 min, both for 5 min.
    expect(Math.abs(idleNodeMs - (2 + 10) * MIN)).toBeLessThan(2 * 12 * S);
    stage.startFrontEnd();
    await stage.pass(10 * S);
    expect(stage.pilots.bill).toEqual({ askedNodeMs, usedNodeMs, idleNodeMs });
  });

  test("have a bill on disk that is at most two minutes old, since a front end may be killed", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 50 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 1 });
    await stage.passQuietly(20 * MIN);
    const [{ ranMs, idleNodeMs }] = stage.stored.pilots;
    // By hand: one of two nodes was idle for 20 min.
    expect(Math.abs(idleNodeMs! - 19 * MIN)).toBeLessThanOrEqual(1 * MIN);
    expect(Math.abs(ranMs! - 19 * MIN)).toBeLessThanOrEqual(1.5 * MIN);
  });

  test("are no strays while only the answer of sbatch is lost, although another one starts meanwhile", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.losesAnswers = true;
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(() => [wish(2, 3 * HOUR)]);
    await stage.pass(10 * S);
    stage.slurm.losesAnswers = false;
    await stage.pass(20 * S);
    expect(stage.slurm.cancelled).toEqual([]);
    expect(stage.stored.pilots.map(({ jobId }) => jobId)).toEqual(["1", "2"]);
    expect(stage.notices).not.toContain("pilots-halted");
  });

  test("whose nodes never answer go back after the idle time, and do not keep others from coming", async () => {
    const stage = new Stage({ ...KINDS, kinds: [LONG] }, waits(wish(2, 2 * HOUR)));
    await stage.pass(5 * S);
    stage.answers = false;
    stage.slurm.run("1", ["n1"]);
    stage.want(() => [wish(2, 2 * HOUR)]);
    await stage.pass(1 * MIN);
    expect(stage.slurm.jobs).toHaveLength(1);
    stage.setBusy(false);
    await stage.pass(2 * MIN);
    expect(stage.slurm.jobs.length).toBeGreaterThan(1);
    await stage.pass(8 * MIN);
    expect(stage.slurm.find("1").state).toBe("CANCELLED");
  });

  test("that are all given back by tutti down stay in the bill", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 2 });
    await stage.pass(10 * MIN);
    await Promise.all([stage.pilots.release(), stage.pass(30 * S)]);
    stage.startFrontEnd();
    await stage.pass(5 * S);
    expect(Math.abs(stage.pilots.bill.usedNodeMs - 20 * MIN)).toBeLessThan(1 * MIN);
  });

  test("are billed for the time in which no front end was there, whether they end in it or not", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 50 * MIN), wish(2, 3 * HOUR)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.slurm.run("2", ["n3"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 1, "2": 1 });
    await stage.pass(20 * MIN);
    stage.pilots.close();
    await stage.pass(10 * MIN);
    stage.slurm.end("1", "TIMEOUT");
    await stage.pass(10 * MIN);
    stage.startFrontEnd();
    await stage.pass(5 * S);
    // By hand: two nodes for 30 min, of which one was idle, and one for 40. Nothing begins meanwhile.
    const { usedNodeMs, idleNodeMs } = stage.pilots.bill;
    expect(Math.abs(usedNodeMs - 100 * MIN)).toBeLessThan(1 * MIN);
    expect(Math.abs(idleNodeMs - 30 * MIN)).toBeLessThan(1 * MIN);
    // Somebody changes its limit: its time is that since its start.
    stage.slurm.find("2").leftS = 60 * 60;
    stage.startFrontEnd();
    await stage.pass(5 * S);
    expect(Math.abs(stage.pilots.bill.usedNodeMs - 100 * MIN)).toBeLessThan(1 * MIN);
  });

  test("have an idle time that a front end that is killed does not take back", async () => {
    const stage = new Stage(KINDS, waits(wish(8, 50 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2", "n3", "n4"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 4 });
    await stage.pass(10 * MIN);
    stage.setBusy({ "1": 1 });
    await stage.pass(50 * S);
    const before = stage.pilots.bill.idleNodeMs;
    stage.killFrontEnd();
    await stage.pass(5 * S);
    // By hand: three nodes for 50 to 65 s; the nodes that have begun at all were idle for some seconds.
    const { idleNodeMs } = stage.pilots.bill;
    expect(idleNodeMs).toBeGreaterThanOrEqual(before);
    expect(idleNodeMs).toBeLessThan(4 * 15 * S + 3 * 65 * S);
    // Gangs begin on all nodes, and soon after, the scheduler is ended for half an hour: no node was idle.
    stage.setBusy({ "1": 3 });
    stage.setBusy({ "1": 4 });
    const then = stage.pilots.bill.idleNodeMs;
    stage.pilots.close();
    await stage.pass(30 * MIN);
    stage.startFrontEnd();
    await stage.pass(5 * S);
    expect(stage.pilots.bill.idleNodeMs - then).toBeLessThan(4 * S);
  });

  test("that tutti down gives back count for the node-hours, also for the next front end", async () => {
    const kinds = [{ ...LONG, timeMs: { min: HOUR, max: HOUR } }];
    const stage = new Stage({ kinds, maxNodes: 4, maxNodeMs: 5 * HOUR }, waits(wish(8, 30 * MIN)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2", "n3", "n4"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 4 });
    await stage.pass(30 * MIN);
    await Promise.all([stage.pilots.release(), stage.pass(30 * S)]);
    stage.startFrontEnd();
    // By hand: 2 of 5 node-hours are used, and the job would need 4.
    stage.want(waits(wish(8, 30 * MIN)));
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
    expect(stage.pilots.trouble).toMatch(/^What is left of the 5 node-hours/);
  });

  test("that did not say what they had asked for are billed for the limit that Slurm tells", async () => {
    const stage = new Stage({ ...KINDS, kinds: [LONG] }, waits(wish(4, 2 * HOUR)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.pilots.close();
    for (const pilot of stage.stored.pilots) Object.assign(pilot, { nodes: undefined, timeMs: undefined });
    await stage.pass(10 * MIN);
    stage.startFrontEnd();
    await stage.pass(5 * S);
    expect(stage.pilots.bill.askedNodeMs).toBe(2 * 122 * MIN);
  });

  test("that an earlier front end has used are all looked for before any jobs are called lost", async () => {
    const stage = new Stage(KINDS, waits(wish(4, 10 * MIN), wish(2, 3 * HOUR)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.slurm.run("2", ["n3"]);
    stage.want(NOTHING);
    await stage.pass(5 * S);
    expect(stage.pilots.isFinding).toBe(false);
    stage.slurm.isAway = true;
    stage.startFrontEnd();
    await stage.pass(60 * S);
    expect(stage.pilots.isFinding).toBe(true);
    stage.slurm.isAway = false;
    await stage.pass(20 * S);
    expect(stage.pilots.isFinding).toBe(false);
    expect(stage.reports.slice(2)).toEqual(["allocated 1", "allocated 2"]);
    expect(stage.pilots.pilotOf("n3")?.jobId).toBe("2");
    expect(stage.pilots.pilotOf("n2")?.jobId).toBe("1");
  });
});

describe("one pilot after the other", () => {
  const running = async (limits = {}) => {
    const stage = new Stage({ ...KINDS, kinds: [LONG], ...limits }, waits(wish(4, 2 * HOUR)));
    await stage.pass(5 * S);
    stage.slurm.run("1", ["n1", "n2"]);
    stage.want(NOTHING);
    await stage.pass(10 * S);
    stage.setBusy({ "1": 2 });
    return stage;
  };

  test("no other is asked for because of a job that waits only for its next slot", async () => {
    const stage = await running();
    for (let i = 0; i < 20; i++) {
      stage.want(waits(wish(2, HOUR)));
      await stage.pass(0.5 * S);
      stage.want(NOTHING);
      await stage.pass(0.5 * S);
    }
    expect(stage.slurm.jobs).toHaveLength(1);
    stage.want(waits(wish(2, HOUR)));
    await stage.pass(10 * S);
    expect(stage.slurm.jobs).toHaveLength(2);
  });

  test("who asks for one while one is there does not get another one hours later", async () => {
    const stage = await running();
    stage.pilots.again();
    await stage.pass(1 * MIN);
    // Until its end, nothing waits, and what runs is no reason for another one.
    await stage.pass(2 * HOUR);
    expect(stage.slurm.jobs).toHaveLength(1);
  });

  test("what is exhausted is so only while jobs wait", async () => {
    const stage = new Stage({ kinds: [LONG], maxNodeMs: HOUR / 2 }, waits(wish(1, HOUR)));
    await stage.pass(10 * S);
    expect(stage.pilots.trouble).toMatch(/^What is left/);
    stage.want(NOTHING);
    await stage.pass(40 * S);
    expect([stage.pilots.trouble, stage.trouble]).toEqual([undefined, undefined]);
    expect(stage.pilots.rests).toMatch(/^no job waits/);
  });

  test("three on which nothing starts are the last, also if a job runs on another one all the time", async () => {
    const stage = await running({ maxNodes: 8 });
    const setBusy = stage.pilots.setBusy.bind(stage.pilots);
    // As the executor says it, also when a pilot has gone.
    stage.pilots.setBusy = () => setBusy(new Map([["1", 2]]));
    stage.want(() => [wish(5, HOUR)]);
    for (const id of ["2", "3", "4"]) {
      await stage.pass(2 * S);
      stage.slurm.run(id, [`${id}a`]);
      await stage.pass(5 * S);
      stage.setBusy(true);
      await stage.pass(5 * S);
      expect(stage.slurm.find(id).state).toBe("CANCELLED");
    }
    await stage.pass(10 * MIN);
    expect(stage.slurm.alive.map(({ id }) => id)).toEqual(["1"]);
    expect(stage.stored.halted).toMatch(/^nothing could start on 3 pilots in a row/);
    expect(stage.pilots.next).toMatch(/^no other pilot follows/);
  });

  test("one of an earlier version is found, and its nodes may answer, before another one is asked for", async () => {
    const stage = await running({ maxNodes: 8 });
    stage.pilots.close();
    for (const pilot of stage.stored.pilots)
      Object.assign(pilot, { kind: undefined, nodes: undefined, timeMs: undefined });
    stage.startFrontEnd();
    stage.answers = false;
    stage.want(() => [wish(4, HOUR)]);
    await stage.pass(20 * S);
    expect(stage.slurm.jobs).toHaveLength(1);
  });
});

describe("a job", () => {
  const one = { tasks: 1 };

  test("with the longest limit that is accepted gets a pilot, also if times are no whole minutes", async () => {
    const kinds = [{ ...LONG, timeMs: { min: 5430 * S, max: 5430 * S } }];
    // By hand: 90.5 min are 91 min in Slurm, and jobs are stopped 1 min before the end.
    const limitMs = 90 * MIN;
    const stage = new Stage({ kinds }, waits(wish(1, limitMs)));
    expect(stage.kinds.whyNever({ ...one, limitMs })).toBeUndefined();
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["long 1 91"]);
    expect(stage.kinds.whyNever({ ...one, limitMs: limitMs + 1 })).toBe(
      'no kind of pilots can hold it: "long" is there for limits up to 1.50 h',
    );
  });

  test("that is wide for one kind and long for the other is held by none, and each kind says why", () => {
    const { kinds } = new Stage({ ...KINDS, size: { cpus: { min: 2, max: 2 }, memoryMib: 1024 } });
    expect(kinds.whyNever({ tasks: 4, limitMs: 10 * MIN })).toBeUndefined();
    expect(kinds.whyNever({ tasks: 8, limitMs: 7 * HOUR })).toBeUndefined();
    // By hand: 8 h less a minute to begin and one before the stop.
    expect(kinds.whyNever({ tasks: 5, limitMs: 8 * HOUR })).toBe(
      'no kind of pilots can hold it: "small" has at most 2 nodes of 2 CPUs and 1.0 GiB; "long" is there for limits up to 7.97 h',
    );
    expect(kinds.whyNever({ ...one, memoryBytes: 4 * 2 ** 30 })).toBeUndefined();
    expect(kinds.whyNever({ ...one, memoryBytes: 4 * 2 ** 30 + 1 })).toMatch(/^no kind of pilots/);
  });

  test("that fits only on large nodes gets a pilot as wide as can be", async () => {
    const size = { cpus: { min: 2, max: 2 }, memoryMib: 64, mostMemoryMib: 1024 };
    const wide = wish(1, HOUR, { memoryBytes: 300 * 2 ** 20 });
    const stage = new Stage({ kinds: [LONG], size }, waits(wide));
    await stage.pass(10 * S);
    expect(alive(stage)).toEqual(["long 4 62"]);
  });

  test("wider than all pilots together may be is held by none, although the kind has more nodes", () => {
    const { kinds } = new Stage({ kinds: [LONG], maxNodes: 3 });
    expect(kinds.whyNever({ tasks: 6 })).toBeUndefined();
    expect(kinds.whyNever({ tasks: 7 })).toBe(
      'no kind of pilots can hold it: "long" has at most 3 nodes of 2 CPUs',
    );
  });

  test("alone in the queue gets a pilot if, and only if, it was accepted", async () => {
    const span = (min: number, most: number) =>
      fc
        .tuple(fc.integer({ min, max: most }), fc.integer({ min, max: most }))
        .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
    const kind = fc.record({ nodes: span(1, 6), timeMs: span(10 * MIN, 3 * HOUR) });
    const job = fc.record({
      tasks: fc.integer({ min: 1, max: 30 }),
      threads: fc.integer({ min: 1, max: 6 }),
      limitMs: fc.option(fc.integer({ min: 1, max: 3 * HOUR }), { nil: undefined }),
      memoryBytes: fc.option(fc.integer({ min: 1, max: 6 * 2 ** 30 }), { nil: undefined }),
    });
    const size = fc.record({ cpus: span(1, 6), memory: span(64, 1024) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(kind, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 6 }),
        job,
        size,
        async (some, more, shape, { cpus, memory }) => {
          const stage = new Stage(
            {
              kinds: some.map((one, i) => ({ ...SMALL, ...one, name: `k${i}` })),
              maxNodes: Math.max(...some.map(({ nodes }) => nodes.min)) + more,
              size: { cpus, memoryMib: memory.min, mostMemoryMib: memory.max },
            },
            waits({ ...shape, takenBy: [], isForLost: false }),
          );
          await stage.pass(10 * S);
          expect(stage.slurm.jobs).toHaveLength(stage.kinds.whyNever(shape) === undefined ? 1 : 0);
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });
});

test("whatever waits, pilots keep their bounds, nothing of others is touched, and without jobs all go back", async () => {
  const job = fc.record({
    tasks: fc.integer({ min: 1, max: 8 }),
    limitMs: fc.integer({ min: 1, max: 7 * HOUR }),
  });
  const event = fc.oneof(
    fc.record({ wishes: fc.array(job, { maxLength: 5 }) }),
    fc.constantFrom("run", "end", "restart", "busy", "idle", "away", "back"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), fc.nat(400), async (events, waitS) => {
      const stage = new Stage({ ...KINDS, maxNodeMs: 100 * HOUR }, NOTHING);
      const { slurm } = stage;
      slurm.add("900", "somebody's");
      for (const what of events) {
        const mine = slurm.alive.filter(({ id }) => id !== "900");
        const first = mine.find(({ state }) => state === "PENDING");
        const held = mine.find(({ state }) => state === "RUNNING");
        if (typeof what === "object") {
          stage.want(waits(...what.wishes.map(({ tasks, limitMs }) => wish(tasks, limitMs))));
        } else if (what === "run" && first !== undefined) {
          const { nodes = 1 } = stage.stored.pilots.find(({ jobId }) => jobId === first.id) ?? {};
          slurm.run(
            first.id,
            Array.from({ length: nodes }, (_, i) => `p${first.id}n${i}`),
          );
        } else if (what === "end" && held !== undefined) slurm.end(held.id, "TIMEOUT");
        else if (what === "restart") stage.startFrontEnd();
        else if (what === "busy" || what === "idle") stage.setBusy(what === "busy");
        else if (what === "away" || what === "back") slurm.isAway = what === "away";
        await stage.pass(waitS * S);
        const kept = stage.stored.pilots.filter(({ jobId }) => mine.some(({ id }) => id === jobId));
        // Those that drain do not count, and these last at most 5 min.
        expect(kept.reduce((sum, { nodes = 0 }) => sum + nodes, 0)).toBeLessThanOrEqual(2 * 6);
      }
      slurm.isAway = false;
      stage.want(NOTHING);
      stage.setBusy(false);
      await stage.pass(10 * MIN);
      stage.setBusy(false);
      await stage.pass(10 * MIN);
      expect(slurm.alive.map(({ id }) => id)).toEqual(["900"]);
      const { usedNodeMs, idleNodeMs } = stage.pilots.bill;
      expect(idleNodeMs).toBeLessThanOrEqual(usedNodeMs);
      expect(usedNodeMs).toBeLessThanOrEqual(100 * HOUR);
    }),
    { seed: 30, numRuns: 100 },
  );
});
