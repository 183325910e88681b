/**
 * Studies which turns shared GPUs need: what locks, a pool and the matrix make of gangs with phases, and when
 * turns stop paying. Its page is docs/phases.md.
 */
import { existsSync, readFileSync } from "node:fs";
import { formatPercent } from "@tutti/kernel/core/format.ts";
import { confidenceInterval, type Interval } from "@tutti/kernel/metrics/statistics.ts";
import { lineFigureSvg } from "@tutti/lab/report/svg/figure-svg.ts";
import { runCells } from "../run-cells.ts";
import { lock } from "../wings/phases/policies/lock.ts";
import { fromEvents, type RecordedEvent } from "../wings/phases/recorded.ts";
import { simulatePhases } from "../wings/phases/simulate.ts";
import type { WingRun } from "../wings/wing.ts";
import { percentText, type Study, type StudyTable } from "./study.ts";

const SEEDS = 20;
const EXCLUSIVE = "phases-exclusive";
const RATIO = "ratio";

/** A column of a table: a measure of a policy. */
interface Column {
  readonly name: string;
  readonly policy: string;
  readonly measure: string;
}

interface Sweep {
  readonly title: string;
  /** What the first column says. */
  readonly heading: string;
  readonly rows: readonly (readonly [label: string, source: string])[];
  readonly columns: readonly Column[];
  /** A picture of the ratios, if the labels of the rows are numbers. */
  readonly picture?: { readonly name: string; readonly xAxis: string };
}

const ratio = (name: string, policy: string): Column => ({ name, policy, measure: RATIO });
const LOCK = ratio("lock, groups of 8", "phases-lock");
const CUT = ratio("locks, groups 8, 4, 2, 2", "phases-lock:groups=8,4,2,2");
const QUEUE = ratio("pool, in order", "phases-pool:most=0");
const POOL = ratio("pool, first fit", "phases-pool");
const QUEUE_SPREAD = ratio("in order, spread", "phases-pool:most=0:split=yes");
const POOL_SPREAD = ratio("first fit, spread", "phases-pool:split=yes");
const ROWS = ratio("rows in turn", "phases-rows:extra=no");
const EXTRA = ratio("rows, extra turns", "phases-rows");
const BRMMS = ratio("rows of buddies, extra", "phases-rows:gang=brmms");
const GRADES = ratio("grades", "phases-grades");
const MAIN = [LOCK, CUT, QUEUE, POOL, QUEUE_SPREAD, POOL_SPREAD, ROWS, EXTRA, BRMMS];
const DUTY: Column = { name: "duty, exclusive", policy: EXCLUSIVE, measure: "duty" };

const TITLES: Readonly<Record<string, string>> = {
  ratio: "rounds per hour",
  pace: "pace",
  wait: "mean wait for a turn",
  "longest-wait": "longest wait for a turn",
  slowdown: "mean slowdown",
  "worst-slowdown": "slowest gang's slowdown",
  fairness: "fairness",
};

/** A third of the phases' lengths of a recorded run down to a tenth of a second, and up to an hour. */
const HOLDS_S = [1, 10, 60, 430, 3600];
const COSTS_S = [0.1, 1, 5, 24, 120];
/** The wait is as long as the hold is, in the proportion of the recorded run. */
const WAIT_PER_HOLD = 390 / 430;

