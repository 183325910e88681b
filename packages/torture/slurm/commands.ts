/**
 * The commands of Slurm, as far as Tutti calls them, with the words and forms of Slurm 22.05
 * (packages/slurm/formats/recorded). A call that the model does not know is an error that says so.
 */
import { complain, readAll, STEP, write } from "../shell/io.ts";
import type { Program, Sys, Wait } from "../world/contract.ts";
import type { SimulatedMachine } from "../world/kernel/machine.ts";
import { expandHosts, joinHosts } from "./hosts.ts";
import type { Job, SimulatedSlurm } from "./slurm.ts";
import { Srun } from "./srun.ts";

type Command = (slurm: SimulatedSlurm, sys: Sys, words: readonly string[]) => Generator<Wait, number>;

const VERSION = "22.05.8";
const MEMORY_MIB = 16_384;
/** Unix time of the world's beginning, as the controller's clock has it. */
const AWAY = "Unable to contact slurm controller (connect failure)";
const INVALID = "slurm_load_jobs error: Invalid job id specified";

/** Puts Slurm's commands on a machine. */
export function installSlurm(slurm: SimulatedSlurm, machine: SimulatedMachine, unixMs: () => number): void {
  const commands: Readonly<Record<string, Command>> = {
    sbatch,
    scancel,
    scontrol,
    sinfo,
    squeue: (...given) => squeue(unixMs, ...given),
  };
  for (const [name, command] of Object.entries(commands)) {
    const program: Program = function* (sys) {
      yield STEP;
      return yield* command(slurm, sys, sys.self.argv.slice(1));
    };
    machine.install(`/usr/bin/${name}`, program);
  }
  machine.installBody("/usr/bin/srun", (process) => new Srun(slurm, process));
}

/** The way to the controller and back. @returns false if nobody has answered */
function* reach(slurm: SimulatedSlurm, sys: Sys, said: string): Generator<Wait, boolean> {
  yield { for: "time", us: sys.random.between(3000, 20_000) };
  if (slurm.trouble === "slow") yield { for: "time", us: sys.random.between(1e6, 40e6) };
  if (slurm.answers(sys.machine as SimulatedMachine)) return true;
  yield { for: "time", us: sys.random.between(1e6, 9e6) };
  yield* complain(sys, `${said}: ${AWAY}`);
  return false;
}

/** The answer, which may be lost: then the command hangs. */
function* answer(slurm: SimulatedSlurm, sys: Sys, text: string): Generator<Wait, number> {
  if (slurm.trouble === "mute") yield { for: "time", us: 60e6 };
  yield* write(sys, 1, text);
  return 0;
}

function* unknown(sys: Sys): Generator<Wait, number> {
  yield* complain(sys, `the model of Slurm does not know: ${sys.self.argv.join(" ")}`);
  return 1;
}

function optionsOf(words: readonly string[]): ReadonlyMap<string, string> {
  const options = words.filter((word) => word.startsWith("--"));
  return new Map(options.map((word) => [/^--([^=]+)/.exec(word)![1], word.split("=").slice(1).join("=")]));
}

