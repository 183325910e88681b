/** Describes an attempt to the front end, and in the state file for the next conductor. */
import type { AttemptState } from "../../protocol/attempts.ts";
import type { SavedAttempt } from "../state-file.ts";
import type { Attempt } from "./attempt.ts";
import { keyOf } from "./claim.ts";

export function stateOf(attempt: Attempt): AttemptState {
  const { spec, shim, end } = attempt;
  return {
    ...keyOf(spec),
    about: aboutOf(attempt),
    phase: attempt.phase,
    ranMs: Math.round(attempt.ranMs()),
    ...(shim === undefined ? {} : { shim }),
    ...(end === undefined ? {} : { end }),
  };
}

function aboutOf({ spec, begun, startedAtMs }: Attempt): NonNullable<AttemptState["about"]> {
  const { uid, command, cwd, folder } = spec;
  return { ...(uid === undefined ? {} : { uid }), command, cwd, folder, ...(begun && { startedAtMs }) };
}

export function savedOf(attempt: Attempt): SavedAttempt {
  const { spec, shim, job, end } = attempt;
  return {
    spec,
    begun: attempt.begun,
    startedAtMs: attempt.startedAtMs,
    ranMs: Math.round(attempt.ranMs()),
    reason: attempt.reason,
    killed: attempt.killed,
    ...(shim === undefined ? {} : { shim }),
    ...(job === undefined ? {} : { job }),
    ...(attempt.kept && { kept: true }),
    ...(end === undefined ? {} : { end }),
  };
}
