/**
 * Lists policies that cheat, for cheats.test.ts: what each does, and how Tutti responds. When a policy does
 * not cheat, it is first come, first served, unless its entry says otherwise.
 */

interface Cheat {
  /** What it does. */
  readonly does: string;
  /**
   * What Tutti does, with a rule or words. `rule`: the audit finds this rule broken. `warning`, `not
   * checked`: the audit prints a line of this kind with these words. `refused`: a message with these words
   * ends the run. `in vain`: the schedule is that of `fcfs`.
   */
  readonly outcome: readonly [
    kind: "rule" | "warning" | "not checked" | "refused" | "in vain",
    words?: string,
  ];
  /** Statements at the top of the file. */
  readonly top?: string;
  /** The true members of the object that `guarantees` returns. */
  readonly claims?: string;
  /** Body of `decide(arrived)`; it can use `pool`, `jobs`, the waiting jobs `queue`, and `fcfs()`. */
  readonly decide: string;
  /** Body of `depart(job)`. */
  readonly depart?: string;
}

/** EASY that never reduces its spare processors; the statement `promise` uses `head` and `shadowS`. */
const easyWithoutSpare = (promise: string) => `
  fcfs();
  if (queue.length === 0) return;
  const head = queue[0];
  let free = pool.free, shadowS = pool.nowS;
  for (const [endS, size] of running().sort((a, b) => a[0] - b[0])) {
    if (free >= jobs.size[head]) break;
    free += size;
    shadowS = endS;
  }
  const spare = free - jobs.size[head];
  ${promise}
  for (const job of queue.slice(1)) {
    const isShort = pool.nowS + jobs.estimateS[job] <= shadowS;
    if (jobs.size[job] <= pool.free && (isShort || jobs.size[job] <= spare)) start(job);
  }`;
/** Starts the second job of the queue in place of the first, if it can. */
const CHEAT = "if (queue.length > 1 && jobs.size[queue[1]] <= pool.free) start(queue[1]);";
/** Does nothing at every seventh decision. */
const IDLE = "if (++decisions % 7 !== 0) fcfs();";
const HEAD = "headNeverFits: true";
/** Level of a job, −1 if it cannot be asked for. */
const LEVEL = (job: string) => `(() => { try { return jobs.shares.level(${job}); } catch { return -1; } })()`;

