/** What is wrong with a body or a parameter, in words. */
import type { z } from "zod";
import { refuse } from "../../../protocol/refusal.ts";
import type { ApiRefusal } from "../refusal.ts";
import type { ScanLimits } from "./json-scan.ts";

const MAX_ISSUES = 3;
const MAX_ISSUE_LENGTH = 500;

export type Issue = z.core.$ZodIssue;

/** Counts what is wrong and keeps the words of the first few. */
export class Issues {
  readonly #words: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param path where the value stands that was checked */
  add(issue: Issue, path: readonly PropertyKey[] = []): void {
    if (this.#count++ < MAX_ISSUES) this.#words.push(wordsOf(issue, [...path, ...issue.path]));
  }

  refusal(what: string): ApiRefusal {
    const more = this.#count - this.#words.length;
    return refuse(
      "invalid",
      `Cannot use ${what}: ${this.#words.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
    );
  }
}

/** A value of a schema, or what is wrong with it. */
export function checked<Value>(value: unknown, schema: z.ZodType<Value>, what: string): Value | ApiRefusal {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = new Issues();
  for (const issue of result.error.issues) issues.add(issue);
  return issues.refusal(what);
}

/** The value of a JSON text, or why it is none. */
export function parsed(text: string): { readonly json: unknown } | ApiRefusal {
  try {
    return { json: JSON.parse(text) };
  } catch (error) {
    return refuse("invalid", `Cannot read the body: it is not JSON (${(error as Error).message})`);
  }
}

export function beyondLimits(
  beyond: keyof ScanLimits | undefined,
  { depth, entries }: ScanLimits,
): ApiRefusal | undefined {
  if (beyond === undefined) return undefined;
  const what =
    beyond === "depth"
      ? `it is nested deeper than ${depth} levels`
      : `it holds a list or an object of more than ${entries} entries`;
  return refuse("invalid", `Cannot read the body: ${what}`);
}

function wordsOf(issue: Issue, path: readonly PropertyKey[]): string {
  // What is wrong with a key stands one level deeper.
  const all = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const message = all.length > MAX_ISSUE_LENGTH ? `${all.slice(0, MAX_ISSUE_LENGTH)}…` : all;
  const place = path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
  return place === "" ? message : `${place}: ${message}`;
}
