/**
 * The statements of sections 4 and 5 of Kawanami, Yoshihisa and Kanazawa 2008, each decided by our numbers: a comparison
 * holds when it holds for the means over the seeds and in more than half of the seeds.
 */
import { type Claim, type Comparison, doHold } from "../../claims.ts";
import { type KawanamiResults, SCHEDULERS, type SchedulerKey } from "./cells.ts";
import { QUEUE_NAMES } from "./run.ts";

/** "About equal" in the paper's words: within this factor. */
const ABOUT = 1.25;
/** "Much larger" in the paper's words: by this factor or more. */
const MUCH = 1.5;

type Measure = "medianWaitS" | "maxWaitS";
type Relation = "lowest" | "about conventional" | "below conventional" | "much above conventional" | Against;
/** Below or above another scheduler. */
interface Against {
  readonly is: "below" | "above";
  readonly other: SchedulerKey;
}

interface Text {
  /** Where the paper says it. */
  readonly where: string;
  readonly measure: Measure;
  readonly of: SchedulerKey;
  readonly relation: Relation;
  readonly queues: readonly string[];
  /** Why ours differs, told where it does. */
  readonly why?: string;
}

const FIGURE_2 = "figure 2";
const FIGURE_3 = "figure 3";
const SECTION_5 = "section 5";
const LARGE = ["s128", "d32", "d128", "d512"] as const;
const SMALL = ["ss8", "s8"] as const;

const HELD =
  'processors held for a requester stand idle (table "Held processors"), and the small jobs, nine of ten in the model, wait for them too';
const UNSTEADY = "true of the means, not of most seeds, which differ more than the schedulers do";

const UNEXPLAINED = "we know no reason";

const TEXTS: readonly Text[] = [
  {
    where: FIGURE_2,
    measure: "medianWaitS",
    of: "proposal1",
    relation: "lowest",
    queues: ["d32", "d128", "all"],
    why: 'under the conventional scheduler the queue\'s median is that of the small jobs sent there by hand; grouped by shape instead of by queue (table "Figure 2, by shape") its jobs do not wait longer under proposal 1',
  },
  {
    where: FIGURE_2,
    measure: "medianWaitS",
    of: "proposal1",
    relation: "much above conventional",
    queues: ["s8", "s128", "d512"],
  },
  {
    where: FIGURE_2,
    measure: "medianWaitS",
    of: "proposal2",
    relation: "lowest",
    queues: ["ss8"],
    why: HELD,
  },
  {
    where: FIGURE_2,
    measure: "medianWaitS",
    of: "proposal2",
    relation: "much above conventional",
    queues: ["s8", ...LARGE],
  },
  {
    where: FIGURE_2,
    measure: "medianWaitS",
    of: "proposal2",
    relation: "about conventional",
    queues: ["all"],
    why: HELD,
  },
  {
    where: FIGURE_3,
    measure: "maxWaitS",
    of: "proposal1",
    relation: "lowest",
    queues: ["s128", "d128"],
    why: "the longest wait is that of a job of full size, for which it matters little who chose the queue: the two schedulers differ less than the seeds do",
  },
  {
    where: FIGURE_3,
    measure: "maxWaitS",
    of: "proposal1",
    relation: "about conventional",
    queues: ["ss8", "s8", "d32", "d512", "all"],
  },
  {
    where: FIGURE_3,
    measure: "maxWaitS",
    of: "proposal2",
    relation: "below conventional",
    queues: SMALL,
  },
  {
    where: FIGURE_3,
    measure: "maxWaitS",
    of: "proposal2",
    relation: "below conventional",
    queues: ["s128"],
    why: "a job with a reservation starts when its last donor has ended and not before, and donors run for up to seven days",
  },
  { where: FIGURE_3, measure: "maxWaitS", of: "proposal2", relation: "lowest", queues: SMALL },
  {
    where: SECTION_5,
    measure: "medianWaitS",
    of: "proposal2",
    relation: { is: "above", other: "proposal1" },
    queues: LARGE,
    why: "half of these jobs wait for days either way, since first fit starves them: what waiting for donors costs them, the certainty of a start gives back",
  },
  {
    where: SECTION_5,
    measure: "maxWaitS",
    of: "proposal2",
    relation: { is: "above", other: "proposal1" },
    queues: LARGE,
  },
  {
    where: SECTION_5,
    measure: "medianWaitS",
    of: "proposal2",
    relation: { is: "below", other: "proposal1" },
    queues: SMALL,
    why: HELD,
  },
  {
    where: SECTION_5,
    measure: "maxWaitS",
    of: "proposal2",
    relation: { is: "below", other: "proposal1" },
    queues: SMALL,
  },
];

