/** Explains how we read Kawanami, Yoshihisa and Kanazawa 2008, and what the model adds to the paper. */
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { explainQueue } from "../../../policies/space/queue-selection.ts";
import { formatQueueSelection } from "../../../report/text/queue-selection-text.ts";
import { hpc2500 } from "../../../workload/models/hpc2500.ts";
import { JUDGEMENT } from "./claims.ts";

const sentence = (rule: string) => `${rule[0].toUpperCase()}${rule.slice(1)}.`;

export function notes(): string[] {
  const example = (processes: number, threads: number, estimateS: number) =>
    formatQueueSelection(
      HPC2500_CLASSES,
      explainQueue(HPC2500_CLASSES, { processors: processes * threads, processes, threads, estimateS }),
    );
  return [
    `The log of the HPC2500 is not public. The jobs come from the model "${hpc2500.name}". ${hpc2500.rules.map(sentence).join(" ")}`,
    "The paper prints no measured value: tables 2 to 4 are settings, which the program contains, and the model of the jobs is fitted to table 1. None of them counts as reproduced. Only the statements can be tested.",
    "The paper does not print the size of the machine, its load, the number of jobs, the shares of sizes, or how users chose queues. We chose the model's values for them, so figures 2 and 3 can be compared in direction only. docs/studies/kawanami2008-sensitivity.md varies how carefully users choose, the load, the size of batches and the size of the machine: no choice gives all of figure 2, at most 9 of its 13 statements hold.",
    `Statements: ${JUDGEMENT}.`,
    "Table 4 gives proposal 1 a limit of 0 in every queue: proposal 1 is automatic selection without reservations. Proposal 2 adds the connected reservations.",
    "All queues share all processors (section 3.3), so no queue has a partition of its own. Section 3 says that the conventional scheduler limits the nodes that jobs may use to pass others, but it does not print the limit. We take one node of 128 processors; the next column shows the same scheduler without a limit.",
    "The paper prints no order among queues. When processors become free, the queues are served in the order of table 2.",
    `Shapes that no sentence of section 3.1 covers go to the class with the tightest limit that admits them. Four processes of 16 threads: ${example(4, 16, 600)}.`,
    "A job is passed only by jobs of its own queue. A job with a reservation starts as soon as its last donor has ended, and no earlier, as section 3.2 says. A job whose request is refused asks again at every instant while its priority is above the threshold.",
    "The third trigger of section 3.3 is an arrival that cannot start although no job of its queue waits. We count a job that holds a reservation as waiting; until it starts, no arrival of its queue asks for this reason. The paper does not say which jobs count as waiting.",
    "If the donors together have more processors than needed, the donor that was chosen last releases the surplus. The paper says only that a suitable donor releases it. A running job is a donor for one reservation at most. So jobs that are already donors do not count when we check whether the jobs of a queue have enough processors.",
    "The load is above 1, as in the situation that section 3 describes, so the longest waits grow with the length of the run.",
  ];
}
