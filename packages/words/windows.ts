/** Says windows in words: times in which the machine is kept for some jobs, or for none. */

import { limitText, plural } from "@tutti/kernel/core/format.ts";
import type { WhyAnswer, Window } from "@tutti/protocol/schema.ts";
import { clockText } from "./times.ts";
import { visibleLine } from "./visible.ts";

type WindowObstacle = Extract<WhyAnswer["obstacles"][number], { readonly kind: "window" }>;

const MINUTE_MS = 60_000;
/** The time limit that a suggestion names; if less time is left, it names half of that. */
const USUAL_MS = 7_200_000;
/** Jobs that are named. */
const SHOWN = 5;

/** Whom the window is for: `users anna, ben and queue night`; undefined: for nobody. */
export function forWhom({ users = [], queues = [] }: Pick<Window, "users" | "queues">): string | undefined {
  const list = (what: string, names: readonly string[]) =>
    names.length === 0
      ? []
      : [`${what}${names.length === 1 ? "" : "s"} ${names.map(visibleLine).join(", ")}`];
  const parts = [...list("user", users), ...list("queue", queues)];
  return parts.length === 0 ? undefined : parts.join(" and ");
}

function after(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${visibleLine(reason)}`;
}

/** Who may run in the window, when it is, who made it, and what runs in it although it is not for that. */
export function windowText(window: Window, nowMs = Date.now()): string {
  const { name, fromMs, untilMs, reason, by, running = 0, jobs = [] } = window;
  const whom = forWhom(window);
  const what = whom === undefined ? "nothing starts" : `only jobs of ${whom} start`;
  const times = `${fromMs <= nowMs ? "since" : "from"} ${clockText(fromMs, nowMs)} until ${clockText(untilMs, nowMs)}`;
  const more = jobs.length > SHOWN || running > jobs.length ? " and others" : "";
  const still =
    running === 0
      ? ""
      : `; ${plural(running, "job")} still ${running === 1 ? "runs" : "run"}: ${jobs.slice(0, SHOWN).join(", ")}${more}`;
  return `${visibleLine(name)}: ${what} ${times}, by ${visibleLine(by)}${after(reason)}${still}`;
}

/** Why the window keeps a job from starting, and what the job's user can do. */
export function windowObstacleText(obstacle: WindowObstacle, job: number): string {
  const { name, fromMs, untilMs, reason, limitMs, leftMs } = obstacle;
  const title = `window "${visibleLine(name)}"`;
  const whom = forWhom(obstacle);
  const kept = whom === undefined ? "nothing starts" : `only jobs of ${whom} start`;
  if (leftMs === undefined) {
    return `W${title.slice(1)} is open: ${kept} until ${clockText(untilMs)}${after(reason)}.`;
  }
  const until = `Until ${clockText(untilMs)}, ${kept}${after(reason)}.`;
  if (limitMs !== undefined) {
    return `Its limit is ${limitText(limitMs)}, so it may still run when ${title} begins at ${clockText(fromMs)}. ${until}`;
  }
  const hasTime = leftMs > USUAL_MS + MINUTE_MS;
  const suggestedMs = hasTime ? USUAL_MS : Math.floor(leftMs / MINUTE_MS / 2) * MINUTE_MS;
  const advice =
    suggestedMs < MINUTE_MS ? "" : `: give it one with tutti update ${job} --time ${timeOption(suggestedMs)}`;
  return `It has no limit, so it may still run when ${title} begins at ${clockText(fromMs)}${advice}. ${until}`;
}

/** As `--time` reads it. */
function timeOption(ms: number): string {
  return ms === USUAL_MS ? "2h" : `${ms / MINUTE_MS}m`;
}
