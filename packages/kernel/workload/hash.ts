/**
 * Computes a 64-bit fingerprint of a workload, which is printed with every result: MurmurHash3 (Appleby 2008,
 * x86, 32 bits) over the words of the columns, with two seeds. It does not withstand an adversary. It is the
 * same for either byte order.
 */
import { prioritiesOf, queueOf, userOf, type Workload } from "../core/jobs.ts";

const SEEDS = [0, 0x9747b28c];
/** Position of a double's low word in memory. */
const LOW = new Uint32Array(Float64Array.of(1).buffer)[0] === 0 ? 0 : 1;

/** Hash of all that a simulation uses: columns, demands, limits, interruptions. 16 hexadecimal digits. */
export function hashWorkload(workload: Workload): string {
  const { jobs, molding, resources = [], demand = [], limits, interruptions } = workload;
  const { id, submitS, runS, size, estimateS } = jobs;
  const priorities = prioritiesOf(workload);
  const { outages = [], stops = [], freezes = [], drains = [], withdrawals = [] } = interruptions ?? {};
  return hashColumns(
    ...[id, submitS, runS, size, estimateS],
    ...(molding === undefined ? [] : [molding.minSize, molding.maxSize, molding.serialShare]),
    ...(resources.length === 0 ? [] : [Int32Array.from(resources, ({ amount }) => amount)]),
    ...demand.flatMap(({ kind, amount }) => [letters(kind), amount]),
    ...(priorities === undefined ? [] : [letters("priority"), priorities]),
    ...(limits === undefined ? [] : [letters(JSON.stringify(limits)), letters(ownersOf(workload))]),
    ...outages.map(({ first, processors, fromS, untilS, announcedS = Number.NaN }) =>
      Float64Array.of(first, processors, fromS, untilS, announcedS),
    ),
    ...stops.map(({ job, fromS, untilS }) => Float64Array.of(job, fromS, untilS)),
    ...freezes.map(({ job, fromS, untilS }) => Float64Array.of(job, fromS, untilS, 0)),
    ...drains.map(({ fromS, untilS }) => Float64Array.of(fromS, untilS)),
    ...withdrawals.flatMap(({ job, fromS, untilS, change = {} }) => [
      Float64Array.of(job, fromS, untilS, change.size ?? Number.NaN, change.estimateS ?? Number.NaN),
      ...(change.priority === undefined ? [] : [letters("priority"), Int32Array.of(change.priority)]),
      ...(change.queue === undefined ? [] : [letters(change.queue)]),
      ...Object.entries(change.use ?? {}).flatMap(([kind, amount]) => [letters(kind), Int32Array.of(amount)]),
    ]),
  );
}

/** Users and queues of all jobs, on which limits depend. */
function ownersOf(workload: Workload): string {
  return Array.from(workload.jobs.id, (_, row) => `${userOf(workload, row)}\n${queueOf(workload, row)}`).join(
    "\n",
  );
}

function letters(word: string): Int32Array {
  return Int32Array.from(word, (letter) => letter.charCodeAt(0));
}

/**
 * Hash of columns with their lengths, one after the other, as 16 hexadecimal digits. Doubles count by their
 * bits, but all NaNs count as one value, and so do 0 and −0.
 */
export function hashColumns(...columns: readonly (Float64Array | Int32Array)[]): string {
  const states = Int32Array.from(SEEDS);
  let words = 0;
  for (const column of columns) {
    mixIntegers(states, Int32Array.of(column.length));
    if (column instanceof Float64Array) mixDoubles(states, column);
    else mixIntegers(states, column);
    words += 1 + (column instanceof Float64Array ? 2 : 1) * column.length;
  }
  return Array.from(states, (state) => finish(state, words).toString(16).padStart(8, "0")).join("");
}

/** MurmurHash3 of 32-bit words in little-endian order, unsigned. */
export function murmur3(words: Int32Array, seed: number): number {
  const states = Int32Array.of(seed, seed);
  mixIntegers(states, words);
  return finish(states[0], words.length);
}

// Both states in one pass: neither waits for the other, and each word is scrambled once.

function mixIntegers(states: Int32Array, column: Int32Array): void {
  let [first, second] = states;
  for (let i = 0; i < column.length; i++) {
    const k = scrambled(column[i]);
    first = mixed(first, k);
    second = mixed(second, k);
  }
  states[0] = first;
  states[1] = second;
}

function mixDoubles(states: Int32Array, column: Float64Array): void {
  const words = new Int32Array(column.buffer, column.byteOffset, 2 * column.length);
  let [first, second] = states;
  for (let i = 0; i < column.length; i++) {
    const value = column[i];
    const plain = value !== 0 && !Number.isNaN(value);
    const low = scrambled(plain ? words[2 * i + LOW] : 0);
    const high = scrambled(plain ? words[2 * i + 1 - LOW] : value === 0 ? 0 : 0x7ff80000);
    first = mixed(mixed(first, low), high);
    second = mixed(mixed(second, low), high);
  }
  states[0] = first;
  states[1] = second;
}

function scrambled(word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function mixed(state: number, scrambledWord: number): number {
  const h = state ^ scrambledWord;
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(state: number, words: number): number {
  let h = state ^ (4 * words);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
