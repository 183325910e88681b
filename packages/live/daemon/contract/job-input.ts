/** Checks what a submitted job wants to read as its standard input. */
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";

const INSTEAD = "let it read a file, as in sh -c './a.out < data.txt', and give it no input: < /dev/null";

export function checkInput(
  { input, array, values, retries = 0, tasksRun }: SubmitJob,
  { takesInput }: { readonly takesInput?: true | "pipes" | undefined },
): Refusal | undefined {
  if (input === undefined) return undefined;
  const what = input === "pipe" ? "standard input" : "a terminal (--pty)";
  if (!takesInput) {
    return refuse(
      "invalid",
      input === "pipe"
        ? `Cannot give the job standard input: it is a job of a batch system, and nothing connects it with you; ${INSTEAD}`
        : "Cannot give the job a terminal (--pty): it is a job of a batch system, and nothing connects it with yours; use srun --pty there",
    );
  }
  if (input === "terminal" && takesInput === "pipes") {
    return refuse(
      "invalid",
      "Cannot give the job a terminal (--pty): what jobs write on these hosts is fetched later, expected a job without one; tutti run shows its output, and its standard input reaches the job",
    );
  }
  if (tasksRun === "each") {
    return refuse(
      "invalid",
      `Cannot give ${what} to tasks that run each: only one process can read it; leave out --tasks-run, and start the tasks by srun or mpirun in the job, or ${INSTEAD}`,
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
