/**
 * Selects the queue of a job (Kawanami, Yoshihisa and Kanazawa 2008, section 3.1): the class with the
 * tightest limit among those that admit the job. The paper spells this out for the HPC2500 in six sentences
 * (8 or fewer processors: ss8 or s8; more than 32 threads: s128; more than 8 processes: d32, d128 or d512).
 * All six follow from the principle of the tightest limit.
 *
 * Shapes that no sentence covers (few processes, few threads, but more than 8 processors) follow the same
 * principle. If two classes allow the same number of processors, the one with fewer processes is tighter,
 * then the one with fewer threads, then the one with the shorter elapsed time, then the first one: 2
 * processes × 24 threads go to s128, not d128.
 */
import {
  CLASS_LIMITS,
  exceededLimit,
  type JobShape,
  limitOf,
  NO_QUEUE,
  type QueueClass,
  type QueueSelection,
  type RuledOutQueue,
} from "../../core/queue-classes.ts";

/** Index of the tightest class that admits the job; NO_QUEUE if no class does. */
export function selectQueue(classes: readonly QueueClass[], job: JobShape): number {
  let best = NO_QUEUE;
  for (let i = 0; i < classes.length; i++) {
    if (exceededLimit(classes[i], job) !== undefined) continue;
    if (best === NO_QUEUE || isTighter(classes[i], classes[best])) best = i;
  }
  return best;
}

/** The same selection with its reason as data. */
export function explainQueue(classes: readonly QueueClass[], job: JobShape): QueueSelection {
  const ruledOut: RuledOutQueue[] = [];
  const admitting: number[] = [];
  for (const [queue, one] of classes.entries()) {
    const limit = exceededLimit(one, job);
    if (limit === undefined) admitting.push(queue);
    else {
      const asked = limit === "elapsed" ? job.estimateS : job[limit];
      ruledOut.push({ queue, limit, asked, allowed: limitOf(one, limit) });
    }
  }
  const queue = selectQueue(classes, job);
  const passedOver = admitting.filter((other) => other !== queue);
  return { queue, rule: decidingRule(classes, queue, passedOver), ruledOut, passedOver };
}

function isTighter(a: QueueClass, b: QueueClass): boolean {
  for (let i = 0; i < CLASS_LIMITS.length; i++) {
    const ofA = limitOf(a, CLASS_LIMITS[i]);
    const ofB = limitOf(b, CLASS_LIMITS[i]);
    if (ofA !== ofB) return ofA < ofB;
  }
  return false;
}

/** The first limit by which the chosen class differs from every class that was equally tight up to then. */
function decidingRule(
  classes: readonly QueueClass[],
  chosen: number,
  passedOver: readonly number[],
): QueueSelection["rule"] {
  if (chosen === NO_QUEUE) return "none";
  if (passedOver.length === 0) return "only";
  let alike = passedOver;
  for (const limit of CLASS_LIMITS) {
    alike = alike.filter((other) => limitOf(classes[other], limit) === limitOf(classes[chosen], limit));
    if (alike.length === 0) return limit;
  }
  return "order";
}
