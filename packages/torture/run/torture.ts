/** Many lives, one after the other, until they have lasted long enough. */
import { Draws } from "../world/random.ts";
import { Course, type Verdict } from "./course.ts";
import { Life } from "./life.ts";
import type { Only, Setting } from "./setting.ts";
import type { WorldParts } from "./site.ts";
import { drawSetting } from "./swarm.ts";

interface TortureOptions {
  /** Of the first life; the next ones follow it. */
  readonly seed: number;
  /** Lives begin until this many hours have passed in them; 0: one life. */
  readonly hours: number;
  /** Jobs and faults that are left of the only life; left out: all. */
  readonly only?: Partial<Only>;
  readonly parts: WorldParts;
  /** Returns when no promise has anything left to do. */
  readonly settle: () => Promise<void>;
  /** Called before each life. The caller may look at it and stop it, and tells it of rejected promises. */
  readonly onBegin?: (life: Life) => void;
  /** Called after each life. Returning false ends the run. */
  readonly onLife?: (verdict: Verdict) => boolean | undefined;
  /** Receives what happens, line by line. */
  readonly log?: (line: string) => void;
}

/** The setting of a seed. */
export function settingOf(seed: number): Setting {
  return drawSetting(seed, new Draws(seed).fork("setting"));
}

export async function torture(options: TortureOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  let hours = 0;
  for (let seed = options.seed; ; seed++) {
    const verdict = await liveOnce({ ...settingOf(seed), only: options.only }, options);
    verdicts.push(verdict);
    hours += verdict.hours;
    if (options.onLife?.(verdict) === false || hours >= options.hours) return verdicts;
  }
}

export function liveOnce(
  setting: Setting,
  { parts, settle, onBegin, log }: Pick<TortureOptions, "parts" | "settle" | "onBegin" | "log">,
): Promise<Verdict> {
  const life = new Life(setting, new Draws(setting.seed).fork("life"), parts, log);
  onBegin?.(life);
  return new Course(life).run(settle);
}
