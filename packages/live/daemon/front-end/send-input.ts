/** Passes on what a client writes for a job that runs on another node. */
import { type Answer, refuse } from "@tutti/protocol/refusal.ts";
import type { InputBody, InputTakenAnswer } from "@tutti/protocol/schema.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Executor } from "../executor/executor.ts";

export async function sendInput(
  executor: Executor,
  { job, attempt, identity, state, input }: JobRecord,
  piece: InputBody,
): Promise<Answer<Omit<InputTakenAnswer, "schema">>> {
  if (input === undefined || executor.sendInput === undefined) {
    const why = input === undefined ? "it reads nothing" : "it runs on this machine, where clients write";
    return refuse(
      "wrong-state",
      `Cannot send input to job ${job}: ${why}, expected a job that reads on another node`,
    );
  }
  if (isEnded(state)) return { taken: piece.offset, reader: "closed" };
  if (!hasProcess(state)) return { taken: 0, reader: "not-yet" };
  return executor.sendInput({ job, attempt, identity }, piece);
}
