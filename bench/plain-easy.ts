/**
 * Runs EASY backfilling as a plain program, the rival that `tutti simulate` must beat. It handles one trace
 * with a heap and nothing else: no diagnostics, no metrics except the mean wait, no checks. Compare the time
 * of the whole process with that of `tutti simulate`.
 *
 *   node bench/plain-easy.ts TRACE.swf.gz
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const file = process.argv[2];
const text = gunzipSync(readFileSync(file)).toString("latin1");
const processors = Number(/MaxProcs:\s*(\d+)/.exec(text)?.[1]);
const jobs: { submit: number; run: number; size: number; estimate: number; end: number; start: number }[] =
  [];
for (const line of text.split("\n")) {
  if (line === "" || line[0] === ";") continue;
  const f = line.trim().split(/\s+/);
  const [submit, run, allocated, requested, limit] = [+f[1], +f[3], +f[4], +f[7], +f[8]];
  const size = requested > 0 ? requested : allocated;
  if (run < 0 || size <= 0 || submit < 0) continue;
  jobs.push({ submit, run, size, estimate: Math.max(run, limit), end: 0, start: 0 });
}
type Job = (typeof jobs)[number];
const heap: Job[] = [];
function push(job: Job) {
  let i = heap.push(job) - 1;
  for (; i > 0 && heap[(i - 1) >> 1].end > job.end; i = (i - 1) >> 1) heap[i] = heap[(i - 1) >> 1];
  heap[i] = job;
}
function pop(): Job {
  const top = heap[0];
  const last = heap.pop() as Job;
  if (heap.length === 0) return top;
  let i = 0;
  for (let c = 1; c < heap.length; i = c, c = 2 * i + 1) {
    if (c + 1 < heap.length && heap[c + 1].end < heap[c].end) c++;
    if (heap[c].end >= last.end) break;
    heap[i] = heap[c];
  }
  heap[i] = last;
  return top;
}
let free = processors;
let queue: Job[] = [];
function start(job: Job, now: number) {
  job.start = now;
  job.end = now + job.run;
  free -= job.size;
  push(job);
}
for (let next = 0; next < jobs.length || heap.length > 0; ) {
  const now = Math.min(
    next < jobs.length ? jobs[next].submit : Infinity,
    heap.length > 0 ? heap[0].end : Infinity,
  );
  while (heap.length > 0 && heap[0].end === now) free += pop().size;
  while (next < jobs.length && jobs[next].submit === now) queue.push(jobs[next++]);
  let heads = 0;
  while (heads < queue.length && queue[heads].size <= free) start(queue[heads++], now);
  if (heads > 0) queue = queue.slice(heads);
  if (queue.length < 2 || free === 0) continue;
  let shadow = now;
  let sum = free;
  const running = [...heap].sort((a, b) => a.start + a.estimate - b.start - b.estimate);
  for (const job of running) {
    if (sum >= queue[0].size && job.start + job.estimate > shadow) break;
    sum += job.size;
    shadow = job.start + job.estimate;
  }
  let spare = sum - queue[0].size;
  queue = queue.filter((job, i) => {
    if (i === 0 || job.size > free || (job.estimate > shadow - now && job.size > spare)) return true;
    if (job.estimate > shadow - now) spare -= job.size;
    start(job, now);
    return false;
  });
}
const meanWaitS = jobs.reduce((sum, job) => sum + job.start - job.submit, 0) / jobs.length;
console.log(`jobs ${jobs.length} mean wait ${meanWaitS.toFixed(3)} s`);
