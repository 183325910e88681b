/**
 * The statements of sections 4 and 5 of Kawanami, Yoshihisa and Kanazawa 2008, each decided by our numbers. A
 * comparison holds if it holds for the means over the seeds and in more than half of the seeds.
 */
import { allHold, type Claim, type Comparison } from "../../claims.ts";
import { type KawanamiResults, SCHEDULERS, type SchedulerKey } from "./cells.ts";
import { QUEUE_NAMES } from "./run.ts";

/** "About equal" in the paper's words: within this factor. */
const ABOUT = 1.25;
/** "Much larger" in the paper's words: by this factor or more. */
const MUCH = 1.5;

type Measure = "medianWaitS" | "maxWaitS";

interface Relation {
  readonly words: string;
  /** The schedulers to compare with; the scheduler itself is skipped. */
  readonly to: readonly SchedulerKey[];
  compare(ours: number, other: number): Comparison[];
}

const below = (a: number, b: number): Comparison[] => [{ a, is: "below", b }];
const above = (a: number, b: number): Comparison[] => [{ a, is: "above", b }];
const CONVENTIONAL = { to: ["conventional"] } as const;
const OF_CONVENTIONAL = "that of the conventional scheduler";
const PROPOSAL_1 = { to: ["proposal1"] } as const;

/**
 * Comparisons cover the schedulers that the paper's figures show, not the one without the limit on passing.
 */
const RELATIONS = {
  lowest: {
    words: "the lowest of the three",
    to: ["conventional", "proposal1", "proposal2"],
    compare: below,
  },
  "below conventional": { ...CONVENTIONAL, words: `below ${OF_CONVENTIONAL}`, compare: below },
  "about conventional": {
    ...CONVENTIONAL,
    words: `about ${OF_CONVENTIONAL}`,
    compare: (a, b) => [
      { a, is: "at most", b: b * ABOUT },
      { a: a * ABOUT, is: "at least", b },
    ],
  },
  "much above conventional": {
    ...CONVENTIONAL,
    words: `much above ${OF_CONVENTIONAL}`,
    compare: (a, b) => [...above(a, b), { a, is: "at least", b: b * MUCH }],
  },
  "above proposal 1": { ...PROPOSAL_1, words: "above that of proposal 1", compare: above },
  "below proposal 1": { ...PROPOSAL_1, words: "below that of proposal 1", compare: below },
} as const satisfies Readonly<Record<string, Relation>>;

interface Text {
  /** Where the paper says it, the measure, the scheduler, and what the paper says of it. */
  readonly says: readonly [string, Measure, SchedulerKey, keyof typeof RELATIONS];
  readonly queues: readonly string[];
  /** Why our result differs; printed only if it does. */
  readonly why?: string;
}

const FIGURE_2 = "figure 2";
const FIGURE_3 = "figure 3";
const SECTION_5 = "section 5";
const LARGE = ["s128", "d32", "d128", "d512"] as const;
const SMALL = ["ss8", "s8"] as const;

const HELD =
  'processors held for a requester stand idle (table "Held processors"), and the small jobs, which are nine of ten jobs in the model, wait for them too';
const UNSTEADY = "true of the means but not in most seeds: seeds differ more than the schedulers do";

const UNEXPLAINED = "we do not know the reason";

