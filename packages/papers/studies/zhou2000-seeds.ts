/** Studies how much table 2 of zhou2000 varies between three groups of sets of jobs. */
import { cells, MEASURES, nameOf, PRINTED, ZHOU2000_LOADS, ZHOU2000_MEASURES } from "../zhou2000/cells.ts";
import { mean, percentText, resultsOf, type Study, type StudyTable } from "./study.ts";

/** The page's own seed and the next two. */
const SEEDS = [2000, 2001, 2002];
const SCHEMES = ["bc", "br", "brmms"] as const;
const SHARE = 0.98;

export const zhou2000Seeds: Study = {
  key: "zhou2000-seeds",
  title: "zhou2000, table 2: three groups of sets of jobs",
  text: [
    "Is the one group of five sets of 20,000 jobs on the paper's page typical? This study has three groups, from the seeds 2000 (the page), 2001 and 2002. They share no set. The load is 2 % below the nominal one. No group was left out or replaced.",
    "At ρ = 0.9 the means of single groups differ widely: BC is beyond saturation, and under BR and BRMMS the number of jobs in the system changes slowly.",
  ],
  async run(options) {
    const placed = SEEDS.flatMap((seed) =>
      cells(seed)
        .filter(
          ({ place: { table, share, variant } }) =>
            table === 2 && share === SHARE && SCHEMES.some((scheme) => scheme === variant),
        )
        .map(({ place: { load, variant }, cell }) => ({ place: { seed, load, variant }, cell })),
    );
    const results = await resultsOf(placed, options);
    const table = (measure: "t_ta" | "n_a"): StudyTable => ({
      title: `${measure}, ${measure === "t_ta" ? "mean turnaround time of all jobs, slots" : "rows, mean over time"}`,
      columns: ["scheme, ρ", "printed", ...SEEDS.map((seed) => `seed ${seed}`), "mean of the three"],
      rows: ZHOU2000_LOADS.flatMap((load, at) =>
        SCHEMES.map((variant) => {
          const published = PRINTED[2].rows[variant][at][ZHOU2000_MEASURES.indexOf(measure)];
          const groups = SEEDS.map((seed) =>
            mean(results.values({ seed, load, variant }, MEASURES[measure])),
          );
          const text = (value: number) => `${value.toFixed(2)} (${percentText(value, published)})`;
          return [
            `${nameOf(variant)} ${load.toFixed(2)}`,
            published.toFixed(2),
            ...groups.map(text),
            text(mean(groups)),
          ];
        }),
      ),
    });
    return [table("t_ta"), table("n_a")];
  },
};
