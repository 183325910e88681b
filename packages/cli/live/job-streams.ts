/** Connects our standard streams with those of a job until it has ended. */
import type { Job } from "@tutti/protocol/schema.ts";
import { copyInput } from "./job-input.ts";
import { copyLog } from "./log-stream.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

interface StreamOptions {
  /** Whether the job reads our standard input. */
  readonly readsInput: boolean;
  /** On a terminal, obey escape sequences. */
  readonly raw: boolean;
  /** First bytes to show if the output is in the user's files. */
  readonly from: { readonly stdout: number; readonly stderr: number };
  readonly say: (text: string) => void;
}

/** Shows the output of the job. @returns the job when it has ended */
export async function copyStreams(
  connection: ReconnectingClient,
  job: Job,
  { readsInput, raw, from, say }: StreamOptions,
): Promise<Job> {
  const over = new AbortController();
  const sending = readsInput ? copyInput(connection, job.job, over.signal) : undefined;
  // Without its input, the job fails by itself, and says so.
  sending?.catch((error) => say((error as Error).message));
  const copy = (stream: "stdout" | "stderr") =>
    copyLog(connection, job, { stream, follow: true, raw, from: from[stream] }, process[stream]);
  // If both streams go to the same file, shows it once.
  await Promise.all([copy("stdout"), ...(job.stderr === job.stdout ? [] : [copy("stderr")])]);
  over.abort();
  return connection.retry((client) => client.ended(job.job));
}
