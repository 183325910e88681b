/** What the notes on kawanami2008 (docs/papers/kawanami2008.texts.json) say of the program. */
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { explainQueue } from "../../../policies/space/queue-selection.ts";
import { formatQueueSelection } from "../../../report/text/queue-selection-text.ts";
import { hpc2500 } from "../../../workload/models/hpc2500.ts";
import { JUDGEMENT } from "./claims.ts";

const sentence = (rule: string) => `${rule[0].toUpperCase()}${rule.slice(1)}.`;

export function noteValues() {
  const shape = { processors: 4 * 16, processes: 4, threads: 16, estimateS: 600 };
  return {
    model: hpc2500.name,
    modelRules: hpc2500.rules.map(sentence).join(" "),
    judgement: JUDGEMENT,
    example: formatQueueSelection(HPC2500_CLASSES, explainQueue(HPC2500_CLASSES, shape)),
  };
}
