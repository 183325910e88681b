/**
 * Lives that begin with the store of an earlier version, which its own scheduler has left: test/recordings.
 * Its jobs keep what they ask for, but run the command of the world's jobs, so that the judge hears of them.
 */
import type { Asked, JudgedJob } from "../judge/history.ts";
import { cutPowerAtWrite } from "./crash.ts";
import type { Life } from "./life.ts";
import { EPOCH_MS, type JobPlan } from "./witness.ts";

interface Row {
  readonly job: number;
  readonly state: string;
  readonly attempt: number;
  readonly started_ms: number;
  readonly ended_ms: number | null;
  readonly code: number;
  readonly spec: string;
}

type Spec = Pick<Asked, "name" | "tasks" | "limitMs" | "retries"> & {
  readonly user: string;
  readonly submittedAtMs: number;
  readonly after: readonly { readonly job: number }[];
};

/** When a time is recorded, it is an integer like this. */
const UNIX_MS = /\b1[67]\d{11}\b/g;
/** Between the end of the recording and the beginning of the world. */
const OFF_MS = 3_600_000;
/** The first version whose stores count what each user has. */
const LEDGER_SINCE = 9;
const RELEASE_MS = 3_600_000;
const MOST_CRASHES = 4;
/** The oldest store needs three migrations; before and after the commit of each is a step. */
const MOST_STEPS = 6;
const WAIT_MS = 10_000;

/** @returns stories of its jobs */
export function putOlderStore(life: Life, version: number): readonly { tell(): Promise<void> }[] {
  const { site, files, root, state } = life;
  files.makeFolder(root, state, 0o700);
  const database = site.openStore();
  database.exec(atBegin(site.stores[version]));
  const rows = database.prepare("SELECT * FROM jobs ORDER BY job").all() as unknown as Row[];
  const jobs = new Map<number, JudgedJob>();
  const setCommand = database.prepare(
    "UPDATE jobs SET spec = json_set(spec, '$.command', json(?)) WHERE job = ?",
  );
  for (const row of rows) {
    const job = judgedOf(life, row, jobs);
    jobs.set(row.job, job);
    life.jobs.push(job);
    if (row.ended_ms === null) setCommand.run(JSON.stringify(["/usr/bin/job", planOf(life, job)]), row.job);
    else if (row.attempt > 0) noteRun(life, row, job);
  }
  // Other texts are charged otherwise.
  if (version >= LEDGER_SINCE)
    database.exec(
      `UPDATE ledger SET bytes = (SELECT sum(600 + octet_length(spec)) FROM jobs WHERE jobs.uid = ledger.uid)
         WHERE kind = 'jobs'`,
    );
  database.close();
  files.chmod(root, `${state}/tutti.db`, 0o600);
  for (const path of [`${state}/tutti.db`, state, "/var/lib"]) {
    const descriptor = files.open(root, path, 0);
    files.sync(root, descriptor);
    files.close(root, descriptor);
  }
  return rows
    .filter(({ state }) => state === "held")
    .map(({ job }) => ({ tell: () => release(life, jobs.get(job)!) }));
}

/** Its times, as if the scheduler had ended some time before the world begins. */
function atBegin(sql: string): string {
  const latest = Math.max(...Array.from(sql.matchAll(UNIX_MS), ([text]) => Number(text)));
  return sql.replace(UNIX_MS, (text) => String(Number(text) - latest + EPOCH_MS - OFF_MS));
}

function judgedOf(
  { jobs: { length } }: Life,
  { job, state, ended_ms, code, spec }: Row,
  others: ReadonlyMap<number, JudgedJob>,
): JudgedJob {
  const { name, tasks, limitMs, retries, user, submittedAtMs, after } = JSON.parse(spec) as Spec;
  const [first] = after;
  return {
    ...{ kind: "of an older store", index: length, user, hooks: [], numbers: [job], reruns: [] },
    ends: [String(ended_ms === null ? 40 + job : code)],
    ...(first !== undefined && { after: { job: others.get(first.job)!, kind: "any" } }),
    ...(state === "cancelled" && { cancelled: "waiting" }),
    ...{ possible: [{ name, tasks, limitMs, retries, retryOn: [] }] },
    ...{ formerNames: [], submittedAtMs },
  };
}

function planOf({ random, setting }: Life, { index, ends }: JudgedJob): string {
  const plan: JobPlan = { index, ms: random.between(...setting.runMs), computes: false, ends };
  return JSON.stringify(plan);
}

function noteRun({ witness }: Life, row: Row, { index, possible: [{ name, tasks }] }: JudgedJob): void {
  const { job, attempt, started_ms: beganMs, ended_ms } = row;
  const times = { beganMs, endedMs: ended_ms ?? undefined };
  witness.starts.push({ index, job, attempt, tasks, name, units: [], signals: [], nodes: [], ...times });
}

async function release(life: Life, job: JudgedJob): Promise<void> {
  await life.sleep(life.random.below(RELEASE_MS));
  job.releasedAtMs = life.trueMs;
  const [number] = job.numbers;
  const why = await life.change({ action: "release" }, number);
  if (why !== undefined && !life.forgotten.has(number))
    life.problem(`the release of job ${number} of the older store was refused: ${why}`);
}

/** Power cuts and kills while the scheduler brings the store up to date. */
export async function disturbUpgrade(life: Life): Promise<void> {
  const { random } = life;
  for (let i = random.between(1, MOST_CRASHES); i > 0; i--) {
    const [frontEnd] = life.frontEnds();
    if (random.chance(0.5) || frontEnd === undefined) await cutPowerAtWrite(life);
    else
      await life.atStep(frontEnd, "commit", random.between(1, MOST_STEPS), WAIT_MS, () =>
        life.signal(frontEnd, "SIGKILL"),
      );
  }
}
