/**
 * One run of the kill loop: prints what happens to standard error, and the counts as JSON.
 *
 *   npx node test/kill-loop/main.ts --seed 7 --faults 50 --mode shared --policy easy --only clock
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { Random } from "@tutti/kernel/core/random.ts";
import { canMakeAccounts, makeAccount, removeAccounts, resultOf, spawnAs } from "../accounts.ts";
import { POLICIES } from "./faults.ts";
import { runKillLoop } from "./run.ts";
import { MODES, type Settings } from "./scheduler.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: "20" },
    mode: { type: "string" },
    policy: { type: "string" },
    only: { type: "string", default: "" },
  },
});
const seed = Number(values.seed);
const settings = draw();
// An ordinary user runs all of it: the scheduler, its jobs, and this.
if (process.getuid!() === 0 && settings.mode === "user") await runAsUser();
else await runHere();

function draw(): Settings {
  const random = new Random(seed, "settings");
  const modes = MODES.filter(isPossible);
  const drawn: Settings = {
    mode: modes[random.below(modes.length)],
    policy: POLICIES[random.below(POLICIES.length)],
    turns: random.below(4) === 0 ? "concurrent" : "gang",
  };
  const wanted = values.mode === undefined ? drawn.mode : modes.find((one) => one === values.mode);
  if (wanted === undefined)
    console.error(`Mode ${values.mode} is not possible here, so this is ${drawn.mode}`);
  const mode = wanted ?? drawn.mode;
  // Only root may change the priorities of others' jobs.
  return { mode, policy: values.policy ?? drawn.policy, turns: mode === "user" ? "gang" : drawn.turns };
}

function isPossible(mode: Settings["mode"]): boolean {
  if (process.getuid!() !== 0) return mode === "user";
  const canRead = () => spawnSync("test", ["-r", import.meta.filename], { uid: 65_534 }).status === 0;
  return mode === "private" || (canMakeAccounts && canRead());
}

async function runHere(): Promise<void> {
  const plan = { seed, faults: Number(values.faults), only: values.only };
  const counts = await runKillLoop(plan, settings, console.error);
  console.log(JSON.stringify(counts));
  process.exitCode = counts.problems.length === 0 ? 0 : 1;
}

async function runAsUser(): Promise<void> {
  const account = makeAccount("kill");
  try {
    const own = [process.execPath, import.meta.filename, ...process.argv.slice(2)] as const;
    const child = spawnAs(account, [...own, "--mode", "user", "--policy", settings.policy]);
    child.stderr!.pipe(process.stderr);
    const { status, stdout } = await resultOf(child);
    process.stdout.write(stdout);
    process.exitCode = status ?? 1;
  } finally {
    removeAccounts();
  }
}