function* sbatch(slurm: SimulatedSlurm, sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const options = optionsOf(words);
  const script = yield* readAll(sys, 0);
  if (!(yield* reach(slurm, sys, "sbatch: error: Batch job submission failed"))) return 1;
  const count = Number(options.get("nodes"));
  if (!(count <= slurm.nodes.length)) {
    yield* complain(
      sys,
      "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    );
    return 1;
  }
  const { id } = slurm.submit({
    ...{ uid: sys.self.uid, count, minutes: Number(options.get("time")), script },
    ...{ comment: options.get("comment") ?? "", output: options.get("output") ?? "/dev/null" },
    environment: sys.self.environment,
  });
  return yield* answer(slurm, sys, `${id}\n`);
}

function* scancel(slurm: SimulatedSlurm, sys: Sys, [what = ""]: readonly string[]): Generator<Wait, number> {
  if (!(yield* reach(slurm, sys, "scancel: error"))) return 1;
  const [, job, step] = /^(\d+)(\.\d+)?$/.exec(what) ?? [];
  if (job === undefined) return yield* unknown(sys);
  const found = step === undefined ? undefined : slurm.jobs.get(Number(job))?.steps.get(what);
  if (found !== undefined) slurm.killStep(found);
  else if (step !== undefined || !slurm.cancel(Number(job))) {
    const isKnown = slurm.jobs.has(Number(job));
    const why = isKnown ? "Job/step already completing or completed" : "Invalid job id specified";
    yield* complain(sys, `scancel: error: Kill job error on job id ${what}: ${why}`);
    return isKnown ? 0 : 1;
  }
  return yield* answer(slurm, sys, "");
}

function* squeue(
  unixMs: () => number,
  slurm: SimulatedSlurm,
  sys: Sys,
  words: readonly string[],
): Generator<Wait, number> {
  const options = optionsOf(words);
  if (options.has("version")) return yield* answer(slurm, sys, `slurm ${VERSION}\n`);
  const fields = (options.get("Format") ?? "")
    .split(",")
    .map((field) => /^(\w+):\|?$/.exec(field)?.[1] ?? "");
  if (!(yield* reach(slurm, sys, "slurm_load_jobs error"))) return 1;
  const id = options.get("jobs");
  const uid = options.get("user");
  if (id !== undefined && !slurm.jobs.has(Number(id))) {
    yield* complain(sys, INVALID);
    return 1;
  }
  const zeroS = (unixMs() * 1000 - slurm.nowUs) / 1e6;
  const all = [...slurm.jobs.values()].filter(
    (job) => (id === undefined || job.id === Number(id)) && (uid === undefined || job.uid === Number(uid)),
  );
  const lines = all.map((job) => {
    const values = valuesOf(slurm, job, zeroS);
    return `${fields.map((field) => values[field] ?? "?").join("|")}\n`;
  });
  return yield* answer(slurm, sys, lines.join(""));
}

function valuesOf(slurm: SimulatedSlurm, job: Job, zeroS: number): Readonly<Record<string, string>> {
  const hasBegun = job.startedUs > 0;
  const time = (us: number) => String(Math.floor(zeroS + us / 1e6));
  const passedUs = (hasBegun ? (job.endedUs || slurm.nowUs) - job.startedUs : 0) / 1e6;
  return {
    JobID: String(job.id),
    State: job.state,
    Reason: job.state !== "PENDING" ? "None" : job.dueUs > slurm.nowUs ? "None" : "Resources",
    RestartCnt: "0",
    StartTime: hasBegun ? time(job.startedUs) : "N/A",
    EligibleTime: time(job.submittedUs),
    TimeLeft: timeText(Math.floor(job.minutes * 60 - passedUs)),
    BatchHost: hasBegun ? job.batchHost : "n/a",
    NodeList: joinHosts(job.nodes),
    Comment: job.comment || "(null)",
  };
}

/** As in 7:59:48 and 1-00:00:00. */
function timeText(s: number): string {
  if (s < 0) return "0:00";
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const rest = `${two((s % 3600) / 60)}:${two(s % 60)}`;
  const hours = Math.floor(s / 3600);
  if (hours >= 24) return `${Math.floor(hours / 24)}-${two(hours % 24)}:${rest}`;
  return hours > 0 ? `${hours}:${rest}` : rest.replace(/^0/, "");
}

function* sinfo(slurm: SimulatedSlurm, sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const options = optionsOf(words);
  if (!(yield* reach(slurm, sys, "slurm_load_partitions"))) return 1;
  const names = options.has("nodes") ? expandHosts(options.get("nodes")!) : undefined;
  const lines = slurm.nodes
    .filter(({ name }) => names === undefined || names.includes(name))
    .map((node) => {
      const isQuiet = node.silentSinceUs >= 0;
      const state = node.isDown ? "down" : slurm.jobOn(node.name) === undefined ? "idle" : "allocated";
      const values: Readonly<Record<string, string>> = {
        N: node.name,
        T: `${state}${isQuiet ? "*" : ""}`,
        m: String(MEMORY_MIB),
        c: String(node.machine.cpus),
        E: node.isDown ? "Not responding" : "none",
      };
      return `${(options.get("format") ?? "").replace(/%(.)/g, (_, letter) => values[letter] ?? "?")}\n`;
    });
  return yield* answer(slurm, sys, lines.join(""));
}

function* scontrol(slurm: SimulatedSlurm, sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const [verb, what, which = ""] = words.filter((word) => !word.startsWith("--"));
  // Needs no controller.
  if (verb === "show" && what === "hostnames") {
    yield* write(
      sys,
      1,
      expandHosts(which)
        .map((name) => `${name}\n`)
        .join(""),
    );
    return 0;
  }
  if (!(yield* reach(slurm, sys, `slurm_load_${what === "job" ? "jobs" : "ctl_conf"} error`))) return 1;
  if (verb === "show" && what === "config") {
    const lines = [
      "Configuration data as of 2026-01-01T00:00:00",
      "ClusterName             = world",
      "KillWait                = 30 sec",
      `SLURM_VERSION           = ${VERSION}`,
      "TaskPlugin              = task/affinity",
      "\nSlurmctld(primary) at ctl is UP",
    ];
    return yield* answer(slurm, sys, lines.map((line) => `${line}\n`).join(""));
  }
  if (verb !== "show" || what !== "job") return yield* unknown(sys);
  const job = slurm.jobs.get(Number(which));
  if (job === undefined) {
    yield* complain(sys, INVALID);
    return 1;
  }
  const parts = job.nodes.map((name) => {
    const last = slurm.node(name)!.machine.cpus - 1;
    return `   Nodes=${name} CPU_IDs=${last === 0 ? "0" : `0-${last}`} Mem=0 GRES=`;
  });
  const text = `JobId=${job.id} JobName=tutti JobState=${job.state} BatchHost=${job.batchHost} NumNodes=${job.nodes.length}${parts.join("")} Comment=${job.comment} Power= \n`;
  return yield* answer(slurm, sys, text);
}
