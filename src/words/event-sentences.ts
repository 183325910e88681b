/** Says events as sentences, for a list that people read. `events.ts` shows the same data in full. */
import type { Event } from "../protocol/answers.ts";
import type { EventKind } from "../protocol/events.ts";
import { plural } from "../report/text/format.ts";
import { visibleLine } from "./visible.ts";

type Data = NonNullable<Event["data"]>;

/** @param who such as `job 7 (sim)`; undefined: the sentence would repeat what the job itself says */
type Sentence = (data: Data, who: string) => string | undefined;

/**
 * The other kinds are left out: `submitted`, `started` and `ended` are said by the jobs themselves;
 * `starting`, `placed`, `removed` and `matrix` are steps of one decision, and the matrix shows their result.
 */
const SENTENCES: Readonly<Partial<Record<EventKind, Sentence>>> = {
  held: ({ because }, who) => `${who} was held${after(because)}`,
  released: (_, who) => `${who} was released`,
  requeued: ({ reason }, who) => `${who} was requeued${reason === "requeued" ? "" : after(reason)}`,
  priority: ({ before, after: now }, who) =>
    `priority of ${who} changed from ${text(before)} to ${text(now)}`,
  cancelled: ({ reason, stray, attempt, by }, who) => {
    if (stray === true) return `${text(by)} asked attempt ${text(attempt)} of ${who} to end`;
    return reason === undefined ? `${who} was asked to end` : undefined;
  },
  policy: ({ before, after: now, by, because, policy, adopted }) => {
    if (by !== undefined) return `${text(by)} switched the policy from ${text(before)} to ${text(now)}`;
    if (now !== undefined) return `the policy failed, so ${text(now)} is in force${after(because)}`;
    return `policy ${text(policy)} continued with the current jobs${after(adopted)}`;
  },
  conductor: ({ attempts, refused }) =>
    typeof attempts === "number"
      ? `the conductor connected, with ${plural(attempts, "attempt")}`
      : `the conductor refused a command${after(refused)}`,
  recovered: ({ because, attempt, stray, found, command }, who) => {
    if (because !== undefined) return `recovered: ${text(because)}`;
    if (stray === true) return `attempt ${text(attempt)} of ${who} runs without a record${after(command)}`;
    return found === true
      ? `${who} ended while the scheduler was away`
      : `${who} was lost while the scheduler was away`;
  },
};

/** The event as a sentence; undefined if a list of what happened is better without it. */
export function eventSentence({ kind, data = {} }: Event, who: string): string | undefined {
  // A newer scheduler may send kinds that this page does not know.
  return Object.hasOwn(SENTENCES, kind) ? SENTENCES[kind as EventKind]?.(data, who) : undefined;
}

function after(because: Data[string] | undefined): string {
  return because === undefined || because === null ? "" : `: ${text(because)}`;
}

function text(value: Data[string] | undefined): string {
  return visibleLine(String(value));
}
