/**
 * Studies what pilots cost on three public logs, by the time after which idle ones go back, and by their
 * sizes. Its page is docs/pilots.md.
 */
import { formatNumber } from "@tutti/kernel/core/format.ts";
import { findTrace } from "@tutti/lab/files/read-trace.ts";
import { lineFigureSvg } from "@tutti/lab/report/svg/figure-svg.ts";
import { textOf } from "../on-wings.ts";
import { runCells } from "../run-cells.ts";
import type { WingRun } from "../wings/wing.ts";
import type { Study, StudyTable } from "./study.ts";

interface Log {
  /** In the folder of the traces. */
  readonly name: string;
  readonly title: string;
  readonly cpus: number;
  readonly nodes: number;
  /** From its beginning; undefined: all. */
  readonly jobs?: number;
}

const LOGS: readonly Log[] = [
  { name: "KTH-SP2", title: "KTH SP2, 100 nodes", cpus: 1, nodes: 100 },
  { name: "HPC2N", title: "HPC2N, 120 nodes of 2 CPUs", cpus: 2, nodes: 120, jobs: 20_000 },
  { name: "LLNL-Atlas", title: "LLNL Atlas, 1,152 nodes of 8 CPUs", cpus: 8, nodes: 1152, jobs: 10_000 },
];

const IDLE: readonly (readonly [label: string, value: string])[] = [
  ["0", "0"],
  ["30 s", "30"],
  ["1 min", "60"],
  ["2 min", "120"],
  ["5 min", "300"],
  ["10 min", "600"],
  ["30 min", "1800"],
  ["never", "none"],
];

/** Sizes of pilots, by the nodes of the machine. */
const SIZES: readonly (readonly [label: string, settings: (nodes: number) => string])[] = [
  ["narrow first", (nodes) => `:narrow=${Math.round(nodes / 10)}`],
  ["as needed", () => ""],
  ["a quarter or more", (nodes) => `:min=${nodes / 4}`],
  ["all nodes", (nodes) => `:min=${nodes}`],
];

const FIXED = "pilots-fixed";
/** A batch system in which pilots wait for 10 minutes, and the sizes for which it is tried. */
const SLOW = ":wait=600";
const SLOW_SIZES = SIZES.slice(0, 2);

export const pilotsStudy: Study = {
  key: "pilots",
  path: "docs/pilots.md",
  title: "Pilots: what --idle and sizes cost",
  text: [
    "**Let pilots be as wide as the queue needs, and `--idle` be some minutes; what costs is a large minimum of nodes.** With pilots of 1 to all nodes, a sixth to a half of the idle node-hours are left that a machine of your own has, and jobs wait about 20 minutes longer on average. Whether an idle pilot goes back at once or after 10 minutes changes waits no more than chance does, and idle node-hours by 2 to 18 %. Pilots of at least a quarter of the nodes idle more, and jobs wait two to seven times as long.",
    "`tutti serve --on slurm` asks for nodes by pilots: jobs of Slurm on which its own jobs run. Here, the jobs of three public logs run on simulated pilots, each log on all nodes of its machine. The code that decides when to ask, the policy (EASY on each pilot), and the choice of processors are those of the live scheduler ([several pilots at once](slurm.md#several-pilots-at-once)).",
    "## A rule of thumb",
    '- **Sizes:** `--nodes 1..MAX`, without a large minimum; a quarter of the nodes was tried. A first kind of narrow pilots (`--pilot "narrow: --nodes 1..4 …"`) for small jobs saves another 3 to 26 % of the idle node-hours, with waits from 4 % shorter to 18 % longer (at `--idle 5m`).\n- **`--idle`:** 2 to 5 minutes. Compared with 0, Slurm gets up to 38 % fewer pilots, for up to 13 % more idle node-hours. `--idle never` costs 17 to 110 % more than 0, and does not make jobs wait less where Slurm has free nodes.\n- **If pilots wait in Slurm\'s queue for long, have two kinds.** Of each kind one pilot at a time is on its way, so waits grow by more than that time: with 10 minutes and one kind by 20 minutes to 2 hours, with narrow pilots first by 4 to 16 minutes (at `--idle 5m`; on Atlas, two hours at `--idle 30m`). On Atlas, `--idle never` is worth its price then: 0.15 hours in place of 2.5, for 42 % more idle node-hours than with 0. On the two other logs it is not.',
    "## Your own numbers",
    "```sh\ntutti compare pilots:file=site.swf:cpus=16 \\\n  --policy pilots-fixed,pilots-elastic:idle=120,pilots-elastic:idle=120:narrow=4,pilots-elastic:min=8\n```",
    "A log of your own site comes from `tutti lab import site.swf --since 2026-01-31`, or is any file that `compare` reads, plain or gzip. `cpus=` are the CPUs of a node, `nodes=` those that you may have. `tutti list models pilots` lists how long pilots wait and start, `tutti list policies pilots-elastic` sizes, time limits, `--max-nodes` (`most=`) and `--max-node-hours` (`hours=`). `--audit` checks each run, and `tutti simulate … --explain JOB` says which pilot took a job, and what kept the others.",
    "## What was found",
    "**Most idle node-hours are not those of `--idle`.** A pilot is held until its last job has ended, and nodes on which others have ended wait for that, unless what waits fits there. With `--idle 0`, that is still 9 to 19 % of the node-hours that pilots of 1 to all nodes use.",
    "**A large minimum of nodes is bad twice.** Small jobs keep wide pilots alive, each with idle nodes; and wide jobs wait until enough of these pilots have ended, since pilots cannot be joined. One pilot of all nodes at a time is better than four quarters: it idles most, but when it ends, all nodes are free for the next one.",
    "**Holding pilots does not save waits where Slurm has nodes at once.** A pilot that is asked for serves 6 s later. If it is wide and was held, a small job that comes then keeps all of its nodes until it ends.",
    "## What this does not say",
    "Each number is one replay of one log. Small changes of the settings change which jobs share a pilot, and so the mean wait by up to a fifth, with pilots of at least a quarter of the nodes by half: only larger differences mean something. The logs are those of busy whole machines with nobody else in Slurm's queue; on them, jobs never queue behind other users. Two of them have recorded submits, Atlas has starts in place of submits, so that jobs hardly wait on its own machine. Users do not react to waits. Nothing fails, memory and shared nodes do not count, and jobs end at their limits at the latest.",
    "Time limits of pilots are 10 minutes to what the longest job of the log needs. Limits of jobs are the estimates of the log, raised to the run time where they are lower; those that are missing are the run times. A pilot waits 3 s in Slurm and starts for 3 s, as measured on the Slurm of our tests with free nodes (2.5 to 3.1 s from `sbatch` until it runs, 1.2 to 2.3 s until conductors listen, 1.0 to 2.1 s until they answer). In the second table of each log it waits for 10 minutes.",
    "KTH SP2 has all its jobs here, HPC2N its first 20,000, Atlas its first 10,000. In the tables: mean wait in hours, idle node-hours, number of pilots. _Narrow first_: jobs that fit on a tenth of the nodes get pilots of 1 to that many nodes, others pilots of 1 to all nodes. _Always held_: one pilot of all nodes from the first job to the last. In the pictures, each line goes from `--idle 0` to _never_.",
    "## How the tables were made",
  ],
  run: async (options) => {
    const cells = LOGS.flatMap((log) => {
      const { name, nodes } = log;
      const files = { [name]: textOf(findTrace(name)) };
      const swept = SIZES.flatMap(([, settings]) => IDLE.map(([, idle]) => policyOf(idle, settings(nodes))));
      return [
        ...[FIXED, ...swept].map((policy) => ({ policy, source: sourceOf(log) })),
        ...SLOW_SIZES.flatMap(([, settings]) =>
          IDLE.map(([, idle]) => ({ policy: policyOf(idle, settings(nodes)), source: sourceOf(log) + SLOW })),
        ),
      ].map((cell) => ({ ...cell, kind: "wing" as const, seed: 1, isAudited: false, files }));
    });
    const runs = await runCells(cells, options);
    const found = new Map(runs.map((run, i) => [`${cells[i].source} ${cells[i].policy}`, run]));
    const runOf = (source: string, policy: string) => found.get(`${source} ${policy}`)!;
    return LOGS.flatMap((log) => tablesOf(log, (policy, more = "") => runOf(sourceOf(log) + more, policy)));
  },
};

