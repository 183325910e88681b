/**
 * Judges a run of the kill loop, or a simulated life. It knows what the test asked for and was answered, what
 * the jobs, hooks and a webhook wrote themselves, and the scheduler's records. From the first two it derives
 * what must have happened, by the rules in docs/reference-jobs.md.
 */
import type { Job } from "@tutti/protocol/schema.ts";
import { type Asked, type History, type JudgedJob, LIMIT, nameOf, type Start } from "./history.ts";
import { isWithdrawn, judgeReports } from "./judge-reports.ts";
import { judgeTogether } from "./judge-together.ts";

/** Longest time without a conductor that the judge looks for. */
const AWAY_MS = 600_000;
/** Times of two clocks are rounded to ms. */
const ROUNDING_MS = 2;
/** A conductor that adopts an attempt knows its begin by the clock ticks of /proc alone. */
const TICK_MS = 10;
/** A conductor has noted within this time that it has sent a signal, which takes a moment to arrive. */
const NOTED_MS = 5;
/** How a job ends that is cancelled after an attempt, while it waits. */
const WITHDRAWN = "cancelled while it waits";
/** Longer than any start of a program on a busy machine, and shorter than any step of its clock here. */
const LONGEST_LAG_MS = 1000;
/** docs/reference-jobs.md: 10 s, 20 s, 40 s and so on, up to 6 minutes. */
const LONGEST_DELAY_MS = 360_000;
/** Attempts that were lost before their command began do not count, up to that many. */
const FREE_STARTS = 3;
/** The signal that jobs ask for. */
const LIMIT_SIGNAL = "SIGUSR1";
/** How jobs with a time limit end when they are asked to, or killed. */
const STOPPED = ["SIGTERM", "SIGKILL", "7"] as const;

/** @returns descriptions of everything that is wrong */
export function judge(history: History): string[] {
  const { jobs, starts, records } = history;
  const asked = new Map(jobs.flatMap((job) => [...job.numbers, ...job.reruns].map((one) => [one, job])));
  const unheard = new Set(jobs.filter(({ isUnheard }) => isUnheard).map(({ possible }) => possible[0].name));
  const names = new Set<string>();
  const foreign = records.filter(({ job, name }) => {
    const isFirst = unheard.has(name) && !names.has(name);
    names.add(name);
    return !asked.has(job) && !isFirst;
  });
  const known = new Set(records.map(({ job }) => job));
  return [
    ...foreign.map(({ job }) => `nobody asked for job ${job}`),
    ...starts.filter(({ job }) => !known.has(job)).map((one) => `job ${one.job} ran, and is not known`),
    ...jobs.flatMap((job) => judgeJob(history, job).map((what) => `${describe(job)}: ${what}`)),
    ...judgeTogether(history),
  ];
}

function describe({ kind, numbers, index }: JudgedJob): string {
  return `job ${numbers.join() || "?"} (${kind}, ${index})`;
}

function judgeJob(history: History, job: JudgedJob): string[] {
  const { records } = history;
  const { possible, reruns } = job;
  const heard = records.filter(({ name }) => job.isUnheard && name === possible[0].name);
  const numbers = job.isUnheard ? heard.map((one) => one.job) : job.numbers;
  if (numbers.length === 0) return job.isUnheard ? [] : ["was never acknowledged"];
  return numbers.flatMap((number) => {
    const record = records.find((one) => one.job === number);
    if (record === undefined) return [`${number} is lost`];
    const asked = possible.find((one) => isSame(one, record));
    if (asked === undefined) {
      return [`an edit is half done or undone: is ${json(record)}, possible is ${json(possible)}`];
    }
    return [
      ...judgeRun(history, job, asked, record, job.releasedAtMs ?? 0),
      ...reruns.flatMap((rerun) => {
        const again = records.find((one) => one.job === rerun);
        if (again === undefined) return [`its rerun ${rerun} is lost`];
        const { beginAtMs: _, ...rest } = asked;
        const other = again.repeats === number ? [] : [`its rerun ${rerun} repeats ${again.repeats}`];
        const notBeforeMs = record.endedAtMs === undefined ? Infinity : endOf(history, record);
        const found = judgeRun(history, { ...job, formerNames: [] }, rest, again, notBeforeMs);
        return [...other, ...found.map((what) => `its rerun ${rerun}: ${what}`)];
      }),
    ];
  });
}

