/**
 * Runs real jobs on a machine with four pretended GPUs under several policies. The jobs write down when they
 * have units, and each takes an exclusive lock, a folder, for each of its units, and fails if somebody else
 * has it. No job ends before the test allows it. So a unit that is idle while a job waits stays idle, and the
 * test can wait as long as a busy machine needs. In the middle of each policy's run, front end and conductor
 * are killed, one by one and together.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { JobsAnswer, StatusAnswer, WhyAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LiveScheduler } from "./live-scheduler.ts";

const GPUS = 4;
const JOBS = 40;
const s = new LiveScheduler();
const locks = join(s.folder, "locks");
const log = join(s.folder, "log");
const go = join(s.folder, "go");

/** $1: units that the job has asked for. Exits with 8 for a wrong number, 9 for a clash. */
const JOB = `
units=$(echo "$TUTTI_GPUS" | tr , ' ')
set -- "$1" $units
[ $(($# - 1)) = "$1" ] && [ "$CUDA_VISIBLE_DEVICES" = "$TUTTI_GPUS" ] || exit 8
shift
for unit; do mkdir "${locks}/$unit" || exit 9; done
echo "begin $TUTTI_JOB_ID $TUTTI_GPUS" >>"${log}"
until [ -e "${go}/$TUTTI_JOB_ID" ]; do sleep 0.02; done
echo "end $TUTTI_JOB_ID" >>"${log}"
for unit; do rmdir "${locks}/$unit"; done
`;

/** What a job asks for. */
interface Wanted {
  readonly gpus: number;
  readonly tasks: number;
}

/** What the jobs themselves have written: who has begun, and the units of those that have not ended. */
function seen(): { readonly begun: ReadonlySet<number>; readonly running: ReadonlyMap<number, string[]> } {
  const begun = new Set<number>();
  const running = new Map<number, string[]>();
  const text = existsSync(log) ? readFileSync(log, "utf8") : "";
  for (const line of text.split("\n").slice(0, -1)) {
    const [what, number, units = ""] = line.split(" ");
    const job = Number(number);
    if (what === "end") {
      running.delete(job);
      continue;
    }
    const mine = units.split(",");
    const taken = mine.filter((unit) => [...running.values()].flat().includes(unit));
    expect(taken, `units that job ${job} got while others had them`).toEqual([]);
    expect(begun.has(job), `job ${job} began twice`).toBe(false);
    begun.add(job);
    running.set(job, mine);
  }
  return { begun, running };
}

/** The waiting jobs, first come first, and whether what they ask for is idle. */
function waiting(wanted: ReadonlyMap<number, Wanted>, processors: number) {
  const { begun, running } = seen();
  let gpus = GPUS;
  let tasks = processors;
  for (const job of running.keys()) {
    gpus -= wanted.get(job)?.gpus ?? 0;
    tasks -= wanted.get(job)?.tasks ?? 0;
  }
  const fits = (one: Wanted) => one.gpus <= gpus && one.tasks <= tasks;
  return [...wanted]
    .filter(([job]) => !begun.has(job))
    .map(([job, one]) => ({ job, ...one, isInVain: fits(one) }));
}

async function kill(victim: "front end" | "conductor" | "both"): Promise<void> {
  if (victim !== "front end") await expect.poll(() => s.leftovers.conductors()).not.toEqual([]);
  if (victim === "front end") await s.killFrontEnd();
  else if (victim === "both") await s.killBoth();
  else for (const pid of s.leftovers.conductors()) signal(pid, "SIGKILL");
  if (victim !== "conductor") await s.start();
}

beforeAll(async () => {
  mkdirSync(locks);
  mkdirSync(go);
  const config = join(s.folder, "tutti.toml");
  const names = Array.from({ length: GPUS }, (_, i) => `"${i}"`).join(", ");
  writeFileSync(config, `[resources]\ngpu = [${names}]\n`, { mode: 0o600 });
  s.words.push("--config", config);
  // The environment of the scheduler says nothing about its units.
  s.env.CUDA_VISIBLE_DEVICES = "3";
  await s.start();
});
afterAll(() => s.clear());

