/** What may happen to nodes, to the network between them, and to Slurm. Each leaves everything repaired. */
import type { Process } from "../../world/contract.ts";
import type { SimulatedMachine } from "../../world/kernel/machine.ts";
import { FAULTS, type Fault } from "../faults.ts";
import type { Life } from "../life.ts";
import { lossesOf } from "./cluster.ts";

/** Faults of one machine that mean the same where jobs run on others. */
const OF_ONE_MACHINE: ReadonlySet<string> = new Set([
  ...["kill -9 of the front end", "TERM to the front end", "kill -9 of the hook runner"],
  ...["kill -9 of a front end that starts", "kill -9 just when something happens", "front end stopped"],
  ...["hook runner stopped", "kill -9 of a shim", "kill -9 of the guardian", "another policy"],
  ...["drain with a kill in it", "window with a kill in it", "machine suspended"],
  ...["jobs paused with a kill in it"],
]);
/** Within this time, no connection is given up (executor/cluster/connector.ts) and no node is lost. */
const HARMLESS_MS = 8000;
const MINUTE_MS = 60_000;

export const CLUSTER_FAULTS: readonly Fault[] = [
  ...FAULTS.filter(({ name }) => OF_ONE_MACHINE.has(name)),
  { name: "power cut of the front end's machine", weight: 2, inflict: cutFrontEnd },
  { name: "power cut of a node", weight: 3, inflict: cutNode },
  {
    name: "node hangs",
    weight: 3,
    inflict: (life) =>
      quietNode(life, async (node, ms) => {
        node.suspend(ms);
        await life.sleep(ms);
      }),
  },
  {
    name: "node without network",
    weight: 3,
    inflict: (life, last) =>
      quietNode(
        life,
        async (node, ms) => {
          life.site.lan.cutOff(node, true);
          await (last?.() ?? life.sleep(ms));
          life.site.lan.cutOff(node, false);
        },
        last === undefined,
      ),
  },
  { name: "connections of a node broken", weight: 2, inflict: breakNode },
  { name: "kill -9 of a node's conductor", weight: 4, inflict: (life) => killOne(life, life.conductors()) },
  { name: "kill -9 of a connector", weight: 3, inflict: (life) => killOne(life, connectors(life)) },
  { name: "kill -9 of a keeper", inflict: killKeeper },
  { name: "pilot cancelled by an administrator", inflict: cancelPilot },
  { name: "pilot made shorter", inflict: shortenPilot },
  { name: "Slurm does not answer", weight: 2, inflict: (life) => troubleSlurm(life, "away") },
  { name: "Slurm is slow", inflict: (life) => troubleSlurm(life, "slow") },
  { name: "answers of Slurm are lost", inflict: (life) => troubleSlurm(life, "mute") },
];

function connectors(life: Life): Process[] {
  return [...life.machine.processes.values()].filter(
    ({ argv, end }) => end === undefined && argv[0].endsWith("/srun") && argv.includes("/tutti/connect.js"),
  );
}

function killOne(life: Life, processes: readonly Process[]): void {
  if (processes.length === 0) return;
  // Without an answer of Slurm, nothing connects again.
  if (life.site.slurm!.trouble !== undefined) lossesOf(life).happened(undefined, 2 * MINUTE_MS);
  life.signal(life.random.pick(processes), "SIGKILL");
}

async function cutFrontEnd(life: Life): Promise<void> {
  life.machine.cutPower();
  await life.sleep(life.random.between(1000, life.random.pick([10_000, 10 * MINUTE_MS])));
  life.boot();
}

/** One that a pilot has, if there is one: who looks on wants to see something. */
function pickHeld(life: Life): SimulatedMachine {
  const held = new Set(life.conductors().map(({ machine }) => machine));
  const nodes = life.site.nodes.filter((node) => held.has(node));
  return life.random.pick(nodes.length > 0 ? nodes : life.site.nodes);
}

