/** Starts a gang, or ends it at once if it cannot start on its nodes. */
import type { AttemptEnd, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ClusterNode } from "./cluster-node.ts";
import type { Gangs } from "./gangs.ts";

/** The claims in the folders of attempts; see conductor/attempts/claim.ts. */
export interface Claims {
  /** Whether some conductor may have started the attempt. */
  readonly isClaimed: (spec: LaunchSpec) => boolean;
  /** Prevents every later start of the attempt. False if it may have been started. */
  readonly block: (spec: LaunchSpec) => boolean;
  /** Conductors keep what they have started for ever: what none of its nodes knows was never started. */
  readonly areKept?: true;
}

interface Place {
  readonly gangs: Gangs;
  /** Undefined: the node is not in the allocation. */
  readonly nodeOf: (node: string) => ClusterNode | undefined;
  readonly claims: Claims;
  readonly reportEnd: (end: AttemptEnd) => void;
  readonly unixMs: number;
}

/** May be repeated: a gang that is known already is not launched twice. */
export function launchGang(spec: LaunchSpec, place: Place): void {
  const { job, attempt, identity, nodes = [] } = spec;
  const { gangs, nodeOf, claims } = place;
  const healthOf = (node: string) => nodeOf(node)?.health;
  const known = gangs.find(spec, identity);
  if (known !== undefined) {
    gangs.claimed(known);
    known.begin(spec);
    return;
  }
  if (gangs.find(spec) !== undefined) {
    const lost = `Cannot start job ${job}.${attempt}: another attempt with this job's number is there, expected none; this command never ran`;
    endLost(spec, lost, true, place);
    return;
  }
  const gone = nodes.find(({ node }) => healthOf(node) === undefined);
  if (gone !== undefined || nodes.length === 0) {
    const where = gone === undefined ? "it names no nodes" : `its node ${gone.node} is no longer allocated`;
    const neverBegan = claims.block(spec);
    endLost(spec, neverBegan ? where : `${where}: the allocation has ended`, neverBegan, place);
    return;
  }
  const lost = nodes.filter(({ node }) => healthOf(node)?.state === "lost");
  if (lost.length > 0 && claims.block(spec)) {
    for (const { node } of lost) nodeOf(node)!.addLostJob(job);
    endLost(spec, `its node ${lost[0].node} is lost`, true, place);
    return;
  }
  const isClaimed = claims.isClaimed(spec);
  const silent = nodes.map(({ node }) => node).filter((node) => healthOf(node)?.state !== "up");
  if (isClaimed && silent.length === 0 && !claims.areKept) {
    // All conductors have listed what they know, so it was started by those of an earlier allocation, whose
    // nodes may have had the same names. The present ones would take it for one that never began.
    const neverBegan = claims.block(spec);
    endLost(spec, "it was started on an allocation that has ended", neverBegan, place);
    return;
  }
  const gang = gangs.add(spec, !isClaimed);
  if (isClaimed && silent.length > 0) gang.seek(silent);
  // An earlier front end may have started it there.
  for (const { node } of nodes) {
    const health = healthOf(node);
    if (health?.isDown) gang.nodeDown(node, `its node ${node} is down`);
    else if (health?.state === "lost") gang.nodeLost(node, `its node ${node} is lost`);
  }
  gang.begin(spec);
}

function endLost(spec: LaunchSpec, lost: string, neverBegan: boolean, { reportEnd, unixMs }: Place): void {
  const { job, attempt, identity } = spec;
  reportEnd({
    job,
    attempt,
    identity,
    reason: "none",
    lost,
    ...(neverBegan && { neverBegan }),
    endedAtMs: unixMs,
    ranMs: 0,
  });
}