/** When the job's last start wrote its end, so by the machine's clock. */
function endOf({ starts }: History, { job }: Job): number {
  return Math.max(0, ...starts.filter((one) => one.job === job).map(({ endedMs = 0 }) => endedMs));
}

/** Whether a job's record has exactly these fields. */
function isSame(asked: Asked, record: Job): boolean {
  const fields = ({
    name,
    tasks,
    limitMs,
    retries = 0,
    retryOn = [],
    retryDelayMs,
    beginAtMs,
  }: Partial<Asked>) => json({ name, tasks, limitMs, retries, retryOn, retryDelayMs, beginAtMs });
  return fields(asked) === fields(record);
}

function judgeRun(
  history: History,
  job: JudgedJob,
  asked: Asked,
  record: Job,
  notBeforeMs: number,
): string[] {
  const starts = history.starts.filter((one) => one.job === record.job);
  const problems: string[] = [];
  for (const one of starts) {
    const words = `start ${one.attempt} (${json(one)})`;
    // Attempts may be lost before the edit that waits for the first line.
    const isFirst = !starts.some(({ attempt }) => attempt < one.attempt);
    const isEarly = isFirst || history.lost.has(nameOf({ ...one, attempt: one.attempt - 1 }));
    const mayBeFormer = isEarly && job.formerNames.includes(one.name);
    if (one.tasks !== asked.tasks || (one.name !== asked.name && !mayBeFormer)) {
      problems.push(`${words} does not have what was asked for: ${json(asked)}`);
    }
    if (starts.some((other) => other !== one && other.attempt === one.attempt))
      problems.push(`${words} ran twice`);
    if (one.attempt > record.attempt && !history.forgotten.has(one.job))
      problems.push(`${words} is one too many: ${json(record)}`);
    if (one.beganMs < notBeforeMs - ROUNDING_MS) problems.push(`${words} began before ${notBeforeMs}`);
    if (isBefore(history, job, one, asked.beginAtMs)) problems.push(`${words} began before its begin time`);
  }
  const first = dependency(history, job);
  if (history.forgotten.has(record.job)) {
    // It may have run, also after a job whose end was forgotten and which was given up since.
    if (record.state !== "cancelled")
      problems.push(`had to be cancelled after a restore, is ${json(record)}`);
    for (const stray of starts.filter(({ attempt }) => attempt > record.attempt)) {
      const hasEnded = stray.endedMs !== undefined || job.ends[stray.attempt - 1] === LIMIT;
      const isGivenUp = job.cancelled === "running" || job.isRequeued || history.lost.has(nameOf(stray));
      if (!hasEnded && !isGivenUp)
        problems.push(`attempt ${stray.attempt}, which the store did not know, did not reach its end`);
    }
  } else if (first?.mustCancel) {
    if (record.state !== "cancelled" || starts.length > 0)
      problems.push(`had to be cancelled, is ${json(record)}`);
  } else if (job.cancelled === "waiting") {
    if (record.state !== "cancelled" || starts.length > 0) problems.push(`was cancelled, is ${json(record)}`);
  } else problems.push(...judgeAttempts(history, job, asked, record, starts));
  if (first?.endedMs !== undefined && starts.some(({ beganMs }) => beganMs < first.endedMs! - ROUNDING_MS)) {
    problems.push(`began before the job that it waits for had ended`);
  }
  return [...problems, ...judgeReports(history, job, record, starts)];
}

/** Whether it began before the scheduler's clock had shown its time, at any moment since its submit. */
function isBefore(history: History, job: JudgedJob, start: Start, beginAtMs = 0): boolean {
  const ahead = history.clocks.filter(
    ({ fromMs, toMs }) => fromMs <= start.beganMs && toMs >= job.submittedAtMs,
  );
  const offsetMs = Math.max(0, ...ahead.map((clock) => clock.offsetMs));
  return start.beganMs + offsetMs < beginAtMs - ROUNDING_MS;
}