async function cutNode(life: Life, last?: () => Promise<unknown>): Promise<void> {
  const node = last === undefined ? life.random.pick(life.site.nodes) : pickHeld(life);
  const losses = lossesOf(life);
  const loss = losses.begin([node.name]);
  node.cutPower();
  const ms = life.random.between(500, life.random.pick([5000, MINUTE_MS, 20 * MINUTE_MS]));
  await (last?.() ?? life.sleep(ms));
  node.boot();
  losses.end(loss);
}

/**
 * A node that does not answer for a while; its processes stand still or go on.
 * @param isTimed it lasts no longer than this says
 */
async function quietNode(
  life: Life,
  inflict: (node: SimulatedMachine, ms: number) => Promise<void>,
  isTimed = true,
): Promise<void> {
  const node = isTimed ? life.random.pick(life.site.nodes) : pickHeld(life);
  const ms = life.random.between(500, life.random.pick([HARMLESS_MS, MINUTE_MS, 15 * MINUTE_MS]));
  const losses = lossesOf(life);
  const loss = isTimed && ms < HARMLESS_MS ? undefined : losses.begin([node.name]);
  await inflict(node, ms);
  if (loss !== undefined) losses.end(loss);
  // What the pilot still has there is ended now, and with each srun its step.
  const isDown = life.site.slurm!.node(node.name)!.isDown;
  if (isDown && isFirst(life, node)) losses.happened(undefined);
}

/** Each srun with a task there gives up, and ends its step; on a pilot's first node, that is all of them. */
function breakNode(life: Life): void {
  const node = life.random.pick(life.site.nodes);
  lossesOf(life).happened(isFirst(life, node) ? undefined : [node.name]);
  life.site.lan.breakAll(node);
}

/** Whether it runs the script of a pilot. */
function isFirst({ site: { slurm } }: Life, { name }: SimulatedMachine): boolean {
  return [...slurm!.jobs.values()].some((job) => !slurm!.isOver(job) && job.batchHost === name);
}

function killKeeper(life: Life): void {
  const keepers = life.site.nodes.flatMap(({ processes }) =>
    [...processes.values()].filter(
      ({ argv, end }) => end === undefined && argv[3] === "tutti-keeper" && argv[1] === "-c",
    ),
  );
  if (keepers.length === 0) return;
  const keeper = life.random.pick(keepers);
  lossesOf(life).happened([keeper.machine.name]);
  life.signal(keeper, "SIGKILL");
}

async function cancelPilot(life: Life): Promise<void> {
  const slurm = life.site.slurm!;
  const pilots = [...slurm.jobs.values()].filter((job) => !slurm.isOver(job));
  if (pilots.length === 0) return;
  const losses = lossesOf(life);
  const loss = losses.begin(undefined);
  slurm.cancel(life.random.pick(pilots).id);
  await life.sleep(life.random.between(1000, 5 * MINUTE_MS));
  await life.send("root", (service, caller) => service.startAllocation(caller));
  losses.end(loss, MINUTE_MS);
}

/** It ends some minutes from now; what then happens is that of any end (pilots.ts). */
async function shortenPilot(life: Life): Promise<void> {
  const slurm = life.site.slurm!;
  const pilot = [...slurm.jobs.values()].find(({ state }) => state === "RUNNING");
  if (pilot === undefined) return;
  const passed = Math.ceil((slurm.nowUs - pilot.startedUs) / 60e6);
  const minutes = passed + life.random.between(2, 10);
  if (minutes < pilot.minutes) pilot.minutes = minutes;
  await life.sleep(life.random.below(MINUTE_MS));
}

async function troubleSlurm(life: Life, trouble: "away" | "slow" | "mute"): Promise<void> {
  const slurm = life.site.slurm!;
  slurm.trouble = trouble;
  // Steps that it does not start are attempts that have not begun.
  life.wasAway = true;
  await life.sleep(life.random.between(2000, life.random.pick([20_000, 2 * MINUTE_MS, 10 * MINUTE_MS])));
  slurm.trouble = undefined;
}