const SWEEPS: readonly Sweep[] = [
  {
    title: "Gangs of mixed sizes on 16 units",
    heading: "sizes; resident; switch",
    rows: [
      ["2, 2, 4, 4, 8; 2 ×; 0.1 s", "phases:restore=0.1"],
      ["2, 2, 4, 4, 8; 2 ×; 5 s", "phases"],
      ["2, 2, 4, 4, 8; 3 ×; 24 s", "phases:resident=3:restore=24"],
      ["8; 2 ×; 5 s", "phases:sizes=8"],
      ["8; 3 ×; 24 s", "phases:sizes=8:resident=3:restore=24"],
    ],
    columns: [DUTY, ...MAIN],
  },
  {
    title: "Other sizes, and other clusters",
    heading: "sizes; units",
    rows: [
      ["2; 16", "phases:sizes=2"],
      ["3; 16", "phases:sizes=3"],
      ["1, 2, 3, 5, 7; 16", "phases:sizes=1,2,3,5,7"],
      ["2, 8, 12; 24", "phases:sizes=2,8,12:units=24"],
      ["4, 8, 16; 32", "phases:sizes=4,8,16:units=32"],
    ],
    columns: [LOCK, QUEUE, POOL, EXTRA, BRMMS],
  },
  {
    title: "How busy the cluster is: time between arrivals",
    heading: "seconds",
    rows: [0, 500, 1000, 2000, 4000].map((s) => [String(s), `phases:interarrival=${s}`] as const),
    columns: [DUTY, LOCK, QUEUE, POOL, EXTRA, BRMMS],
  },
  {
    title: "Where a gang may run: units of a node",
    heading: "units of a node",
    rows: [1, 2, 4, 8, 16].map((node) => [String(node), `phases:node=${node}`] as const),
    columns: [QUEUE, POOL, POOL_SPREAD, GRADES, ROWS, EXTRA, BRMMS],
    picture: { name: "phases-nodes.svg", xAxis: "units of a node" },
  },
  {
    title: "Memory of the hosts: resident gangs",
    heading: "resident",
    rows: [1, 1.5, 2, 3, 4, 6].map((resident) => [String(resident), `phases:resident=${resident}`] as const),
    columns: [LOCK, QUEUE, POOL, EXTRA, BRMMS],
    picture: { name: "phases-resident.svg", xAxis: "resident gangs ÷ units" },
  },
  ...["phases-pool:most=0", "phases-rows"].map(
    (policy): Sweep => ({
      title: `When turns stop paying, under ${policy}`,
      heading: "hold",
      rows: HOLDS_S.map((holdS) => [
        `${holdS} s`,
        `phases:hold=${holdS}:wait=${(holdS * WAIT_PER_HOLD).toPrecision(3)}`,
      ]),
      columns: COSTS_S.map((costS) => ratio(`switch ${costS} s`, `${policy}@restore=${costS}`)),
    }),
  ),
  {
    title: "Share of the time that gangs hold units",
    heading: "hold ÷ (hold + wait)",
    rows: [0.9, 0.7, 0.5, 0.3, 0.1].map((share) => [
      share.toFixed(1),
      `phases:hold=${(820 * share).toFixed(0)}:wait=${(820 * (1 - share)).toFixed(0)}`,
    ]),
    columns: [LOCK, QUEUE, POOL, EXTRA, BRMMS],
    picture: { name: "phases-share.svg", xAxis: "hold ÷ (hold + wait)" },
  },
  ...["ratio", "pace", "wait", "longest-wait", "slowdown", "worst-slowdown", "fairness"].map(
    (measure): Sweep => ({
      title: `What a share and fairness cost: ${TITLES[measure]}`,
      heading: "resident",
      rows: [2, 3].map((resident) => [`${resident} ×`, `phases:resident=${resident}`] as const),
      columns: [
        { name: "exclusive", policy: EXCLUSIVE, measure },
        ...["0", "1", "3", "10", "none"].map((most) => ({
          name: `pool, most=${most}`,
          policy: `phases-pool:most=${most}`,
          measure,
        })),
        { name: "pool, least recently", policy: "phases-pool:order=served", measure },
        { name: "grades", policy: "phases-grades", measure },
        { name: "rows", policy: "phases-rows", measure },
      ],
    }),
  ),
];

