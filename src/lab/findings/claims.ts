/** What docs/findings.md claims, as data: which two policies, on what, by which metric, and in which direction. */
import type { FindingsSource } from "./findings.ts";
import type { FindingMetric } from "./run.ts";

/** A claim over several sources: the ratio of two means on each of them. */
export interface RatioClaim {
  readonly text: string;
  readonly a: string;
  readonly b: string;
  readonly metric: FindingMetric;
  /** The ratio a ÷ b is claimed to be below or above 1. */
  readonly expected: "below" | "above";
  readonly sources: readonly FindingsSource[];
  /** Time of a switch as a share of the slot, of `a` and `b`; default 0. */
  readonly switchA?: number;
  readonly switchB?: number;
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

/** Gangs that may be moved to other processors, each time for so many seconds of its service. */
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
    text: "Gangs with re-packing and returned slots (WLV) answer the typical job far sooner than EASY: the mean bounded slowdown is a small part of EASY's.",
    a: GANG,
    b: "easy",
    metric: "bounded slowdown",
    expected: "below",
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "They pay with the mean response: the same gangs keep jobs longer in the system than EASY.",
    a: GANG,
    b: "easy",
    metric: "response",
    expected: "above",
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "It is the long jobs that pay: slowdown of jobs above one hour.",
    a: GANG,
    b: "easy",
    metric: "slowdown over 1 h",
    expected: "above",
    sources: TRACES,
  },
  {
    text: "Under Downey's model, with run times of minutes and exact estimates, EASY with the shortest estimate first does as much for the bounded slowdown as gangs do …",
    a: GANG,
    b: "easy:order=shortest",
    metric: "bounded slowdown",
    expected: "above",
    sources: [DOWNEY],
  },
  {
    text: "… and gangs lose in mean response, against EASY in order of arrival already.",
    a: GANG,
    b: "easy",
    metric: "response",
    expected: "above",
    sources: [DOWNEY],
  },
  {
    text: "Conventional gang scheduling, row by row without re-packing, is no rival of EASY in mean response.",
    a: "gang",
    b: "easy",
    metric: "response",
    expected: "above",
    sources: TRACES,
  },
  {
    text: "Running in idle slots and giving them back matters more than where jobs are placed: WLV with returned slots against WLV with one slot per job.",
    a: GANG,
    b: "wlv",
    metric: "response",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "With one slot per job, windows found by the workload vector (WLV) beat buddy blocks found by the workload tree (BR).",
    a: "wlv",
    b: "br",
    metric: "response",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "With returned slots hardly any of that advantage is left: WLV is shown to beat BRMMS on one trace only.",
    a: GANG,
    b: "brmms",
    metric: "response",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "A limit of the rows behind a first-come queue ruins what gangs are good at: 4 rows, FCFS in front, against no limit.",
    a: `${GANG}:rows=4`,
    b: GANG,
    metric: "bounded slowdown",
    expected: "above",
    sources: SMALLER,
  },
  {
    text: "Behind EASY a limit is a dial between the two: with 2 rows the mean response is below that of gangs without limit …",
    a: limited(2),
    b: GANG,
    metric: "response",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "… and the bounded slowdown is below that of EASY without gangs.",
    a: limited(2),
    b: "easy",
    metric: "bounded slowdown",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "In front of 4 rows, the shortest estimate first lowers the bounded slowdown by about a third, against order of arrival.",
    a: `${limited(4)}:queueOrder=shortest`,
    b: limited(4),
    metric: "bounded slowdown",
    expected: "below",
    sources: SMALLER,
  },
  {
    text: "Blocks side by side cost space sharing dearly: one row behind EASY, processors side by side, against EASY on any processors.",
    a: "wlv:rows=1:queue=easy",
    b: "easy",
    metric: "response",
    expected: "above",
    sources: SMALLER.slice(0, 2),
  },
  {
    text: "A switch that costs 1 % of the slot (0.6 s of 60 s) makes the mean response of gangs longer, by several times that share …",
    a: GANG,
    b: GANG,
    metric: "response",
    expected: "above",
    sources: SMALLER,
    switchA: 0.01,
  },
  {
    text: "… one of 5 % makes it longer still …",
    a: GANG,
    b: GANG,
    metric: "response",
    expected: "above",
    sources: SMALLER,
    switchA: 0.05,
  },
  {
    text: "… but even with 5 % the bounded slowdown stays below EASY's.",
    a: GANG,
    b: "easy",
    metric: "bounded slowdown",
    expected: "below",
    sources: SMALLER,
    switchA: 0.05,
  },
  {
    text: "Memory decides whether gangs pay: with 1 GB per processor, gangs behind EASY, against gangs without limit (the first 60,000 jobs) …",
    a: "brmms:queue=easy:memory=1024",
    b: "brmms",
    metric: "bounded slowdown",
    expected: "above",
    sources: [MEMORY],
  },
  {
    text: "… and then no advantage over EASY is shown any more;",
    a: "brmms:queue=easy:memory=1024",
    b: "easy",
    metric: "bounded slowdown",
    expected: "below",
    sources: [MEMORY],
  },
  {
    text: "with 4 GB per processor gangs are far ahead again.",
    a: "brmms:queue=easy:memory=4096",
    b: "easy",
    metric: "bounded slowdown",
    expected: "below",
    sources: [MEMORY],
  },
  {
    text: "The price in response grows with the load: KTH-SP2 with its arrivals scaled.",
    a: GANG,
    b: "easy",
    metric: "response",
    expected: "above",
    sources: LOADS,
  },
  {
    text: "Moving gangs to other processors where that saves a row would shorten the mean response if it cost nothing …",
    a: moving(0),
    b: GANG,
    metric: "response",
    expected: "below",
    sources: MIGRATING,
  },
  {
    text: "… and does so where a move costs a minute of the gang's service …",
    a: moving(60),
    b: GANG,
    metric: "response",
    expected: "below",
    sources: MIGRATING,
  },
  {
    text: "… or ten minutes, where jobs run for hours …",
    a: moving(600),
    b: GANG,
    metric: "response",
    expected: "below",
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "… but not under Downey's model, where they run for minutes: there ten minutes make it longer.",
    a: moving(600),
    b: GANG,
    metric: "response",
    expected: "above",
    sources: [DOWNEY],
  },
  {
    text: "An hour is about where it ends: moving is shown to pay on two of the four traces, and makes the jobs of Lublin's model slower.",
    a: moving(3600),
    b: GANG,
    metric: "response",
    expected: "below",
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "Four hours make the mean response longer everywhere: the rule, which does not know how soon an arrival brings the row back, moves gangs too readily where a move is dear.",
    a: moving(14400),
    b: GANG,
    metric: "response",
    expected: "above",
    sources: MIGRATING,
  },
  {
    text: "With ten minutes a move, the bounded slowdown falls as well …",
    a: moving(600),
    b: GANG,
    metric: "bounded slowdown",
    expected: "below",
    sources: [...TRACES, LUBLIN],
  },
  {
    text: "… and so does the slowdown of jobs above one hour, which pay for gangs otherwise.",
    a: moving(600),
    b: GANG,
    metric: "slowdown over 1 h",
    expected: "below",
    sources: TRACES,
  },
  {
    text: "With a minute a move, gangs are shown to have a longer mean response than EASY on two of the four traces only.",
    a: moving(60),
    b: "easy",
    metric: "response",
    expected: "above",
    sources: TRACES,
  },
  {
    text: "With one slot per job, moves of ten minutes about halve the mean response …",
    a: "wlv:migrate=600",
    b: "wlv",
    metric: "response",
    expected: "below",
    sources: SMALLER,
  },
  {
    text: "… which is still less than returned slots do without any move.",
    a: "wlv:migrate=600",
    b: GANG,
    metric: "response",
    expected: "above",
    sources: SMALLER,
  },
  {
    text: "Buddy blocks gain as windows do: BRMMS with moves of ten minutes against BRMMS without.",
    a: "brmms:migrate=600",
    b: "brmms",
    metric: "response",
    expected: "below",
    sources: SMALLER,
  },
];
