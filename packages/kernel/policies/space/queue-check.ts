/** Which jobs the queues of a batch system take, and what to set so that they take one that they refuse. */
import { limitText } from "../../core/format.ts";
import type { JobCheck, OfferedJob, ParameterValues } from "../../core/policy.ts";
import { exceededLimit, type JobShape, NO_QUEUE, type QueueClass } from "../../core/queue-classes.ts";

/** The queue that the job's user chose; NO_QUEUE if the user chose none. */
export function chosenQueue(classes: readonly QueueClass[], { queue }: OfferedJob): number {
  return queue >= 0 && queue < classes.length ? queue : NO_QUEUE;
}

/** The classes with their limits times the parameter `scale`. */
export function scaledClasses(
  classes: readonly QueueClass[],
  { scale }: ParameterValues,
): readonly QueueClass[] {
  const factor = Number(scale);
  return classes.map((queueClass) => ({
    ...queueClass,
    processors: queueClass.processors * factor,
    processes: queueClass.processes * factor,
    threads: queueClass.threads * factor,
  }));
}

/** Whether a queue takes a job: the one that its user chose, if users choose, or else any. */
export function queueCheck(classes: readonly QueueClass[], parameters: ParameterValues): JobCheck {
  const wide = scaledClasses(classes, parameters);
  const all = [...wide.keys()];
  return (job) => {
    const chosen = parameters.selection === "user" ? chosenQueue(classes, job) : NO_QUEUE;
    const open = chosen === NO_QUEUE ? all : [chosen];
    if (open.some((queue) => exceededLimit(wide[queue], job) === undefined)) return undefined;
    const widest = open.reduce((best, one) => (wide[one].processors > wide[best].processors ? one : best));
    const { name, elapsedBelowS } = wide[widest];
    const below = elapsedBelowS === undefined ? "" : ` for less than ${limitText(elapsedBelowS * 1000)}`;
    const admits = `admits ${sizeText(wide[widest])}${below}`;
    const asks = `asks for ${sizeText(job)}${below === "" ? "" : ` for ${limitText(job.estimateS * 1000)}`}`;
    const set = advice(
      open.map((queue) => classes[queue]),
      job,
    );
    return chosen === NO_QUEUE
      ? `${asks}, but no queue class admits that: the widest, ${name}, ${admits}; ${set}`
      : `${asks} in queue "${name}", which ${admits}; ${set}, or selection=automatic`;
  };
}

function sizeText({ processors, processes, threads }: Omit<JobShape, "estimateS">): string {
  const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
  return [
    counted(processors, "processor", "processors"),
    `${counted(processes, "process", "processes")} and ${counted(threads, "thread", "threads")} per process`,
  ].join(", ");
}

/** What to set so that one of the classes admits the job. */
function advice(classes: readonly QueueClass[], job: JobShape): string {
  const factors = classes
    .filter(({ elapsedBelowS = Number.POSITIVE_INFINITY }) => job.estimateS < elapsedBelowS)
    .map((one) =>
      Math.ceil(
        Math.max(job.processors / one.processors, job.processes / one.processes, job.threads / one.threads),
      ),
    );
  return factors.length === 0
    ? "choose a class without a limit on the elapsed time"
    : `set scale=${Math.min(...factors)} or more for wider classes`;
}
