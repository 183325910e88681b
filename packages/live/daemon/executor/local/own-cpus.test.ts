import { describe, expect, test } from "vitest";
import { ANNA, answerOf, makeBench, request } from "../../front-end/front-end-for-tests.ts";
import { ownCpus } from "./own-cpus.ts";

/** Two sockets in turns, two cores each, two threads per core: 0 and 4 are one core on socket 0. */
const PLACES = Array.from({ length: 8 }, (_, cpu) => ({ cpu, socket: cpu % 2, core: cpu % 4 }));
const job = (number: number, tasks: number, cpus: readonly number[], threads?: number) => ({
  job: number,
  tasks,
  threads,
  nodes: cpus.length === 0 ? [] : [{ node: "localhost", cpus }],
});
const DEFAULT = { machine: { smt: false } };

test.each(["gang", "easy", "brms", "wlv"])(
  "%s puts two gangs side by side on a socket each",
  async (policy) => {
    const { cpus } = ownCpus(PLACES, DEFAULT, []);
    const bench = makeBench({ nodes: [{ node: "localhost", cpus }], config: { policy, slotMs: 100 } });
    for (const tasks of [2, 2])
      await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks })]));
    bench.clock.settle();
    const placed = bench.machine.matrix?.rows.flat().map(({ nodes }) => nodes[0].cpus.map((cpu) => cpu % 2));
    expect(placed).toEqual([
      [0, 0],
      [1, 1],
    ]);
  },
);

describe("ownCpus()", () => {
  test("gives jobs a thread of each core, sockets one after the other", () => {
    expect(ownCpus(PLACES, DEFAULT, [])).toEqual({
      cpus: [0, 2, 1, 3],
      sockets: 2,
      cores: 4,
      unused: [4, 6, 5, 7],
      keptFor: [],
    });
  });

  test("gives jobs all threads if the administrator says so", () => {
    const all = { cpus: [0, 4, 2, 6, 1, 5, 3, 7], sockets: 2, cores: 4, unused: [], keptFor: [] };
    expect(ownCpus(PLACES, { machine: { smt: true } }, [])).toEqual(all);
    // A list of CPUs is a choice.
    const listed = [0, 4, 3];
    expect(
      ownCpus(
        PLACES.filter(({ cpu }) => listed.includes(cpu)),
        { cpus: listed, ...DEFAULT },
        [],
      ),
    ).toMatchObject({
      cpus: [0, 4, 3],
      unused: [],
    });
  });

  test("keeps all threads while a job of an earlier start has or needs them", () => {
    const kept = { cpus: [0, 4, 2, 6, 1, 5, 3, 7], unused: [] };
    expect(ownCpus(PLACES, DEFAULT, [job(3, 1, [0]), job(4, 1, [6])])).toMatchObject({
      ...kept,
      keptFor: [4],
    });
    expect(ownCpus(PLACES, DEFAULT, [job(5, 6, [])])).toMatchObject({ ...kept, keptFor: [5] });
    expect(ownCpus(PLACES, DEFAULT, [job(6, 3, [], 2)])).toMatchObject({ ...kept, keptFor: [6] });
    // All threads would not be enough either.
    expect(ownCpus(PLACES, DEFAULT, [job(7, 9, [])])).toMatchObject({ cpus: [0, 2, 1, 3], keptFor: [] });
    expect(ownCpus(PLACES, DEFAULT, [job(8, 4, [0, 1, 2, 3])])).toMatchObject({ keptFor: [] });
  });
});
