/**
 * Reads a workflow file: TOML with a table for each task, which has a command or a script, options of `tutti
 * submit`, a grid or a file of lines, and the tasks after which it runs.
 */
import { basename } from "node:path";
import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { parseText } from "@tutti/live/daemon/config/config-text.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { UsageError } from "../errors.ts";
import { gridOfTable } from "./grid.ts";
import { splitWords } from "./job-script.ts";
import { readText } from "./read-text.ts";
import { optionNames, parseOptions, type SubmitOptions, submitJob } from "./submit-options.ts";
import { sweepOf } from "./sweep-options.ts";

export interface WorkflowTask {
  readonly name: string;
  /** Its `after` names only jobs of the command line. */
  readonly job: SubmitJob;
  readonly after: readonly TaskDependency[];
}

interface TaskDependency {
  readonly task: string;
  readonly ok: boolean;
  readonly kind?: "notok" | "each";
}

type Table = Readonly<Record<string, unknown>>;

const TOP = ["name", "defaults", "tasks"];
/** Fields of a task that are no options. */
const OWN = ["command", "script", "after", "grid", "each-line"];
/** Options that a task cannot have: its name is that of its table, and `after` names tasks. */
const OTHERWISE: ReadonlySet<string> = new Set(["name", "after"]);
const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
const DEPENDENCY = /^(?:(ok|any|notok|each):)?(.+)$/;

/**
 * The tasks, each after those for which it waits, and the name of the workflow. Jobs have names such as
 * `train/fit`.
 * @param given options of the command line, which win over the file
 * @throws InputError
 */
export async function readWorkflow(
  file: string,
  given: SubmitOptions,
): Promise<{ readonly name: string; readonly tasks: readonly WorkflowTask[] }> {
  const { text, what } = await readText(file, "expected a workflow file in TOML");
  const flow = tableOf(parseText(text, file), what, "the file");
  refuseUnknown(flow, TOP, what, "");
  const name = given.name ?? flow.name ?? basename(file, ".toml");
  if (typeof name !== "string" || !NAME.test(name)) throw badName(what, "of the workflow", name);
  const defaults = tableOf(flow.defaults ?? {}, what, "defaults");
  const tables = Object.entries(tableOf(flow.tasks ?? {}, what, "tasks"));
  if (tables.length === 0) {
    throw new InputError(`Cannot use ${what}: it has no tasks, expected tables such as [tasks.prepare]`);
  }
  const tasks = new Map<string, WorkflowTask>();
  const names = tables.map(([task]) => task);
  for (const [task, value] of tables) {
    if (!NAME.test(task)) throw badName(what, "of a task", task);
    const table = tableOf(value, what, `tasks.${task}`);
    const after = dependenciesOf(table.after, names, what, task);
    tasks.set(task, {
      name: task,
      job: await jobOf(table, defaults, given, what, `${name}/${task}`, task),
      after,
    });
  }
  return { name, tasks: inOrder(tasks, what) };
}

function tableOf(value: unknown, what: string, name: string): Table {
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isTable && !(value instanceof Date)) return value as Table;
  throw new InputError(`Cannot use ${what}: ${name} is not a table, expected [${name}]`);
}

function refuseUnknown(table: Table, known: readonly string[], what: string, where: string): void {
  const unknown = Object.keys(table).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new InputError(
    `Cannot use ${what}: ${where}it has the unknown key ${JSON.stringify(unknown.slice(0, 60))}${closest(unknown, known)}, expected ${known.join(", ")}`,
  );
}

function badName(what: string, whose: string, name: unknown): InputError {
  return new InputError(
    `Cannot use ${what}: the name ${whose} is ${JSON.stringify(name)?.slice(0, 100)}, expected letters, digits, _, - and .`,
  );
}

function dependenciesOf(
  value: unknown,
  names: readonly string[],
  what: string,
  task: string,
): TaskDependency[] {
  const list = value === undefined ? [] : typeof value === "string" ? [value] : value;
  if (!Array.isArray(list))
    throw wrongValue(what, task, "after", 'the names of tasks, such as ["prepare", "any:fit"]');
  return list.map((word) => {
    const [, how = "ok", other] = (typeof word === "string" && DEPENDENCY.exec(word)) || [];
    if (other === undefined)
      throw wrongValue(what, task, "after", 'the names of tasks, such as ["prepare", "any:fit"]');
    if (!names.includes(other)) {
      throw new InputError(
        `Cannot use ${what}: task ${task} runs after ${JSON.stringify(other)}${closest(other, names)}, expected a task of this file`,
      );
    }
    const kind = how === "notok" || how === "each" ? { kind: how as "notok" | "each" } : {};
    return { task: other, ok: how === "ok" || how === "each", ...kind };
  });
}

