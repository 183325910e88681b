/** The one list of what a worker can do. A task is made ready once per worker, then runs cell by cell. */

/** Makes a task ready from what all of its cells share. */
export type Task<Shared, Cell, Result> = (shared: Shared) => (cell: Cell) => Result | Promise<Result>;

export const TASKS = {
  golden: async () => (await import("./golden/cells.ts")).goldenTask,
  findings: async () => (await import("./findings.ts")).findingsTask,
  paper: async () => (await import("./reproduce.ts")).paperTask,
  policies: async () => (await import("./run.ts")).policiesTask,
} as const;

export type TaskName = keyof typeof TASKS;
type TaskOf<Name extends TaskName> = Awaited<ReturnType<(typeof TASKS)[Name]>>;
export type TaskShared<Name extends TaskName> = Parameters<TaskOf<Name>>[0];
export type TaskCell<Name extends TaskName> = Parameters<ReturnType<TaskOf<Name>>>[0];
export type TaskResult<Name extends TaskName> = Awaited<ReturnType<ReturnType<TaskOf<Name>>>>;
