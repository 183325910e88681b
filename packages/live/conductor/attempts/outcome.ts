/** Determines the outcome of an attempt from its folder and from what the conductor has seen. */
import { existsSync } from "@tutti/host/ports/fs.ts";
import { bootId, type ProcessIdentity } from "@tutti/host/processes.ts";
import type { AttemptEnd, AttemptKey, EndReason } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import { type AttemptFolder, blockClaims, type Claim, readIdentity } from "./claim.ts";
import { readExit, readLost } from "./shim.ts";

type Outcome = Pick<AttemptEnd, "code" | "signal" | "lost" | "neverBegan" | "reason">;

/** What the conductor knows about an attempt that has ended. */
interface Facts {
  readonly spec: AttemptKey & AttemptFolder;
  readonly shim: ProcessIdentity | undefined;
  readonly claim: Claim;
  /** An earlier conductor started the shim. That conductor may have done more than it could save. */
  readonly isInherited: boolean;
  /** The job went through its gate. */
  readonly begun: boolean;
  readonly reason: EndReason;
  readonly killed: boolean;
  /** That the shim did not claim it had a reason which has passed: it was killed, or the folder was away. */
  readonly mayClaimAgain: boolean;
  /** Why it could not start, or had to be given up, as far as the conductor knows. */
  readonly lost: string | undefined;
  /** With `lost`: it is certain that the command never began. */
  readonly lostBeforeBegin: boolean;
  readonly isOutOfMemory: boolean;
  /** Why its cluster is killing all gangs here, if it is. */
  readonly whyAllEnd: () => string | undefined;
}

export function outcomeOf(facts: Facts): Outcome {
  const { spec, reason } = facts;
  if (facts.lost !== undefined) return lost(facts, facts.lost, facts.lostBeforeBegin);
  if (facts.shim === undefined) return notClaimed(facts);
  const written = readLost(spec);
  if (written !== undefined) return lost(facts, written, false);
  const exit = readExit(spec);
  if (exit !== undefined) {
    const why = exit.code === 0 || reason !== "none" ? undefined : facts.whyAllEnd();
    if (why !== undefined) return lost(facts, why, false);
    const isTooLarge = reason === "none" && exit.code !== 0 && facts.isOutOfMemory;
    return { ...exit, reason: isTooLarge ? "memory-limit" : reason, ...(facts.killed && atGate(facts)) };
  }
  if (facts.killed) return { signal: "SIGKILL", reason, ...atGate(facts) };
  // Another folder may have its name.
  const message =
    existsSync(spec.folder) && facts.claim.kind !== "none"
      ? `The shim of job ${gangName(spec)} ended without leaving an exit status: it was killed, or the machine went down`
      : `Cannot tell how job ${gangName(spec)} ended: its folder "${spec.folder}" was removed, expected it to stay until the job has ended`;
  return lost(facts, message, neverBegan(facts));
}

/** No shim of this attempt has claimed it, so the command has not run. */
function notClaimed(facts: Facts): Outcome {
  const { spec, claim } = facts;
  const where = `Cannot start in "${spec.folder}"`;
  if (claim.kind === "another") {
    const why =
      "the folder has the files of another attempt, expected a folder for this attempt alone; the command never ran";
    return lost(facts, `${where}: ${why}`, true);
  }
  if (facts.killed) return { signal: "SIGKILL", reason: facts.reason };
  if (claim.kind === "stranger") {
    const why = `the attempt was claimed for process ${claim.pid}, which is not the shim of this attempt; the command never ran`;
    // Only the job's user can have written that claim, so there is no further attempt for it.
    return lost(facts, `${where}: ${why}`, false);
  }
  const why = "the shim could not claim the attempt, expected a folder that the job's user may write";
  return lost(facts, `${where}: ${why}`, facts.mayClaimAgain && blockClaims(spec));
}

/** Whether its shim was certainly killed before any conductor let the command begin. */
function neverBegan({ begun, isInherited, shim, spec }: Facts): boolean {
  if (begun) return false;
  if (!isInherited) return true;
  // Before a reboot, more may have happened than was synced to the disk. And a missing file may have been
  // removed.
  return shim?.bootId === bootId() && existsSync(spec.folder) && readIdentity(spec, "job") === undefined;
}

/** What was killed at its gate does not count as a start. */
function atGate(facts: Facts): Pick<Outcome, "neverBegan"> {
  return neverBegan(facts) ? { neverBegan: true } : {};
}

function lost({ reason }: Facts, message: string, isCertain: boolean): Outcome {
  return { lost: message, reason, ...(isCertain && { neverBegan: true }) };
}
