/** Converts between records and rows of the store. */
import { areSameCpus } from "@tutti/kernel/core/machine.ts";
import type { EventData, EventKind, LoggedEvent } from "@tutti/protocol/events.ts";
import { STORED_FIELDS } from "@tutti/protocol/job-fields.ts";
import type { JobRecord } from "../contract/record.ts";

export type Row = Record<string, null | number | bigint | string | NodeJS.NonSharedUint8Array>;
export type Value = null | number | string | Uint8Array;

/**
 * Fields of a record that rarely change after the submit: they are written as one JSON. Users do not see the
 * last ones.
 */
const SPEC = [...STORED_FIELDS, "queueReason", "scriptWord", "estimateMs", "repeat"] as const;

/** Columns of `jobs` that may change, in the order of `changingValues`. */
export const CHANGING =
  "state, priority, place, attempt, nodes, started_ms, ended_ms, ran_ms, code, signal, reason, ending, uncharged, units, usage";

export function changingValues(record: JobRecord): Value[] {
  return [
    record.state,
    record.priority,
    record.queueRank,
    record.attempt,
    JSON.stringify(record.nodes),
    record.startedAtMs ?? null,
    record.endedAtMs ?? null,
    record.ranMs,
    record.code ?? null,
    record.signal ?? null,
    record.reason ?? null,
    record.ending ?? null,
    record.uncharged ?? 0,
    record.units === undefined ? null : JSON.stringify(record.units),
    record.usage === undefined ? null : JSON.stringify(record.usage),
  ];
}

/** Whether changes concern the JSON of a record. */
export function changesSpec(changes: Partial<JobRecord>): boolean {
  return SPEC.some((field) => field in changes) || "arrayLimit" in changes;
}

/** Fields of the JSON in which jobs of one request may differ. */
const OWN = ["array", "arrayIndex", "values", "after", "repeats", "stdout", "stderr"] as const;
const SHARED = SPEC.filter((field) => !(OWN as readonly string[]).includes(field));

export function specOf(record: JobRecord): string {
  return textOf(record, SPEC);
}

/**
 * A function that does the same for jobs of one request. It converts the values that they share only once.
 * @param request any of the jobs
 */
export function specsOf(request: JobRecord): (record: JobRecord) => string {
  const begin = textOf(request, SHARED).slice(0, -1);
  return ({ array, arrayIndex, values, after, repeats, stdout, stderr }) => {
    const own = JSON.stringify({ array, arrayIndex, values, after, repeats, stdout, stderr });
    return `${begin},${own.slice(1)}`;
  };
}

function textOf(record: JobRecord, fields: readonly (keyof JobRecord)[]): string {
  const spec: Record<string, unknown> = {};
  // The store's name for the limit of an array is older than its name here.
  if (record.arrayLimit !== undefined) spec.arrayAtOnce = record.arrayLimit;
  // Most fields are not set, and an object without them is made and written in a third of the time.
  for (const field of fields) {
    const value = record[field];
    if (value !== undefined) spec[field] = value;
  }
  return JSON.stringify(spec);
}

export function recordOf(row: Row): JobRecord {
  const { arrayAtOnce: arrayLimit, ...spec } = JSON.parse(String(row.spec));
  return {
    ...spec,
    arrayLimit,
    job: Number(row.job),
    uid: Number(row.uid),
    state: row.state as JobRecord["state"],
    priority: Number(row.priority),
    queueRank: Number(row.place),
    attempt: Number(row.attempt),
    identity: row.identity ?? undefined,
    nodes: JSON.parse(String(row.nodes)),
    ranMs: Number(row.ran_ms),
    environment: Number(row.environment),
    script: optional(row.script),
    startedAtMs: optional(row.started_ms),
    endedAtMs: optional(row.ended_ms),
    code: optional(row.code),
    signal: row.signal ?? undefined,
    reason: row.reason ?? undefined,
    ending: row.ending ?? undefined,
    uncharged: optional(row.uncharged) || undefined,
    units: typeof row.units === "string" ? JSON.parse(row.units) : undefined,
    usage: typeof row.usage === "string" ? JSON.parse(row.usage) : undefined,
    key: row.key ?? undefined,
  };
}

/** The record. Values that it shares with another job of its array are in memory only once. */
export function sharing(record: JobRecord, other: JobRecord | undefined): JobRecord {
  if (record.array === undefined || record.array !== other?.array) return record;
  const { queueReason } = record;
  return {
    ...record,
    name: same(record.name, other.name),
    user: same(record.user, other.user),
    queue: same(record.queue, other.queue),
    ...(queueReason === other.queueReason && { queueReason: other.queueReason }),
    cwd: same(record.cwd, other.cwd),
    command: sameList(record.command, other.command, (a, b) => a === b),
    after: sameList(
      record.after,
      other.after,
      (a, b) => a.job === b.job && a.ok === b.ok && a.kind === b.kind,
    ),
    nodes: areSameCpus(record.nodes, other.nodes) ? other.nodes : record.nodes,
  };
}

function same(value: string, other: string): string {
  return value === other ? other : value;
}

function sameList<T>(
  values: readonly T[],
  others: readonly T[],
  areSame: (a: T, b: T) => boolean,
): readonly T[] {
  const isSame = values.length === others.length && values.every((value, i) => areSame(value, others[i]));
  return isSame ? others : values;
}

/** An event, who may see it, and its secret data. */
export interface StoredEvent {
  readonly event: LoggedEvent;
  /** User who may see the event, because it is about their job; undefined: all users. */
  readonly uid: number | undefined;
  /** Additional data that only administrators and the user `of`, whose job it is about, may see. */
  readonly secret?: { readonly data: EventData; readonly of: number | undefined } | undefined;
}

/** @param data that of the event, as JSON */
export function eventValues({ event, uid, secret }: StoredEvent, data: string | null): Value[] {
  return [
    event.sequence,
    event.atMs,
    event.kind,
    event.job ?? null,
    uid ?? null,
    event.user ?? null,
    data,
    secret === undefined ? null : JSON.stringify(secret.data),
    secret?.of ?? null,
  ];
}

export function eventOf(row: Row): StoredEvent {
  return {
    event: {
      sequence: Number(row.sequence),
      atMs: Number(row.at_ms),
      kind: row.kind as EventKind,
      ...(row.job !== null && { job: Number(row.job) }),
      ...(row.user !== null && { user: String(row.user) }),
      ...(row.data !== null && { data: JSON.parse(String(row.data)) }),
    },
    uid: optional(row.uid),
    ...(row.secret !== null && {
      secret: { data: JSON.parse(String(row.secret)), of: optional(row.secret_of) },
    }),
  };
}

function optional(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