export const phasesStudy: Study = {
  key: "phases",
  path: "docs/phases.md",
  title: "Gangs with phases: which turns shared GPUs need",
  text: [
    "**For the live half: let gangs give up their turns by themselves, and let the rows of the matrix decide who is next.** With gangs of 2 to 8 GPUs on 16 and more work than GPUs, rows give 1.6 times the rounds of exclusive use, although each gang keeps its GPUs. A lock for each group of 8 gives 1.04, locks with groups cut by size 1.33. If all gangs are as large as a group, nothing is better than its lock (1.72).",
    "Jobs that train by reinforcement hold GPUs for minutes and then wait for minutes, for samples or rewards. Held exclusively, the GPUs stand idle meanwhile. Here, a gang gives its units back by itself after each turn (consent before clock), stays in the memory of its hosts, and wants its units again later. All units of a turn are given at once or not at all. If another gang has been on a unit since, the turn begins with a switch.",
    "## A rule of thumb",
    "A pool and rows give about nine tenths of the smaller of two numbers: how many gangs are resident for each unit (memory of the hosts), and 1 ÷ the share of the time that gangs hold their units. A switch (save and restore) that takes a tenth of a hold costs 6 % of the rounds; half of a hold, a quarter of them; as long as a hold, all of the gain. Residency counts in whole gangs: rows use whole numbers only, and so does a pool if gangs are as large as a node. All of this needs gangs that wait for GPUs: if gangs come so slowly that exclusive use has idle GPUs left, there is little to gain.",
    "Take no more residency than the second number, rounded up. Twofold gives most of the rounds. Threefold adds 4 to 10 %, but a gang then waits three to four times as long for its turns.",
    "Let one or a few turns pass one that waits (`phases-pool:most=1`), not any number: that costs nearly no rounds, and without it, large gangs wait for up to four hours for a turn of seven minutes (threefold residency).",
    "## Your own numbers",
    "The laboratory in the browser has a form for this (view _Turns_), with the turns as a moving picture. On the command line, with 16 GPUs in nodes of 8, jobs with 2, 4 or 8 GPUs, 430 s on the GPUs and 390 s elsewhere, 60 GB on each GPU, hosts with 1,500 GB, and 5 s for a switch:",
    "```sh\ntutti compare phases:units=16:node=8:sizes=2,4,8:hold=430:wait=390:memory=60:host=1500:restore=5 \\\n  --policy phases-exclusive,phases-lock,phases-pool,phases-rows --replications 20\n```",
    "The column _÷ exclusive use_ is the answer, with 95 % intervals; the second table has the differences from the first policy. The _pace_ is what sharing takes from a gang: 0.85 means that its rounds take 1 ÷ 0.85 times as long as with GPUs of its own.",
    "- All gangs come at once; `interarrival=1800` lets one come every half hour.\n- At most twice as many gangs are resident as fit on a node; `resident=3` allows more, if the hosts have the memory.\n- A gang may wake on any units of its nodes. Most programs that sleep keep their devices: then use `node=1`, and for `host` the memory of a host ÷ its GPUs. Rows are the same in both cases.\n- If the memory of a GPU is saved as a snapshot, `restore=0:rate=3.75` (GB per second and GPU) computes what a switch takes: 16 s to save 60 GB, 16 s to restore them.\n- The lock has groups of 8, or of the largest gang; cut them as you would: `phases-lock:groups=8,4,2,2`.\n- `tutti list models phases` lists all parameters, `tutti list policies phases-rows` states the rules, and `tutti simulate phases --policy phases-rows --explain 31` says what a gang waited for.",
    "A recorded run of your own is a CSV file with a line for each turn: what it held, and how long it waited after that. Five lines name its columns. JSON Lines are read, too ([all columns](workloads.md#files-of-turns)):",
    "```\n$ head -3 turns.csv\njob,gpus,train_s,rollout_s,submitted\na,2,412.5,377,1732970000\na,2,431,402.5,1732970000\n$ cat names.txt\ngang=job\nunits=gpus\nhold=train_s\nwait=rollout_s\nsubmit=submitted\n$ tutti compare phases:file=turns.csv:columns=names.txt:units=16 --policy phases-exclusive,phases-lock,phases-rows\n```",
    "## What was found",
    "**The recorded runs** are those of llm-d's rl-time-slicing: events of two jobs under its lock, first come, first served. What a job did by itself is kept, and what it waited for the other is not. The lock of the laboratory then saves and restores in the same turns, in the same order, and ends within 0.4 %. (Saves are what is published as switches; whether a turn was saved is taken from the record, whether it was restored follows from the turns before it.) The time _without turns_ is that of the same work without sharing, as published.",
    "**Where gangs may run matters more than who is next.** If a gang may use any of 16 units, a pool gives 1.8. If it is bound to the node that has its memory, it gives 1.7; 1.6 if gangs are spread over nodes as soon as there is memory anywhere. If each unit has its own memory, it gives 1.5. A program that sleeps keeps its devices, and then packing wins: the gangs of rows keep their units anyway, and rows give 1.60 whatever a node is.",
    "**Which gang policy fills the rows depends on the sizes.** Buddies (`gang=brmms`) give 1.64 and keep a gang on as few nodes as it needs, if sizes and nodes are powers of two. With other sizes they waste units: 1.41 with gangs of 3, where first fit (`gang=gang`, the default) gives 1.70. First fit can put a gang across two nodes. So can exclusive use, which takes the first units that are idle.",
    "**Order matters for the longest wait, not for the rounds.** Strictly in order (most=0) loses nothing with twofold residency and 4 % with threefold, and keeps the longest wait at 15 and 26 minutes. If any turn may pass (most=none, or the gang that was served least recently first), the longest wait is 46 minutes with twofold residency and 4 hours with threefold, that of a gang as large as a node. A gang that shares goes on at 0.85 of its own pace with twofold residency, and at 0.6 to 0.75 with threefold. On average it still ends earlier, because it starts earlier: from submission to end, gangs need about 60 % of the time that they need under exclusive use, as long as there is a queue.",
    "**Weave** (OSDI 2026) reports 1.84 times exclusive use and 1.38 times co-location. Its abstract does not say with which phases and sizes, so it is not re-enacted here.",
    "Unless a row says otherwise: 48 gangs of 2, 2, 4, 4 or 8 units, equally likely, on 16 units in nodes of 8; 12 rounds of 430 s on the units and 390 s elsewhere (means, log-normal, standard deviation 0.3 of the mean); memory of the hosts for twice the units; 5 s for a switch; gangs on as few nodes as they can (under _spread_, on more if they need not wait for memory then). Numbers are rounds per hour ÷ those of exclusive use (first come, first served) on the same jobs, with 95 % intervals over 20 seeds.",
    "## What the live scheduler has today",
    "Turns of processes on a shared unit (`gpu = { units = 1, shared = true }`), by clock. It does not know when a job needs no GPU, and kernels that are queued run on after a stop. `npm run bench:gpu` measures that with a program that behaves as a GPU does, and writes a signed trace. With slots of 1 s, two gangs of two tasks had the device for 1.00 s at a time (medians; 0.90 to 1.00 s) and 46 to 52 % of its time each, in three runs with 30 turns each. After a stop, the device went on for as long as what was queued took: 17 to 18 ms with 2 kernels of 5 ms queued by each task, 201 to 204 ms with 20 (medians).",
    "The machine on which this page was made has no GPU, so the part of `npm run bench:gpu` that needs one has not run yet: whether kernels run on after a stop of their process, and what sleeping and snapshots cost. The costs of switches in the tables are those that others report: none if both jobs fit into the memory of the device, 0.1 s for programs that can sleep, 24 s for a snapshot of a full device.",
    "## How the tables were made",
  ],
  run: async (options) => {
    const found = new Map<string, WingRun[]>();
    const asked = SWEEPS.flatMap(({ rows, columns }) =>
      rows.flatMap(([, source]) => columns.map(({ policy }) => cellOf(source, policy))),
    );
    const cells = [...new Map(asked.map((cell) => [cell.key, cell])).values()];
    const seeded = cells.flatMap(({ source, policy }) =>
      Array.from({ length: SEEDS }, (_, i) => ({
        ...{ kind: "wing" as const, source, policy, seed: i + 1, isAudited: false },
      })),
    );
    const runs = await runCells(seeded, options);
    for (const [i, { key }] of cells.entries()) found.set(key, runs.slice(i * SEEDS, (i + 1) * SEEDS));
    const runsOf = (source: string, policy: string) => found.get(cellOf(source, policy).key)!;
    return [...recordedTables(), ...SWEEPS.map((sweep) => tableOf(sweep, runsOf))];
  },
};

