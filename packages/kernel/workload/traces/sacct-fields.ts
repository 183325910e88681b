/**
 * Reads the texts of Slurm's accounting as `sacct` prints them: times, durations, limits and states
 * (sacct(1)).
 */

const DAY_S = 86400;
const DURATION = /^(?:(\d{1,6})-)?(?:(\d{1,8}):)?(\d{1,9}):(\d{2})(?:\.\d{1,9})?$/;
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$/;
const EPOCH = /^\d{9,11}$/;
const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Seconds of `[D-][HH:]MM:SS[.ffffff]`, without the fraction; NaN for anything else. */
export function parseDurationS(text: string): number {
  const [matched, days = "0", hours = "0", minutes, seconds] = DURATION.exec(text) ?? [];
  if (matched === undefined) return Number.NaN;
  return Number(days) * DAY_S + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/**
 * Seconds since the start of 1970 of a time `YYYY-MM-DDTHH:MM:SS`, as its own clock counts them, without time
 * zones and daylight saving time, or of a number of seconds (SLURM_TIME_FORMAT=%s). Undefined for `Unknown`,
 * `None` and an empty text; NaN for anything else.
 */
export function parseTimeS(text: string): number | undefined {
  if (text === "" || text === "Unknown" || text === "None" || text === "N/A") return undefined;
  if (EPOCH.test(text)) return Number(text);
  const match = TIMESTAMP.exec(text);
  if (match === null) return Number.NaN;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const valid =
    year >= 1970 &&
    day >= 1 &&
    day <= (MONTH_DAYS[month - 1] ?? 0) &&
    hour < 24 &&
    minute < 60 &&
    second <= 60;
  if (!valid) return Number.NaN;
  // Leap days before this year, plus that of this year if it has passed.
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 477;
  const leaps = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days =
    (year - 1970) * 365 + leapDays + DAYS_BEFORE_MONTH[month - 1] + (leaps && month > 2 ? 1 : 0) + day - 1;
  return days * DAY_S + hour * 3600 + minute * 60 + second;
}

/**
 * Seconds of a time limit. Undefined for `UNLIMITED`, `Partition_Limit` and an empty text; NaN for anything
 * else that is not a duration.
 * @param raw the limit is a number of minutes (field TimelimitRaw)
 */
export function parseLimitS(text: string, raw: boolean): number | undefined {
  if (text === "" || /^(unlimited|partition_limit)$/i.test(text)) return undefined;
  if (!raw) return parseDurationS(text);
  return /^\d{1,9}$/.test(text) ? 60 * Number(text) : Number.NaN;
}

/** What a state says about a job: its SWF status, or that it has not ended. */
export type StateMeaning = "completed" | "failed" | "cancelled" | "unfinished" | "unknown";

/** Names of states, long and short. */
const STATES = {
  completed: "COMPLETED CD",
  failed:
    "FAILED F TIMEOUT TO NODE_FAIL NF OUT_OF_MEMORY OOM BOOT_FAIL BF DEADLINE DL PREEMPTED PR REQUEUED RQ",
  cancelled: "CANCELLED CA REVOKED RV",
  unfinished: "PENDING PD RUNNING R RESIZING RS SUSPENDED S",
} as const;
const MEANINGS = new Map<string, StateMeaning>(
  (Object.keys(STATES) as (keyof typeof STATES)[]).flatMap((meaning) =>
    STATES[meaning].split(" ").map((word) => [word, meaning] as const),
  ),
);

/** The meaning of a state such as `COMPLETED`, `CANCELLED by 1000` or the short `CD`. */
export function meaningOfState(state: string): StateMeaning {
  const [word = ""] = state.split(/[ +]/);
  return MEANINGS.get(word.toUpperCase()) ?? "unknown";
}
