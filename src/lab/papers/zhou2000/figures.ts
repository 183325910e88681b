/**
 * The figures of zhou2000: the text has figure 1 as a table; figure 2 is lost and rebuilt so that every
 * sentence about it holds; figures 3 to 5 draw columns of the first experiment.
 */
import { drawn, jobNamed, picture, processorsOf, step, treeOf } from "../drawn-matrix.ts";
import type { ReproducedFigure, ReproducedMatrices, ReproducedStatement } from "../paper.ts";
import {
  MEASURES,
  PRINTED,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
  type Zhou2000Results,
} from "./cells.ts";

export function figures(results: Zhou2000Results): ReproducedFigure[] {
  const figure = (id: string, title: string, yAxis: string, measure: Zhou2000Measure): ReproducedFigure => ({
    id,
    title,
    xAxis: "load ρ",
    yAxis,
    series: ZHOU2000_SCHEMES.map((variant) => ({
      name: variant.toUpperCase(),
      ours: ZHOU2000_LOADS.map(
        (load) => [load, results.mean({ table: 1, variant, load, share: 1 }, MEASURES[measure])] as const,
      ),
      published: ZHOU2000_LOADS.map(
        (load, i) => [load, PRINTED[1].rows[variant][i][ZHOU2000_MEASURES.indexOf(measure)]] as const,
      ),
    })),
  });
  return [
    figure("Figure 3", "Average turnaround time of all jobs", "turnaround time in slots", "t_ta"),
    figure("Figure 4", "Average turnaround time of small jobs", "turnaround time in slots", "t_sa"),
    figure("Figure 5", "Average processor active ratio", "active ratio", "r_a"),
  ];
}

interface DrawnFigure {
  readonly matrices: ReproducedMatrices;
  readonly statements: ReproducedStatement[];
}

/** x is J', y is J''. */
function figure1(): DrawnFigure {
  const ofA = () => {
    const { machine, rows } = drawn(["55566.77", "xxxx44yy", "1122.333"]);
    return { machine, s3: rows[0], s2: rows[1], s1: rows[2] };
  };
  const a = ofA();
  const [b, c] = [ofA(), ofA()];
  for (const { machine } of [b, c]) for (const name of "xy") machine.removeJob(jobNamed(name));
  for (const job of [..."127"].map(jobNamed)) b.machine.place(job, b.s2, processorsOf(b.machine, job)[0]);
  c.machine.exchange(c.s1, c.s2, 0, 4);
  c.machine.exchange(c.s3, c.s1, 0, 5);
  c.machine.exchange(c.s3, c.s2, 6, 8);
  c.machine.deleteRow(c.s3);
  const [several, repacked] = [b, c].map(({ machine }) => picture(machine));
  const before = picture(a.machine).length;
  return {
    matrices: {
      id: "Figure 1",
      title: "Two uses of freed slots",
      steps: [
        step("(a) before J' (x) and J'' (y) end", a.machine),
        step("(b) J1, J2 and J7 run in S2, too", b.machine),
        step("(c) re-packed; S3 is deleted", c.machine),
      ],
    },
    statements: [
      {
        statement:
          "Figure 1 (b): when freed slots are given to J1, J2 and J7, a job of two processors needs a fourth row",
        holds:
          several.join(" / ") === "55566.77 / 11224477 / 1122.333" &&
          several.every((row) => !row.includes("..")),
        evidence: `${several.join(" / ")}: no row has two adjacent idle processors; with ${several.length + 1} rows, jobs in a single slot get 1/${several.length + 1} instead of 1/${several.length} of the time`,
      },
      {
        statement: "Figure 1 (c): re-packing saves a row",
        holds: repacked.join(" / ") === "11224477 / 55566333",
        evidence: `${repacked.join(" / ")}: ${repacked.length} rows instead of ${before}`,
      },
    ],
  };
}

export function drawnFigures(): readonly DrawnFigure[] {
  return [figure1(), figure2()];
}

/** Jobs 1 … 6 are J1 … J6, job 7 is the new one. */
function figure2(): DrawnFigure {
  const before = ["555566..", "3333444.", "11....22"];
  const [p5, p7] = [4, 6];
  const [j1, j2, arrival] = [..."127"].map(jobNamed);
  const open = () => {
    const { machine, rows } = drawn(before, { 7: 4 });
    return { machine, s3: rows[0], s1: rows[2] };
  };
  const first = open();
  const tree = treeOf(first.machine, 0);
  const fits = open();
  fits.machine.exchange(fits.s3, fits.s1, p5, p7);
  fits.machine.place(arrival, fits.s3, p5);
  const extra = open();
  extra.machine.place(j2, extra.s3, processorsOf(extra.machine, j2)[0]);
  const ended = open();
  ended.machine.removeJob(j1);
  const endedTree = treeOf(ended.machine, 0);
  ended.machine.exchange(ended.s1, ended.s3, p7, ended.machine.processors);
  ended.machine.deleteRow(ended.s1);
  const rows = (of: typeof first) => picture(of.machine).join(" / ");
  return {
    matrices: {
      id: "Figure 2",
      title: "The workload tree (rebuilt)",
      steps: [
        step(`tree ${tree}`, first.machine),
        step("J6 moved to S1; a job of four processors is placed in S3", fits.machine),
        step("J2 runs in S1 and S3", extra.machine),
        step(`J1 has ended (tree ${endedTree}) and J2 moved to S3: S1 is deleted`, ended.machine),
      ],
    },
    statements: [
      {
        statement:
          "Figure 2: the tree has 0 for P1, 2 for P8 and 5 for the last four, which take a job of four processors once J6 is in S1",
        holds:
          tree === "0 | 0 5 | 0 2 2 3 | 0 0 1 1 1 1 1 2" && rows(fits) === "55557777 / 3333444. / 11..6622",
        evidence: `tree from the root: ${tree}; ${rows(fits)}`,
      },
      {
        statement: "Figure 2: J2 can have another slot, in S3, because its node is nonzero",
        holds: rows(extra) === "55556622 / 3333444. / 11....22",
        evidence: rows(extra),
      },
      {
        statement: "Figure 2: when J1 ends, the root becomes nonzero, and S1 can be deleted once J2 is in S3",
        holds: endedTree === "9 | 4 5 | 2 2 2 3 | 1 1 1 1 1 1 1 2" && rows(ended) === "55556622 / 3333444.",
        evidence: `tree from the root: ${endedTree}; ${rows(ended)}`,
      },
    ],
  };
}
