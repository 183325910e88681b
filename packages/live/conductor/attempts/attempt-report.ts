/** Describes gangs to the front end, and in the state file for the next conductor. */
import type { AttemptRecord, AttemptState } from "@tutti/protocol/attempts.ts";
import { type LastSeen, savedNow } from "./absence.ts";
import type { Attempt, SavedAttempt } from "./attempt.ts";
import { keyOf } from "./claim.ts";
import type { GangPart } from "./gang-part.ts";
import { Member, type SavedMember } from "./member.ts";

export function stateOf(part: GangPart): AttemptState {
  const { spec, shim, end } = part;
  return {
    ...keyOf(spec),
    about: aboutOf(part),
    record: recordOf(part),
    phase: part.phase,
    ranMs: Math.round(part.ranMs()),
    shim,
    end,
  };
}

function recordOf({ begun, startedAtMs, pausedAtMs, reason, endingAtMs }: GangPart): AttemptRecord {
  return {
    version: 1,
    ...(begun && { startedAtMs }),
    pausedAtMs,
    ending: endingAtMs === undefined ? undefined : { reason, atMs: endingAtMs },
  };
}

function aboutOf(part: GangPart): NonNullable<AttemptState["about"]> {
  const { spec, begun, startedAtMs } = part;
  const { uid, user, folder } = spec;
  return { uid, user, ...commandOf(part), folder, ...(begun && { startedAtMs }) };
}

/** Only the node that starts the command knows it. */
function commandOf(part: GangPart) {
  if (part instanceof Member) {
    const { nodes, tasksRun, folder } = part.spec;
    const { command = [], cwd = folder } = part.step?.spec ?? {};
    return { command, cwd, nodes, tasksRun };
  }
  const { command, cwd, nodes, tasksRun } = (part as Attempt).spec;
  return { command, cwd, nodes: nodes?.map(({ node }) => node), tasksRun };
}

export function savedOf(parts: Iterable<GangPart>): Pick<LastSeen, "savedAt"> & {
  readonly attempts: readonly SavedAttempt[];
  readonly members?: readonly SavedMember[];
} {
  const all = [...parts];
  const members = all.filter((part) => part instanceof Member);
  const attempts = all.filter((part) => !(part instanceof Member)) as Attempt[];
  return {
    savedAt: savedNow(),
    attempts: attempts.map(savedAttempt),
    ...(members.length > 0 && { members: members.map((member) => member.saved) }),
  };
}

function savedAttempt(attempt: Attempt): SavedAttempt {
  const { spec, shim, job, lost, end } = attempt;
  return {
    spec,
    begun: attempt.begun,
    startedAtMs: attempt.startToSaveMs,
    ranMs: Math.round(attempt.ranMs()),
    reason: attempt.reason,
    killed: attempt.killed,
    shim,
    job,
    lost,
    ...(attempt.kept && { kept: true }),
    endingAtMs: attempt.endingAtMs,
    ...(attempt.warnedRanMs !== undefined && { warned: true, warnedRanMs: attempt.warnedRanMs }),
    gpuUse: attempt.gpuSums.saved,
    end,
  };
}