// Under time sharing, a new row has processors for any job.
const ANY = Number.POSITIVE_INFINITY;
const CPUS = availableParallelism();

test.each([
  // Only the first in the queue never waits in vain: the others might delay it.
  ["easy", CPUS, 1],
  // A job may wait because another one has promises for later.
  ["conservative", CPUS, 0],
  // Work-conserving.
  ["brmms:queue=first-fit", ANY, JOBS],
  ["wlv:queue=first-fit", ANY, JOBS],
  ["first-fit", CPUS, JOBS],
] as const)(
  "under %s, 40 jobs of 1 to 4 GPUs never share one, and none waits in vain, over kills",
  async (policy, processors, first) => {
    await s.client.ask("/v1/policy", { method: "PUT", body: { policy } });
    const random = new Random(5, policy);
    const env = { PATH: process.env.PATH ?? "", CUDA_VISIBLE_DEVICES: "0,1,2,3" };
    const asked = Array.from({ length: JOBS }, () => ({
      gpus: 1 + random.below(GPUS),
      tasks: 1 + random.below(CPUS),
    }));
    const jobs = asked.map(({ gpus, tasks }) => ({
      ...{ command: ["sh", "-c", JOB, "job", String(gpus)], cwd: s.folder, env },
      ...{ tasks, limitMs: 600_000, use: { gpu: gpus } },
    }));
    const answer = await s.client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs } });
    const wanted = new Map(answer.jobs.map(({ job }, i) => [job, asked[i]]));

    const victims = ["front end", "conductor", "both"] as const;
    for (let ended = 0; ended < JOBS; ) {
      await expect.poll(() => seen().running.size).toBeGreaterThan(0);
      const inVain = () =>
        waiting(wanted, processors)
          .slice(0, first)
          .filter(({ isInVain }) => isInVain);
      await expect.poll(inVain).toEqual([]);
      const running = [...seen().running.keys()];
      const chosen = running.filter(() => random.below(2) === 0);
      const ending = chosen.length === 0 ? running : chosen;
      for (const job of ending) {
        writeFileSync(join(go, String(job)), "");
        ended++;
        if (ended < JOBS && ended % (JOBS / 4) === 0) await kill(victims[(4 * ended) / JOBS - 1]);
      }
      await expect.poll(() => ending.filter((job) => seen().running.has(job))).toEqual([]);
    }

    const path = `/v1/jobs?numbers=${answer.jobs[0].job}-${answer.jobs[JOBS - 1].job}`;
    const mine = async () => (await s.client.ask<JobsAnswer>(path)).jobs;
    await expect.poll(async () => (await mine()).filter(({ state }) => isEnded(state))).toHaveLength(JOBS);
    const ended = await mine();
    expect(ended.filter(({ state }) => state !== "done")).toEqual([]);
    expect(readdirSync(locks)).toEqual([]);
    // What the jobs themselves have seen is what the scheduler says.
    const lines = readFileSync(log, "utf8").split("\n");
    for (const { job, units, use } of ended) {
      expect(units?.gpu).toHaveLength(use!.gpu);
      expect(lines).toContain(`begin ${job} ${units!.gpu.join(",")}`);
    }
  },
);

test("status says how many units are held, and why says who holds them", async () => {
  const release = join(s.folder, "release");
  const script = `until [ -e "${release}" ]; do sleep 0.05; done`;
  const holder = await s.submit(script, { use: { gpu: 3 } });
  await s.running(holder);
  const { resources } = await s.client.ask<StatusAnswer>("/v1/status");
  expect(resources).toEqual([{ name: "gpu", units: ["0", "1", "2", "3"], held: 3 }]);
  const waiting = await s.submit("true", { use: { gpu: 2 } });
  const { obstacles } = await s.client.ask<WhyAnswer>(`/v1/jobs/${waiting}/why`);
  expect(obstacles).toContainEqual({
    kind: "units",
    resource: "gpu",
    needed: 2,
    free: 1,
    holders: [{ job: holder, units: 3 }],
    others: 0,
  });
  writeFileSync(release, "");
  await expect.poll(async () => (await s.job(waiting)).state).toBe("done");
});