function dependency(history: History, { after }: JudgedJob) {
  const [number] = after?.job.numbers ?? [];
  const record = history.records.find(({ job }) => job === number);
  if (after === undefined || record === undefined) return undefined;
  const mustCancel =
    (after.kind === "ok" && record.state !== "done") || (after.kind === "notok" && record.state === "done");
  return { mustCancel, endedMs: endOf(history, record) };
}

/** Goes through the attempts: how each ended, and whether that had to be followed by another. */
function judgeAttempts(
  history: History,
  job: JudgedJob,
  asked: Asked,
  record: Job,
  starts: readonly Start[],
): string[] {
  const problems: string[] = [];
  const { spoilt = [] } = history;
  let delays = 0;
  let unseen = 0;
  let free = 0;
  for (let k = 1; k <= record.attempt; k++) {
    const start = starts.find(({ attempt }) => attempt === k);
    const next = starts.find(({ attempt }) => attempt === k + 1);
    const isLost = history.lost.has(nameOf({ job: record.job, attempt: k }));
    const own = job.ends[k - 1] ?? "0";
    const ends: string[] = [];
    // It may have reached its end just before the order came.
    if (start !== undefined && job.cancelled === "running") ends.push("cancelled");
    else if (start !== undefined && (start.endedMs !== undefined || own === LIMIT)) ends.push(own);
    // Where its folder could not be made, it has not begun, and another attempt follows.
    const hadNoPlace = (history.wasAway || spoilt.length > 0) && start === undefined;
    if (isLost || hadNoPlace) ends.push("lost");
    // What waits for its folder before it begins keeps its limit all the same, and gets its signal.
    if (hadNoPlace && asked.limitMs !== undefined) ends.push(LIMIT);
    if (hadNoPlace && job.signalMs !== undefined) ends.push(LIMIT_SIGNAL);
    // A conductor that dies while the disk refuses its note of why it ends a job takes that with it.
    const endedMs = next?.beganMs ?? record.endedAtMs ?? Number.POSITIVE_INFINITY;
    const hadNoNote = spoilt.some(
      ({ fromMs, toMs }) => fromMs < endedMs && toMs > (start?.beganMs ?? endedMs),
    );
    // It waited for its next attempt when the order came.
    if (isLost && job.cancelled === "running") ends.push(WITHDRAWN);
    if (own === LIMIT && hadNoNote) ends.push(...STOPPED);
    if (history.evicted?.has(nameOf({ job: record.job, attempt: k }))) ends.push("evicted");
    if (start !== undefined && job.isRequeued) ends.push("requeued");
    const words = `attempt ${k} of ${record.attempt} (${json(start)})`;
    if (ends.length === 0) problems.push(`${words} did not reach its end, is ${json(record)}`);
    if (start === undefined) unseen++;
    // A command that came to no first line may have begun, and then its attempt counts.
    // On a node that is lost then, nobody knows whether it has.
    if (start === undefined && !isLost && history.evicted === undefined) free++;
    const isRetried = (end: string) =>
      (end === "requeued" || end === "lost" || end === "evicted" || mayRetry(asked, end)) &&
      k <= asked.retries + Math.min(FREE_STARTS, unseen);
    // A shim that could not write its job's output has left that as a reason, and then its attempt counts.
    const mostFree = spoilt.length > 0 ? 0 : Math.min(FREE_STARTS, free);
    const isFinal = (end: string) => !isRetried(end) || k > asked.retries + mostFree;
    if (k < record.attempt) {
      if (ends.length > 0 && !ends.some(isRetried))
        problems.push(`${words} ended with ${ends}, no retry follows`);
      if (ends.length === 1 && mayRetry(asked, own) && next !== undefined) {
        const delayMs = Math.min((asked.retryDelayMs ?? 0) * 2 ** delays++, LONGEST_DELAY_MS);
        const earliestMs = (start?.endedMs ?? 0) + delayMs;
        if (
          next.beganMs < earliestMs - ROUNDING_MS &&
          !isDatedWrong(history, start?.endedMs ?? 0, next.beganMs)
        )
          problems.push(`${words}: the next began before ${earliestMs}`);
      }
    } else if (!ends.some((end) => isFinal(end) && isEnd(record, end))) {
      problems.push(`expected its end to be one of ${json(ends)} without a retry, is ${json(record)}`);
    }
    if (
      start !== undefined &&
      job.signalMs !== undefined &&
      start.endedMs !== undefined &&
      (start.signals.length < 1 || (signalsOf(history, start) > 1 && !hadNoNote))
    ) {
      problems.push(`${words} got ${start.signals.length} signals before its limit, expected 1`);
    }
  }
  if (record.attempt === 0) problems.push(`never started, is ${json(record)}`);
  for (const { beganMs, signals } of starts) {
    // On a busy machine, its first line comes some time after it was let through its gate.
    const lagMs = beganMs - (record.startedAtMs ?? beganMs);
    const fromMs = lagMs > 0 && lagMs < LONGEST_LAG_MS ? beganMs - lagMs : beganMs;
    const early = signals.find((atMs) => atMs < fromMs + (job.signalMs ?? 0) - TICK_MS);
    if (early !== undefined)
      problems.push(`got its signal after ${early - fromMs} ms, before ${job.signalMs}`);
  }
  const { limitMs = Number.POSITIVE_INFINITY } = asked;
  if (record.reason === LIMIT && record.ranMs < limitMs - TICK_MS) {
    problems.push(`ended by its limit of ${limitMs} ms after ${record.ranMs} ms`);
  }
  return problems;
}

