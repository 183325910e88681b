/** What a timeline shows of its data, as parameters of the page's address. */
import type { Area } from "./area.ts";
import type { RowKind } from "./rows.ts";
import { MAX_MS, MAX_SPAN_MS, MIN_SPAN_MS, type Stretch } from "./scale.ts";

export interface TimelineState {
  /** The time that is shown. Left out: `spanMs` around now, or everything if there is no now. */
  readonly range?: Stretch;
  /** The time shown around now, which moves with it. */
  readonly spanMs?: number;
  readonly rows: RowKind;
  /** Number of the job that stays marked. */
  readonly pinned?: number;
  readonly area?: Area;
  readonly isCompressed: boolean;
  /** The axis counts from now. */
  readonly isRelative: boolean;
}

/** Undefined gives up a value. */
export type StateChanges = { readonly [Key in keyof TimelineState]?: TimelineState[Key] | undefined };

type Query = Readonly<Record<string, string>>;

const KINDS: readonly RowKind[] = ["cpus", "jobs", "queues"];
const NUMBER = /^-?\d{1,13}(\.\d{1,3})?$/;

/** Reads the address; what cannot be read is left out. Times in it are in seconds. */
export function readState(query: Query, defaultRows: RowKind = "cpus"): TimelineState {
  const [fromS, toS] = numbers(query.range, 2);
  const [areaFromS, areaToS, firstRow, endRow] = numbers(query.area, 4);
  const [spanS] = numbers(query.span, 1);
  const [pinned] = numbers(query.pin, 1);
  const hasRange = toS !== undefined && isTime(fromS) && isTime(toS) && isSpan(toS - fromS);
  const hasArea =
    endRow !== undefined &&
    isTime(areaFromS) &&
    isTime(areaToS) &&
    areaToS > areaFromS &&
    endRow > firstRow &&
    firstRow >= 0;
  return {
    ...(hasRange && { range: { fromMs: msOf(fromS), toMs: msOf(toS) } }),
    ...(!hasRange && isSpan(spanS) && { spanMs: msOf(spanS) }),
    rows: KINDS.find((kind) => kind === query.rows) ?? defaultRows,
    ...(Number.isInteger(pinned) && { pinned }),
    ...(hasArea && { area: { fromMs: msOf(areaFromS), toMs: msOf(areaToS), firstRow, endRow } }),
    isCompressed: query.idle === "short",
    isRelative: query.clock === "relative",
  };
}

/** Parameters for changes of the state; an empty one is removed from the address. */
export function queryOf(changes: StateChanges): Query {
  const query: Record<string, string> = {};
  if ("range" in changes)
    query.range = changes.range
      ? `${secondsText(changes.range.fromMs)}:${secondsText(changes.range.toMs)}`
      : "";
  if ("spanMs" in changes) query.span = changes.spanMs === undefined ? "" : secondsText(changes.spanMs);
  if ("rows" in changes) query.rows = changes.rows ?? "";
  if ("pinned" in changes) query.pin = changes.pinned === undefined ? "" : String(changes.pinned);
  if ("area" in changes) query.area = changes.area ? areaText(changes.area) : "";
  if ("isCompressed" in changes) query.idle = changes.isCompressed ? "short" : "";
  if ("isRelative" in changes) query.clock = changes.isRelative ? "relative" : "";
  return query;
}

function areaText({ fromMs, toMs, firstRow, endRow }: Area): string {
  return `${secondsText(fromMs)}:${secondsText(toMs)}:${firstRow}:${endRow}`;
}

function secondsText(ms: number): string {
  return String(Math.round(ms) / 1000);
}

function isTime(seconds: number): boolean {
  return Math.abs(seconds) * 1000 <= MAX_MS;
}

function isSpan(seconds: number): boolean {
  return seconds * 1000 >= MIN_SPAN_MS && seconds * 1000 <= MAX_SPAN_MS;
}

function msOf(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** Exactly this many numbers, or none. */
function numbers(text: string | undefined, count: number): number[] {
  const parts = (text ?? "").split(":");
  return parts.length === count && parts.every((part) => NUMBER.test(part)) ? parts.map(Number) : [];
}
