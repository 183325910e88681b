/** Says in words what an event is about. */
import type { Event } from "@tutti/protocol/answers.ts";
import { clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";

/** The job, its user and the data: `job 7`, `ada`, `attempt=1`. */
export function eventDetails({ job, user, data = {} }: Event): string[] {
  return [
    ...(job === undefined ? [] : [`job ${job}`]),
    ...(job === undefined || user === undefined ? [] : [visibleLine(user)]),
    // What it was is in `before`, as a text.
    ...Object.entries(data)
      .filter(([name]) => name !== "was")
      .map(([name, value]) => `${name}=${visibleLine(valueText(name, value))}`),
  ];
}

/** Unix times are shown as times of day, monotonic times and durations in whole milliseconds. */
function valueText(name: string, value: unknown): string {
  if (typeof value !== "number") return String(value);
  return name.endsWith("AtMs") ? clockText(value) : String(name.endsWith("Ms") ? Math.round(value) : value);
}