/** Its end may have only the time of a file, if it came without a conductor, and a clock was set since. */
function isDatedWrong({ deaths = [], clocks }: History, endedMs: number, nextMs: number): boolean {
  const wasAlone = deaths.some((deathMs) => deathMs <= endedMs + ROUNDING_MS && deathMs > endedMs - AWAY_MS);
  const isBetween = (ms: number) => ms > endedMs && ms < nextMs;
  return wasAlone && clocks.some(({ fromMs, toMs }) => isBetween(fromMs) || isBetween(toMs));
}

/** The signals of an attempt, without those that a conductor sent again because it was killed at once. */
function signalsOf({ deaths = [] }: History, { signals }: Start): number {
  const isUnnoted = (atMs: number) => deaths.some((deathMs) => Math.abs(deathMs - atMs) < NOTED_MS);
  return signals.filter((atMs, i) => i === signals.length - 1 || !isUnnoted(atMs)).length;
}

function mayRetry({ retryOn }: Asked, end: string): boolean {
  const isOwn = !["lost", "evicted", "requeued", "cancelled", WITHDRAWN, LIMIT].includes(end);
  return isOwn && (retryOn.includes(end) || (end !== "0" && retryOn.includes("fail")));
}

/** Whether this is the end that a record tells, with its reason. */
function isEnd({ state, reason = "", code, signal }: Job, end: string): boolean {
  if (end === WITHDRAWN) return isWithdrawn({ state, reason });
  if (end === "cancelled") return state === "cancelled" && reason === "cancelled";
  if (end === "0") return state === "done" && code === 0 && reason === "exit code 0";
  if (state !== "failed") return false;
  if (end === LIMIT || end === "requeued") return reason === end;
  if (end === "lost") return reason.startsWith("lost: ");
  if (end === "evicted") return reason.startsWith("the allocation ended again");
  return end.startsWith("SIG")
    ? signal === end && reason === `ended by ${end}`
    : String(code) === end && reason === `exit code ${end}`;
}

/** Without what is long. */
function json(value: unknown): string {
  return JSON.stringify(value, (key, one) =>
    ["command", "cwd", "stdout", "stderr", "onStart", "onEnd", "onFail"].includes(key) ? undefined : one,
  );
}