async function jobOf(
  table: Table,
  defaults: Table,
  given: SubmitOptions,
  what: string,
  name: string,
  task: string,
): Promise<SubmitJob> {
  const options = optionNames().filter((option) => !OTHERWISE.has(option));
  refuseUnknown(table, [...OWN, ...options], what, `in task ${task}, `);
  refuseUnknown(defaults, options, what, "in defaults, ");
  const words = Object.entries({ ...defaults, ...table }).flatMap(([key, value]) =>
    OWN.includes(key) ? [] : optionWord(key, value, what, task),
  );
  const inTask = (problem: string) => new InputError(`Cannot use ${what}: in task ${task}, ${problem}`);
  const { command, script, grid, "each-line": eachLine } = table;
  if ((command === undefined) === (script === undefined)) {
    throw inTask('expected either command = ["./a.out", "input"] or script = "job.sh"');
  }
  const line = wordsOf(command ?? script, what, task);
  try {
    const { after, ...fields } = parseOptions(words, (problem) => new UsageError(problem));
    const all = { ...fields, ...given, name };
    const job = await submitJob("submit", line, all, command === undefined ? line : ["--", ...line]);
    if (grid !== undefined && eachLine !== undefined)
      throw new UsageError("expected grid or each-line, not both");
    if (grid !== undefined) return { ...job, values: gridOfTable(gridTable(grid, what, task)) };
    if (eachLine === undefined) return job;
    if (typeof eachLine !== "string") throw wrongValue(what, task, "each-line", "the name of a file");
    return await sweepOf(job, { eachLine });
  } catch (error) {
    if (error instanceof UsageError) throw inTask(error.message);
    throw error;
  }
}

function gridTable(grid: unknown, what: string, task: string): Record<string, string | string[]> {
  const variables = Object.entries(tableOf(grid, what, `tasks.${task}.grid`)).map(([name, value]) => {
    const values = Array.isArray(value) ? value.map(scalar) : [scalar(value)];
    if (values.length === 0 || values.includes(undefined))
      throw wrongValue(what, task, `grid.${name}`, 'values such as [0.1, 0.01] or "1..5"');
    return [name, typeof value === "string" ? value : (values as string[])] as const;
  });
  if (variables.length === 0) throw wrongValue(what, task, "grid", 'variables such as { seed = "1..5" }');
  return Object.fromEntries(variables);
}

function wordsOf(value: unknown, what: string, task: string): string[] {
  const words = typeof value === "string" ? splitWords(value) : Array.isArray(value) ? value.map(scalar) : [];
  if (words.length > 0 && words.every((word) => word !== undefined)) return words as string[];
  throw wrongValue(what, task, "its command", 'words such as ["./a.out", "input"] or "./a.out input"');
}

function optionWord(key: string, value: unknown, what: string, task: string): string[] {
  if (value === false) return [];
  if (value === true) return [`--${key}`];
  const list = Array.isArray(value) ? value.map(scalar) : [scalar(value)];
  if (list.includes(undefined)) throw wrongValue(what, task, key, `what tutti submit --${key} takes`);
  return [`--${key}=${list.join(",")}`];
}

/** A text or a number as text. */
function scalar(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : undefined;
}

function wrongValue(what: string, task: string, key: string, expected: string): InputError {
  return new InputError(`Cannot use ${what}: in task ${task}, ${key} cannot be used, expected ${expected}`);
}

/** The tasks, each after those for which it waits. @throws InputError for a circle */
function inOrder(tasks: ReadonlyMap<string, WorkflowTask>, what: string): WorkflowTask[] {
  const ordered = new Set<string>();
  for (const first of tasks.keys()) {
    /** The path from the first task to the present one, each with the next of its dependencies. */
    const path: { readonly name: string; next: number }[] = [{ name: first, next: 0 }];
    while (path.length > 0) {
      const present = path.at(-1)!;
      const { after } = tasks.get(present.name)!;
      if (ordered.has(present.name) || present.next === after.length) {
        ordered.add(present.name);
        path.pop();
        continue;
      }
      const { task } = after[present.next++];
      const from = path.findIndex(({ name }) => name === task);
      if (from >= 0) {
        const circle = [...path.slice(from).map(({ name }) => name), task].join(" → ");
        throw new InputError(
          `Cannot use ${what}: its tasks wait for each other in a circle: ${circle}; expected an order in which they can run`,
        );
      }
      if (!ordered.has(task)) path.push({ name: task, next: 0 });
    }
  }
  return [...ordered].map((name) => tasks.get(name)!);
}
