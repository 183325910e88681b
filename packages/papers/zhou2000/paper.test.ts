import { judge } from "@tutti/lab/claims.ts";
import type { CellResult } from "@tutti/lab/experiments/kinds.ts";
import { beforeAll, describe, expect, test } from "vitest";
import type { Reproduction } from "../paper.ts";
import { Results } from "../results.ts";
import { runCells } from "../run-cells.ts";
import { cells, MEASURES, ONE_PER_CHANGE, type Place, PRINTED, ZHOU2000_MEASURES } from "./cells.ts";
import { claims } from "./claims.ts";
import { zhou2000 } from "./paper.ts";

type Run = CellResult<"summary">;
const all = cells(zhou2000.defaultSeed);
/** The first 400 jobs of table 2 replace the long runs, so that all of collect() can run. */
const list = all.map(({ place, cell }) =>
  place.table === 2 ? { place, cell: { ...cell, source: { ...cell.source, limit: 400 } } } : { place, cell },
);
const rowOf = (run: Run) => ZHOU2000_MEASURES.map((measure) => MEASURES[measure](run));

describe("zhou2000", () => {
  let numbers: Run[];
  let result: Reproduction;

  beforeAll(async () => {
    numbers = await runCells(
      list.map(({ cell }) => cell),
      { workers: 1 },
    );
    result = zhou2000.collect(new Results<Place, Run>(list, numbers));
  });

  test("cells() are table 1 with 200 jobs × 20 and table 2 with 20,000 jobs × 5, at four loads and 2 % below, and other readings", () => {
    const ofTable = (table: 1 | 2, share: number) =>
      all.filter(({ place }) => place.table === table && place.share === share);
    const counts = ([1, 0.98] as const).map((share) => [ofTable(1, share).length, ofTable(2, share).length]);
    // Two other readings in table 1, one in table 2, at the nominal load.
    expect(counts).toEqual([
      [4 * 6 * 20, 4 * 5 * 5],
      [4 * 4 * 20, 4 * 4 * 5],
    ]);
    for (const { place, cell } of all) {
      expect(cell.source.jobs).toContain(place.table === 1 ? "jobs=200:" : "jobs=20000:");
      const offered = Number(/load=([\d.]+)/.exec(cell.source.jobs)![1]);
      expect(offered).toBeCloseTo(place.load * place.share, 12);
    }
  });

  test("pages with neighbouring seeds share no set of jobs", () => {
    const seeds = [2000, 2001, 2002].map((seed) => new Set(cells(seed).map(({ cell }) => cell.source.seed)));
    expect(seeds.map(({ size }) => size)).toEqual([100, 100, 100]);
    expect(new Set(seeds.flatMap((own) => [...own])).size).toBe(300);
  });

  test("all schemes see the same jobs, other loads and replications see others", () => {
    const schemes = new Map<number, Set<string>>();
    for (const { place, cell } of all) {
      const { seed } = cell.source;
      schemes.set(seed, (schemes.get(seed) ?? new Set()).add(`${place.table} ${place.load}`));
    }
    expect(schemes.size).toBe(4 * (20 + 5));
    expect([...schemes.values()].every(({ size }) => size === 1)).toBe(true);
  });

  test("collect() puts means over the replications next to the printed values", () => {
    const table = result.tables.find(({ id }) => id === "Table 1")!;
    const row = table.rows.find(({ labels }) => labels.join(" ") === "BR 0.70")!;
    expect(row.values.map((value) => value.published)).toEqual([...PRINTED[1].rows.br[2]]);
    const turnarounds = numbers.filter((_, i) => {
      const { table, variant, load, share } = list[i].place;
      return table === 1 && variant === "br" && load === 0.7 && share === 1;
    });
    const mean = turnarounds.reduce((sum, run) => sum + rowOf(run)[3], 0) / 20;
    expect(row.values[3].ours).toBeCloseTo(mean, 10);
  });

  test("every value more than 10 % off and beyond chance has a reason, no other has", () => {
    for (const { rows } of result.tables) {
      for (const { ours, published, test: of, reason } of rows.flatMap((row) => row.values)) {
        const isFar = Math.abs(ours / published! - 1) > 0.1;
        expect(reason !== undefined).toBe(isFar && Math.abs(of!.t) > of!.quantile);
        if (reason !== undefined) expect(reason.length).toBeGreaterThan(40);
      }
    }
  });

  test("means of table 1 are tested against 20 runs, those of table 2 against 5", () => {
    const runs = (id: string) => [
      ...new Set(
        result.tables
          .filter((table) => table.id.startsWith(id))
          .flatMap(({ rows }) => rows.flatMap(({ values }) => values.map((value) => value.test?.otherCount))),
      ),
    ];
    expect(runs("Table 1")).toEqual([20]);
    expect(runs("Table 2")).toEqual([5]);
  });

  test("figure 2: the tree, the new job, the extra slot and the saved row are those of the text", () => {
    const [, { id, steps }] = result.matrices!;
    expect(id).toBe("Figure 2");
    expect(steps.map(({ rows }) => rows.map((row) => row.map((name) => name ?? ".").join("")))).toEqual([
      ["555566..", "3333444.", "11....22"],
      ["55557777", "3333444.", "11..6622"],
      ["55556622", "3333444.", "11....22"],
      ["55556622", "3333444."],
    ]);
    expect(result.statements.slice(0, 5).map(({ holds }) => holds)).toEqual(new Array(5).fill(true));
  });

  test("figure 1: the matrices are the printed ones", () => {
    const [{ id, steps }] = result.matrices!;
    expect(id).toBe("Figure 1");
    const rows = steps.map(({ rows }) => rows.map((row) => row.map((name) => name ?? ".").join("")));
    expect(rows).toEqual([
      ["55566.77", "xxxx44yy", "1122.333"],
      ["55566.77", "11224477", "1122.333"],
      ["11224477", "55566333"],
    ]);
  });

  test("BR and BC are compared in every category of table 1, BRMS's rows with twice those of BR", () => {
    const of = (beginning: string) =>
      result.statements.find(({ statement }) => statement.startsWith(beginning))!.evidence;
    expect(of("Section 4.3: BR is no worse than BC")).toMatch(/best in \d+ of 28 cells/);
    expect(of("Table 1: BRMS has at least 2 times as many rows as BR, on average")).toMatch(
      /ρ = 0\.5: BRMS \d+\.\d\d, BR \d+\.\d\d \(minus 2 × BR: .*\); ρ = 0\.7: .*; ρ = 0\.9: /,
    );
  });

  test("figures 3 to 5 show the columns of table 1, statements carry their numbers", () => {
    expect(result.figures.map((figure) => figure.id)).toEqual(["Figure 3", "Figure 4", "Figure 5"]);
    const bc = result.figures[0].series.find((series) => series.name === "BC")!;
    expect(bc.published!.map(([, y]) => y)).toEqual([31.1, 70, 129.65, 189.6]);
    expect(result.figures.flatMap((figure) => figure.series).every(({ ours }) => ours.length === 4)).toBe(
      true,
    );
    for (const { evidence } of result.statements.slice(5))
      expect(evidence).toMatch(/ρ = 0\.\d: \S+ −?\d+\.\d\d/);
  });
});

