/**
 * Says for people why a value does not fit its schema. This is the only place that does: pass `issueText` as
 * `error` to `safeParse`. A text completes the name of a field, as in `tasks: is 0, expected …`.
 */
import { z } from "zod";

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const KINDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a text",
};
/** Characters of a value in a message. */
const MAX_SHOWN = 60;

/** A whole number whose messages name the whole range. @param remark what the range means */
export function whole(min: number, max: number, remark = "") {
  const error = ({ input }: { readonly input?: unknown }) =>
    factOf(input, `a whole number from ${min} to ${max}${remark && ` (${remark})`}`);
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** For issues whose schema has no message of its own. */
export function issueText(issue: Issue): string {
  const { input } = issue;
  switch (issue.code) {
    case "invalid_type":
      return factOf(input, KINDS[issue.expected] ?? issue.expected);
    case "invalid_value":
      return factOf(input, `one of ${issue.values.map(String).join(", ")}`);
    case "too_big":
      return factOf(input, `at most ${amount(issue.maximum, issue.origin)}`, true);
    case "too_small":
      return factOf(input, `at least ${amount(issue.minimum, issue.origin)}`, true);
    case "unrecognized_keys":
      return `has the unknown ${issue.keys.length === 1 ? "field" : "fields"} ${issue.keys.slice(0, 3).map(shown).join(", ")}`;
    default:
      return `is ${shown(input)}, which cannot be used`;
  }
}

/** @param isSize whether the size of a text or a list matters, not its content */
function factOf(input: unknown, expected: string, isSize = false): string {
  return `${input === undefined ? "is missing" : (isSize && sizeOf(input)) || `is ${shown(input)}`}, expected ${expected}`;
}

function sizeOf(input: unknown): string {
  if (typeof input === "string") return `has ${amount(input.length, "string")}`;
  return Array.isArray(input) ? `has ${amount(input.length, "array")}` : "";
}

function amount(count: number | bigint, origin: string): string {
  if (origin === "string") return `${count} character${count === 1 ? "" : "s"}`;
  return origin === "array" ? `${count} ${count === 1 ? "entry" : "entries"}` : String(count);
}

/** Lists and objects are only named: they can be large. */
function shown(input: unknown): string {
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object" && input !== null) return "an object";
  if (typeof input !== "string") return String(input);
  return JSON.stringify(input.length > MAX_SHOWN ? `${input.slice(0, MAX_SHOWN)}…` : input);
}
