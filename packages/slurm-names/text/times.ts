/** Times and durations as Slurm's commands print them. */

const two = (value: number) => String(value).padStart(2, "0");

/** A day and a time of day, such as `2026-11-23T12:21:35`, in the user's time zone. */
export function timeText(ms: number | undefined, none = "Unknown"): string {
  if (ms === undefined) return none;
  const date = new Date(ms);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `0:03`, `1:02:03`, `1-02:03:04`: as squeue. */
export function shortDuration(ms: number): string {
  const { days, hours, minutes, seconds } = parts(ms);
  const rest = `${two(minutes)}:${two(seconds)}`;
  if (days > 0) return `${days}-${two(hours)}:${rest}`;
  return hours > 0 ? `${hours}:${rest}` : `${minutes}:${two(seconds)}`;
}

/** `00:00:03`, `1-02:03:04`: as sacct and scontrol. */
export function longDuration(ms: number): string {
  const { days, hours, minutes, seconds } = parts(ms);
  return `${days > 0 ? `${days}-` : ""}${two(hours)}:${two(minutes)}:${two(seconds)}`;
}

/** Limits are whole minutes in Slurm. */
export function limitMs(ms: number): number {
  return 60_000 * Math.ceil(ms / 60_000);
}

function parts(ms: number) {
  const total = Math.floor(ms / 1000);
  return {
    days: Math.floor(total / 86_400),
    hours: Math.floor(total / 3600) % 24,
    minutes: Math.floor(total / 60) % 60,
    seconds: total % 60,
  };
}

const LENGTHS_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
/** Hours of the day that have names. */
const NAMED_HOURS: Readonly<Record<string, number>> = {
  today: 0,
  midnight: 0,
  elevenses: 11,
  noon: 12,
  fika: 15,
  teatime: 16,
};
const RELATIVE = /^now(?:([+-])(\d{1,9})(second|minute|hour|day|week)?s?)?$/;
const ISO_DAY = /^(\d{4})-(\d\d?)-(\d\d?)$/;
/** `11/23`, `11.23.26`, `1123` or `112326`. */
const AMERICAN_DAY = /^(\d\d?)(?<sign>[/.])(\d\d?)(?:\k<sign>(\d\d))?$|^(\d\d)(\d\d)(\d\d)?$/;
const CLOCK = /^(\d\d?):(\d\d)(?::(\d\d))?\s*(am|pm)?$/;

/**
 * A time that an option names, as sacct(1) lists them: `2026-11-23`, `2026-11-23T12:00[:30]`, `12:00`,
 * `4:00PM`, `now`, `now-1hour`, `today`, `noon`, `11/23`, `11/23/26-12:00`, `1123`. Undefined for other
 * texts, and for days and hours that do not exist.
 */
export function parseTime(text: string, nowMs: number): number | undefined {
  const lower = text.toLowerCase();
  const relative = RELATIVE.exec(lower);
  if (relative !== null) {
    const [, sign, count = "0", unit = "second"] = relative;
    return nowMs + (sign === "-" ? -1 : 1) * Number(count) * LENGTHS_MS[unit];
  }
  const now = new Date(nowMs);
  const today = [now.getFullYear(), now.getMonth() + 1, now.getDate()] as const;
  if (Object.hasOwn(NAMED_HOURS, lower)) return timeOf(today, [NAMED_HOURS[lower], 0, 0]);
  const onlyClock = clockOf(lower);
  if (onlyClock !== undefined) return timeOf(today, onlyClock);
  const iso = lower.split("t");
  const isIso = ISO_DAY.test(iso[0]);
  const [dayText, clockText, ...others] = isIso ? iso : lower.split("-");
  const clock = clockText === undefined ? ([0, 0, 0] as const) : clockOf(clockText);
  const day = isIso ? numbers(ISO_DAY.exec(dayText)!.slice(1)) : americanDay(dayText, now.getFullYear());
  return day === undefined || clock === undefined || others.length > 0 ? undefined : timeOf(day, clock);
}

type Three = readonly [number, number, number];

/** Year, month and day. */
function americanDay(text: string, thisYear: number): Three | undefined {
  const found = AMERICAN_DAY.exec(text);
  if (found === null) return undefined;
  const [month, day, year] = found[1] === undefined ? found.slice(5, 8) : [found[1], found[3], found[4]];
  return [year === undefined ? thisYear : 2000 + Number(year), Number(month), Number(day)];
}

/** Hour, minute and second. */
function clockOf(text: string): Three | undefined {
  const found = CLOCK.exec(text);
  if (found === null) return undefined;
  const [hour, minute, second] = numbers([found[1], found[2], found[3] ?? "0"]);
  const half = found[4];
  if (half === undefined) return [hour, minute, second];
  if (hour < 1 || hour > 12) return undefined;
  return [(hour % 12) + (half === "pm" ? 12 : 0), minute, second];
}

function numbers(texts: readonly string[]): Three {
  const [first, second, third] = texts.map(Number);
  return [first, second, third];
}

/** Unix time in milliseconds; undefined if there is no such day or hour. */
function timeOf([year, month, day]: Three, [hour, minute, second]: Three): number | undefined {
  const date = new Date(year, month - 1, day);
  if (date.getMonth() !== month - 1 || date.getDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return new Date(year, month - 1, day, hour, minute, second).getTime();
}
