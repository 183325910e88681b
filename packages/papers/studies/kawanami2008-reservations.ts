/**
 * Studies what connected reservations cost small jobs: without any, within the limits of table 4, and without
 * limits.
 */

import { formatDuration } from "@tutti/kernel/core/format.ts";
import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import { cells } from "../kawanami2008/cells.ts";
import { QUEUE_NAMES, type QueuesResult } from "../kawanami2008/run.ts";
import { resultsOf, type Study, type StudyTable } from "./study.ts";

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
    const results = await resultsOf(
      RESERVATIONS.flatMap((reservations) =>
        ofProposal.map(({ cell }) => {
          const policy = cell.policy.replace("reservations=none", `reservations=${reservations}`);
          return { place: { reservations }, cell: { ...cell, policy } };
        }),
      ),
      options,
    );
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
          results.mean({ reservations }, (run) => run.reservations[all]).toFixed(0),
          `${(100 * results.mean({ reservations }, (run) => run.heldShare[0])).toFixed(1)} %`,
          ...measures.map(([, measure]) => {
            const mean = formatDuration(results.mean({ reservations }, measure));
            const difference = results.difference({ reservations: "none" }, { reservations }, measure);
            return reservations === "none" ? mean : `${mean} (${spreadText(difference)})`;
          }),
        ]),
      },
      await longestDonors(options),
    ];
  },
};

/** How the longest wait of s128 depends on how long donors may run. */
async function longestDonors(options: WorkerOptions): Promise<StudyTable> {
  const results = await resultsOf(
    LONGEST_DAYS.flatMap((days) =>
      cells(1)
        .filter(({ place, cell }) => place.scheduler !== "unlimited" && cell.source.seed <= DONOR_SEEDS)
        .map(({ place, cell }) => {
          const jobs = `${cell.source.jobs}:longest=${days * 86_400}`;
          return { place: { ...place, days }, cell: { ...cell, source: { ...cell.source, jobs } } };
        }),
    ),
    options,
  );
  const at = QUEUE_NAMES.indexOf("s128");
  const wait = (run: QueuesResult) => run.maxWaitS[at];
  return {
    title: "Longest wait of s128 by the longest elapsed time of all jobs",
    columns: ["longest elapsed time", "conventional", "proposal 1", "proposal 2", "2 minus conventional"],
    rows: LONGEST_DAYS.map((days) => [
      formatDuration(days * 86_400),
      ...(["conventional", "proposal1", "proposal2"] as const).map((scheduler) =>
        formatDuration(results.mean({ days, scheduler }, wait)),
      ),
      spreadText(
        results.difference({ days, scheduler: "conventional" }, { days, scheduler: "proposal2" }, wait),
      ),
    ]),
  };
}

function spreadText({ mean, half }: Interval): string {
  return `${formatDuration(mean)} ± ${formatDuration(half)}`;
}
