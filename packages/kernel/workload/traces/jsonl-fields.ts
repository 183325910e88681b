/** Lists the fields of a workload file's lines, and checks their values. */
import type { ShareSettings } from "../../core/fair-share.ts";
import { MAX_INT32 } from "../../core/jobs.ts";
import type { LimitSettings } from "../../core/limits/job-limits.ts";
import type { Molding } from "../../core/molding.ts";
import type { WorkloadEvent } from "../../core/workload-events.ts";

/** Name and version in the first line of a file. */
export const WORKLOAD_SCHEMA = "tutti.workload-file/1";
const LATEST_S = 1e12;
const LONGEST_TEXT = 1000;
const LONGEST_LIST = 10_000;
const MAX_SHARES = 1_000_000;

export type Entry = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

export function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isWhole =
  (min: number, max = MAX_INT32): Check =>
  (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
const isTime: Check = (value) => typeof value === "number" && value >= 0 && value <= LATEST_S;
const isDuration: Check = (value) => isTime(value) && (value as number) > 0;
const isText: Check = (value) =>
  typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT;
const isNames: Check = (value) => Array.isArray(value) && value.length <= LONGEST_LIST && value.every(isText);
const isTexts: Check = (value) => isNames(value) && (value as readonly string[]).length > 0;
/** Amounts by kind of resource. */
const isUse: Check = (value) =>
  isEntry(value) && Object.entries(value).every(([kind, amount]) => isText(kind) && isWhole(0)(amount));

const isShare: Check = (value) => typeof value === "number" && value > 0 && value <= MAX_SHARES;
const areSharesOfUsers: Check = (value) =>
  isEntry(value) && Object.entries(value).every(([user, shares]) => isText(user) && isShare(shares));

/** Whether the value says who has which share, each user at most once. */
export function areShares(value: unknown): value is ShareSettings {
  if (!isEntry(value)) return false;
  const { halfLifeS, users, groups } = value;
  if (!isDuration(halfLifeS) || !areSharesOfUsers(users) || !isEntry(groups)) return false;
  const lists = Object.values(groups);
  if (!lists.every((group) => isEntry(group) && isShare(group.shares) && areSharesOfUsers(group.users)))
    return false;
  const named = [users, ...lists.map((group) => (group as Entry).users)].flatMap((list) =>
    Object.keys(list as Entry),
  );
  return new Set(named).size === named.length;
}

const RUN_LIMITS: Readonly<Record<string, Check>> = { runningCpus: isWhole(1), runningJobs: isWhole(1) };
const isRunLimit = (value: unknown, more: Readonly<Record<string, Check>> = {}): boolean =>
  isEntry(value) &&
  Object.entries({ ...RUN_LIMITS, ...more }).every(
    ([field, check]) => value[field] === undefined || check(value[field]),
  );
const isByName = (value: unknown, isOne: (value: unknown) => boolean): boolean =>
  value === undefined ||
  (isEntry(value) && Object.entries(value).every(([name, one]) => isText(name) && isOne(one)));

/** Whether the value says what the jobs of users, groups and queues may use at once. */
export function areLimits(value: unknown): value is LimitSettings {
  if (!isRunLimit(value)) return false;
  const { users, groups, queues } = value as Entry;
  const isGroup = (group: unknown) =>
    isRunLimit(group, { users: isNames }) && (group as Entry).users !== undefined;
  return isByName(users, isRunLimit) && isByName(groups, isGroup) && isByName(queues, isRunLimit);
}

/** Fields of a job that the reader uses. All others are kept as they are. */
export const JOB_FIELDS: Readonly<Record<string, Check>> = {
  submitS: isTime,
  beginS: isTime,
  runS: isTime,
  tasks: isWhole(1),
  threads: isWhole(1),
  minTasks: isWhole(1),
  maxTasks: isWhole(1),
  serialShare: (value) => typeof value === "number" && value >= 0 && value <= 1,
  limitS: isDuration,
  estimateS: isDuration,
  memoryBytes: isWhole(1, Number.MAX_SAFE_INTEGER),
  use: isUse,
  user: isText,
  queue: isText,
  name: isText,
  startS: isTime,
  state: isText,
};

interface EventFields {
  readonly needed: Readonly<Record<string, Check>>;
  readonly optional?: Readonly<Record<string, Check>>;
}

const { tasks, threads, limitS, beginS, memoryBytes, name, queue, use } = JOB_FIELDS;
const priority = isWhole(-MAX_INT32);
/** An edit has the form of the columns that it changes. */
const EDIT_FIELDS: Readonly<Record<string, Check>> = {
  ...{ tasks, threads, limitS, beginS, priority, memoryBytes, name, queue, use },
};
const isEdit: Check = (value) =>
  isEntry(value) &&
  Object.entries(value).every(
    ([field, edited]) => Object.hasOwn(EDIT_FIELDS, field) && EDIT_FIELDS[field](edited),
  );

const at = { atS: isTime };
const ofJob = { ...at, job: isWhole(0) };
const EVENT_FIELDS: Readonly<Record<WorkloadEvent["event"], EventFields>> = {
  pause: { needed: ofJob, optional: { release: (value) => typeof value === "boolean" } },
  resume: { needed: ofJob },
  drain: { needed: at },
  undrain: { needed: at },
  window: {
    needed: { ...at, fromS: isTime, untilS: isTime },
    optional: { processors: isWhole(1), first: isWhole(0), name: isText, users: isTexts, queues: isTexts },
  },
  unreserve: { needed: { ...at, name: isText } },
  policy: { needed: { ...at, policy: isText } },
  capacity: { needed: { ...at, processors: isWhole(0) } },
  edit: { needed: { ...ofJob, set: isEdit } },
  hold: { needed: ofJob },
  release: { needed: ofJob },
  cancel: { needed: ofJob },
};

/** A field that cannot be used, and its value. */
interface BadField {
  readonly field: string;
  readonly value: unknown;
}

/** The event of a line, or the field that is wrong; undefined: a kind of event that we do not know. */
export function readEvent(entry: Entry): WorkloadEvent | BadField | undefined {
  const { event } = entry;
  if (typeof event !== "string" || !Object.hasOwn(EVENT_FIELDS, event)) return undefined;
  const { needed, optional = {} } = EVENT_FIELDS[event as WorkloadEvent["event"]];
  const read: Record<string, unknown> = { event };
  for (const [field, check] of Object.entries(needed)) {
    if (!check(entry[field])) return { field, value: entry[field] };
    read[field] = entry[field];
  }
  for (const [field, check] of Object.entries(optional)) {
    if (entry[field] === undefined) continue;
    if (!check(entry[field])) return { field, value: entry[field] };
    read[field] = entry[field];
  }
  if (event === "window") {
    const { atS, fromS, untilS } = read as { atS: number; fromS: number; untilS: number };
    if (fromS < atS) return { field: "fromS", value: fromS };
    if (untilS <= fromS) return { field: "untilS", value: untilS };
  }
  return read as unknown as WorkloadEvent;
}

/** A value of a line, for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Fields of a job's line. */
export interface SizeFields {
  readonly minTasks?: number;
  readonly maxTasks?: number;
  readonly serialShare?: number;
}

export type Sizes = Required<SizeFields>;

/**
 * The range of a job with a number of tasks; undefined if it runs on no other. An end of the range that
 * excludes this number is left out.
 * @param note called with such an end
 */
export function sizesOf(
  given: SizeFields,
  tasks: number,
  threads: number,
  note: (field: string, value: unknown) => void,
): Sizes | undefined {
  let { minTasks = tasks, maxTasks = tasks, serialShare = 0 } = given;
  if (minTasks > tasks) {
    note("minTasks", minTasks);
    minTasks = tasks;
  }
  if (maxTasks < tasks || maxTasks * threads > MAX_INT32) {
    note("maxTasks", maxTasks);
    maxTasks = tasks;
  }
  return minTasks === maxTasks ? undefined : { minTasks, maxTasks, serialShare };
}

/** The columns, from what the line of each job says. */
export function moldingOf(
  size: Int32Array,
  jobs: readonly { readonly threads: number; readonly sizes: Sizes | undefined }[],
): Molding {
  const processors = (end: "minTasks" | "maxTasks") =>
    size.map((own, row) => {
      const { sizes, threads } = jobs[row];
      return sizes === undefined ? own : sizes[end] * threads;
    });
  return {
    minSize: processors("minTasks"),
    maxSize: processors("maxTasks"),
    serialShare: Float64Array.from(jobs, ({ sizes }) => sizes?.serialShare ?? 0),
  };
}
