/**
 * Reproduces Kawanami, Yoshihisa and Kanazawa 2008: automatic queue selection and connected reservations on
 * the HPC2500, tables 1 to 4 and figures 2 and 3. The site's log is not public, so the jobs come from a model
 * (workload/models/hpc2500.ts). Our numbers can be compared in direction only: the paper prints no numbers
 * for its figures, and section 4 only describes them in words.
 */

import { HPC2500_CLASSES } from "@tutti/kernel/core/queue-classes.ts";
import { explainQueue } from "@tutti/kernel/policies/space/queue-selection.ts";
import { hpc2500 } from "@tutti/kernel/workload/models/hpc2500.ts";
import { judge } from "@tutti/lab/claims.ts";
import { formatQueueSelection } from "@tutti/lab/report/text/queue-selection-text.ts";
import texts from "../../../docs/papers/kawanami2008.texts.json" with { type: "json" };
import type { ReproducedFigure } from "../paper.ts";
import { paperOf } from "../texts.ts";
import { type KawanamiResults, SCHEDULER_KEYS, SCHEDULERS } from "./cells.ts";
import { claims, JUDGEMENT } from "./claims.ts";
import { QUEUE_NAMES } from "./run.ts";
import { kawanami2008Tables } from "./tables.ts";

export const kawanami2008 = paperOf(kawanami2008Tables, texts, {
  figures,
  statements: (results) => claims(results).map(judge),
  noteValues,
});

function figures(results: KawanamiResults): ReproducedFigure[] {
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

const sentence = (rule: string) => `${rule[0].toUpperCase()}${rule.slice(1)}.`;

function noteValues() {
  const shape = { processors: 4 * 16, processes: 4, threads: 16, estimateS: 600 };
  return {
    model: hpc2500.name,
    modelRules: hpc2500.rules.map(sentence).join(" "),
    judgement: JUDGEMENT,
    example: formatQueueSelection(HPC2500_CLASSES, explainQueue(HPC2500_CLASSES, shape)),
  };
}
