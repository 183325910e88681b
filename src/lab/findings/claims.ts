/**
 * Lists the claims of docs/findings.md as data: which two policies are compared, on which jobs, by which
 * metric, and which policy should have the lower value.
 */
import type { FindingsSource } from "./findings.ts";
import type { FindingMetric } from "./run.ts";

/** A claim over several sources: the ratio of two means on each of them. */
export interface RatioClaim {
  readonly text: string;
  /** The mean of the metric under `a` is below or above its mean under `b`. */
  readonly ratio: readonly [a: string, is: "below" | "above", b: string, metric: FindingMetric];
  readonly sources: readonly FindingsSource[];
  /** Time of a switch under `a` as a share of the slot; default 0. */
  readonly switchShare?: number;
}

const SLOT_S = 60;
const trace = (source: string): FindingsSource => ({ source, slotS: SLOT_S });

export const TRACES: readonly FindingsSource[] = ["KTH-SP2", "SDSC-SP2", "CTC-SP2", "HPC2N"].map(trace);
const SMALLER: readonly FindingsSource[] = TRACES.slice(0, 3);
export const LUBLIN: FindingsSource = { source: "lublin:jobs=4000", slotS: SLOT_S, seeds: 10 };
/** Run times of the model are minutes, so the slots are shorter. */
export const DOWNEY: FindingsSource = { source: "downey:jobs=4000:load=0.7", slotS: 5, seeds: 10 };
const MEMORY: FindingsSource = { source: "HPC2N", limit: 60_000, slotS: SLOT_S };
const MIGRATING: readonly FindingsSource[] = [...TRACES, LUBLIN, DOWNEY];
const LOADS: readonly FindingsSource[] = [0.5, 0.7, 0.9].map((load) => ({ ...trace("KTH-SP2"), load }));

const GANG = "wlv:extraSlots=returned";
const limited = (rows: number) => `${GANG}:rows=${rows}:queue=easy`;

/** Gangs that may be moved to other processors; each move costs this many seconds of the gang's service. */
const moving = (costS: number) => `${GANG}:migrate=${costS}`;

/** Policies of the first table. */
export const TABLE: readonly string[] = [
  "fcfs",
  "easy",
  "easy:order=shortest",
  "easy:order=wfp",
  "conservative",
  "gang",
  "br",
  "brmms",
  "wlv",
  GANG,
  limited(2),
  limited(4),
  limited(8),
  `${limited(4)}:queueOrder=shortest`,
];