/** How claims are decided, for the notes of the page. */
export const JUDGEMENT = `a comparison holds when it holds for the means over the seeds and in more than half of the seeds; "about" means that the means are within a factor of ${ABOUT}, "much above" by a factor of ${MUCH} or more`;

/** Every claim, queue by queue. */
export function claims(results: KawanamiResults): Claim[] {
  return TEXTS.flatMap((text) => text.queues.map((queue) => claimOf(text, queue, results)));
}

function claimOf(text: Text, queue: string, results: KawanamiResults): Claim {
  const { where, measure, of, relation, why } = text;
  const at = QUEUE_NAMES.indexOf(queue);
  const others = rivals(of, relation);
  const compared = [of, ...others].map((scheduler) => ({
    values: results.values({ scheduler }, (run) => run[measure][at]),
    mean: results.mean({ scheduler }, (run) => run[measure][at]),
    title: SCHEDULERS[scheduler].title,
  }));
  const [ours, ...theirs] = compared;
  const seeds = ours.values.length;
  const onAverage = theirs.flatMap(({ mean }) => related(ours.mean, mean, relation));
  const agree = ours.values.filter((value, s) =>
    theirs.every(({ values }) => doHold(related(value, values[s], relation))),
  ).length;
  const inMost: Comparison = { a: agree, is: "above", b: seeds / 2 };
  const comparisons = relation === "about conventional" ? onAverage : [...onAverage, inMost];
  const means = compared.map(({ title, mean }) => `${title} ${mean.toFixed(0)} s`).join(", ");
  const evidence = `${means}; so in ${agree} of ${seeds} seeds`;
  const reason = doHold(comparisons) ? "" : `: ${doHold(onAverage) ? UNSTEADY : (why ?? UNEXPLAINED)}`;
  return {
    statement: `${where}, ${queue === "all" ? "all jobs" : queue}: the ${measure === "medianWaitS" ? "median" : "longest"} wait of ${ours.title} is ${inWords(relation)}`,
    comparisons,
    evidence: evidence + reason,
  };
}

/** The schedulers that the paper's figures show are compared, not the one without the limit on passing. */
function rivals(of: SchedulerKey, relation: Relation): SchedulerKey[] {
  if (typeof relation === "object") return [relation.other];
  const all: SchedulerKey[] = ["conventional", "proposal1", "proposal2"];
  return relation === "lowest" ? all.filter((key) => key !== of) : ["conventional"];
}

function related(a: number, b: number, relation: Relation): Comparison[] {
  if (typeof relation === "object") return [{ a, is: relation.is, b }];
  switch (relation) {
    case "lowest":
    case "below conventional":
      return [{ a, is: "below", b }];
    case "about conventional":
      return [
        { a, is: "at most", b: b * ABOUT },
        { a: a * ABOUT, is: "at least", b },
      ];
    case "much above conventional":
      return [
        { a, is: "above", b },
        { a, is: "at least", b: b * MUCH },
      ];
  }
}

function inWords(relation: Relation): string {
  if (typeof relation === "object") return `${relation.is} that of ${SCHEDULERS[relation.other].title}`;
  switch (relation) {
    case "lowest":
      return "the lowest of the three";
    case "about conventional":
      return "about that of the conventional scheduler";
    case "below conventional":
      return "below that of the conventional scheduler";
    case "much above conventional":
      return "much above that of the conventional scheduler";
  }
}
