/**
 * Finding S8 (docs/security.md): a user holds CPUs without running a job, either because a process other than
 * the shim takes the attempt's claim, or because the shim is stopped.
 */
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { until } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

/** Within this time, a launch that does not begin ends, and so does a job of two seconds. */
const MAX_MS = 90_000;

/** Eve makes the claims of her own future jobs before their shims do, with as many processes as help. */
async function squatted(stage: Stage): Promise<Outcome> {
  const { eve, ann } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ config: { maxRows: 1 } });
  const cpus = (await scheduler.status()).cpus;
  const rounds = stage.isShort ? 10 : 40;
  const program = stage.program("squat.ts");
  const words = [process.execPath, program, `${scheduler.state}/jobs`, "1", String(rounds)];
  const squatters = [1, 2].map(() => stage.start(eve, words, { stdio: ["ignore", "pipe", "ignore"] }));
  await Promise.all(squatters.map(({ stdout }) => new Promise((resolve) => stdout?.once("data", resolve))));
  const limited = { tasks: cpus, limitMs: 500 };
  const jobs: number[] = [];
  for (let i = 0; i < rounds; i++) jobs.push(await scheduler.submit(eve, "exit 3", limited));
  const victim = await scheduler.submit(ann, "true", { tasks: cpus });
  const end = await scheduler.ended(victim, MAX_MS);
  for (const job of jobs) {
    const { state } = await scheduler.job(job);
    const holds = end === undefined && (state === "starting" || state === "running");
    tally.attempt(
      holds && `job ${job} with a limit of 0.5 s is "${state}" with ${cpus} CPUs after ${MAX_MS / 1000} s`,
    );
  }
  return tally.outcome(`the job after ${rounds} squatted ones ran`);
}

async function stopped(stage: Stage): Promise<Outcome> {
  const { eve, ann } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve({ config: { maxRows: 1 } });
  const cpus = (await scheduler.status()).cpus;
  // Stop every shell of Eve's that waits for a job, as soon as it exists.
  const stop = `while :; do pkill -STOP -f -u ${eve.uid} "/jobs/[0-9]*/1/launch|launch job"; done`;
  const stopper = stage.start(eve, ["bash", "-c", stop], { stdio: "ignore" });
  const jobs: number[] = [];
  const rounds = stage.isShort ? 2 : 6;
  for (let i = 0; i < rounds; i++)
    jobs.push(await scheduler.submit(eve, "sleep 600", { tasks: cpus, limitMs: 1000 }));
  const victim = await scheduler.submit(ann, "true", { tasks: cpus });
  const end = await scheduler.ended(victim, MAX_MS * 2);
  stopper.kill("SIGKILL");
  await until(() => stopper.exitCode !== null || stopper.signalCode !== null);
  for (const job of jobs) {
    const { state } = await scheduler.job(job);
    const holds = end === undefined && (state === "starting" || state === "running");
    tally.attempt(
      holds && `job ${job} with a limit of 1 s is "${state}" with ${cpus} CPUs, its shim stopped`,
    );
  }
  return tally.outcome(`the job after ${rounds} stopped ones ran`);
}

export const CLAIMS: readonly Attack[] = [
  {
    name: "claims-squatted",
    finding: "S8",
    about: "a loop makes the links claim and job before the shim does, for a sleeping process",
    needs: "users",
    run: squatted,
  },
  {
    name: "shims-stopped",
    finding: "S8",
    about: "a loop sends SIGSTOP to the shims of the attacker's own jobs",
    needs: "users",
    isLong: true,
    run: stopped,
  },
];