describe("statements of zhou2000", () => {
  /** Verdicts and evidence, if at each place the runs of all measures have these values. */
  function judged(valuesAt: (place: Place) => readonly number[], beginning: string) {
    const places = new Map(all.map(({ place }) => [JSON.stringify(place), place]));
    const runs = [...places.values()].flatMap((place) =>
      valuesAt(place).map((mean) => {
        const byClass = [{ mean }, { mean }, { mean }];
        const gang = { activeRatio: mean, maxRows: mean, meanRows: mean };
        const summary = { metrics: [{ name: "response", all: { mean }, byClass }], gang };
        return { place, run: { summary } as unknown as Run };
      }),
    );
    const results = new Results<Place, Run>(
      runs,
      runs.map(({ run }) => run),
    );
    return judge(claims(results).find(({ statement }) => statement.startsWith(beginning))!);
  }

  /** BRMS minus BR is this much at ρ = 0.9 and 5 elsewhere; BR differs far more between sets of jobs. */
  const smallJobs = (atNine: readonly number[]) =>
    judged(({ variant, load }) => {
      const differences = load === 0.9 ? atNine : atNine.map(() => 5);
      return differences.map((difference, set) => 1000 * (set + 1) + (variant === "brms" ? difference : 0));
    }, "Figure 4: small jobs");

  test("are decided by paired differences: means on the claimed side are not enough", () => {
    // By hand: 2, 2 and −1 have the mean 1, the standard deviation √3 and Student's quantile 4.303: ± 4.30.
    const { holds, evidence } = smallJobs([2, 2, -1]);
    expect(holds).toBe(null);
    expect(evidence).toContain("ρ = 0.9: BRMS 2001.00, BR 2000.00 (−1.00 ± 4.30)");
    expect(smallJobs([2, 2, 1]).holds).toBe(true);
    expect(smallJobs([-2, -2, -1]).holds).toBe(false);
  });

  test("being the best is open in cells where an interval reaches beyond the printed digits", () => {
    const brmms = (own: readonly number[]) =>
      judged(
        ({ variant }) => (variant === "brmms" ? own : own.map(() => 10)),
        "Section 4.3: BRMMS is the best",
      );
    // Lower is better, except for the active ratio.
    expect(brmms([9, 9, 9]).holds).toBe(false);
    const { holds, evidence } = brmms([9, 12, 10]);
    expect(holds).toBe(null);
    expect(evidence).toContain("best in 0 of 28 cells");
    expect(evidence).toContain("open against BC: 0.33 ± 3.79, BR: 0.33 ± 3.79");
    expect(brmms([10.004, 10.004, 10.004]).holds).toBe(true);
  });

  test("twice as many rows is decided by the difference from twice BR's", () => {
    const rows = (brms: readonly number[]) =>
      judged(
        ({ variant }) => (variant === "brms" ? brms : brms.map(() => 10)),
        "Table 1: BRMS has at least 2 times as many rows as BR, on average",
      ).holds;
    expect(rows([20, 20, 20])).toBe(true);
    expect(rows([19, 24, 20])).toBe(null);
    expect(rows([19, 19, 19.5])).toBe(false);
  });
});

