/**
 * Says who may see and change what. Scripts and environments are in no answer (protocol/job-fields.ts); on
 * disk, only the job's user can read them (executor/launcher.ts).
 */
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { JobRecord } from "./record.ts";
import type { Caller } from "./service.ts";

/** Whether a user may see a job in full, and change it. */
export function mayAccess(caller: Caller, record: Pick<JobRecord, "uid">): boolean {
  return caller.isAdministrator || caller.uid === record.uid;
}

/** @param action what only administrators may do, as in "Cannot drain the scheduler" */
export function refuseOthers(caller: Caller, action: string): Refusal | undefined {
  return caller.isAdministrator
    ? undefined
    : refuse("not-yours", `Cannot ${action}: only administrators may do that`);
}
