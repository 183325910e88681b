/**
 * Collects what a reader or a rule did to the input, so that nothing is repaired or dropped silently. Counts
 * are complete. Only the first few examples of each kind are kept, which bounds the memory.
 */

/** What happened to the value or the line. */
type DiagnosticAction = "kept" | "repaired" | "dropped";

export interface Diagnostic {
  /** Stable identifier for programs, such as `short-line`. */
  readonly code: string;
  readonly action: DiagnosticAction;
  /** A sentence for people that says what was expected and what was done. */
  readonly message: string;
  /** How often this code occurred. */
  readonly count: number;
  readonly examples: readonly DiagnosticExample[];
}

interface DiagnosticExample {
  /** Line in the source, from 1; undefined if the source has no lines. */
  readonly line: number | undefined;
  /** Number of the job in its source, if known. */
  readonly job: number | undefined;
  /** The field's name, such as `run time`. */
  readonly field: string | undefined;
  /** The offending text or number, cut to 40 characters. */
  readonly value: string | undefined;
}

/** Diagnostics in order of first occurrence. */
export type Diagnostics = readonly Diagnostic[];

export const EXAMPLES_KEPT = 5;
const VALUE_LENGTH = 40;

/** Action and message for each code. */
type DiagnosticRules<Code extends string> = Readonly<Record<Code, DiagnosticRule>>;
type DiagnosticRule = Pick<Diagnostic, "action" | "message">;

/** Makes rules from messages that are grouped by action. */
export function diagnosticRules<Code extends string>(
  messages: {
    readonly [Action in DiagnosticAction]?: { readonly [Each in Code]?: string };
  },
): DiagnosticRules<Code> {
  const rules: Record<string, DiagnosticRule> = {};
  for (const action of ["dropped", "repaired", "kept"] as const) {
    const entries = Object.entries(messages[action] ?? {}) as [string, string][];
    for (const [code, message] of entries) rules[code] = { action, message };
  }
  return rules as DiagnosticRules<Code>;
}

/** Collects diagnostics; `list()` gives them in order of first occurrence. */
export class DiagnosticCollector<Code extends string> {
  readonly #rules: DiagnosticRules<Code>;
  readonly #byCode = new Map<string, Diagnostic & { count: number; examples: DiagnosticExample[] }>();

  constructor(rules: DiagnosticRules<Code>) {
    this.#rules = rules;
  }

  add(code: Code, example: Partial<DiagnosticExample> = {}): void {
    let entry = this.#byCode.get(code);
    if (entry === undefined) {
      entry = { code, ...this.#rules[code], count: 0, examples: [] };
      this.#byCode.set(code, entry);
    }
    entry.count++;
    if (entry.examples.length < EXAMPLES_KEPT) {
      entry.examples.push({
        line: example.line,
        job: example.job,
        field: example.field,
        value: example.value?.slice(0, VALUE_LENGTH),
      });
    }
  }

  list(): Diagnostics {
    return [...this.#byCode.values()];
  }
}
