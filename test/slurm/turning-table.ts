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
 * Lines of the table. Boots and stops two clusters, one after the other. If Tutti's part fails, the parts
 * before it are printed. Slurm's own gang scheduling sometimes suspends a gang while its step is being
 * launched, and then its tasks begin only after the others have ended: tried again once, then said.
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
  } catch (error) {
    if (columns.length > 0) console.log(tableOf(columns).join("\n"));
    throw error;
  }
  let trouble: unknown;
  for (let tries = 0; tries < 2; tries++)
    try {
      return tableOf([...columns, ["Slurm, gang", await measureSlurm(lastsS + STARTS_S)]]);
    } catch (error) {
      trouble = error;
    }
  return [...tableOf(columns), `Slurm, gang: not measured in two tries: ${trouble}`];
}

/** Slurm's own gang scheduling, on a cluster that this boots and stops. */
async function measureSlurm(lastsS: number): Promise<Turning> {
  const slotMs = GANG_S * 1000;
  const cluster = new TestCluster({ ...SHAPE, gangS: GANG_S });
  return await withCluster(cluster, async () => {
    const { busy } = compilePrograms(cluster.home);
    return judge(await turnWithSlurm({ cluster, busy, tasks: TASKS, slotMs, lastsS }), slotMs);
  });
}

async function withCluster<Result>(
  cluster: TestCluster,
  act: (cluster: TestCluster) => Promise<Result>,
): Promise<Result> {
  await cluster.start();
  try {
    return await act(cluster);
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
