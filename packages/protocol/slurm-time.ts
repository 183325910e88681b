/** Reads durations in the notation of Slurm. */

/**
 * Seconds of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`,
 * `days-hours:minutes[:seconds]`.
 */
export function slurmSeconds(text: string): number | undefined {
  const [, days, rest = ""] = /^(?:(\d{1,6})-)?(\d{1,9}(?::\d{1,9}){0,2})$/.exec(text) ?? [];
  if (rest === "") return undefined;
  const parts = rest.split(":").map(Number);
  if (days !== undefined) {
    const [hours = 0, minutes = 0, seconds = 0] = parts;
    return Number(days) * 86_400 + hours * 3600 + minutes * 60 + seconds;
  }
  if (parts.length === 3) return parts[0] * 3600 + parts[1] * 60 + parts[2];
  return parts[0] * 60 + (parts[1] ?? 0);
}
