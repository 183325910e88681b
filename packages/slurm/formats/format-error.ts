/** The error for output that no form known to us explains. */
import { InputError } from "@tutti/kernel/core/errors.ts";

/** Enough of a line for people to recognize it. */
const SHOWN = 120;

/** Slurm printed something that is not of the form that versions 22.05 and 23.11 print. */
export class SlurmFormatError extends InputError {
  override name = "SlurmFormatError";

  /** @param version as Slurm's commands print it; undefined: not known */
  constructor(what: string, found: string, expected: string, version?: string) {
    const of = version === undefined ? "" : ` of ${version}`;
    super(
      `Cannot read the output of ${what}${of}: found ${JSON.stringify(found.slice(0, SHOWN))}, expected ${expected}; the forms of Slurm 22.05 and 23.11 are known`,
    );
  }
}
