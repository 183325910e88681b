/** The turns of three gangs under Tutti and under Slurm's own gang scheduling, in one table. */
import { chmodSync } from "node:fs";
import { TestCluster } from "./cluster.ts";
import { compilePrograms } from "./programs.ts";
import { NOBODY, SlurmScheduler } from "./scheduler.ts";
import { judge, type Turning, turnWithSlurm, turnWithTutti } from "./turning-run.ts";

const SHAPE = { nodes: 4, cpus: 2 };
const TASKS = SHAPE.nodes * SHAPE.cpus;
const GANG_S = 5;
/** Under Slurm the gangs start up to ten seconds after each other. */
const STARTS_S = 25;
/** How long a gang runs alone, before and after the three. */
export const ALONE_S = 5;

export interface MeasuredTurning extends Turning {
  /** Work per CPU second, compared with a gang alone: 0.01 is one percent less. */
  readonly lostWork: number;
}

/**
 * Three gangs under a Tutti that this starts and ends.
 * @param uid left out: as root
 */
export async function measureTutti(
  cluster: TestCluster,
  { lastsS, slotMs, uid }: { readonly lastsS: number; readonly slotMs: number; readonly uid?: number },
  observe: (scheduler: SlurmScheduler) => Promise<void> = async () => {},
): Promise<MeasuredTurning> {
  const { busy } = compilePrograms(cluster.home);
  chmodSync(cluster.home, 0o755);
  const scheduler = new SlurmScheduler(cluster, {
    nodes: SHAPE.nodes,
    slotMs,
    ...(uid === undefined ? {} : { uid }),
  });
  try {
    await scheduler.start();
    const plan = { cluster, busy, tasks: TASKS, slotMs, lastsS };
    const alone = () => turnWithTutti({ ...plan, lastsS: ALONE_S }, scheduler, ["alone"]);
    const before = await alone();
    const records = await turnWithTutti(plan, scheduler);
    await observe(scheduler);
    const turning = judge(records, slotMs);
    const reference = judge([...before, ...(await alone())], slotMs).workPerCpuS;
    return { ...turning, lostWork: 1 - turning.workPerCpuS / reference };
  } finally {
    await scheduler.down();
  }
}

/**
 * Lines of the table. Boots and stops two clusters, one after the other. If a part fails, the parts before it
 * are printed.
 */
export async function turningTable({
  lastsS,
  slotMs,
}: {
  readonly lastsS: number;
  readonly slotMs: number;
}): Promise<readonly string[]> {
  const columns: [string, Turning & { readonly lostWork?: number }][] = [];
  try {
    await withCluster(new TestCluster(SHAPE), async (cluster) => {
      columns.push(["Tutti, root", await measureTutti(cluster, { lastsS, slotMs })]);
      columns.push(["Tutti, user", await measureTutti(cluster, { lastsS, slotMs, uid: NOBODY })]);
    });
    await withCluster(new TestCluster({ ...SHAPE, gangS: GANG_S }), async (cluster) => {
      const { busy } = compilePrograms(cluster.home);
      const plan = { cluster, busy, tasks: TASKS, slotMs: GANG_S * 1000, lastsS: lastsS + STARTS_S };
      columns.push(["Slurm, gang", judge(await turnWithSlurm(plan), plan.slotMs)]);
    });
  } catch (error) {
    if (columns.length > 0) console.log(tableOf(columns).join("\n"));
    throw error;
  }
  return tableOf(columns);
}

async function withCluster(
  cluster: TestCluster,
  act: (cluster: TestCluster) => Promise<void>,
): Promise<void> {
  await cluster.start();
  try {
    await act(cluster);
  } finally {
    await cluster.stop();
  }
}

/** Longest time per node in which two gangs ran at once, per 100 switches. */
export function togetherPer100Ms({ nodes }: Turning): number {
  return Math.max(...nodes.map(({ togetherMs, switches }) => (100 * togetherMs) / Math.max(1, switches)));
}

function tableOf(
  columns: readonly (readonly [string, Turning & { readonly lostWork?: number }])[],
): string[] {
  const rows: readonly (readonly [string, (turning: Turning & { readonly lostWork?: number }) => string])[] =
    [
      [
        "shares of CPU time, %",
        ({ shares }) => [...shares.values()].map((one) => (100 * one).toFixed(1)).join(" "),
      ],
      ["switches of a node", ({ nodes }) => String(Math.max(...nodes.map(({ switches }) => switches)))],
      ["two gangs at once, ms per 100 switches", (turning) => togetherPer100Ms(turning).toFixed(2)],
      ["no gang ran, % of the time", ({ idle }) => (100 * idle).toFixed(1)],
      ["skew between nodes, p50, ms", ({ skewP50Ms }) => skewP50Ms.toFixed(2)],
      ["skew between nodes, p99, ms", ({ skewP99Ms }) => skewP99Ms.toFixed(2)],
      ["turns on all nodes, on some", ({ whole, partial }) => `${whole}, ${partial}`],
      [
        "work lost against a gang alone, %",
        ({ lostWork }) => (lostWork === undefined ? "" : (100 * lostWork).toFixed(1)),
      ],
    ];
  const cells = [
    ["", ...columns.map(([name]) => name)],
    ...rows.map(([name, value]) => [name, ...columns.map(([, turning]) => value(turning))]),
  ];
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  return cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join("  ")
      .trimEnd(),
  );
}
