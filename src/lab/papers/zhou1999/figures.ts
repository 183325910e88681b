/**
 * Figures 1 to 6 of zhou1999, made by the operations that its text describes. The text has figures 1 and 2 as
 * tables; 3 to 6 are lost, and are rebuilt so that every sentence about them holds.
 */
import type { JobIndex } from "../../../core/jobs.ts";
import { parseParameters } from "../../../core/parameters.ts";
import type { GangPolicyDefinition } from "../../../core/policy.ts";
import { JobTable } from "../../../machines/job-table.ts";
import { gang } from "../../../policies/gangs/gang.ts";
import { wlv } from "../../../policies/gangs/wlv.ts";
import {
  Drawing,
  type DrawnFigures,
  idleSlots,
  Matrix,
  NAMES,
  type Picture,
  processorsOf,
  step,
  together,
} from "../drawn-matrix.ts";
import type { ReproducedStatement } from "../paper.ts";
import { repackRows } from "./row-repacking.ts";

export function figureResults(): DrawnFigures {
  return together([figure1(), figure2(), figures3And4(), figure5(), figure6()]);
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

function figure2(): DrawnFigures {
  // x is J', y is J''.
  const drawing = new Drawing(["55566.77", "xxxx44yy", "1122.333"]);
  const steps = [
    drawing.step("(a) before J' (x) and J'' (y) end"),
    drawing.end("xy").exchange(1, 2, 0, 4).step("(b) J1 and J2 moved to S2"),
    drawing.exchange(3, 1, 0, 5).step("(c) J5 and J6 moved to S1"),
    drawing.move("7", 2).deleteRow(3).step("(d) J7 moved to S2; S3 is deleted"),
  ];
  const united = new Drawing(["55566.77", "....44..", "1122.333"]).unite("127", 2);
  return {
    matrices: [{ id: "Figure 2", title: "Re-packing saves a row; no process changes its processor", steps }],
    statements: [
      {
        statement: "Figure 2: three steps of legal shifts empty S3",
        holds: drawing.text === "11224477 / 55566333",
        evidence: `five jobs change their row; (d) is ${drawing.text}`,
      },
      {
        statement:
          "Figure 2 (a): when J1, J2 and J7 get second slots instead, a job of six processors needs a fourth row",
        holds:
          united.text === "55566.77 / 11224477 / 1122.333" &&
          united.picture.every((row) => !row.includes("......")),
        evidence: `${united.text}: no row has six adjacent idle processors; after (d) there are two rows, so a third is enough`,
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

/** The tree over the workload vector; its lowest level stands for pairs of processors. */
function figure6(): DrawnFigures {
  const opened = () => new Drawing(["555566..", "3333444.", "11....22"], { 7: 4 });
  const p5 = 4;
  const first = opened();
  const pairs = first.tree(1);
  const ofTwo = opened().unite("2", 3).unite("6", 1);
  const down = opened().move("6", 1).place("4", 3, p5);
  const up = opened().move("2", 3).place("4", 1, p5);
  const ended = opened().end("1");
  const root = ended.tree(1);
  ended.move("2", 3).deleteRow(1);
  const fits = opened().move("6", 1).place("7", 3, p5);
  const after = fits.tree(1);
  const shared = ofTwo.tree(1);
  const [leftBefore, leftAfter] = [first, fits].map(({ picture }) =>
    picture.map((row) => row.slice(0, p5)).join(" / "),
  );
  return {
    matrices: [
      {
        id: "Figure 6",
        title: "The tree over the workload vector (rebuilt)",
        steps: [
          first.step(`vector ${idleSlots(first.machine).join(" ")}, tree ${pairs}`),
          ofTwo.step("J2 and J6 run in S1 and S3"),
          down.step("J6 moved to S1: J4 runs in S2 and S3"),
          up.step("or J2 moved to S3: J4 runs in S1 and S2"),
          ended.step(`J1 has ended (tree ${root}) and J2 moved to S3: S1 is deleted`),
          fits.step(`a job of four processors, J6 moved to S1: tree ${after}`),
        ],
      },
    ],
    statements: [
      {
        statement: "Figure 6: J2 and J6 can run in two rows, because the nodes of their pairs are nonzero",
        holds: pairs === "0 | 0 5 | 0 2 2 3" && ofTwo.text === "55556622 / 3333444. / 11..6622",
        evidence: `tree from the root: ${pairs}; ${ofTwo.text}`,
      },
      {
        statement: "Figure 6: J4 can run in a second row once J6 is in S1, or J2 in S3",
        holds: down.text === "5555444. / 3333444. / 11..6622" && up.text === "55556622 / 3333444. / 11..444.",
        evidence: `${down.text}, or ${up.text}`,
      },
      {
        statement: "Figure 6: when J1 ends, the root becomes nonzero, and a row can be deleted",
        holds: root === "9 | 4 5 | 2 2 2 3" && ended.text === "55556622 / 3333444.",
        evidence: `tree from the root: ${root}; ${ended.text}`,
      },
      {
        statement:
          "Figure 6: an arrival of four processors gets P5 to P8 in S3 once J6 is in S1; then its nodes are 0",
        holds: after === "0 | 0 0 | 0 2 0 0" && fits.text === "55557777 / 3333444. / 11..6622",
        evidence: `tree from the root: ${after}; ${fits.text}`,
      },
      {
        statement: "Figure 6: this re-packing within P5 to P8 changes no slot of P1 to P4",
        holds: leftAfter === "5555 / 3333 / 11.." && leftAfter === leftBefore,
        evidence: `P1 to P4 before ${leftBefore}, after ${leftAfter}`,
      },
      {
        statement:
          "Figure 6: if J2 and J6 already run in two rows, an arrival of four processors needs a new row",
        holds: shared === "0 | 0 0 | 0 2 0 0",
        evidence: `tree from the root: ${shared}; both nodes of four processors are 0`,
      },
    ],
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
