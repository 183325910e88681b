/** Checks what a submitted job wants to read as its standard input. */
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";

const INSTEAD = "let it read a file, as in sh -c './a.out < data.txt', and give it no input: < /dev/null";

export function checkInput(
  { input, array, values, retries = 0 }: SubmitJob,
  { takesInput }: { readonly takesInput?: true | undefined },
): Refusal | undefined {
  if (input === undefined) return undefined;
  const what = input === "pipe" ? "standard input" : "a terminal (--pty)";
  if (!takesInput) {
    return refuse(
      "invalid",
      input === "pipe"
        ? `Cannot give the job standard input: this scheduler runs jobs on a cluster, where nothing connects them with you; ${INSTEAD}`
        : "Cannot give the job a terminal (--pty): this scheduler runs jobs on a cluster, where nothing connects them with yours; use srun --pty there",
    );
  }
  if (array !== undefined || values !== undefined) {
    return refuse(
      "invalid",
      `Cannot give the jobs of an array ${what}: expected a single job, or jobs that read files`,
    );
  }
  if (input === "terminal" || retries === 0) return undefined;
  return refuse(
    "invalid",
    `Cannot give a job with retries a standard input: it is not kept for the next start; leave out retries, or ${INSTEAD}`,
  );
}
