/** The load of the machine over time, for the small picture above a timeline. */
import { timesIn } from "./area.ts";
import type { TimelineData } from "./data.ts";
import { lastAtOrBefore } from "./scale.ts";

/** Mean number of busy CPUs in each stretch between two edges. */
interface Buckets {
  readonly used: Float64Array;
  readonly expected: Float64Array;
}

/** @param edges rising times in ms, one more than buckets */
export function bucketsOf(data: TimelineData, edges: Float64Array): Buckets {
  const { nowMs = Number.POSITIVE_INFINITY } = data;
  const used = new Adder(edges);
  const expected = new Adder(edges);
  const everything = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
  for (const job of data.jobs) {
    const { startMs, endMs, expectedStart, expectedEnd, tasks, share = 1 } = job;
    const [usedMs, expectedMs] = timesIn(job, everything, nowMs);
    if (usedMs > 0 && startMs !== undefined) used.add(startMs, endMs ?? nowMs, tasks * share);
    if (expectedMs > 0 && expectedEnd !== undefined) {
      const beginMs = Math.max(startMs ?? expectedStart?.p50Ms ?? 0, nowMs);
      expected.add(beginMs, expectedEnd.p50Ms, tasks * share);
    }
  }
  return { used: used.means(), expected: expected.means() };
}

/** Adds intervals in a time that does not depend on their length. */
class Adder {
  readonly #edges: Float64Array;
  /** What each bucket has of intervals that do not fill it, in units × ms. */
  readonly #parts: Float64Array;
  /** Changes of what fills whole buckets. */
  readonly #steps: Float64Array;

  constructor(edges: Float64Array) {
    this.#edges = edges;
    this.#parts = new Float64Array(edges.length - 1);
    this.#steps = new Float64Array(edges.length);
  }

  add(fromMs: number, toMs: number, units: number): void {
    const edges = this.#edges;
    const last = edges.length - 1;
    const a = Math.max(fromMs, edges[0]);
    const b = Math.min(toMs, edges[last]);
    if (!(a < b)) return;
    const i = this.#bucketOf(a);
    const j = this.#bucketOf(b);
    if (i === j) {
      this.#parts[i] += (b - a) * units;
      return;
    }
    this.#parts[i] += (edges[i + 1] - a) * units;
    this.#parts[j] += (b - edges[j]) * units;
    this.#steps[i + 1] += units;
    this.#steps[j] -= units;
  }

  #bucketOf(ms: number): number {
    const edges = this.#edges;
    return Math.min(
      edges.length - 2,
      Math.max(
        0,
        lastAtOrBefore(ms, (i) => edges[i], edges.length),
      ),
    );
  }

  means(): Float64Array {
    let whole = 0;
    return this.#parts.map((part, i) => {
      whole += this.#steps[i];
      const lengthMs = this.#edges[i + 1] - this.#edges[i];
      return lengthMs > 0 ? whole + part / lengthMs : 0;
    });
  }
}
