/** Tasks that block, and what their processors do meanwhile (Silva and Scherson 1999). */
import type { LocalSchedulerDefinition } from "../../core/tasks.ts";
import { grades, idle } from "../../policies/local-task-scheduler.ts";
import { TASKS_RULES } from "../../simulator/tasks.ts";
import type { Wing } from "../wing.ts";

export const tasks: Wing<LocalSchedulerDefinition> = {
  name: "tasks",
  title: "Tasks on a processor",
  machine: "the tasks of each processor while the one whose turn it is waits for I/O, a message or a barrier",
  rules: TASKS_RULES,
  paper: "silva1999",
  policies: [idle, grades],
};
