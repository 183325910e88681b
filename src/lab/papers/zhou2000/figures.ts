/**
 * The figures of zhou2000: figure 2 is lost and rebuilt so that every sentence about it holds; figures 3 to 5
 * draw columns of the first experiment. Figure 1 is figure 2 of zhou1999.
 */
import { drawn, jobNamed, picture, processorsOf, step, treeOf } from "../drawn-matrix.ts";
import type { ReproducedFigure, ReproducedMatrices, ReproducedStatement } from "../paper.ts";
import { MEASURES, type Zhou2000Results } from "./cells.ts";
import {
  TABLE_1,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
} from "./published.ts";

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
        (load, i) => [load, TABLE_1[variant][i][ZHOU2000_MEASURES.indexOf(measure)]] as const,
      ),
    })),
  });
  return [
    figure("Figure 3", "Average turnaround time of all jobs", "turnaround time in slots", "t_ta"),
    figure("Figure 4", "Average turnaround time of small jobs", "turnaround time in slots", "t_sa"),
    figure("Figure 5", "Average processor active ratio", "active ratio", "r_a"),
  ];
}

/** Jobs 1 … 6 are J1 … J6, job 7 is the new one. */
export function figure2(): {
  readonly matrices: ReproducedMatrices;
  readonly statements: ReproducedStatement[];
} {
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
