/**
 * Reads the frame of JSON that Slurm's commands print: who wrote it, in which form, and what went wrong.
 */
import { InputError } from "../../../../core/errors.ts";
import { SlurmFormatError } from "./format-error.ts";

/** The forms that we read: those of Slurm 22.05 and of Slurm 23.11. */
const FORMS = ["openapi/v0.0.38", "openapi/dbv0.0.38", "data_parser/v0.0.40"] as const;
export type JsonForm = (typeof FORMS)[number];

interface JsonOutput {
  readonly form: JsonForm;
  /** Such as `Slurm 22.05.8`. */
  readonly release: string;
  readonly jobs: readonly Readonly<Record<string, unknown>>[];
}

interface Frame {
  readonly meta?: {
    readonly plugin?: { readonly type?: unknown; readonly data_parser?: unknown };
    /** The key changed from Slurm to slurm in 23.11. */
    readonly Slurm?: { readonly release?: unknown };
    readonly slurm?: { readonly release?: unknown };
  };
  readonly errors?: readonly { readonly error?: unknown; readonly description?: unknown }[];
  readonly jobs?: unknown;
}

/** Slurm says "nothing found" as an error. */
const NOTHING_FOUND = /^nothing found/i;

/**
 * @param command for messages, such as `squeue --json`
 * @throws SlurmFormatError for another form, which names the version, and for text that is cut off;
 * InputError
 *   if Slurm reports an error, which it does with exit status 0
 */
export function jsonIn(command: string, text: string): JsonOutput {
  let frame: Frame;
  try {
    frame = JSON.parse(text) as Frame;
  } catch {
    throw new SlurmFormatError(command, text.slice(-60), "complete JSON, but it ends in the middle");
  }
  const { meta, errors = [], jobs } = frame;
  const { data_parser: parser, type } = meta?.plugin ?? {};
  const release = `Slurm ${String((meta?.slurm ?? meta?.Slurm)?.release ?? "of an unknown version")}`;
  const named = String(parser ?? type ?? "no form");
  const form = FORMS.find((known) => known === named);
  if (form === undefined) throw new SlurmFormatError(command, named, FORMS.join(" or "), release);
  const [error] = errors.filter(({ error: text }) => !NOTHING_FOUND.test(String(text)));
  if (error !== undefined)
    throw new InputError(
      `Cannot use ${command}: ${String(error.description ?? "")}: ${String(error.error ?? "")}`,
    );
  if (!Array.isArray(jobs))
    throw new SlurmFormatError(command, JSON.stringify(jobs), "a list of jobs", release);
  return { form, release, jobs };
}
