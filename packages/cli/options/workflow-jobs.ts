/**
 * Turns the tasks of a workflow into the entries of one submit. When a workflow is resumed, jobs that have
 * succeeded are left out, and the others wait for those that still wait or run.
 */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import { brief } from "@tutti/protocol/job-answers.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { commandWithValues, valuesAt } from "@tutti/protocol/sweep-values.ts";
import { UsageError } from "../errors.ts";
import type { WorkflowTask } from "./workflow.ts";

/** A job of a task. */
interface Slot {
  readonly index: number | undefined;
  /** The job of an earlier run that counts for it, because it succeeded, waits or runs. */
  readonly kept: Job | undefined;
  /** Otherwise its entry in the request. */
  entry?: number;
}

type After = NonNullable<SubmitJob["after"]>[number];

/**
 * @param tasks each after those for which it waits
 * @param earlier jobs of earlier runs, by rising number
 */
export function workflowEntries(tasks: readonly WorkflowTask[], earlier: readonly Job[] = []): SubmitJob[] {
  const known = new Map<string, Job>();
  for (const job of earlier) known.set(identityOf(job.name, brief(job), job.arrayIndex), job);
  const entries: SubmitJob[] = [];
  const slotsOf = new Map<string, readonly Slot[]>();
  for (const task of tasks) {
    const slots = slotsOfTask(task.job, known);
    slotsOf.set(task.name, slots);
    for (const { members, each } of groupsOf(task, slots, slotsOf)) {
      for (const position of members) slots[position].entry = entries.length;
      entries.push({
        ...partOf(task.job, slots, members),
        ...afterOf([...(task.job.after ?? []), ...commonWaits(task, slotsOf), ...each]),
      });
    }
  }
  return entries;
}

/** Jobs with the same identity do the same. The index does not count if there are values: a grid may grow. */
function identityOf(
  name: string | undefined,
  { command, values }: Pick<Job, "command" | "values">,
  index: number | undefined,
): string {
  return JSON.stringify([name, command, values ?? index]);
}

function slotsOfTask(job: SubmitJob, known: ReadonlyMap<string, Job>): Slot[] {
  const { name, array, values, command, script } = job;
  const [first] = Object.values(values ?? {});
  const count = first?.length;
  const isArray = array !== undefined || count !== undefined;
  const spec = isArray ? parseArray(array ?? `1-${count}`, count) : { indices: [undefined] };
  if (typeof spec === "string") throw new UsageError(spec);
  return spec.indices.map((index, position) => {
    const own = values && valuesAt(values, position);
    const full = { command: commandWithValues(command, own, script?.word), values: own };
    const last = known.get(identityOf(name, brief(full), index));
    const isKept = last !== undefined && (last.state === "done" || !isEnded(last.state));
    return { index, kept: isKept ? last : undefined };
  });
}

/** The new jobs of a task, by what each of them waits for alone (`each:`). */
function groupsOf(
  { name, after }: WorkflowTask,
  slots: readonly Slot[],
  slotsOf: ReadonlyMap<string, readonly Slot[]>,
): Iterable<{ readonly members: number[]; readonly each: readonly After[] }> {
  const others = after
    .filter(({ kind }) => kind === "each")
    .map(({ task }) => ({ task, byIndex: new Map(slotsOf.get(task)!.map((slot) => [slot.index, slot])) }));
  const groups = new Map<string, { members: number[]; each: readonly After[] }>();
  for (const [position, { index, kept }] of slots.entries()) {
    if (kept !== undefined) continue;
    const each = others.flatMap(({ task, byIndex }): After[] => {
      const slot = index === undefined ? undefined : byIndex.get(index);
      if (slot === undefined) {
        throw new InputError(
          `Cannot let each job of task ${name} wait for one of task ${task}: ${index === undefined ? `${name} is one job` : `${task} has no index ${index}`}, expected arrays or grids with the same indices`,
        );
      }
      if (slot.entry !== undefined) return [{ entry: slot.entry, ok: true, kind: "each" }];
      return slot.kept!.state === "done" ? [] : [{ job: slot.kept!.job, ok: true, kind: "each" }];
    });
    // The jobs of one array all have the same entry here, but each has its own number.
    const key = JSON.stringify(each.map((one) => one.entry ?? slotArray(others, index)));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { members: [position], each });
    else group.members.push(position);
  }
  return groups.values();
}

function slotArray(
  others: readonly { readonly byIndex: ReadonlyMap<number | undefined, Slot> }[],
  index: number | undefined,
): (number | undefined)[] {
  return others.map(({ byIndex }) => byIndex.get(index)?.kept?.array);
}

/** What all jobs of a task wait for. */
function commonWaits({ after }: WorkflowTask, slotsOf: ReadonlyMap<string, readonly Slot[]>): After[] {
  return after.flatMap(({ task, ok, kind }): After[] => {
    if (kind === "each") return [];
    const how = kind === undefined ? { ok } : { ok, kind };
    const slots = slotsOf.get(task)!;
    const entries = new Set(slots.flatMap(({ entry }) => entry ?? []));
    const jobs = slots.flatMap(({ kept }) => {
      // What succeeded need not be waited for; who waits for a failure has to know that there was none.
      return kept === undefined || (kept.state === "done" && kind !== "notok") ? [] : [kept.job];
    });
    return [...[...entries].map((entry) => ({ entry, ...how })), ...jobs.map((job) => ({ job, ...how }))];
  });
}

/** The request for some jobs of a task. */
function partOf(job: SubmitJob, slots: readonly Slot[], members: readonly number[]): SubmitJob {
  const { after: _, array, values, ...rest } = job;
  if (members.length === slots.length) return { ...rest, array, values };
  const [, atOnce = ""] = /(%.*)?$/.exec(array ?? "") ?? [];
  const indices = rangesText(rangesOf(members.map((position) => slots[position].index!)));
  const columns = Object.entries(values ?? {}).map(([name, column]) => [name, members.map((i) => column[i])]);
  return { ...rest, array: indices + atOnce, values: values && Object.fromEntries(columns) };
}

function afterOf(after: readonly After[]): Pick<SubmitJob, "after"> {
  return after.length === 0 ? {} : { after: [...after] };
}
