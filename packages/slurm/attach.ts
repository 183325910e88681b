/** Attaches a front end to a pilot that another state folder has submitted, if nobody uses the pilot. */
import { spawn } from "@tutti/host/ports/child-process.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { commandEnvironment } from "./commands.ts";
import { isMark, type PilotContent } from "./pilot-file.ts";
import type { Slurm } from "./slurm.ts";

/** A conductor that has not answered by then is left out, and the next node is asked. */
const ANSWER_MS = 10_000;

/** Asks the conductor of a node to accept this front end. @returns its first answer, if there is one */
type AskNode = (node: string, jobId: string, mark: string) => Promise<FromConductor | undefined>;

/**
 * Adds the pilot to those of this state folder.
 * @throws InputError that names the front end that uses the pilot
 */
export async function attach(
  slurm: Slurm,
  content: PilotContent,
  jobId: string,
  askNode: AskNode,
): Promise<void> {
  const others = content.pilots.filter((pilot) => pilot.jobId !== jobId);
  if (others.length > 0) {
    throw new InputError(
      `Cannot attach to the pilot ${jobId}: this state folder has the pilot ${others[0].jobId ?? "that is being submitted"}; end it first with tutti down, or use another --state`,
    );
  }
  const isKnown = content.pilots.length > 0;
  const job = await slurm.job(jobId);
  if (isKnown && job?.comment !== content.pilots[0].mark) return;
  if (job === undefined || !isMark(job.comment)) {
    throw new InputError(
      `Cannot attach to the job ${jobId}: ${job === undefined ? "Slurm does not know it" : "it is not a pilot of Tutti"}, expected the id of a pilot; squeue --me --format="%i %k" shows their comments, which begin with tutti:`,
    );
  }
  if (job.state === "RUNNING") await refuseIfInUse(job.nodes, jobId, job.comment, askNode);
  if (isKnown) return;
  content.pilots.push({ mark: job.comment, jobId });
  content.submitted = 1;
  delete content.halted;
}

/** The first node that answers decides, so of two that attach at once only one can succeed. */
async function refuseIfInUse(nodes: readonly string[], jobId: string, mark: string, askNode: AskNode) {
  for (const node of nodes) {
    const answer = await askNode(node, jobId, mark);
    if (answer?.type === "refused" && answer.heldBy !== undefined) {
      throw new InputError(
        `Cannot attach to the pilot ${jobId}: it is used by ${answer.heldBy}; expected a pilot without a front end. End that one first (tutti down --keep-allocation there), and try again after 10 s`,
      );
    }
    if (answer !== undefined) return;
  }
}

/** Says hello through a step on the node. @param command starts the connector */
export function firstAnswer(
  [program, ...args]: readonly [string, ...string[]],
  hello: { readonly frontEnd: string; readonly owner: string },
): Promise<FromConductor | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: "/", env: commandEnvironment(process.env) });
    const lines = new LineReader();
    const timer = setTimeout(() => child.kill("SIGKILL"), ANSWER_MS);
    child.on("error", () => {});
    child.stdin.on("error", () => {});
    child.stderr.resume();
    child.stdout.on("data", (chunk: Buffer) => {
      const [line] = lines.push(chunk) ?? [];
      if (line === undefined) return;
      resolve(messageIn(line));
      child.stdin.end();
    });
    child.on("close", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    child.stdin.write(`${JSON.stringify({ type: "hello", protocol: 3, ...hello })}\n`);
  });
}

function messageIn(line: string): FromConductor | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