export const CLAIMS: readonly RatioClaim[] = [
  {
    text: "Gangs with re-packing and returned slots (WLV) serve the typical job far sooner than EASY: the mean bounded slowdown is a small fraction of EASY's.",
    ratio: [GANG, "below", "easy", "bounded slowdown"],
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "The price is the mean response: the same gangs keep jobs in the system longer than EASY does.",
    ratio: [GANG, "above", "easy", "response"],
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "The long jobs pay that price: the slowdown of jobs above one hour is higher than under EASY.",
    ratio: [GANG, "above", "easy", "slowdown over 1 h"],
    sources: TRACES,
  },
  {
    text: "Under Downey's model, with run times of minutes and exact estimates, EASY with the shortest estimate first lowers the bounded slowdown at least as much as gangs do …",
    ratio: [GANG, "above", "easy:order=shortest", "bounded slowdown"],
    sources: [DOWNEY],
  },
  {
    text: "… and gangs have a longer mean response than even EASY in order of arrival.",
    ratio: [GANG, "above", "easy", "response"],
    sources: [DOWNEY],
  },
  {
    text: "Conventional gang scheduling, row by row without re-packing, has a far longer mean response than EASY.",
    ratio: ["gang", "above", "easy", "response"],
    sources: TRACES,
  },
  {
    text: "Running in idle slots and giving them back matters more than where jobs are placed: WLV with returned slots has a shorter mean response than WLV with one slot per job.",
    ratio: [GANG, "below", "wlv", "response"],
    sources: TRACES,
  },
  {
    text: "With one slot per job, windows found by the workload vector (WLV) give a shorter mean response than buddy blocks found by the workload tree (BR).",
    ratio: ["wlv", "below", "br", "response"],
    sources: TRACES,
  },
  {
    text: "With returned slots, hardly any of that advantage remains: WLV is shown to beat BRMMS on one trace only.",
    ratio: [GANG, "below", "brmms", "response"],
    sources: TRACES,
  },
  {
    text: "A row limit with a first-come queue takes away the main advantage of gangs: with 4 rows and an FCFS queue, the bounded slowdown is higher than without a limit.",
    ratio: [`${GANG}:rows=4`, "above", GANG, "bounded slowdown"],
    sources: SMALLER,
  },
  {
    text: "With an EASY queue, a row limit is a compromise between gangs and EASY: with 2 rows, the mean response is below that of gangs without a limit …",
    ratio: [limited(2), "below", GANG, "response"],
    sources: TRACES,
  },
  {
    text: "… and the bounded slowdown is below that of EASY without gangs.",
    ratio: [limited(2), "below", "easy", "bounded slowdown"],
    sources: TRACES,
  },
  {
    text: "When jobs queue for a matrix of 4 rows, taking the shortest estimate first, rather than in order of arrival, lowers the bounded slowdown by about a third.",
    ratio: [`${limited(4)}:queueOrder=shortest`, "below", limited(4), "bounded slowdown"],
    sources: SMALLER,
  },
  {
    text: "Requiring adjacent processors costs space sharing dearly: one row with an EASY queue, in which each job needs adjacent processors, has a longer mean response than EASY on any processors.",
    ratio: ["wlv:rows=1:queue=easy", "above", "easy", "response"],
    sources: SMALLER.slice(0, 2),
  },
  {
    text: "A switch that costs 1 % of the slot (0.6 s of 60 s) lengthens the mean response of gangs by several percent …",
    ratio: [GANG, "above", GANG, "response"],
    sources: SMALLER,
    switchShare: 0.01,
  },
  {
    text: "… a switch of 5 % lengthens it further …",
    ratio: [GANG, "above", GANG, "response"],
    sources: SMALLER,
    switchShare: 0.05,
  },
  {
    text: "… but even with 5 % the bounded slowdown stays below EASY's.",
    ratio: [GANG, "below", "easy", "bounded slowdown"],
    sources: SMALLER,
    switchShare: 0.05,
  },
  {
    text: "Memory decides whether gangs pay off: with 1 GB per processor and an EASY queue, the bounded slowdown is higher than without a limit (the first 60,000 jobs) …",
    ratio: ["brmms:queue=easy:memory=1024", "above", "brmms", "bounded slowdown"],
    sources: [MEMORY],
  },
  {
    text: "… and gangs are not shown to have an advantage over EASY.",
    ratio: ["brmms:queue=easy:memory=1024", "below", "easy", "bounded slowdown"],
    sources: [MEMORY],
  },
  {
    text: "With 4 GB per processor, gangs are far ahead again.",
    ratio: ["brmms:queue=easy:memory=4096", "below", "easy", "bounded slowdown"],
    sources: [MEMORY],
  },
  {
    text: "The price in mean response grows with the load, as KTH-SP2 with scaled arrivals shows.",
    ratio: [GANG, "above", "easy", "response"],
    sources: LOADS,
  },
  {
    text: "Moving gangs to other processors when that saves a row would shorten the mean response if it were free …",
    ratio: [moving(0), "below", GANG, "response"],
    sources: MIGRATING,
  },
  {
    text: "… and still does if a move costs a minute of the gang's service …",
    ratio: [moving(60), "below", GANG, "response"],
    sources: MIGRATING,
  },
  {
    text: "… or ten minutes, on workloads whose jobs run for hours …",
    ratio: [moving(600), "below", GANG, "response"],
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "… but not under Downey's model, whose jobs run for minutes: there, moves that cost ten minutes lengthen it.",
    ratio: [moving(600), "above", GANG, "response"],
    sources: [DOWNEY],
  },
  {
    text: "When a move costs an hour, the gain ends: moves are shown to pay off on two of the four traces, and they slow down the jobs of Lublin's model.",
    ratio: [moving(3600), "below", GANG, "response"],
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "Moves that cost four hours lengthen the mean response everywhere. The rule does not know how soon an arrival brings the row back, so it moves gangs too readily when a move is expensive.",
    ratio: [moving(14400), "above", GANG, "response"],
    sources: MIGRATING,
  },
  {
    text: "With moves that cost ten minutes, the bounded slowdown falls, too …",
    ratio: [moving(600), "below", GANG, "bounded slowdown"],
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "… and so does the slowdown of jobs longer than one hour; without moves, these jobs pay for gang scheduling.",
    ratio: [moving(600), "below", GANG, "slowdown over 1 h"],
    sources: TRACES,
  },
  {
    text: "With moves that cost one minute, gangs are shown to have a longer mean response than EASY on only two of the four traces.",
    ratio: [moving(60), "above", "easy", "response"],
    sources: TRACES,
  },
  {
    text: "With one slot per job, moves that cost ten minutes roughly halve the mean response …",
    ratio: ["wlv:migrate=600", "below", "wlv", "response"],
    sources: SMALLER,
  },
  {
    text: "… which is still longer than with returned slots and no moves.",
    ratio: ["wlv:migrate=600", "above", GANG, "response"],
    sources: SMALLER,
  },
  {
    text: "Buddy blocks gain, too: BRMMS has a shorter mean response with moves that cost ten minutes than without moves.",
    ratio: ["brmms:migrate=600", "below", "brmms", "response"],
    sources: SMALLER,
  },
];
