/** How Kawanami, Yoshihisa and Kanazawa 2008 was read, and what the model adds. */
import { HPC2500_CLASSES } from "../../../core/queue-classes.ts";
import { explainQueue } from "../../../policies/space/queue-selection.ts";
import { tellQueueSelection } from "../../../report/text/queue-selection-text.ts";
import { hpc2500 } from "../../../workload/models/hpc2500.ts";
import { JUDGEMENT } from "./claims.ts";

export function notes(): string[] {
  const example = (processes: number, threads: number, estimateS: number) =>
    tellQueueSelection(
      HPC2500_CLASSES,
      explainQueue(HPC2500_CLASSES, { processors: processes * threads, processes, threads, estimateS }),
    );
  return [
    `The log of the HPC2500 is not public; the jobs come from the model "${hpc2500.name}": ${hpc2500.rules.join("; ")}.`,
    "The paper prints neither the size of the machine nor its load, the number of jobs, the shares of sizes, or how users chose: the model's values for them are ours, and figures 2 and 3 can be compared in direction only.",
    `Statements: ${JUDGEMENT}.`,
    "Table 4 gives proposal 1 a limit of 0 in every queue: it is automatic selection without reservations. Proposal 2 adds the connected reservations.",
    "All queues share all processors (section 3.3), so no queue has a partition of its own. Section 3 says that the conventional scheduler limits the nodes on which jobs may pass others, not to how many: one node of 128 processors here; the column beside it shows the same without a limit.",
    "The paper prints no order among queues: they are served in the order of table 2 when processors become free.",
    `Shapes that no sentence of section 3.1 covers go to the class with the tightest limit that admits them. Four processes of 16 threads: ${example(4, 16, 600)}.`,
    "Overtaking is counted within a queue. A job with a reservation starts when its last donor has ended and not before, as section 3.2 says. A refused job asks again at every instant while its priority is above the threshold.",
    "Of gathered donors the one chosen last releases the surplus; the paper says only that a suitable one does. When the jobs of a queue do not suffice as donors, those that carry a reservation already are not counted.",
    "The load is above 1, as in the situation that section 3 describes, so the longest waits grow with the length of the run.",
  ];
}