const TEXTS: readonly Text[] = [
  {
    says: [FIGURE_2, "medianWaitS", "proposal1", "lowest"],
    queues: ["d32", "d128", "all"],
    why: 'under the conventional scheduler, the queue\'s median is that of the small jobs that users sent there by hand; grouped by shape instead of by queue (table "Figure 2, by shape"), its jobs do not wait longer under proposal 1',
  },
  { says: [FIGURE_2, "medianWaitS", "proposal1", "much above conventional"], queues: ["s8", "s128", "d512"] },
  { says: [FIGURE_2, "medianWaitS", "proposal2", "lowest"], queues: ["ss8"], why: HELD },
  { says: [FIGURE_2, "medianWaitS", "proposal2", "much above conventional"], queues: ["s8", ...LARGE] },
  { says: [FIGURE_2, "medianWaitS", "proposal2", "about conventional"], queues: ["all"], why: HELD },
  {
    says: [FIGURE_3, "maxWaitS", "proposal1", "lowest"],
    queues: ["s128", "d128"],
    why: "the job that waits longest has the full size of the queue, and for a job of that size it matters little who chose the queue: the two schedulers differ less than the seeds do",
  },
  {
    says: [FIGURE_3, "maxWaitS", "proposal1", "about conventional"],
    queues: ["ss8", "s8", "d32", "d512", "all"],
  },
  { says: [FIGURE_3, "maxWaitS", "proposal2", "below conventional"], queues: SMALL },
  {
    says: [FIGURE_3, "maxWaitS", "proposal2", "below conventional"],
    queues: ["s128"],
    why: "a job with a reservation cannot start before its last donor has ended, and donors run for up to seven days",
  },
  { says: [FIGURE_3, "maxWaitS", "proposal2", "lowest"], queues: SMALL },
  {
    says: [SECTION_5, "medianWaitS", "proposal2", "above proposal 1"],
    queues: LARGE,
    why: "half of these jobs wait for days in either case, since first fit starves them: the certain start makes up for the wait for donors",
  },
  { says: [SECTION_5, "maxWaitS", "proposal2", "above proposal 1"], queues: LARGE },
  { says: [SECTION_5, "medianWaitS", "proposal2", "below proposal 1"], queues: SMALL, why: HELD },
  { says: [SECTION_5, "maxWaitS", "proposal2", "below proposal 1"], queues: SMALL },
];

/** How claims are decided, for the notes of the page. */
export const JUDGEMENT = `a comparison holds if it holds for the means over the seeds and in more than half of the seeds; "about" means that the means are within a factor of ${ABOUT}, "much above" that they differ by a factor of ${MUCH} or more`;

/** Every claim, queue by queue. */
export function claims(results: KawanamiResults): Claim[] {
  return TEXTS.flatMap((text) => text.queues.map((queue) => claimOf(text, queue, results)));
}

function claimOf(text: Text, queue: string, results: KawanamiResults): Claim {
  const { says, why } = text;
  const [where, measure, of, relation] = says;
  const { to, words, compare }: Relation = RELATIONS[relation];
  const at = QUEUE_NAMES.indexOf(queue);
  const compared = [of, ...to.filter((key) => key !== of)].map((scheduler) => ({
    values: results.values({ scheduler }, (run) => run[measure][at]),
    mean: results.mean({ scheduler }, (run) => run[measure][at]),
    title: SCHEDULERS[scheduler].title,
  }));
  const [ours, ...theirs] = compared;
  const seeds = ours.values.length;
  const onAverage = theirs.flatMap(({ mean }) => compare(ours.mean, mean));
  const agree = ours.values.filter((value, s) =>
    theirs.every(({ values }) => allHold(compare(value, values[s]))),
  ).length;
  const inMost: Comparison = { a: agree, is: "above", b: seeds / 2 };
  const comparisons = relation === "about conventional" ? onAverage : [...onAverage, inMost];
  const means = compared.map(({ title, mean }) => `${title} ${mean.toFixed(0)} s`).join(", ");
  const evidence = `${means}; true in ${agree} of ${seeds} seeds`;
  const reason = allHold(comparisons) ? "" : `: ${allHold(onAverage) ? UNSTEADY : (why ?? UNEXPLAINED)}`;
  return {
    statement: `${where}, ${queue === "all" ? "all jobs" : queue}: the ${measure === "medianWaitS" ? "median" : "longest"} wait of ${ours.title} is ${words}`,
    comparisons,
    evidence: evidence + reason,
  };
}