function policyOf(idle: string, settings: string): string {
  return `pilots-elastic:idle=${idle}${settings}`;
}

function sourceOf({ name, cpus, jobs }: Log): string {
  return `pilots:file=${name}:cpus=${cpus}${jobs === undefined ? "" : `:jobs=${jobs}`}`;
}

type RunOf = (policy: string, more?: string) => WingRun;

function measured({ measures }: WingRun, name: string): number {
  return measures.find((measure) => measure.name === name)!.value;
}

function tablesOf({ name, title, nodes }: Log, runOf: RunOf): StudyTable[] {
  const sizes = SIZES.map(([label, settings]) => ({
    label,
    runs: IDLE.map(([, idle]) => runOf(policyOf(idle, settings(nodes)))),
  }));
  const slow = SLOW_SIZES.map(([, settings]) =>
    IDLE.map(([, idle]) => runOf(policyOf(idle, settings(nodes)), SLOW)),
  );
  const fixed = runOf(FIXED);
  const figure = {
    ...{ id: title, title: "Idle node-hours against mean wait" },
    ...{ xAxis: "idle node-hours (thousands)", yAxis: "mean wait (h)" },
    series: [
      ...sizes.map(({ label, runs }) => ({ name: label, ours: runs.map(pointOf) })),
      { name: "always held", ours: [pointOf(fixed)] },
    ],
  };
  const rowsOf = (columns: readonly (readonly WingRun[])[]) =>
    IDLE.map(([label], i) => [label, ...columns.map((runs) => cellOf(runs[i]))]);
  return [
    {
      title,
      columns: ["--idle", ...SIZES.map(([label]) => label)],
      rows: [
        ...rowsOf(sizes.map(({ runs }) => runs)),
        ["always held", cellOf(fixed), ...SIZES.slice(1).map(() => "")],
      ],
      picture: { name: `pilots-${name.toLowerCase()}.svg`, svg: lineFigureSvg(figure) },
    },
    {
      title: `${title}, if pilots wait for 10 minutes`,
      columns: ["--idle", ...SLOW_SIZES.map(([label]) => label)],
      rows: rowsOf(slow),
    },
  ];
}

/** Thousands of idle node-hours, and the mean wait in hours. */
function pointOf(run: WingRun): readonly [number, number] {
  return [measured(run, "idle") / 1000, measured(run, "wait") / 3600];
}

function cellOf(run: WingRun): string {
  const [idle, pilots] = [measured(run, "idle"), measured(run, "pilots")].map(Math.round).map(formatNumber);
  return `${(measured(run, "wait") / 3600).toFixed(2)} h, ${idle}, ${pilots}`;
}
