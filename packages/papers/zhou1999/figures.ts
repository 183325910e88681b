/**
 * Figures 1 to 6 of zhou1999, made by the operations that its text describes. The text has figures 1 and 2 as
 * tables; 3 to 6 are lost, and are rebuilt so that every sentence about them holds.
 */

import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import type { GangPolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import { wlv } from "@tutti/kernel/policies/gangs/wlv.ts";
import texts from "../../../docs/papers/zhou1999.texts.json" with { type: "json" };
import {
  Drawing,
  drawnFigure,
  idleSlots,
  Matrix,
  NAMES,
  type Picture,
  processorsOf,
  step,
  together,
} from "../drawn-matrix.ts";
import type { DrawnFigures, ReproducedStatement } from "../paper.ts";
import { repackRows } from "./row-repacking.ts";

export function figureResults(): DrawnFigures {
  const [figure2, figure6] = texts.drawn.map(drawnFigure);
  return together([figure1(), figure2, figures3And4(), figure5(), figure6]);
}

/** Jobs 1 … 4 are J1 … J4. */
function figure1(): DrawnFigures {
  const { machine } = new Drawing(["44...4..", "3.3..3..", ".....2.2", ".11.1..1"]);
  const jobs = [1, 2, 3, 4];
  const processors = jobs.map((job) => processorsOf(machine, job));
  const pairs = jobs.flatMap((_, a) => jobs.slice(a + 1).map((_, b) => [a, a + 1 + b] as const));
  const joinable = pairs.filter(([a, b]) => !processors[a].some((at) => processors[b].includes(at)));
  const busy = processors.reduce((sum, own) => sum + own.length, 0);
  const sizes = [0, ...processors.map((own) => own.length)];
  const bench = new Bench(gang, ["fit=first"], 8, sizes);
  bench.step([], jobs);
  return {
    matrices: [
      {
        id: "Figure 1",
        title: "A situation that random allocation may leave behind",
        steps: [
          step("random allocation, after the other jobs have ended", machine),
          step("the same jobs under first fit", bench.machine),
        ],
      },
    ],
    statements: [
      {
        statement: "Figure 1: no row can be saved, and no job can run in a second row",
        holds: joinable.length === 0,
        evidence: `${joinable.length} of ${pairs.length} pairs of jobs have no processor in common; first fit needs ${bench.machine.rowCount} rows instead of ${machine.rowCount} for the same jobs`,
      },
      {
        statement: "Figure 1: processors are active less than half of the time",
        holds: 2 * busy < 32,
        evidence: `${busy} of 32 slots`,
      },
    ],
  };
}

function figures3And4(): DrawnFigures {
  const before: Picture = ["11..222.6666", "3333..44..55"];
  const twice = new Drawing(before);
  const steps = [
    twice.step("four fragments"),
    twice.exchange(2, 1, 0, 4).step("first cut: two fragments have become one"),
    twice.exchange(2, 1, 0, 8).step("second cut: J1 and J3 are back in their rows"),
  ];
  const once = new Drawing(before);
  const regions = repackRows(once.machine, once.row(2), once.row(1), 0);
  const isMiddle = regions.length === 1 && regions[0][0] === 4 && regions[0][1] === 8;
  return {
    matrices: [
      { id: "Figure 3", title: "Two exchanges from the array's end (rebuilt)", steps },
      {
        id: "Figure 4",
        title: "One exchange between two cuts (rebuilt)",
        steps: [new Drawing(before).step("before"), once.step("the middle region exchanged")],
      },
    ],
    statements: [
      {
        statement:
          "Figures 3 and 4: exchanging alternating regions once gives what two exchanges from the end give",
        holds: once.text === twice.text && isMiddle,
        evidence: `regions exchanged: ${regions.map(([first, end]) => `P${first + 1} to P${end}`).join(", ")}; ${once.text}`,
      },
    ],
  };
}

/** Jobs end in four full rows, so that the policies see the figure's matrix and its workload vector. */
function figure5(): DrawnFigures {
  const sizes = [3, 2, 2, 1, 2, 2, 2, 2, 4, 2, 2, 5, 3, 5, 6];
  const [five, six] = [13, 14];
  const [repacked, conventional] = ([wlv, gang] as const).map((definition) => {
    const bench = new Bench(definition, [], 8, sizes);
    bench.step(
      [],
      sizes.slice(0, five).map((_, job) => job),
    );
    bench.step([1, 3, 5, 7, 9, 12], []);
    return bench;
  });
  const vector = idleSlots(repacked.machine);
  const steps = [step(`workload vector ${vector.join(" ")}`, repacked.machine)];
  const statements: ReproducedStatement[] = [];
  conventional.step([], [five]);
  steps.push(step("row by row, a job of five processors needs a fifth row", conventional.machine));
  statements.push({
    statement: "Figure 5: row by row, no row has room for five processors, so a fifth row is added",
    holds: conventional.machine.rowCount === 5,
    evidence: `first fit has ${conventional.machine.rowCount} rows`,
  });
  for (const [job, words] of [
    [five, "five processors go to P4 to P8, the less loaded of two windows, without a new row"],
    [six, "a job of six processors then finds room without a new row, too"],
  ] as const) {
    repacked.step([], [job]);
    const own = processorsOf(repacked.machine, job);
    steps.push(
      step(`WLV: job ${NAMES[job]} on P${own[0] + 1} to P${own[own.length - 1] + 1}`, repacked.machine),
    );
    statements.push({
      statement: `Figure 5: ${words}`,
      holds: repacked.machine.rowCount === 4 && own[0] === 8 - sizes[job],
      evidence: `P${own[0] + 1} to P${own[own.length - 1] + 1}, ${repacked.machine.rowCount} rows`,
    });
  }
  return {
    matrices: [{ id: "Figure 5", title: "Allocation with a workload vector (rebuilt)", steps }],
    statements,
  };
}

/** A policy on a matrix without time. */
class Bench {
  readonly machine: Matrix;
  readonly #policy: ReturnType<GangPolicyDefinition["make"]>;

  constructor(
    definition: GangPolicyDefinition,
    settings: readonly string[],
    processors: number,
    size: readonly number[],
  ) {
    this.machine = new Matrix(processors, size);
    const parameters = parseParameters("policy", definition.parameters, settings);
    const jobs = new JobTable({ shape: false, memory: false, origin: false });
    jobs.reserve(size.length);
    jobs.size.set(size);
    this.#policy = definition.make(this.machine, jobs, parameters);
  }

  step(ends: readonly JobIndex[], arrived: readonly JobIndex[]): void {
    for (const job of ends) this.machine.removeJob(job);
    for (const job of ends) this.#policy.depart(job);
    this.#policy.decide(arrived);
  }
}