/** A policy may end in `@parameter=value` of the workload. */
function cellOf(source: string, policy: string) {
  const [name, setting] = policy.split("@");
  const whole = setting === undefined ? source : `${source}:${setting}`;
  return { source: whole, policy: name, key: `${whole} ${name}` };
}

type RunsOf = (source: string, policy: string) => readonly WingRun[];

function intervalOf({ policy, measure }: Column, source: string, runsOf: RunsOf): Interval {
  const runs = runsOf(source, policy);
  return confidenceInterval(runs.map(({ measures }) => measures.find(({ name }) => name === measure)!.value));
}

function tableOf({ title, heading, rows, columns, picture }: Sweep, runsOf: RunsOf): StudyTable {
  const intervals = rows.map(([, source]) => columns.map((column) => intervalOf(column, source, runsOf)));
  const text = ({ mean, half }: Interval, measure: string) =>
    measure === "duty"
      ? formatPercent(mean)
      : measure.endsWith("wait")
        ? `${mean.toFixed(0)} ± ${half.toFixed(0)} s`
        : `${mean.toFixed(2)} ± ${half.toFixed(2)}`;
  return {
    title,
    columns: [heading, ...columns.map(({ name }) => name)],
    rows: rows.map(([label], r) => [
      label,
      ...columns.map(({ measure }, c) => text(intervals[r][c], measure)),
    ]),
    ...(picture !== undefined && {
      picture: {
        name: picture.name,
        svg: lineFigureSvg({
          ...{
            id: "Gangs with phases",
            title,
            xAxis: picture.xAxis,
            yAxis: "rounds per hour ÷ exclusive use",
          },
          series: columns.map(({ name }, c) => ({
            name,
            ours: rows.map(([label], r) => [Number(label), intervals[r][c].mean] as const),
          })),
        }),
      },
    }),
  };
}

