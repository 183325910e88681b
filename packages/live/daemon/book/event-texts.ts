/**
 * Data of events as version 1 of the API has it: flat, with lists and maps as texts. Programs of users read
 * these texts; no part of Tutti does.
 */
import { cpusText, type NodeCpus } from "@tutti/kernel/core/machine.ts";
import type { Event } from "@tutti/protocol/answers.ts";
import type { DaemonEvent, EventKind, EventPayloads, LoggedEvent } from "@tutti/protocol/events.ts";
import { type Use, unitsText, useText } from "@tutti/protocol/resources.ts";
import { shownCpus } from "../contract/record.ts";

type Texts = { readonly [Name in string]?: NonNullable<Event["data"]>[string] | undefined };

const TEXTS: { readonly [Kind in EventKind]?: (data: NonNullable<EventPayloads[Kind]>) => Texts } = {
  // A job's name comes last, because other readers of the text find a name with spaces there.
  updated: ({ by, was, now }) => ({
    by,
    ...flat(now),
    before: Object.entries(flat(was))
      .map(([name, value]) => `${name}=${value}`)
      .join(" "),
    was,
  }),
  placed: (data) => {
    if ("row" in data) return data;
    if ("rule" in data) return { ...cpusTexts(data.nodes), rule: data.rule };
    return { ...cpusTexts(data.nodes), before: cpusTexts(data.before).cpus };
  },
  starting: ({ attempt, nodes, units, rule, timeMs }) => ({
    attempt,
    ...cpusTexts(nodes),
    units: units && unitsText(units),
    rule,
    timeMs,
  }),
  reserved: ({ users, queues, reason, ...more }) => ({
    ...more,
    users: users?.join(","),
    queues: queues?.join(","),
    reason,
  }),
  "window-began": ({ jobs, ...more }) => ({ ...more, jobs: jobs?.join(",") }),
  matrix: ({ rows, ...more }) => ({
    ...more,
    rows: rows.length,
    jobs: rows.map((row) => row.join(" ")).join(" | "),
  }),
};

/** The event as clients read it. */
export function withTexts(event: LoggedEvent): DaemonEvent {
  const textsOf = TEXTS[event.kind] as ((data: object) => Texts) | undefined;
  if (textsOf === undefined || event.data === undefined) return event as DaemonEvent;
  return { ...event, data: present(textsOf(event.data)) };
}

/** CPUs as `0,1`. If some are on other nodes, `nodes` names all: `n1:0 n2:1`. */
function cpusTexts(cpus: readonly NodeCpus[]): { readonly cpus: string; readonly nodes?: string } {
  const { cpus: numbers, nodes } = shownCpus(cpus);
  return { cpus: numbers.join(","), nodes: nodes && cpusText(numbers, nodes) };
}

type Values = EventPayloads["updated"]["now"];

function flat(values: Values): Record<string, string | number> {
  return Object.fromEntries(Object.entries(present(values)).map(([name, value]) => [name, textOf(value)]));
}

function present<Value>(values: { readonly [Name in string]?: Value }): Record<string, NonNullable<Value>> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, NonNullable<Value>] => entry[1] !== undefined),
  );
}

function textOf(value: NonNullable<Values[keyof Values]>): string | number {
  if (typeof value !== "object") return value;
  return isList(value) ? value.join(",") : useText(value);
}

function isList(value: readonly string[] | Use): value is readonly string[] {
  return Array.isArray(value);
}
