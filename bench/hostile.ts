/**
 * Measures what other users notice when one hostile user attacks at full force: how long they wait for
 * answers, how much memory the front end uses, and whether gangs keep their shares of CPU time. Needs root,
 * because the users are real accounts.
 *
 *   node bench/hostile.ts [--seconds 60] [--runs 3] [--apart] [--no-attack] [--no-strangers]
 *                         [--kinds lists,arrays]
 *
 * Goals: p99 of `status`, `submit` and `jobs` below 1 s; front end below 400 MB; three gangs within 2 % of a
 * third each; no process of the attacker's jobs on a CPU of another job. The attacker's clients are ordinary
 * processes. Like any login that uses a CPU of the gangs, they take time from everybody; the output says how
 * much. With `--apart` the first CPU is reserved for logins and the scheduler, as with `AllowedCPUs=` of
 * user.slice, and the gangs have the others.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Scheduler, sleep } from "../attack/scheduler.ts";
import { Stage } from "../attack/stage.ts";
import { cpuTicks, pidsOfJob, TICKS_PER_S, Watch } from "./hostile-watch.ts";
import { figure, printTable } from "./measure.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    runs: { type: "string", default: "3" },
    apart: { type: "boolean", default: false },
    "no-attack": { type: "boolean", default: false },
    kinds: { type: "string" },
    "no-strangers": { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const NOBODY = { user: "nobody", uid: 65534, gid: 65534, home: "/" };
const ENDED_JOBS = 100_000;
const PER_ARRAY = 10_000;
const STRANGERS = 4500;
const GANGS = 3;
const GOAL_P99_MS = 300;
/** Command prefix for logins and the scheduler. */
const ASIDE = values.apart ? ["taskset", "-c", "0"] : [];
/** Spinners that try to leave their CPUs. */
const ATTACKERS_JOB =
  "for i in 1 2 3 4 5; do (while :; do :; done) & done; while :; do for p in $(jobs -p); do taskset -pc 0-1023 $p; done; sleep 0.1; done";

const stage = await Stage.open({ isShort: false, seed: 1 });
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(name, () => void stage.close().finally(() => process.exit(130)));
}
try {
  if (!stage.hasAccounts)
    throw new Error("Cannot measure without accounts: expected root, useradd and userdel");
  for (let run = 1; run <= Number(values.runs); run++) {
    await measure(run);
    await stage.clear();
  }
} finally {
  await stage.close();
}
process.exit();

async function measure(run: number): Promise<void> {
  const { ann, bob, eve } = stage.users;
  const cpusOfGangs = Array.from({ length: availableParallelism() - 1 }, (_, i) => i + 1);
  const config = { maxRows: GANGS + 1, ...(values.apart && { cpus: cpusOfGangs }) };
  const scheduler = await stage.serve({ http: true, config });
  if (values.apart) {
    for (const pid of [scheduler.frontEndPid, await scheduler.conductorPid()])
      spawnSync("taskset", ["-a", "-c", "-p", "0", String(pid)]);
  }
  const { cpus } = await scheduler.status();
  await fillHistory(scheduler);
  const spin = `for i in $(seq ${cpus - 1}); do (while :; do :; done) & done; while :; do :; done`;
  const gangs: number[] = [];
  for (let i = 0; i < GANGS; i++) gangs.push(await scheduler.submit(bob, spin, { tasks: cpus }));
  for (const gang of gangs) await scheduler.running(gang);
  const attackers = await scheduler.submit(eve, ATTACKERS_JOB);
  await scheduler.running(attackers);
  const { cpus: attackersCpus } = await scheduler.job(attackers);
  // From here on this process sends no requests: it could be locked out like any other client.
  if (!values["no-attack"]) startAttack(scheduler);
  await sleep(2000);
  const load = loadavg()[0] ?? 0;
  const pidsOf = gangs.map((gang) => pidsOfJob(gang, bob.uid));
  const before = pidsOf.map(cpuTicks);
  const watch = new Watch(scheduler, pidsOfJob(attackers, eve.uid), attackersCpus);
  const token = join(scheduler.folder, "run", "tokens", String(ann.uid));
  const victim = await stage.run(ann, [
    ...ASIDE,
    process.execPath,
    stage.program("victim.ts"),
    scheduler.socketOf(ann),
    token,
    String(seconds),
  ]);
  const ticks = pidsOf.map((pids, i) => cpuTicks(pids) - before[i]);
  const { mostBytes, outside, looks } = watch.stop();
  const { tookMs, failed } = JSON.parse(victim.stdout) as {
    tookMs: Record<string, number[]>;
    failed: object;
  };
  console.log(
    `\nRun ${run}: ${seconds} s, ${cpus} CPUs, load ${load.toFixed(1)} before and ${loadavg()[0]?.toFixed(1)} after (${availableParallelism()} CPUs); failed: ${JSON.stringify(failed)}`,
  );
  printTable(
    ["another user's", "answers", "p50", "p99", "max"],
    Object.entries(tookMs).map(([name, ms]) => {
      const sorted = ms.toSorted((a, b) => a - b);
      const at = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
      figure(`another user's ${name} under attack: p99`, at(0.99), "ms", GOAL_P99_MS);
      return [name, String(ms.length), ...[at(0.5), at(0.99), at(1)].map((one) => `${one.toFixed(0)} ms`)];
    }),
  );
  const sum = ticks.reduce((a, b) => a + b, 0);
  const shares = ticks.map((one) => (100 * one * GANGS) / sum - 100);
  console.log(
    `gangs: ${ticks.map((one) => (one / TICKS_PER_S).toFixed(1)).join(", ")} s of the ${((seconds * cpus) / (GANGS + 1)).toFixed(0)} s of CPU in their slots, off a third by ${shares.map((one) => `${one.toFixed(2)} %`).join(", ")}`,
  );
  console.log(
    `front end: at most ${(mostBytes / 1e6).toFixed(0)} MB; attacker's job: ${outside} of ${looks} samples outside its CPUs`,
  );
}

function startAttack(scheduler: Scheduler): void {
  const { eve } = stage.users;
  const { port } = scheduler.port as { port: number };
  const token = join(scheduler.folder, "run", "tokens", String(eve.uid));
  const words = [
    ...ASIDE,
    process.execPath,
    stage.program("hostile.ts"),
    scheduler.socket,
    token,
    String(port),
  ];
  if (values.kinds !== undefined) words.push(values.kinds);
  stage.start(eve, words, { stdio: "ignore" });
  if (values["no-strangers"]) return;
  for (const address of [scheduler.socket, String(port)]) {
    const flood = [
      ...ASIDE,
      process.execPath,
      stage.program("connections.ts"),
      address,
      String(STRANGERS),
      "half",
    ];
    stage.start(NOBODY, ["bash", "-c", 'ulimit -n 8192; exec "$@"', "bash", ...flood], { stdio: "ignore" });
  }
}

/** Makes as many ended jobs of the attacker as are kept by default. */
async function fillHistory(scheduler: Scheduler): Promise<void> {
  const { eve } = stage.users;
  const failing = await scheduler.submit(eve, "false");
  await scheduler.ended(failing);
  for (let i = 0; i < ENDED_JOBS / PER_ARRAY; i++) {
    const after = [{ job: failing, ok: true }];
    const { status, text } = await scheduler.post(eve, [{ array: `0-${PER_ARRAY - 1}`, after }]);
    if (status !== 201)
      console.log(`A submit of the attacker's was refused with ${status}: ${text.slice(0, 200)}`);
  }
}
