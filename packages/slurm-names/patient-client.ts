/**
 * The scheduler as Slurm's commands reach it. While it is away, they wait for it as Slurm's commands wait for
 * their controller, because a workflow tool takes an error of sbatch for the end of the workflow.
 */

import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";

/**
 * As Slurm's MessageTimeout, for which its commands try to connect: SchedMD/slurm, slurm-22-05-8-1,
 * src/common/slurm_protocol_api.c, line 884. Slurm's default, 10 s, is too short for a start of the scheduler
 * on a machine that its jobs keep busy.
 */
export const MESSAGE_TIMEOUT_S = 30;
const POLL_MS = 200;

/** The connection was refused or there is no socket: the request was not sent. */
const UNSENT = ["ENOENT", "ECONNREFUSED"];
/** The connection broke: the request may have been carried out. */
const CUT_OFF = ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"];

/** Asks each time by a new client, because a scheduler that was restarted may have given out new tokens. */
class PatientClient extends Client {
  readonly #waitS: number;

  constructor(waitS: number) {
    super();
    this.#waitS = waitS;
  }

  override text(path: string, options: NonNullable<Parameters<Client["text"]>[1]> = {}): Promise<string> {
    const codes = mayRepeat(options) ? [...UNSENT, ...CUT_OFF] : UNSENT;
    return patiently(async () => new Client().text(path, options), codes, this.#waitS);
  }
}

/**
 * A client that waits for the scheduler, now and with each request.
 * @throws NoDaemonError if the scheduler stays away
 */
export function patientClient(waitS = MESSAGE_TIMEOUT_S): Promise<Client> {
  return patiently(async () => new PatientClient(waitS), UNSENT, waitS);
}

/** A submit has a key, and the scheduler accepts the same key once. */
function mayRepeat({ method, body }: { readonly method?: string; readonly body?: unknown }): boolean {
  return method === undefined || (typeof body === "object" && body !== null && "key" in body);
}

async function patiently<Result>(
  work: () => Promise<Result>,
  codes: readonly string[],
  waitS: number,
): Promise<Result> {
  const untilMs = performance.now() + waitS * 1000;
  let isSaid = false;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof NoDaemonError && codes.includes(error.code ?? "");
      if (!isAway || performance.now() >= untilMs) throw error;
    }
    // Programs read standard error, and Slurm's commands are silent while they wait.
    if (!isSaid && process.stderr.isTTY)
      process.stderr.write(`tutti: the scheduler is away; waiting for it for ${waitS} s\n`);
    isSaid = true;
    await sleep(POLL_MS);
  }
}
