/** Defines what the page and the workers of a policy that was typed into it send each other. */
import type { AuditOptions } from "@tutti/lab/audit/checker.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import type { RunAnswer } from "../messages.ts";
import type { KnownJobs } from "../worker/run-cell.ts";

/** The policy's name on the page; a file of this name has the same policy on the command line. */
export const OWN_PATH = "./my-policy.ts";

/** Whether a policy's text, such as `./my-policy.ts:reserve=8`, means the one that was typed in. */
export function isOwn(policy: string): boolean {
  return policy === OWN_PATH || policy.startsWith(`${OWN_PATH}:`);
}

/** What a policy says about itself. */
interface OwnDescription {
  readonly label: string;
  readonly title: string;
  readonly summary: string;
  readonly rules: readonly string[];
}

type OwnCell = { readonly jobs: KnownJobs; readonly cell: Cell<"summary"> };

export interface OwnQuestions {
  describe: { readonly asks: { readonly policy: string }; readonly answer: OwnDescription };
  run: { readonly asks: OwnCell; readonly answer: RunAnswer };
  explain: { readonly asks: OwnCell & { readonly job: number }; readonly answer: readonly string[] };
  /** The policy under the checker of rules; lines of text. */
  audit: { readonly asks: OwnCell & { readonly options: AuditOptions }; readonly answer: readonly string[] };
}

export type OwnQuestion = {
  [T in keyof OwnQuestions]: { readonly topic: T } & OwnQuestions[T]["asks"];
}[keyof OwnQuestions];

export type OwnReply =
  | { readonly share: number }
  | { readonly answer: OwnQuestions[keyof OwnQuestions]["answer"] }
  | { readonly failure: string };

/** TypeScript without its types, or where it cannot be read. */
export type Erased = { readonly code: string } | { readonly problem: string };
