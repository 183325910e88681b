/**
 * Decides the statements of sections 4 and 5 of Kawanami, Yoshihisa and Kanazawa 2008 by our numbers. With
 * one seed all schedulers get the same jobs, so they are compared seed by seed: a statement holds if the 95 %
 * intervals of the paired differences lie on its side.
 */

import { durationColumn, formatDuration } from "@tutti/kernel/core/format.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { allHold, type Claim, type Comparison, within } from "@tutti/lab/claims.ts";
import statements from "../../../docs/papers/kawanami2008.claims.json" with { type: "json" };
import texts from "../../../docs/papers/kawanami2008.texts.json" with { type: "json" };
import { filled } from "../texts.ts";
import { type KawanamiResults, SCHEDULERS, type SchedulerKey } from "./cells.ts";
import { QUEUE_NAMES } from "./run.ts";

/** "About equal" in the paper's words: within this factor. */
const ABOUT = 1.25;
/** "Much larger" in the paper's words: by this factor or more. */
const MUCH = 1.5;

type Measure = "medianWaitS" | "maxWaitS";

/** A limit: the waits of a scheduler are above or below a multiple of another scheduler's. */
interface Side {
  readonly is: Comparison["is"];
  readonly factor: number;
}

interface Relation {
  readonly words: string;
  /** The schedulers to compare with; the scheduler itself is skipped. */
  readonly to: readonly SchedulerKey[];
  readonly sides: readonly Side[];
}

const BELOW: readonly Side[] = [{ is: "below", factor: 1 }];
const ABOVE: readonly Side[] = [{ is: "above", factor: 1 }];
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
    sides: BELOW,
  },
  "below conventional": { ...CONVENTIONAL, words: `below ${OF_CONVENTIONAL}`, sides: BELOW },
  "about conventional": {
    ...CONVENTIONAL,
    words: `about ${OF_CONVENTIONAL}`,
    sides: [
      { is: "at most", factor: ABOUT },
      { is: "at least", factor: 1 / ABOUT },
    ],
  },
  "much above conventional": {
    ...CONVENTIONAL,
    words: `much above ${OF_CONVENTIONAL}`,
    sides: [{ is: "at least", factor: MUCH }],
  },
  "above proposal 1": { ...PROPOSAL_1, words: "above that of proposal 1", sides: ABOVE },
  "below proposal 1": { ...PROPOSAL_1, words: "below that of proposal 1", sides: BELOW },
} as const satisfies Readonly<Record<string, Relation>>;

/** A statement of docs/papers/kawanami2008.claims.json on each of the queues. */
interface ClaimText {
  /** Where the paper says it. */
  readonly where: string;
  readonly measure: Measure;
  readonly scheduler: SchedulerKey;
  /** What the paper says of the scheduler's waits. */
  readonly is: keyof typeof RELATIONS;
  readonly queues: readonly string[];
  /** Why our result differs; printed only if it does. */
  readonly why?: string;
}

const OPEN =
  "neither shown nor refuted, since an interval contains 0: seeds differ more than the schedulers do";

const UNEXPLAINED = "we do not know the reason";

/** How claims are decided, for the notes of the page. */
export const JUDGEMENT = `the schedulers are compared seed by seed, and a statement holds if the 95 % intervals of the paired differences lie on its side; "about" means within a factor of ${ABOUT}, "much above" a factor of ${MUCH} or more`;

/** Every claim, queue by queue. */
export function claims(results: KawanamiResults): Claim[] {
  return (statements as readonly ClaimText[]).flatMap((text) =>
    text.queues.map((queue) => claimOf(text, queue, results)),
  );
}

function claimOf(text: ClaimText, queue: string, results: KawanamiResults): Claim {
  const { where, measure, scheduler: of, is, why = UNEXPLAINED } = text;
  const { to, words, sides }: Relation = RELATIONS[is];
  const at = QUEUE_NAMES.indexOf(queue);
  const waits = (scheduler: SchedulerKey) => results.values({ scheduler }, (run) => run[measure][at]);
  const ours = waits(of);
  const compared = to
    .filter((key) => key !== of)
    .flatMap((key) => {
      const theirs = waits(key);
      return sides.map(({ is, factor }) => {
        const differences = ours.map((value, seed) => value - factor * theirs[seed]);
        return { key, is, factor, differences, interval: confidenceInterval(differences) };
      });
    });
  const comparisons = compared.map(({ is, interval }): Comparison => ({ a: within(interval), is, b: 0 }));
  const schedulers = [of, ...new Set(compared.map(({ key }) => key))];
  const meanOf = (scheduler: SchedulerKey) => results.mean({ scheduler }, (run) => run[measure][at]);
  // One unit for the whole line: its numbers are compared with each other.
  const { unit } = durationColumn(schedulers.map(meanOf));
  const means = schedulers.map((key) => `${SCHEDULERS[key].title} ${formatDuration(meanOf(key), unit)}`);
  const differences = compared.map(({ key, factor, interval: { mean, half } }) => {
    const times = factor === 1 ? "" : `${Number(factor.toFixed(2))} × `;
    return `minus ${times}${SCHEDULERS[key].title} ${formatDuration(mean, unit)} ± ${formatDuration(half, unit)}`;
  });
  const alone = ours.filter((_, seed) =>
    allHold(compared.map(({ is, differences }) => ({ a: differences[seed], is, b: 0 }))),
  ).length;
  const holds = allHold(comparisons);
  const reason = holds === true ? "" : `: ${holds === null ? OPEN : filled(why, texts.reasons)}`;
  return {
    statement: `${where}, ${queue === "all" ? "all jobs" : queue}: the ${measure === "medianWaitS" ? "median" : "longest"} wait of ${SCHEDULERS[of].title} is ${words}`,
    comparisons,
    evidence: `${means.join(", ")}; ${differences.join(", ")}; true in ${alone} of ${ours.length} seeds alone${reason}`,
  };
}