const RECORDED = new URL("../../../../shared/data/phases/llm-d-recorded-runs.json", import.meta.url);

interface RecordedRun {
  readonly baseline: { readonly duration_s: number };
  readonly timeslice: { readonly duration_s: number; readonly events: readonly RecordedEvent[] };
}

function recordedTables(): StudyTable[] {
  if (!existsSync(RECORDED)) return [];
  const { runs } = JSON.parse(readFileSync(RECORDED, "utf8")) as { runs: RecordedRun[] };
  const rows = runs.map(({ baseline, timeslice }, run) => {
    const { instance, originMs, recorded } = fromEvents(`run ${run}`, timeslice.events);
    const schedule = simulatePhases(instance, lock, { groups: "1", order: "wanted" });
    const order = (ms: (turn: number) => number) => [...recorded.keys()].sort((a, b) => ms(a) - ms(b)).join();
    const isSame = order((turn) => schedule.gotMs[turn]) === order((turn) => recorded[turn].gotMs);
    const endS = (Math.max(...schedule.yieldedMs) + originMs) / 1000;
    return [
      run === 0 ? "two jobs, a lock for trainers and one for samplers" : "two jobs, a lock for trainers",
      `${baseline.duration_s} s`,
      `${timeslice.duration_s} s`,
      `${endS.toFixed(0)} s (${percentText(endS, timeslice.duration_s)})`,
      String(schedule.freedMs.filter((ms, turn) => ms > schedule.yieldedMs[turn]).length),
      `${schedule.isSwitch.filter((one) => one === 1).length} of ${recorded.filter(({ restoreMs }) => restoreMs > 0).length}`,
      isSame ? "the same" : "another",
    ];
  });
  return [
    {
      title: "The recorded runs, re-enacted",
      columns: ["run", "without turns", "recorded", "re-enacted", "saves", "restores", "order"],
      rows,
    },
  ];
}
