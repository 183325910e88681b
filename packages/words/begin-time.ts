/**
 * Reads when a job begins, as people write it. Times of day and dates are those of the reader's time zone.
 * They become a Unix time at once, so a later change of the time zone has no effect.
 *
 * On a day on which the clock changes: a time that does not exist counts with the offset before the change,
 * so 02:30 becomes 03:30; of a time that exists twice, the first is meant.
 */

/** What people may write. */
export const BEGIN_EXPECTED =
  "+2h, 23:00, tomorrow, tomorrow 08:00, 2026-12-01 or 2026-12-01T08:00, in your time zone or with Z or +01:00 at the end";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** Units and their long names in Slurm's notation. */
const UNIT = "(s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?|w|weeks?)?";
const DELAY = new RegExp(`^(?:now)?\\s*\\+\\s*(\\d{1,9}(?:\\.\\d+)?)\\s*${UNIT}$`, "i");
const CLOCK = "(\\d{1,2}):(\\d{2})(?::(\\d{2}))?\\s*([ap]m)?";
const TIME_OF_DAY = new RegExp(`^${CLOCK}$`, "i");
const DAY = new RegExp(
  `^(today|tomorrow|\\d{4}-\\d{2}-\\d{2})(?:[T ]\\s*${CLOCK}(Z|[+-]\\d{2}:?\\d{2})?)?$`,
  "i",
);
/** Slurm's names of times of day, in hours. */
const NAMED: Readonly<Record<string, number>> = {
  midnight: 0,
  elevenses: 11,
  noon: 12,
  fika: 15,
  teatime: 16,
};

/** Unix time in ms; undefined: the text cannot be read. A time of day is the next one after now. */
export function beginTimeMs(text: string, nowMs: number): number | undefined {
  const word = text.trim().toLowerCase();
  if (word === "now") return nowMs;
  const [, count, unit = "s"] = DELAY.exec(word) ?? [];
  if (count !== undefined) return Math.round(nowMs + Number(count) * SECONDS[unit[0]] * 1000);
  const now = new Date(nowMs);
  const day = { year: now.getFullYear(), month: now.getMonth(), date: now.getDate() };
  const clock = Object.hasOwn(NAMED, word) ? { hour: NAMED[word], minute: 0, second: 0 } : timeOfDay(word);
  if (clock !== undefined) {
    const todayMs = localMs(day, clock);
    return todayMs > nowMs ? todayMs : localMs({ ...day, date: day.date + 1 }, clock);
  }
  return timeOnDay(word, day);
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly date: number;
}

interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function timeOfDay(text: string): Clock | undefined {
  return clockOf(TIME_OF_DAY.exec(text)?.slice(1));
}

/** Hours, minutes, seconds and AM or PM. */
function clockOf(parts: readonly (string | undefined)[] | undefined): Clock | undefined {
  if (parts === undefined) return undefined;
  const [hours, minutes, seconds = "0", half] = parts;
  const isHalf = half !== undefined;
  const hour = isHalf ? (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0) : Number(hours);
  const clock = { hour, minute: Number(minutes), second: Number(seconds) };
  const isTime = clock.hour < 24 && clock.minute < 60 && clock.second < 60;
  return isTime && !(isHalf && (Number(hours) < 1 || Number(hours) > 12)) ? clock : undefined;
}

/** A day, perhaps with a time of day; without one, its first instant. */
function timeOnDay(text: string, today: Day): number | undefined {
  const [, name, ...rest] = DAY.exec(text) ?? [];
  if (name === undefined) return undefined;
  const [hours, , , , zone] = rest;
  const clock = hours === undefined ? { hour: 0, minute: 0, second: 0 } : clockOf(rest.slice(0, 4));
  const day = dayOf(name, today);
  if (clock === undefined || day === undefined) return undefined;
  if (zone === undefined) return localMs(day, clock);
  const utcMs = Date.UTC(day.year, day.month, day.date, clock.hour, clock.minute, clock.second);
  const [, sign, hour, minute] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  if (sign === undefined) return utcMs;
  return utcMs - (sign === "-" ? -1 : 1) * (Number(hour) * 60 + Number(minute)) * 60_000;
}

function dayOf(name: string, today: Day): Day | undefined {
  if (name === "today") return today;
  if (name === "tomorrow") return { ...today, date: today.date + 1 };
  const [year, month, date] = name.split("-").map(Number);
  const days = new Date(year, month, 0).getDate();
  return month >= 1 && month <= 12 && date >= 1 && date <= days
    ? { year, month: month - 1, date }
    : undefined;
}

function localMs({ year, month, date }: Day, { hour, minute, second }: Clock): number {
  return new Date(year, month, date, hour, minute, second).getTime();
}