describe("table 2 of zhou2000", () => {
  /** Mean over the five sets of jobs, at full length, 2 % below the nominal load. */
  async function means(variant: string, load: number): Promise<number[]> {
    const wanted = all.filter(
      ({ place }) =>
        place.table === 2 && place.variant === variant && place.load === load && place.share === 0.98,
    );
    const runs = await runCells(
      wanted.map(({ cell }) => cell),
      { workers: 1 },
    );
    expect(runs).toHaveLength(5);
    return ZHOU2000_MEASURES.map((measure) => runs.reduce((sum, run) => sum + MEASURES[measure](run), 0) / 5);
  }

  test.each([
    [0.5, 1, 0.05],
    [0.7, 2, 0.12],
  ])(
    "ρ = %d: t_ta and n_a of BC, BR and BRMMS within the limit of the printed ones, schemes in the printed order",
    async (load, at, limit) => {
      const schemes = ["bc", ONE_PER_CHANGE, "br", "brmms"] as const;
      const rows = await Promise.all(schemes.map((scheme) => means(scheme, load)));
      for (const [i, scheme] of schemes.entries()) {
        if (scheme === ONE_PER_CHANGE) continue;
        for (const measure of [2, 3])
          expect(Math.abs(rows[i][measure] / PRINTED[2].rows[scheme][at][measure] - 1)).toBeLessThan(limit);
      }
      const turnarounds = rows.map((row) => row[3]);
      expect(turnarounds).toEqual([...turnarounds].sort((a, b) => b - a));
    },
  );
});
