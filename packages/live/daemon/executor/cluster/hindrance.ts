/** Says what keeps a gang from running: nodes that do not answer, or what it lacks before it can begin. */
import type { Clock } from "@tutti/host/clock.ts";
import type { Hindrance } from "../executor.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type Gang, nodesDo } from "./gang.ts";

/**
 * @param nodes by name
 * @param offByWord whether somebody can say that nothing runs on a lost node
 * @returns undefined: it waits for its row's turn only, or has ended
 */
export function hindranceOf(
  gang: Gang,
  nodes: ReadonlyMap<string, ClusterNode>,
  clock: Clock,
  offByWord: boolean,
): Hindrance | undefined {
  if (gang.end !== undefined) return undefined;
  const away = gang.facts.nodes.flatMap((name) => nodes.get(name) ?? []).filter(({ isUp }) => !isUp);
  if (away.length === 0) {
    const message = gang.waitsFor();
    return message === undefined ? undefined : { kind: "launch", message };
  }
  const lost = away.filter(({ name, health }) => health.state === "lost" && gang.isLeftOn(name));
  const named = (lost.length > 0 ? lost : away).map(({ name }) => name);
  const isElsewhere = gang.facts.nodes.length > named.length;
  const heardMs = Math.min(...away.map(({ health }) => health.heardMs));
  return {
    kind: "nodes",
    message: lost.length > 0 ? lostText(named, isElsewhere, offByWord) : silentText(named, isElsewhere),
    sinceMs: clock.unixMs() - (clock.nowMs() - heardMs),
    ranMs: gang.state.ranMs,
  };
}

/** What runs on the node itself goes on, if it is only out of reach. */
function silentText(nodes: readonly string[], isElsewhere: boolean): string {
  const rest = isElsewhere ? ", so the gang is stopped on the others" : "; there, the job goes on if it can";
  return `${nodesDo(nodes)} not answer${rest}`;
}

function lostText(nodes: readonly string[], isElsewhere: boolean, offByWord: boolean): string {
  const names = nodes.join(", ");
  const isOne = nodes.length === 1;
  const rest = isElsewhere ? "what ran on the others was killed, and " : "";
  const otherwise = offByWord
    ? `by tutti allocations off ${nodes.join(" ")}`
    : `when the cluster gives ${isOne ? "it" : "them"} up`;
  return `${isOne ? `node ${names} is` : `nodes ${names} are`} lost; ${rest}the job ends when ${names} ${isOne ? "answers" : "answer"}, or ${otherwise}`;
}
