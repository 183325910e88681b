/**
 * Believes an administrator who knows that nothing runs on a lost node, such as a workstation without power:
 * its attempts are lost at once, and run again by their retries. Otherwise they wait until the node answers.
 */
import { type Answer, refuse } from "@tutti/protocol/refusal.ts";
import type { OffAnswer, OffBody } from "@tutti/protocol/schema.ts";
import { refuseOthers } from "../contract/rights.ts";
import type { Caller } from "../contract/service.ts";
import type { Executor, NodeHealth } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

interface OffContext extends Pick<FrontEndParts, "book"> {
  readonly executor: Pick<Executor, "capabilities" | "apply" | "nodeSource">;
  /** As the executor reported them last. */
  readonly health: readonly NodeHealth[];
}

export function sayOff(
  { executor, health, book }: OffContext,
  caller: Caller,
  { nodes }: OffBody,
): Answer<Omit<OffAnswer, "schema">> {
  const action = `say that nothing runs on ${nodes.join(", ")}`;
  const refusal = refuseOthers(caller, action);
  if (refusal !== undefined) return refusal;
  const { offByWord } = executor.capabilities;
  if (offByWord !== true) return refuse("wrong-state", `Cannot ${action}: ${offByWord}`);
  for (const name of nodes) {
    const state = health.find(({ node }) => node === name)?.state;
    if (executor.nodeSource?.awaited?.includes(name)) {
      const why = `node ${name} takes no part yet, so no job runs there`;
      return refuse("wrong-state", `Cannot ${action}: ${why}`);
    }
    if (state === undefined) {
      const known = health.map(({ node }) => node).join(", ");
      return refuse("not-found", `Cannot ${action}: there is no node "${name}", expected one of ${known}`);
    }
    if (state === "up")
      return refuse("wrong-state", `Cannot ${action}: node ${name} answers, expected a lost one`);
    if (state === "silent") {
      const then = "it is lost 20 s after it became silent: try again then";
      return refuse("wrong-state", `Cannot ${action}: node ${name} is silent, expected a lost one; ${then}`);
    }
  }
  const isThere = nodes.flatMap((name) =>
    [...book.withProcess()].filter((record) => record.nodes.some(({ node }) => node === name)),
  );
  const jobs = [...new Set(isThere.map(({ job }) => job))].sort((a, b) => a - b);
  executor.apply(nodes.map((node) => ({ type: "off", node, by: caller.user })));
  return { nodes, jobs };
}
