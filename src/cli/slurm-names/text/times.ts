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

/**
 * A time that an option names: `2026-11-23`, `2026-11-23T12:00[:30]`, `12:00`, `now`, `now-1hour`, `today`,
 * `midnight`, `11/23` or `11/23/26`. Undefined for other texts.
 */
export function parseTime(text: string, nowMs: number): number | undefined {
  const now = new Date(nowMs);
  const [, , sign, count = "0", unit = "second"] =
    /^(now)(?:([+-])(\d{1,9})(second|minute|hour|day|week)?s?)?$/i.exec(text) ?? [];
  if (/^now/i.test(text)) {
    if (sign === undefined && text.length > 3) return undefined;
    const lengths: Readonly<Record<string, number>> = {
      second: 1,
      minute: 60,
      hour: 3600,
      day: 86_400,
      week: 604_800,
    };
    return nowMs + (sign === "-" ? -1 : 1) * Number(count) * 1000 * lengths[unit.toLowerCase()];
  }
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  if (/^(?:today|midnight)$/i.test(text)) return midnight;
  const [, year, month, day, hour = "0", minute = "0", second = "0"] =
    /^(\d{4})-(\d\d?)-(\d\d?)(?:T(\d\d?):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
  if (year !== undefined) return new Date(+year, +month - 1, +day, +hour, +minute, +second).getTime();
  const [, americanMonth, americanDay, americanYear] = /^(\d\d?)[/.](\d\d?)(?:[/.](\d\d))?$/.exec(text) ?? [];
  if (americanMonth !== undefined) {
    const fullYear = americanYear === undefined ? now.getFullYear() : 2000 + Number(americanYear);
    return new Date(fullYear, +americanMonth - 1, +americanDay).getTime();
  }
  const [, clockHour, clockMinute, clockSecond = "0"] = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (clockHour === undefined) return undefined;
  return midnight + 1000 * (Number(clockHour) * 3600 + Number(clockMinute) * 60 + Number(clockSecond));
}
