/** Says events as sentences, for a list that people read. `events.ts` shows the same data in full. */

import { plural } from "@tutti/kernel/core/format.ts";
import type { Event } from "@tutti/protocol/answers.ts";
import type { EventKind } from "@tutti/protocol/events.ts";
import { namedFieldText } from "./job-fields.ts";
import { clockText } from "./times.ts";
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
  requeued: ({ reason, attempt, nextAtMs }, who) => {
    const why = reason === "requeued" ? "" : after(reason);
    if (typeof nextAtMs !== "number") return `${who} was requeued${why}`;
    return `${who} is retried${why}; attempt ${Number(attempt) + 1} begins at ${clockText(nextAtMs)}`;
  },
  priority: ({ before, after: now }, who) =>
    `priority of ${who} changed from ${text(before)} to ${text(now)}`,
  paused: ({ by, release }, who) =>
    `${text(by)} paused ${who}${release === true ? ", and other jobs may use its CPUs" : ""}`,
  resumed: ({ by }, who) => `${text(by)} resumed ${who}`,
  eligible: ({ attempt }, who) =>
    attempt === 0 ? `${who} joined the queue at its begin` : `${who} joined the queue for its next attempt`,
  updated: ({ by, before: _, was: __, ...values }, who) => {
    const now = Object.entries(values).map(([field, value]) => visibleLine(namedFieldText(field, value)));
    return `${text(by)} changed ${who}: ${now.join(", ")}`;
  },
  cancelled: ({ reason, stray, attempt, by }, who) => {
    if (stray === true) return `${text(by)} asked attempt ${text(attempt)} of ${who} to end`;
    return reason === undefined ? `${who} was asked to end` : undefined;
  },
  policy: ({ before, after: now, by, because, policy, adopted }) => {
    if (by !== undefined) return `${text(by)} switched the policy from ${text(before)} to ${text(now)}`;
    if (now !== undefined) return `the policy failed, so ${text(now)} is in force${after(because)}`;
    return `policy ${text(policy)} continued with the current jobs${after(adopted)}`;
  },
  drained: ({ by, reason }) => `${text(by)} drained the scheduler: nothing starts${after(reason)}`,
  undrained: ({ by }) => `${text(by)} undrained the scheduler: jobs start again`,
  reserved: ({ name, fromMs, untilMs, by, reason }) =>
    `${text(by)} announced window ${text(name)} from ${clockText(Number(fromMs))} until ${clockText(Number(untilMs))}${after(reason)}`,
  unreserved: ({ name, by }) => `${text(by)} removed window ${text(name)}`,
  "window-began": ({ name, running, jobs }) =>
    `window ${text(name)} began${running === 0 ? "" : `; ${plural(Number(running), "job")} still ${running === 1 ? "runs" : "run"}: ${text(jobs).replaceAll(",", ", ")}`}`,
  "window-ended": ({ name }) => `window ${text(name)} ended`,
  conductor: ({ attempts, refused }) =>
    typeof attempts === "number"
      ? `the conductor connected, with ${plural(attempts, "attempt")}`
      : `the conductor refused a command${after(refused)}`,
  capacity: ({ because, cpus, nodes }) =>
    `the scheduler has ${plural(Number(cpus), "CPU")} on ${plural(Number(nodes), "node")} now${after(because)}`,
  node: ({ rule, text: words }) => `${text(rule)}: ${text(words)}`,
  recovered: ({ because, attempt, stray, found, command }, who) => {
    if (because !== undefined) return `recovered: ${text(because)}`;
    if (stray === true) return `attempt ${text(attempt)} of ${who} runs without a record${after(command)}`;
    return found === true
      ? `${who} ended while the scheduler was away`
      : `${who} was lost while the scheduler was away`;
  },
};

/** Whether it may be a sentence. A newer scheduler may send kinds that this page does not know. */
export function hasSentence(kind: string): boolean {
  return Object.hasOwn(SENTENCES, kind);
}

/** The event as a sentence; undefined if a list of what happened is better without it. */
export function eventSentence({ kind, data = {} }: Event, who: string): string | undefined {
  return hasSentence(kind) ? SENTENCES[kind as EventKind]?.(data, who) : undefined;
}

function after(because: Data[string] | undefined): string {
  return because === undefined || because === null ? "" : `: ${text(because)}`;
}

function text(value: Data[string] | undefined): string {
  return visibleLine(String(value));
}
