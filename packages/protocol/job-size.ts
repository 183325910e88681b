/** How many processors a job has by its own words. A policy may give it more, for memory or whole nodes. */

/** A job or a request. `threads` counts the CPUs of one task; left out: 1. */
interface JobSize {
  readonly tasks: number;
  readonly threads?: number | undefined;
}

export function processorsOf({ tasks, threads = 1 }: JobSize): number {
  return tasks * threads;
}

/**
 * Tasks as queue classes and policies count them: a job with more processors than it asked for counts as one
 * with as many tasks.
 */
export function processesOf(processors: number, threads: number): number {
  return Math.floor(processors / threads);
}

/** Such as `4 tasks`, or `4 tasks of 8 threads`. */
export function tasksText({ tasks, threads = 1 }: JobSize): string {
  const text = `${tasks} ${tasks === 1 ? "task" : "tasks"}`;
  return threads === 1 ? text : `${text} of ${threads} threads`;
}
