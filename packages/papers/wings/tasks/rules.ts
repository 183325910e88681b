/** What the simulator of tasks does without asking a local scheduler, one sentence each. */
export const TASKS_RULES: readonly string[] = [
  "simulated tasks: at every clock signal each processor goes to its task in the next row, if that task can run; the gang policy changes rows only between two passes over all rows",
  "simulated tasks: with jobs=moldable, a created task gets a processor in its job's row, and an ended task gives its processor back, between two such passes; with jobs=rigid a job keeps its processors until it ends",
  "simulated tasks: a local task belongs to one processor and has no slot; the processor can run it from the moment it arrives",
  "simulated tasks: the task that owns the slot takes the processor back as soon as it can run again; with returns=no, it waits until the processor becomes free",
  "simulated tasks: a processor that changes to a task other than its last one first loses the cost of a switch",
  "simulated tasks: at one instant, I/O ends and messages and local tasks arrive first, then statements end, then comes the clock signal, then idle processors get tasks",
];
