/**
 * Invariants of each node, looked at from time to time: gangs of different rows do not run on one CPU at the
 * same time for longer than a switch takes, what is paused stands still, and a conductor has a guardian.
 */
import type { Process } from "../../world/contract.ts";
import type { SimulatedMachine } from "../../world/kernel/machine.ts";
import { mustTakeTurns, overlaps } from "../invariants/rows.ts";
import type { Life } from "../life.ts";
import { lossesOf } from "./cluster.ts";

/** Between two looks, at most. */
const BETWEEN_MS = 5000;
/** As on one machine (invariants/rows.ts, paused.ts, guardian.ts). */
const SWITCH_MS = 150;
const STOP_MS = 3000;
const GUARDIAN_MS = 5000;
/**
 * Between the wish and the slot from which a matrix is in force on all nodes
 * (daemon/executor/cluster/turning.ts): two or three slots, after those of the matrix before.
 */
const TURN_SLOTS = 6;
/** What srun starts for a gang is pinned within this time, and stopped at the next boundary of a slot. */
const NEW_MS = 1500;
/** A conductor that has just begun, or just gone on, first has to find its gangs. */
const HEALTHY_MS = 3000;

export async function watchNodes(life: Life): Promise<void> {
  for (const node of life.site.nodes) void watchNode(life, node);
}

async function watchNode(life: Life, node: SimulatedMachine): Promise<void> {
  const youngMs = Math.max(NEW_MS, life.setting.slotMs + SWITCH_MS);
  const stopMs = STOP_MS + TURN_SLOTS * life.setting.slotMs;
  let since: { readonly pid: number; readonly atMs: number } | undefined;
  while (!life.isOver) {
    await life.sleep(life.random.below(BETWEEN_MS));
    const conductor = conductorOn(life, node);
    if (conductor === undefined || conductor.state !== "S") since = undefined;
    else if (since?.pid !== conductor.pid) since = { pid: conductor.pid, atMs: life.trueMs };
    if (conductor === undefined || since === undefined || life.trueMs - since.atMs < HEALTHY_MS) continue;
    const { pid } = since;
    const isSame = () => {
      const present = conductorOn(life, node);
      return present?.pid === pid && present.state === "S" && !node.isSuspended;
    };
    if (!life.guardians().some(({ machine }) => machine === node)) {
      await life.sleep(GUARDIAN_MS);
      if (isSame() && !life.guardians().some(({ machine }) => machine === node))
        life.problem(`conductor ${pid} of ${node.name} has no guardian`);
      continue;
    }
    const before = overlaps(life, node, youngMs);
    const paused = runningAlthoughPaused(life, node);
    if (before.size > 0) {
      await life.sleep(SWITCH_MS);
      const state = stateOf(conductor);
      for (const [pair, cpu] of isSame() ? overlaps(life, node, youngMs) : [])
        if (before.has(pair) && mustTakeTurns(life, pair, state, node))
          life.problem(`gangs ${pair} both ran on CPU ${cpu} of ${node.name} for ${SWITCH_MS} ms or longer`);
    }
    if (paused.length === 0 || lossesOf(life).isOn(node.name)) continue;
    await life.sleep(stopMs);
    for (const gang of isSame() ? runningAlthoughPaused(life, node) : [])
      if (paused.includes(gang) && !lossesOf(life).isOn(node.name))
        life.problem(`gang ${gang} ran on ${node.name} for ${stopMs} ms although it is paused`);
  }
}

function conductorOn(life: Life, node: SimulatedMachine): Process | undefined {
  const all = life
    .conductors()
    .filter(({ machine, argv }) => machine === node && argv[0].startsWith("tutti-"));
  return all.length === 1 ? all[0] : undefined;
}

/** The file of its state, in its folder. */
function stateOf({ argv: [title] }: Process): string {
  return `${title.slice("tutti-conductor ".length)}/state.json`;
}

function runningAlthoughPaused(life: Life, node: SimulatedMachine): string[] {
  if (life.standing.size === 0) return [];
  const gangs: string[] = [];
  for (const { name } of life.site.runningGangs(node)) if (life.standing.has(name)) gangs.push(name);
  return gangs;
}
