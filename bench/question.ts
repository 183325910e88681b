/**
 * Measures questions about the future over a long queue: the front end's own CPU time, during which it
 * answers nobody else, and the time until the answer. The forecasts run in their thread.
 *
 *   npm run bench:question                          10,000 waiting jobs under easy
 *   npm run bench:question -- --waiting 1000 --policy conservative --runs 9
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { Random } from "@tutti/kernel/core/random.ts";
import { forecastThread } from "@tutti/live/daemon/forecast/thread.ts";
import { makeBench, ROOT, request } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import { figure, printTable, show, summarise } from "./measure.ts";

const { values } = parseArgs({
  options: {
    waiting: { type: "string", default: "10000" },
    cpus: { type: "string", default: "64" },
    policy: { type: "string", default: "easy" },
    users: { type: "string", default: "20" },
    runs: { type: "string", default: "7" },
  },
});
const waiting = Number(values.waiting);
const cpus = Number(values.cpus);
const OTHERS = ["fcfs", "easy:order=shortest", "conservative", "first-fit", "easy:order=wfp", "gang", "wlv"];

const random = new Random(1, "question");
const bench = makeBench({
  cpus,
  policy: values.policy,
  runMs: () => 3_600_000,
  forecastEngine: forecastThread(),
});
const { frontEnd, clock } = bench;
// At most as many wait as a forecast of a hypothetical job counts: the first ones start.
for (let i = 0; i < waiting; i += 500) {
  const user = {
    uid: 2000 + ((i / 500) % Number(values.users)),
    user: `u${(i / 500) % Number(values.users)}`,
    isAdministrator: false,
  };
  const jobs = Array.from({ length: Math.min(500, waiting - i) }, () =>
    request({ tasks: 1 + random.below(8), limitMs: 60_000 * (1 + random.below(240)) }),
  );
  const submitted = frontEnd.submit(user, jobs);
  clock.settle();
  const answer = await submitted;
  if (isRefusal(answer)) throw new Error(answer.message);
}
clock.settle();

const own = { uid: 2000, user: "u0", isAdministrator: false };
const aJob = (tasks: number) => ({ jobs: [{ tasks, limitMs: 3_600_000 }] });

async function submit(job: Parameters<typeof request>[0]): Promise<void> {
  const submitted = frontEnd.submit(ROOT, [request(job)]);
  clock.settle();
  const answer = await submitted;
  if (isRefusal(answer)) throw new Error(answer.message);
}

const QUESTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  "a job, after a change": async () => {
    await submit({ held: true });
    return frontEnd.whatIf(own, aJob(4));
  },
  "a job, again": () => frontEnd.whatIf(own, aJob(5)),
  "a job, an administrator's": () => frontEnd.whatIf(ROOT, aJob(6)),
  // Only the first 2,000 jobs are forecast. One that is served before them changes what each policy does.
  "8 policies, after a change": async () => {
    await submit({ priority: 1 });
    const answers = [];
    for (const policy of [values.policy, ...OTHERS]) {
      const answer = await frontEnd.whatIf(own, { policy });
      if (isRefusal(answer)) throw new Error(answer.message);
      answers.push(answer);
    }
    return answers;
  },
};

const rows: string[][] = [];
for (const [name, ask] of Object.entries(QUESTIONS)) {
  const cpuMs: number[] = [];
  const wallMs: number[] = [];
  let hash = "";
  for (let run = 0; run <= Number(values.runs); run++) {
    const from = process.threadCpuUsage();
    const fromMs = performance.now();
    const answer = await ask();
    const took = performance.now() - fromMs;
    const { user, system } = process.threadCpuUsage(from);
    hash = createHash("sha256").update(JSON.stringify(answer)).digest("hex").slice(0, 8);
    if (run === 0) continue;
    cpuMs.push((user + system) / 1000);
    wallMs.push(took);
  }
  const [cpu, wall] = [summarise(cpuMs), summarise(wallMs)];
  const [goalOfCpu, goalOfWall] = name.startsWith("8 policies") ? [undefined, 1000] : [20, 50];
  figure(`question, ${name}: front end's CPU`, cpu.medianMs, "ms", goalOfCpu);
  figure(`question, ${name}: until the answer`, wall.medianMs, "ms", goalOfWall);
  rows.push([name, show(cpu), show(wall), hash]);
}
printTable(["question", "front end's CPU", "until the answer", "result"], rows);
setTimeout(() => process.exit(), 100);