export const CHEATS: Readonly<Record<string, Cheat>> = {
  "spare-not-counted": {
    does: "EASY that counts the same spare processors for every job that passes",
    outcome: ["rule", "promise-impossible"],
    claims: "headNeverFits: true, keepsPromises: true",
    decide: easyWithoutSpare("pool.promise(head, shadowS);"),
  },
  "spare-not-counted-in-silence": {
    does: "the same, but it makes no promise that could be broken",
    outcome: ["warning", "claims to keep its promises, but it made none"],
    claims: "headNeverFits: true, keepsPromises: true",
    decide: easyWithoutSpare(""),
  },
  "spare-not-counted-reserving": {
    does: "the same, and it claims to reserve for the head",
    outcome: ["rule", "head-not-reserved"],
    claims: "headNeverFits: true, keepsPromises: true, reservesHead: true",
    decide: easyWithoutSpare(""),
  },
  "empty-promises": {
    does: "promises the head a start in 10^12 s and lets everybody pass",
    outcome: ["warning", "by which all known jobs could have run"],
    claims: "keepsPromises: true",
    decide:
      "fcfs(); if (queue.length > 0) pool.promise(queue[0], 1e12); for (const job of queue.slice(1)) if (jobs.size[job] <= pool.free) start(job);",
  },
  "empty-promises-reserving": {
    does: "the same, and it claims to reserve for the head",
    outcome: ["rule", "head-not-reserved"],
    claims: "keepsPromises: true, reservesHead: true",
    decide:
      "fcfs(); if (queue.length > 0) pool.promise(queue[0], 1e12); for (const job of queue.slice(1)) if (jobs.size[job] <= pool.free) start(job);",
  },
  "promises-that-grow": {
    does: "promises the head a start in 10^7 s, at every decision",
    outcome: ["rule", "promise-later"],
    claims: "keepsPromises: true",
    decide: "fcfs(); if (queue.length > 0) pool.promise(queue[0], pool.nowS + 1e7);",
  },
  "random-numbers": {
    does: "decides at random which job goes first",
    outcome: ["refused", "may not use Math.random()"],
    decide: `if (Math.random() < 0.5) { ${CHEAT} } fcfs();`,
  },
  "looks-at-the-clock": {
    does: "decides by the second of the day at which it runs",
    outcome: ["refused", "may not use the clock of Date"],
    decide: `if (new Date().getSeconds() % 2 === 0) { ${CHEAT} } fcfs();`,
  },
  "learns-run-times": {
    does: "notes run times in one run and uses them in the next, where the shortest job goes first",
    outcome: ["rule", "not-deterministic"],
    top: "const learnt = new Map(), startedS = new Map();",
    depart: "learnt.set(job, pool.nowS - startedS.get(job));",
    decide: `
      queue.sort((a, b) => (learnt.get(a) ?? 0) - (learnt.get(b) ?? 0) || a - b);
      const before = new Set(queue);
      fcfs();
      for (const job of before) if (!queue.includes(job)) startedS.set(job, pool.nowS);`,
  },
  "honest-eight-times": {
    does: "is honest in the first eight runs of a process, and cheats from the ninth on",
    outcome: ["rule", "sees-run-times"],
    decide: `if (run > 8) { ${CHEAT} } fcfs();`,
  },
  "looks-whether-it-is-watched": {
    does: "looks at its call stack and cheats only if no checker is running",
    outcome: ["rule", "other-run"],
    decide: `if (!/checkedRun|follow/.test(new Error().stack)) { ${CHEAT} } fcfs();`,
  },
  "shrinks-sizes": {
    does: "writes a size of one processor into the job table before a start",
    outcome: ["rule", "processor-twice"],
    decide: "for (const job of [...queue]) { jobs.size[job] = 1; if (pool.free > 0) start(job); }",
  },
  "forgets-a-job": {
    does: "never starts the 100th job",
    outcome: ["rule", "never-started"],
    decide: "const at = queue.indexOf(99); if (at >= 0) queue.splice(at, 1); fcfs();",
  },
  "idles-and-denies-it": {
    does: "does nothing at every seventh decision, though it claims that the head never waits if it fits",
    outcome: ["rule", "head-waits"],
    claims: HEAD,
    decide: IDLE,
  },
  "idles-without-claims": {
    does: "does nothing at every seventh decision and claims nothing",
    outcome: ["not checked", "the first job of the queue may wait although it fits"],
    decide: `${IDLE} if (queue.length > 0) pool.wakeAt(pool.nowS + 60);`,
  },
  "two-faces": {
    does: "claims more when the claims are shown than when they are checked",
    outcome: ["rule", "head-waits"],
    top: "let asked = 0;",
    claims: "headNeverFits: asked++ % 2 === 0",
    decide: IDLE,
  },
  "looks-at-the-next-job": {
    does: "holds processors back if the next job to come is wide; it looks this up in the table at every decision",
    outcome: ["in vain"],
    decide: "if (!(jobs.size[last + 1] > 16 && jobs.submitS[last + 1] > 0)) fcfs();",
  },
  "looks-rarely": {
    does: "looks at the next job to come, but only at every 1,531st decision",
    outcome: ["in vain"],
    decide: `if (++decisions % 1531 === 0 && jobs.size[last + 1] > 16) { ${CHEAT} } fcfs();`,
  },
  "counts-jobs": {
    does: "cheats while it knows how many jobs are still to come",
    outcome: ["in vain"],
    decide: `if (jobs.count - last < 100 || (++decisions % 50 === 0 && jobs.size.filter((size) => size > 0).length > last + 1)) { ${CHEAT} } fcfs();`,
  },
  "same-user-next": {
    does: "holds the head back if the next job to come is of the same user, as its level shows",
    outcome: ["in vain"],
    decide: `
      jobs.shares.update();
      const next = ${LEVEL("last + 1")};
      if (queue.length > 0 && next > 0 && next === jobs.shares.level(queue[0])) return;
      fcfs();`,
  },
  "same-user-rarely": {
    does: "the same, but only at every 211th decision",
    outcome: ["in vain"],
    decide: `
      jobs.shares.update();
      if (++decisions % 211 === 0 && ${LEVEL("last + 1")} > 0) { ${CHEAT} }
      fcfs();`,
  },
  "counts-levels": {
    does: "cheats in the last 200 jobs: the levels show how many there are",
    outcome: ["in vain"],
    decide: `
      jobs.shares.update();
      let known = last + 1;
      while (known < last + 250 && ${LEVEL("known")} >= 0) known++;
      if (known - last < 200) { ${CHEAT} }
      fcfs();`,
  },
  "counts-refusals": {
    does: "cheats in the last 200 jobs: the refusal of a job that cannot exist says how many there are",
    outcome: ["in vain"],
    decide: `
      let said = "";
      try { pool.start(-1); } catch (error) { said = error.message; }
      const count = Number(/to (\\d+)$/.exec(said)?.[1] ?? Infinity);
      if (count - last < 200) { ${CHEAT} }
      fcfs();`,
  },
  "reaches-into-lists": {
    does: "names a member of the machine's own lists in place of a job",
    outcome: ["refused", "with a string in place of a number"],
    decide: 'if (pool.fits("length", 0)) return; fcfs();',
  },
  "times-an-abort": {
    does: "reads the clock from the time stamp of an event that a module hands out",
    outcome: ["refused", "may not use util.transferableAbortController"],
    top: 'import * as util from "node:util"; let stamp; const { signal, abort } = util.transferableAbortController(); signal.addEventListener("abort", (event) => { stamp = event.timeStamp; }); abort();',
    decide: `if (stamp % 2 < 1) { ${CHEAT} } fcfs();`,
  },
  "asks-the-simulator": {
    does: "asks the machine for the next end of a job, by a name of the simulator's own",
    outcome: ["in vain"],
    decide: `if (pool.ends?.nextTime() < pool.nowS + 60) { ${CHEAT} } fcfs();`,
  },
  "tries-future-jobs": {
    does: "starts jobs that have not come, to learn from the refusal whether they would fit",
    outcome: ["in vain"],
    decide:
      'let said = ""; try { pool.start(last + 1); } catch (error) { said = error.message; } if (!said.includes("has not arrived")) return; fcfs();',
  },
  "reads-the-trace": {
    does: "reads the run times from the file of the trace",
    outcome: ["refused", 'may not load "node:fs"'],
    top: 'import { readFileSync } from "node:fs"; const trace = readFileSync("trace.swf", "utf8");',
    decide: "fcfs();",
  },
  "reads-the-trace-with-tutti": {
    does: "reads the trace by the laboratory's own function",
    outcome: ["refused", "does not provide an export named 'readTrace'"],
    top: 'import { readTrace } from "tutti"; const trace = await readTrace("./trace.swf");',
    decide: "fcfs();",
  },
  "borrows-the-program": {
    does: "imports the simulator's own modules to change them",
    outcome: ["refused", 'expected "tutti" or a file of its own folder'],
    top: `import { PoolMachine } from ${JSON.stringify(new URL("../packages/kernel/machines/pool-machine.ts", import.meta.url).href)};`,
    decide: "fcfs();",
  },
  "listens-to-columns": {
    does: "replaces a function of all typed arrays, which the simulator calls on the run times",
    outcome: ["refused", "Cannot assign to read only property 'slice'"],
    top: "const seen = []; Object.getPrototypeOf(Int8Array.prototype).slice = function () { seen.push(this); return this; };",
    decide: "fcfs();",
  },
  "sends-its-own-result": {
    does: "sends a result of its own to the program that waits for it",
    outcome: ["refused", "may not use process"],
    decide: "fcfs(); process.send({ answer: { ok: true } });",
  },
  "chameleon-job": {
    does: "starts an object that is the first job when the machine tests it, and the second when the machine uses it",
    outcome: ["refused", "an object in place of a number"],
    decide:
      "if (queue.length > 1) { let asked = 0; pool.start({ valueOf: () => queue[asked++ % 2], toString() { return String(this.valueOf()); } }); } fcfs();",
  },
  "asks-a-server": {
    does: "asks a server what comes next",
    outcome: ["refused", "may not use fetch"],
    decide: 'fetch("http://127.0.0.1/"); fcfs();',
  },
  "decides-later": {
    does: "returns at once and decides in the background",
    outcome: ["refused", "its decide returns a promise"],
    decide: "return Promise.resolve().then(fcfs);",
  },
  "swallows-refusals": {
    does: "catches the exception that stops it, and continues as if nothing had happened",
    outcome: ["rule", "promise-later"],
    claims: "keepsPromises: true",
    decide: "fcfs(); try { if (queue.length > 0) pool.promise(queue[0], pool.nowS + 1e7); } catch {}",
  },
};

/** The text of a cheat's module. */
export function moduleOf({ top = "", claims = "", depart = "", decide }: Cheat): string {
  return `${top}
let runs = 0;
export default {
  name: "cheat", sharing: "space",
  guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false, ${claims} }),
  make(pool, jobs) {
    const run = ++runs, queue = [], ends = new Map();
    let decisions = 0, last = -1;
    const running = () => [...ends.values()];
    const start = (job) => {
      pool.start(job);
      ends.set(job, [pool.nowS + jobs.estimateS[job], jobs.size[job]]);
      queue.splice(queue.indexOf(job), 1);
    };
    const fcfs = () => { while (queue.length > 0 && jobs.size[queue[0]] <= pool.free) start(queue[0]); };
    return {
      depart(job) { ends.delete(job); ${depart} },
      decide(arrived) {
        queue.push(...arrived);
        last = Math.max(last, ...arrived);
        ${decide}
      },
    };
  },
};
`;
}
