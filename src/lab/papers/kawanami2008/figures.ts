/** Draws figures 2 and 3 of Kawanami, Yoshihisa and Kanazawa 2008, whose numbers are not printed. */
import type { ReproducedFigure } from "../paper.ts";
import { type KawanamiResults, SCHEDULER_KEYS, SCHEDULERS } from "./cells.ts";
import { QUEUE_NAMES } from "./run.ts";

export function figures(results: KawanamiResults): ReproducedFigure[] {
  const figure = (id: string, title: string, measure: "medianWaitS" | "maxWaitS"): ReproducedFigure => ({
    id,
    title,
    xAxis: "queue",
    yAxis: "wait in s",
    categories: QUEUE_NAMES,
    yScale: "log",
    series: SCHEDULER_KEYS.map((scheduler) => ({
      name: SCHEDULERS[scheduler].title,
      ours: QUEUE_NAMES.map(
        (_, queue) => [queue + 1, results.mean({ scheduler }, (run) => run[measure][queue])] as const,
      ),
    })),
  });
  return [
    figure("Figure 2", "Median wait by queue", "medianWaitS"),
    figure("Figure 3", "Longest wait by queue", "maxWaitS"),
  ];
}
