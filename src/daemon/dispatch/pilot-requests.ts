/** Answers requests about the jobs of Slurm that hold nodes for this scheduler. */
import { type Answer, refuse } from "../../protocol/refusal.ts";
import type { PilotAnswer } from "../../protocol/schema.ts";
import type { Caller, PilotControl } from "../contract/service.ts";

type Pilots = Omit<PilotAnswer, "schema">;

export const NO_PILOTS = refuse(
  "wrong-state",
  "Cannot find a pilot: this scheduler holds no nodes of Slurm, expected one that was started by tutti serve --on slurm, without --native",
);

/** @param control undefined: the scheduler does not run on Slurm */
export function pilotsOf(control: PilotControl | undefined): Answer<Pilots> {
  if (control === undefined) return NO_PILOTS;
  const { pilots, trouble, rests } = control;
  return { pilots, trouble, rests };
}

export function startPilots(control: PilotControl | undefined, caller: Caller): Answer<Pilots> {
  if (!caller.isAdministrator) {
    return refuse("not-yours", "Cannot ask for a pilot: only administrators may do that");
  }
  control?.again();
  return pilotsOf(control);
}
