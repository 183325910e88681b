/** All invariants: those that are looked at from time to time, and those of the end of a life. */
import type { Life } from "../life.ts";
import { checkBegins, watchBegins } from "./begins.ts";
import { checkDecisions } from "./decisions.ts";
import { watchGuardian } from "./guardian.ts";
import { watchPaused } from "./paused.ts";
import { watchRecord } from "./record.ts";
import { checkRest } from "./rest.ts";
import { watchRows } from "./rows.ts";

export const WATCHES: readonly ((life: Life) => Promise<void>)[] = [
  watchRows,
  watchGuardian,
  watchPaused,
  watchBegins,
  watchRecord,
];
export const CHECKS: readonly ((life: Life) => readonly string[])[] = [
  checkRest,
  checkBegins,
  checkDecisions,
];
