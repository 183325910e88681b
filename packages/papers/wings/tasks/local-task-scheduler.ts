/**
 * Decides what a processor does when the task that owns the current slot cannot run (Silva and Scherson 1999,
 * sections 2.2 and 2.3).
 *
 * The grades scheduler keeps four grades of membership for each task: the shares of its slot that it spent
 * computing, in I/O, waiting for messages, and at barriers, averaged over its last five slots. It runs the
 * ready task with the largest Pr(T) = max(α·λ_IO, λ_COMP). As in the paper, waiting for messages and barriers
 * counts against a task only by lowering its share of computing.
 */
import type { ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import { choice, integer, number } from "@tutti/kernel/core/parameters.ts";
import { when } from "@tutti/kernel/core/policy.ts";
import { Grades } from "@tutti/kernel/structures/grades.ts";
import {
  type LocalSchedulerDefinition,
  type LocalTaskScheduler,
  NO_TASK,
  type TaskIndex,
} from "./contract.ts";

class GradesScheduler implements LocalTaskScheduler {
  readonly #alpha: number;
  readonly #grades: Grades;
  readonly #priority: Float64Array;
  /** For each task, the number of the pick at which it was last picked. */
  readonly #lastPick: Float64Array;
  /** By task: 1 if it must be scheduled as a gang, so that it is not picked. */
  readonly #isGang: Uint8Array;
  readonly #byGrade: boolean;
  #picks = 0;

  constructor(
    taskCount: number,
    alpha: number,
    slotsAveraged: number,
    isGang: ReadonlyColumn,
    byGrade: boolean,
  ) {
    this.#isGang = Uint8Array.from(isGang);
    this.#byGrade = byGrade;
    this.#alpha = alpha;
    this.#grades = new Grades(taskCount, slotsAveraged);
    this.#priority = new Float64Array(taskCount);
    this.#lastPick = new Float64Array(taskCount);
  }

  slotEnded(task: TaskIndex, compute: number, io: number, message: number, barrier: number): void {
    const grades = this.#grades;
    grades.record(task, compute, io, message, barrier);
    const [computing, inIo] = [grades.grade(task, 0), grades.grade(task, 1)];
    this.#priority[task] = Math.max(this.#alpha * inIo, computing);
    if (this.#byGrade)
      this.#isGang[task] = grades.grade(task, 2) + grades.grade(task, 3) > computing + inIo ? 1 : 0;
  }

  pick(ready: ReadonlyColumn, count: number): TaskIndex {
    const priority = this.#priority;
    const lastPick = this.#lastPick;
    let best = NO_TASK;
    for (let i = 0; i < count; i++) {
      const task = ready[i];
      if (this.#isGang[task] === 1) continue;
      const ahead = best === NO_TASK ? 1 : priority[task] - priority[best];
      if (ahead > 0 || (ahead === 0 && lastPick[task] < lastPick[best])) best = task;
    }
    if (best !== NO_TASK) lastPick[best] = ++this.#picks;
    return best;
  }
}

/** Conventional gang scheduling: the processor of a blocked task idles. */
export const idle: LocalSchedulerDefinition = {
  name: "tasks-idle",
  title: "Conventional gang scheduling",
  summary: "While a task is blocked in its slot, its processor idles.",
  rules: [
    "while the task that owns the slot cannot run, its processor idles; a processor without a task in the row idles, too",
    "local tasks of a processor, which have no slot, do not run",
  ],
  source: "Ousterhout 1982",
  parameters: [],
  guarantees: () => ({ outsideSlots: "none" }),
  make: () => ({ slotEnded: () => {}, pick: () => NO_TASK }),
};

/** Concurrent Gang's local task scheduler. */
export const grades: LocalSchedulerDefinition = {
  name: "tasks-grades",
  title: "Concurrent Gang",
  summary:
    "While a task is blocked in its slot, its processor runs another of its tasks, chosen by what they did in their own slots.",
  rules: [
    "when the task that owns the slot cannot run, or if there is no such task, the processor runs the ready task with the largest max(alpha × grade in I/O, grade in computation)",
    "among equal priorities, the task that was picked longest ago comes first, then the task that was placed first",
    "a grade is the share of its own slot that a task spent computing or in I/O, averaged over its last slots; before its first slot all grades are 0",
    "a picked task keeps the processor until it blocks, until the next clock signal, or until the task that owns the slot can run again",
    "a local task of a processor has no slot of its own, so its grades stay 0",
    ...when(
      ({ classes }) => classes === "user",
      ["classes=user: tasks that the user declares must run as a gang are not picked"],
    ),
    ...when(
      ({ classes }) => classes === "grade",
      [
        "classes=grade: a task is not picked while its grades for messages and barriers together are above those for computation and I/O, because it then needs its gang",
      ],
    ),
  ],
  source: "Silva and Scherson 1999, sections 2.2 and 2.3",
  parameters: [
    number(
      "alpha",
      { min: 0, max: 1000, default: 2 },
      "weight of the grade in the I/O class relative to the grade in the computation class",
    ),
    integer(
      "slots",
      { min: 1, max: 1000, default: 5 },
      "number of a task's last slots over which its grades are averaged",
    ),
    choice(
      "classes",
      ["none", "user", "grade"],
      "which tasks must run as a gang, and so only in their own slots: none, those that users declare, or those that their grades show",
    ),
  ],
  guarantees: ({ classes }) => ({
    outsideSlots: classes === "user" ? "undeclared" : classes === "grade" ? "some" : "all",
  }),
  make: (taskCount, { alpha, slots, classes }, isGang) =>
    new GradesScheduler(
      taskCount,
      Number(alpha),
      Number(slots),
      classes === "user" ? isGang : new Uint8Array(taskCount),
      classes === "grade",
    ),
};
