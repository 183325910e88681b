/**
 * Studies what connected reservations cost small jobs: without any, within the limits of table 4, and without
 * limits.
 */
import { confidenceInterval, pairedDifference } from "../../metrics/statistics.ts";
import { formatDuration } from "../../report/text/format.ts";
import type { Cell } from "../experiments/kinds.ts";
import { runCells } from "../experiments/run-cells.ts";
import type { WorkerOptions } from "../experiments/workers.ts";
import { cells, type SchedulerKey } from "../papers/kawanami2008/cells.ts";
import { QUEUE_NAMES, type QueuesResult } from "../papers/kawanami2008/run.ts";
import type { Study, StudyTable } from "./study.ts";

const RESERVATIONS = ["none", "limited", "unlimited"] as const;
const QUEUES = ["ss8", "s8"] as const;
/** The model has seven days. */
const LONGEST_DAYS = [1, 2, 4, 7] as const;
const DONOR_SEEDS = 24;

export const kawanami2008Reservations: Study = {
  key: "kawanami2008-reservations",
  title: "kawanami2008: what reservations cost small jobs",
  text: [
    "Automatic queue selection with no reservations (proposal 1), with reservations within the limits of table 4 (proposal 2), and with unlimited reservations, on the jobs of the paper's page. The more reservations, the more processors are held, and the longer small jobs wait: held processors stand idle, so at a load above 1 the machine does less. ± is half of a 95 % interval over the seeds. Differences in parentheses are from the same seeds without reservations.",
    "A job of s128 with a reservation starts when its last donor has ended, and in the model a job runs for up to seven days. If no job runs for more than a day, the longest wait of s128 under proposal 2 falls to half of that, but is still longer than under the conventional scheduler (24 seeds). So long-running donors explain a part of the difference.",
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
      await longestDonors(options),
    ];
  },
};

/** How the longest wait of s128 depends on how long donors may run. */
async function longestDonors(options: WorkerOptions): Promise<StudyTable> {
  const placed = LONGEST_DAYS.flatMap((days) =>
    cells(1)
      .filter(({ place, cell }) => place.scheduler !== "unlimited" && cell.source.seed <= DONOR_SEEDS)
      .map(({ place, cell }) => {
        const jobs = `${cell.source.jobs}:longest=${days * 86_400}`;
        return { days, place, cell: { ...cell, source: { ...cell.source, jobs } } };
      }),
  );
  const results = await runCells(
    placed.map(({ cell }) => cell),
    options,
  );
  const at = QUEUE_NAMES.indexOf("s128");
  const waits = (days: number, scheduler: SchedulerKey) =>
    results
      .filter((_, i) => placed[i].days === days && placed[i].place.scheduler === scheduler)
      .map((run) => run.maxWaitS[at]);
  return {
    title: "Longest wait of s128 by the longest elapsed time of all jobs",
    columns: ["longest elapsed time", "conventional", "proposal 1", "proposal 2", "2 minus conventional"],
    rows: LONGEST_DAYS.map((days) => {
      const difference = pairedDifference(waits(days, "proposal2"), waits(days, "conventional"));
      return [
        formatDuration(days * 86_400),
        ...(["conventional", "proposal1", "proposal2"] as const).map((scheduler) =>
          formatDuration(confidenceInterval(waits(days, scheduler)).mean),
        ),
        `${formatDuration(difference.mean)} ± ${formatDuration(difference.half)}`,
      ];
    }),
  };
}
