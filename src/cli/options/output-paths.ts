/** Files to write, checked before anything is read: none may be written twice, none may be what is read. */
import { findTrace } from "../../lab/files/read-trace.ts";
import { chooseModel } from "../../lab/files/source.ts";
import { isSameFile } from "../../lab/files/write-whole.ts";
import { asUsage, UsageError } from "../errors.ts";

/** The options that name files to write, such as `--html`, by what was given to them. */
type OutputFiles = Readonly<Record<string, string | undefined>>;

/** @throws UsageError when two outputs are one file, or when one is the input */
export async function checkOutputs(source: string, files: OutputFiles): Promise<void> {
  const named = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (named.length === 0) return;
  const isModel = (await asUsage(() => chooseModel(source))) !== undefined;
  const input = isModel || source === "-" ? undefined : findTrace(source);
  for (const [i, [option, file]] of named.entries()) {
    if (input !== undefined && isSameFile(input, file)) {
      throw new UsageError(
        `Cannot use ${option} "${file}": it is the trace that is read, expected another file`,
      );
    }
    for (const [other, taken] of named.slice(0, i)) {
      if (!isSameFile(taken, file)) continue;
      throw new UsageError(`Cannot use ${option} "${file}": ${other} is the same file, expected another`);
    }
  }
}
