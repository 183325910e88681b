import {
  type ClassLimit,
  limitOf,
  NO_QUEUE,
  type QueueClass,
  type QueueSelection,
} from "@tutti/kernel/core/queue-classes.ts";

const LIMIT_WORDS: Readonly<Record<ClassLimit, string>> = {
  processors: "processors",
  processes: "processes",
  threads: "threads per process",
  elapsed: "s of elapsed time",
};

/** Explains why a job got its queue, in one sentence without a final period. */
export function formatQueueSelection(classes: readonly QueueClass[], selection: QueueSelection): string {
  const { queue, rule } = selection;
  const ruledOut = selection.ruledOut.map(
    (one) =>
      `${classes[one.queue].name} allows ${one.limit === "elapsed" ? "less than " : ""}${one.allowed} ${LIMIT_WORDS[one.limit]}, the job asks for ${one.asked}`,
  );
  if (queue === NO_QUEUE) return `No queue admits the job: ${ruledOut.join("; ")}`;
  const name = classes[queue].name;
  const others = selection.passedOver.map((other) => classes[other].name).join(", ");
  const why =
    rule === "only"
      ? "the only queue that admits the job"
      : rule === "order"
        ? `the first of the queues that admit the job equally tightly (also ${others})`
        : `the tightest queue that admits the job (also ${others}), decided by ${limitOf(classes[queue], rule as ClassLimit)} ${LIMIT_WORDS[rule as ClassLimit]}`;
  return `${name}: ${why}${ruledOut.length === 0 ? "" : `; ${ruledOut.join("; ")}`}`;
}
