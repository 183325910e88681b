/**
 * The figures of zhou2000: the text has figure 1 as a table; figure 2 is lost and rebuilt so that every
 * sentence about it holds; figures 3 to 5 draw columns of the first experiment.
 */
import { Drawing, type DrawnFigures, together } from "../drawn-matrix.ts";
import type { ReproducedFigure } from "../paper.ts";
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

export function drawnFigures(): DrawnFigures {
  return together([figure1(), figure2()]);
}

/** x is J', y is J''. */
function figure1(): DrawnFigures {
  const before = () => new Drawing(["55566.77", "xxxx44yy", "1122.333"]);
  const a = before();
  const several = before().end("xy").unite("127", 2);
  const repacked = before().end("xy").exchange(1, 2, 0, 4).exchange(3, 1, 0, 5).move("7", 2).deleteRow(3);
  const rows = several.picture.length;
  return {
    matrices: [
      {
        id: "Figure 1",
        title: "Two uses of freed slots",
        steps: [
          a.step("(a) before J' (x) and J'' (y) end"),
          several.step("(b) J1, J2 and J7 run in S2, too"),
          repacked.step("(c) re-packed; S3 is deleted"),
        ],
      },
    ],
    statements: [
      {
        statement:
          "Figure 1 (b): when freed slots are given to J1, J2 and J7, a job of two processors needs a fourth row",
        holds:
          several.text === "55566.77 / 11224477 / 1122.333" &&
          several.picture.every((row) => !row.includes("..")),
        evidence: `${several.text}: no row has two adjacent idle processors; with ${rows + 1} rows, jobs in a single slot get 1/${rows + 1} instead of 1/${rows} of the time`,
      },
      {
        statement: "Figure 1 (c): re-packing saves a row",
        holds: repacked.text === "11224477 / 55566333",
        evidence: `${repacked.text}: ${repacked.picture.length} rows instead of ${a.picture.length}`,
      },
    ],
  };
}

/** Jobs 1 … 6 are J1 … J6, job 7 is the new one. */
function figure2(): DrawnFigures {
  const open = () => new Drawing(["555566..", "3333444.", "11....22"], { 7: 4 });
  const first = open();
  const tree = first.tree();
  const fits = open().move("6", 1).place("7", 3, 4);
  const extra = open().unite("2", 3);
  const ended = open().end("1");
  const endedTree = ended.tree();
  ended.move("2", 3).deleteRow(1);
  return {
    matrices: [
      {
        id: "Figure 2",
        title: "The workload tree (rebuilt)",
        steps: [
          first.step(`tree ${tree}`),
          fits.step("J6 moved to S1; a job of four processors is placed in S3"),
          extra.step("J2 runs in S1 and S3"),
          ended.step(`J1 has ended (tree ${endedTree}) and J2 moved to S3: S1 is deleted`),
        ],
      },
    ],
    statements: [
      {
        statement:
          "Figure 2: the tree has 0 for P1, 2 for P8 and 5 for the last four, which take a job of four processors once J6 is in S1",
        holds:
          tree === "0 | 0 5 | 0 2 2 3 | 0 0 1 1 1 1 1 2" && fits.text === "55557777 / 3333444. / 11..6622",
        evidence: `tree from the root: ${tree}; ${fits.text}`,
      },
      {
        statement: "Figure 2: J2 can have another slot, in S3, because its node is nonzero",
        holds: extra.text === "55556622 / 3333444. / 11....22",
        evidence: extra.text,
      },
      {
        statement: "Figure 2: when J1 ends, the root becomes nonzero, and S1 can be deleted once J2 is in S3",
        holds: endedTree === "9 | 4 5 | 2 2 2 3 | 1 1 1 1 1 1 1 2" && ended.text === "55556622 / 3333444.",
        evidence: `tree from the root: ${endedTree}; ${ended.text}`,
      },
    ],
  };
}
