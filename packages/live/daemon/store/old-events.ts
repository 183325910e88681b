/** Reads the texts in which stores before version 10 had lists and maps in the data of events. */
import { type NodeCpus, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import { parseUse } from "@tutti/protocol/resources.ts";

type Old = Readonly<Record<string, string | number>>;
type Value = null | number | bigint | string | Uint8Array;

const JSON_OF: Readonly<Record<string, (data: Old) => object>> = {
  updated: ({ by, before = "", ...now }) => ({
    by,
    was: valuesOf(wordsOf(String(before))),
    now: valuesOf(now),
  }),
  placed: ({ cpus, nodes, before, ...more }) =>
    cpus === undefined
      ? more
      : {
          nodes: cpusOf(cpus, nodes),
          ...(before !== undefined && { before: cpusOf(before, undefined) }),
          ...more,
        },
  starting: ({ attempt, cpus = "", nodes, units, ...more }) => ({
    attempt,
    nodes: cpusOf(cpus, nodes),
    ...(units !== undefined && { units: unitsOf(String(units)) }),
    ...more,
  }),
  reserved: ({ users, queues, ...more }) => ({
    ...more,
    ...(users !== undefined && { users: String(users).split(",") }),
    ...(queues !== undefined && { queues: String(queues).split(",") }),
  }),
  "window-began": ({ jobs, ...more }) => ({
    ...more,
    ...(jobs !== undefined && { jobs: numbersOf(jobs, ",") }),
  }),
  matrix: ({ jobs = "", rows, ...more }) => ({
    ...more,
    rows:
      rows === 0
        ? []
        : String(jobs)
            .split(" | ")
            .map((row) => numbersOf(row, " ")),
  }),
};

/** For SQL: data of an event, as JSON, in the form of version 10. */
export function eventAsJson(kind: Value, data: Value): string {
  return JSON.stringify(JSON_OF[String(kind)](JSON.parse(String(data))));
}

/**
 * Fields and values of a text such as `tasks=4 limitMs=5000 name=two words`. The name comes last, because
 * only a name may have spaces.
 */
function wordsOf(text: string): Old {
  const [, fields = "", name] = /^(.*?)(?:(?:^| )name=(.*))?$/s.exec(text) ?? [];
  const values = fields.split(" ").filter((word) => word !== "");
  return Object.fromEntries([
    ...values.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    ...(name === undefined ? [] : [["name", name]]),
  ]);
}

function valuesOf(fields: Old): object {
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, fieldOf(name, text)]));
}

function fieldOf(field: string, text: string | number): unknown {
  if (field === "use") return parseUse(String(text)) ?? {};
  if (field === "retryOn") return String(text).split(",");
  return field === "name" || field === "queue" ? String(text) : Number(text);
}

/** @param nodes such as `n1:0-3 n2:0`; left out: they are of this machine */
function cpusOf(cpus: string | number, nodes: string | number | undefined): NodeCpus[] {
  if (nodes === undefined) return [{ node: THIS_NODE, cpus: numbersOf(cpus, ",") }];
  return String(nodes)
    .split(" ")
    .map((text) => {
      const at = text.lastIndexOf(":");
      return { node: text.slice(0, at), cpus: numbersIn(text.slice(at + 1)) };
    });
}

function unitsOf(text: string): object {
  const kinds = text === "" ? [] : text.split("; ").map((kind) => kind.split(" "));
  return Object.fromEntries(kinds.map(([name, units]) => [name, units.split(",")]));
}

/** Of `0-3,6`. */
function numbersIn(ranges: string): number[] {
  return ranges.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

function numbersOf(text: string | number, between: string): number[] {
  return text === "" ? [] : String(text).split(between).map(Number);
}
