/**
 * Runs one gang for bench/live.ts: one process with two threads that compute, each on its own processor.
 *
 *   node live-gang.js KIND AMOUNT FOLDER
 *
 * KIND is `compute` (no barrier), `spin` or `block` (a barrier about every 0.15 ms, at which threads wait
 * busily or asleep), or `io` (computes 1 ms, is blocked 3 ms). AMOUNT is the units of work of each thread,
 * or, with the suffix `s`, the seconds to work. The gang writes its pid to FOLDER/ready, waits for
 * FOLDER/../go, works, and writes FOLDER/result: begin and end on the monotonic clock in ms, and units done.
 */
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const THREADS = 2;
const UNITS_PER_READ_OF_CLOCK = 16;
/**
 * Words of the shared memory: arrivals at the barrier, round of the barrier, number of threads that have
 * ended, number of threads that are ready, units done by each.
 */
const [ARRIVED, ROUND, ENDED, READY, DONE] = [0, 1, 2, 3, 4];

const [kind, amount, folder] = isMainThread ? process.argv.slice(2) : workerData.words;
const shared = isMainThread ? new Int32Array(new SharedArrayBuffer(4 * (DONE + THREADS))) : workerData.shared;
const own = new Int32Array(new SharedArrayBuffer(4));

/** About 0.15 ms, the same on every call. */
function unit() {
  let x = 1;
  for (let i = 0; i < 150_000; i++) x = (x * 1_103_515_245 + 12_345) & 0x7fffffff;
  return x;
}

function barrier() {
  const round = Atomics.load(shared, ROUND);
  if (Atomics.add(shared, ARRIVED, 1) === THREADS - 1) {
    Atomics.store(shared, ARRIVED, 0);
    Atomics.add(shared, ROUND, 1);
    if (kind === "block") Atomics.notify(shared, ROUND);
  } else if (kind === "block") {
    while (Atomics.load(shared, ROUND) === round) Atomics.wait(shared, ROUND, round);
  } else while (Atomics.load(shared, ROUND) === round);
}

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

function work(thread) {
  const endMs = amount.endsWith("s") ? nowMs() + Number.parseFloat(amount) * 1000 : Number.POSITIVE_INFINITY;
  const units = amount.endsWith("s") ? Number.POSITIVE_INFINITY : Number(amount);
  let done = 0;
  while (done < units) {
    if (done % UNITS_PER_READ_OF_CLOCK === 0 && nowMs() >= endMs) break;
    unit();
    done++;
    if (kind === "spin" || kind === "block") barrier();
    else if (kind === "io" && done % 7 === 0) Atomics.wait(own, 0, 0, 3);
  }
  Atomics.store(shared, DONE + thread, done);
  Atomics.add(shared, ENDED, 1);
}

function waitFor(condition) {
  while (!condition()) Atomics.wait(own, 0, 0, 2);
}

// So that the loop is compiled before it is measured.
for (let i = 0; i < 300; i++) unit();

if (isMainThread) {
  for (let thread = 1; thread < THREADS; thread++) {
    new Worker(new URL(import.meta.url), { workerData: { words: [kind, amount, folder], shared, thread } });
  }
  waitFor(() => Atomics.load(shared, READY) === THREADS - 1);
  writeFileSync(join(folder, "ready.new"), String(process.pid));
  renameSync(join(folder, "ready.new"), join(folder, "ready"));
  waitFor(() => existsSync(join(folder, "..", "go")));
  const beginMs = nowMs();
  Atomics.store(shared, ROUND, 1);
  Atomics.notify(shared, ROUND);
  work(0);
  waitFor(() => Atomics.load(shared, ENDED) === THREADS);
  const units = Array.from({ length: THREADS }, (_, thread) => Atomics.load(shared, DONE + thread));
  writeFileSync(join(folder, "result"), JSON.stringify({ beginMs, endMs: nowMs(), units }));
} else {
  Atomics.add(shared, READY, 1);
  while (Atomics.load(shared, ROUND) === 0) Atomics.wait(shared, ROUND, 0);
  work(workerData.thread);
}
