/** What connected reservations cost small jobs: none, within the limits of table 4, and without limits. */
import { confidenceInterval, pairedDifference } from "../../metrics/statistics.ts";
import { formatDuration } from "../../report/text/format.ts";
import type { Cell } from "../experiments/kinds.ts";
import { runCells } from "../experiments/run-cells.ts";
import { cells } from "../papers/kawanami2008/cells.ts";
import { QUEUE_NAMES, type QueuesResult } from "../papers/kawanami2008/run.ts";
import type { Study } from "./study.ts";

const RESERVATIONS = ["none", "limited", "unlimited"] as const;
const QUEUES = ["ss8", "s8"] as const;

export const kawanami2008Reservations: Study = {
  key: "kawanami2008-reservations",
  title: "kawanami2008: what reservations cost small jobs",
  text: [
    "Automatic selection with no reservations (proposal 1), within the limits of table 4 (proposal 2), and without limits, on the page's own jobs. The more reservations, the more processors are held, and the longer small jobs wait: held processors stand idle, so at a load above 1 the machine does less. ± is half of a 95 % interval over the seeds; differences are from no reservations, seed by seed.",
  ],
  async run(options) {
    const ofProposal = cells(1).filter(({ place }) => place.scheduler === "proposal1");
    const list = RESERVATIONS.flatMap((reservations) =>
      ofProposal.map(
        ({ cell }): Cell<"queues"> => ({
          ...cell,
          policy: cell.policy.replace("reservations=none", `reservations=${reservations}`),
        }),
      ),
    );
    const results = await runCells(list, options);
    const of = (reservations: (typeof RESERVATIONS)[number]) => {
      const from = RESERVATIONS.indexOf(reservations) * ofProposal.length;
      return results.slice(from, from + ofProposal.length);
    };
    const measures: readonly (readonly [string, (run: QueuesResult) => number])[] = QUEUES.flatMap(
      (queue) => {
        const at = QUEUE_NAMES.indexOf(queue);
        return [
          [`median wait ${queue}`, (run: QueuesResult) => run.medianWaitS[at]],
          [`longest wait ${queue}`, (run: QueuesResult) => run.maxWaitS[at]],
        ] as const;
      },
    );
    const all = QUEUE_NAMES.length - 1;
    return [
      {
        title: "Reservations",
        columns: ["reservations", "made", "processors held", ...measures.map(([name]) => name)],
        rows: RESERVATIONS.map((reservations) => [
          reservations,
          confidenceInterval(of(reservations).map((run) => run.reservations[all])).mean.toFixed(0),
          `${(100 * confidenceInterval(of(reservations).map((run) => run.heldShare[0])).mean).toFixed(1)} %`,
          ...measures.map(([, measure]) => {
            const values = of(reservations).map(measure);
            const { mean } = confidenceInterval(values);
            const difference = pairedDifference(values, of("none").map(measure));
            return reservations === "none"
              ? formatDuration(mean)
              : `${formatDuration(mean)} (${formatDuration(difference.mean)} ± ${formatDuration(difference.half)})`;
          }),
        ]),
      },
    ];
  },
};
