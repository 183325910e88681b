/** Writes the messages about mistakes in bodies and parameters. */

import { issueText } from "@tutti/protocol/issue-text.ts";
import { refuse } from "@tutti/protocol/refusal.ts";
import type { z } from "zod";
import type { ApiRefusal } from "../refusal.ts";
import type { ScanLimits } from "./json-scan.ts";

const MAX_ISSUES = 3;
const MAX_ISSUE_LENGTH = 500;

export type Issue = z.core.$ZodIssue;

/** Counts issues and keeps the messages of the first few. */
export class Issues {
  readonly #words: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param path of the checked value in the body */
  add(issue: Issue, path: readonly PropertyKey[] = []): void {
    const words = wordsOf(issue, [...path, ...issue.path]);
    // A number far outside its range breaks two rules of the schema, which say the same.
    if (words === this.#words.at(-1)) return;
    if (this.#count++ < MAX_ISSUES) this.#words.push(words);
  }

  refusal(what: string): ApiRefusal {
    const more = this.#count - this.#words.length;
    return refuse(
      "invalid",
      `Cannot use ${what}: ${this.#words.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
    );
  }
}

/** The value if the schema accepts it, else a refusal. */
export function checked<Value>(value: unknown, schema: z.ZodType<Value>, what: string): Value | ApiRefusal {
  const result = schema.safeParse(value, { error: issueText });
  if (result.success) return result.data;
  const issues = new Issues();
  for (const issue of result.error.issues) issues.add(issue);
  return issues.refusal(what);
}

/** The value of a JSON text, or a refusal. */
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
      : `it contains a list or an object with more than ${entries} entries`;
  return refuse("invalid", `Cannot read the body: ${what}`);
}

function wordsOf(issue: Issue, path: readonly PropertyKey[]): string {
  // zod puts the issue of a key one level deeper.
  const text = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const message = text.length > MAX_ISSUE_LENGTH ? `${text.slice(0, MAX_ISSUE_LENGTH)}…` : text;
  const place = path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
  return place === "" ? message : `${place}: ${message}`;
}
