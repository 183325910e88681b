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
  drawn,
  idleSlots,
  jobNamed,
  Matrix,
  NAMES,
  type Picture,
  picture,
  processorsOf,
  step,
  treeOf,
} from "../drawn-matrix.ts";
import type { ReproducedMatrices, ReproducedStatement } from "../paper.ts";
import { repackRows, shift } from "./row-repacking.ts";

interface FigureResults {
  readonly matrices: readonly ReproducedMatrices[];
  readonly statements: readonly ReproducedStatement[];
}

export function figureResults(): FigureResults {
  const parts = [figure1(), figure2(), figures3And4(), figure5(), figure6()];
  return {
    matrices: parts.flatMap(({ matrices }) => matrices),
    statements: parts.flatMap(({ statements }) => statements),
  };
}

/** Jobs 1 … 4 are J1 … J4. */
function figure1(): FigureResults {
  const scattered = ["44...4..", "3.3..3..", ".....2.2", ".11.1..1"];
  const { machine } = drawn(scattered);
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

function figure2(): FigureResults {
  // x is J', y is J''.
  const { machine, rows } = drawn(["55566.77", "xxxx44yy", "1122.333"]);
  const [s3, s2, s1] = rows;
  const steps = [step("(a) before J' (x) and J'' (y) end", machine)];
  for (const name of "xy") machine.removeJob(jobNamed(name));
  machine.exchange(s1, s2, 0, 4);
  steps.push(step("(b) J1 and J2 moved to S2", machine));
  machine.exchange(s3, s1, 0, 5);
  steps.push(step("(c) J5 and J6 moved to S1", machine));
  shift(machine, machine.firstRun(s3), s2);
  machine.deleteRow(s3);
  steps.push(step("(d) J7 moved to S2; S3 is deleted", machine));
  const several = drawn(["55566.77", "....44..", "1122.333"]);
  for (const job of [..."127"].map(jobNamed))
    several.machine.place(job, several.rows[1], processorsOf(several.machine, job)[0]);
  const united = picture(several.machine);
  return {
    matrices: [{ id: "Figure 2", title: "Re-packing saves a row; no process changes its processor", steps }],
    statements: [
      {
        statement: "Figure 2: three steps of legal shifts empty S3",
        holds: picture(machine).join("/") === "11224477/55566333",
        evidence: `five jobs change their row; (d) is ${picture(machine).join(" / ")}`,
      },
      {
        statement:
          "Figure 2 (a): when J1, J2 and J7 get second slots instead, a job of six processors needs a fourth row",
        holds:
          united.join("/") === "55566.77/11224477/1122.333" && united.every((row) => !row.includes("......")),
        evidence: `${united.join(" / ")}: no row has six adjacent idle processors; after (d) there are two rows, so a third is enough`,
      },
    ],
  };
}

function figures3And4(): FigureResults {
  const before: Picture = ["11..222.6666", "3333..44..55"];
  const twice = drawn(before);
  const [a, b] = twice.rows;
  const steps = [step("four fragments", twice.machine)];
  twice.machine.exchange(a, b, 0, 4);
  steps.push(step("first cut: two fragments have become one", twice.machine));
  twice.machine.exchange(a, b, 0, 8);
  steps.push(step("second cut: J1 and J3 are back in their rows", twice.machine));
  const once = drawn(before);
  const regions = repackRows(once.machine, once.rows[0], once.rows[1], 0);
  const same = picture(once.machine).join("/") === picture(twice.machine).join("/");
  const isMiddle = regions.length === 1 && regions[0][0] === 4 && regions[0][1] === 8;
  return {
    matrices: [
      { id: "Figure 3", title: "Two exchanges from the array's end (rebuilt)", steps },
      {
        id: "Figure 4",
        title: "One exchange between two cuts (rebuilt)",
        steps: [step("before", drawn(before).machine), step("the middle region exchanged", once.machine)],
      },
    ],
    statements: [
      {
        statement:
          "Figures 3 and 4: exchanging alternating regions once gives what two exchanges from the end give",
        holds: same && isMiddle,
        evidence: `regions exchanged: ${regions.map(([first, end]) => `P${first + 1} to P${end}`).join(", ")}; ${picture(once.machine).join(" / ")}`,
      },
    ],
  };
}

/** Jobs end in four full rows, so that the policies see the figure's matrix and its workload vector. */
function figure5(): FigureResults {
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
function figure6(): FigureResults {
  const before: Picture = ["555566..", "3333444.", "11....22"];
  const p5 = 4;
  const [j1, j2, j4, j6, arrival] = [..."12467"].map(jobNamed);
  const opened = () => {
    const { machine, rows } = drawn(before, { 7: 4 });
    const [s3, , s1] = rows;
    return { machine, s1, s3 };
  };
  const first = opened();
  const pairs = treeOf(first.machine, 1);
  const ofTwo = opened();
  for (const [job, row] of [
    [j2, ofTwo.s3],
    [j6, ofTwo.s1],
  ] as const)
    ofTwo.machine.place(job, row, processorsOf(ofTwo.machine, job)[0]);
  const down = opened();
  shift(down.machine, down.machine.firstRunOfJob(j6), down.s1);
  down.machine.place(j4, down.s3, p5);
  const up = opened();
  shift(up.machine, up.machine.firstRunOfJob(j2), up.s3);
  up.machine.place(j4, up.s1, p5);
  const ended = opened();
  ended.machine.removeJob(j1);
  const root = treeOf(ended.machine, 1);
  shift(ended.machine, ended.machine.firstRunOfJob(j2), ended.s3);
  ended.machine.deleteRow(ended.s1);
  const fits = opened();
  shift(fits.machine, fits.machine.firstRunOfJob(j6), fits.s1);
  fits.machine.place(arrival, fits.s3, p5);
  const after = treeOf(fits.machine, 1);
  const shared = treeOf(ofTwo.machine, 1);
  const [leftBefore, leftAfter] = [first, fits].map(({ machine }) =>
    picture(machine).map((row) => row.slice(0, p5)),
  );
  const holds = (machine: Matrix, rows: string) => picture(machine).join("/") === rows;
  return {
    matrices: [
      {
        id: "Figure 6",
        title: "The tree over the workload vector (rebuilt)",
        steps: [
          step(`vector ${idleSlots(first.machine).join(" ")}, tree ${pairs}`, first.machine),
          step("J2 and J6 run in S1 and S3", ofTwo.machine),
          step("J6 moved to S1: J4 runs in S2 and S3", down.machine),
          step("or J2 moved to S3: J4 runs in S1 and S2", up.machine),
          step(`J1 has ended (tree ${root}) and J2 moved to S3: S1 is deleted`, ended.machine),
          step(`a job of four processors, J6 moved to S1: tree ${after}`, fits.machine),
        ],
      },
    ],
    statements: [
      {
        statement: "Figure 6: J2 and J6 can run in two rows, because the nodes of their pairs are nonzero",
        holds: pairs === "0 | 0 5 | 0 2 2 3" && holds(ofTwo.machine, "55556622/3333444./11..6622"),
        evidence: `tree from the root: ${pairs}; ${picture(ofTwo.machine).join(" / ")}`,
      },
      {
        statement: "Figure 6: J4 can run in a second row once J6 is in S1, or J2 in S3",
        holds:
          holds(down.machine, "5555444./3333444./11..6622") &&
          holds(up.machine, "55556622/3333444./11..444."),
        evidence: `${picture(down.machine).join(" / ")}, or ${picture(up.machine).join(" / ")}`,
      },
      {
        statement: "Figure 6: when J1 ends, the root becomes nonzero, and a row can be deleted",
        holds: root === "9 | 4 5 | 2 2 2 3" && holds(ended.machine, "55556622/3333444."),
        evidence: `tree from the root: ${root}; ${picture(ended.machine).join(" / ")}`,
      },
      {
        statement:
          "Figure 6: an arrival of four processors gets P5 to P8 in S3 once J6 is in S1; then its nodes are 0",
        holds: after === "0 | 0 0 | 0 2 0 0" && holds(fits.machine, "55557777/3333444./11..6622"),
        evidence: `tree from the root: ${after}; ${picture(fits.machine).join(" / ")}`,
      },
      {
        statement: "Figure 6: this re-packing within P5 to P8 changes no slot of P1 to P4",
        holds: leftAfter.join("/") === "5555/3333/11.." && leftAfter.join("/") === leftBefore.join("/"),
        evidence: `P1 to P4 before ${leftBefore.join(" / ")}, after ${leftAfter.join(" / ")}`,
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
