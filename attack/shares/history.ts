/**
 * Finding S4 (docs/security.md): whether one user's results survive when another user ends as many jobs as
 * the scheduler keeps. Finding R2: how the scheduler handles ranges of jobs that ended long ago.
 */
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { sleep, until } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

/** Uses the default limit of 100,000 jobs, in the short form a smaller one. */
const KEEP = { short: 300, long: 100_000 };

async function pushedOut(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const keepJobs = stage.isShort ? KEEP.short : KEEP.long;
  const scheduler = await stage.serve(stage.isShort ? { config: { keepJobs } } : {});
  const precious: number[] = [];
  for (let i = 0; i < 3; i++) precious.push(await scheduler.submit(ann, `echo precious result ${i}`));
  for (const job of precious) await scheduler.ended(job);
  const failing = await scheduler.submit(eve, "false");
  await scheduler.ended(failing);
  const perArray = Math.min(10_000, keepJobs);
  let made = 0;
  for (let round = 0; round < 12; round++) {
    // Each job is cancelled during the submit, because the job that it depends on has failed.
    const array = `0-${perArray - 1}`;
    const answer = await scheduler.post(eve, [{ array, after: [{ job: failing, ok: true }] }]);
    if (answer.status === 201) made += perArray;
    // Then held jobs that are cancelled.
    if (stage.isShort) {
      await scheduler.post(eve, [{ array: "0-99", held: true }]);
      await scheduler.tutti(eve, "cancel", "all");
    }
  }
  // The scheduler forgets excess jobs within a few steps. Wait until nothing changes, for at most a minute.
  let before = -1;
  const lastMs = Date.now() + 60_000;
  await until(async () => {
    await sleep(stage.isShort ? 1500 : 5000);
    const now = (await scheduler.status()).keptSinceMs ?? 0;
    const isSteady = now === before;
    before = now;
    return isSteady || Date.now() > lastMs;
  });
  for (const [i, job] of precious.entries()) {
    const { status, stdout } = await scheduler.tutti(ann, "logs", String(job));
    tally.attempt(
      stdout !== `precious result ${i}\n` &&
        `Ann's job ${job} is gone after ${made} jobs of Eve's: logs ends with ${status}`,
    );
  }
  return tally.outcome(`${made} jobs of Eve's have ended, and Ann's results are still there`);
}

async function oldRanges(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  const { options } = stage.modes[0];
  const scheduler = await stage.serve(options);
  const total = stage.isShort ? 1200 : 2500;
  const answer = await scheduler.post(options.as, [
    { command: ["sh", "-c", "[ $TUTTI_ARRAY_INDEX -gt 5 ]"], array: "1-20" },
  ]);
  if (answer.status !== 201) throw new Error(answer.text);
  for (let job = 1; job <= 20; job++) await scheduler.ended(job);
  // Jobs that end without running push them out of the last thousand.
  await scheduler.post(options.as, [{ array: `21-${total}`, after: [{ job: 1, ok: true }] }]);
  for (const [range, expected] of [
    [`1-${total}`, 1],
    ["1-20", 1],
    ["6-20", 0],
    ["1-3,6", 1],
    ["5", 1],
  ] as const) {
    const { status } = await scheduler.tutti(options.as, "wait", range);
    tally.attempt(status !== expected && `wait ${range} ends with ${status}, expected ${expected}`);
  }
  for (const [verb, range] of [
    ["show", "4-6"],
    ["jobs", "4-6"],
    ["logs", "4-6"],
  ] as const) {
    const { status, stderr } = await scheduler.tutti(options.as, verb, range);
    tally.attempt(status !== 0 && `${verb} ${range} ends with ${status}: ${stderr}`);
  }
  return tally.outcome("every range covers all jobs that are kept");
}

export const HISTORY: readonly Attack[] = [
  {
    name: "results-pushed-out",
    finding: "S4",
    about: "arrays that are cancelled during the submit, enough to push out the results of others",
    needs: "users",
    run: pushedOut,
  },
  {
    name: "ranges-old",
    finding: "R2",
    about: "wait, show, jobs and logs over jobs that ended long ago",
    needs: "nothing",
    run: oldRanges,
  },
];
