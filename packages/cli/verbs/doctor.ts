/**
 * `tutti doctor`: shows how this machine can run gangs, how fast it switches between them, and what to
 * expect.
 */

import { plural } from "@tutti/kernel/core/format.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { type Diagnosis, diagnose, type Spread } from "@tutti/live/conductor/doctor.ts";
import type { HostDiagnosis } from "@tutti/ssh/hosts-doctor.ts";
import { bytesText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, Option } from "commander";
import { ExitCode, UsageError } from "../errors.ts";
import { gpuFacts } from "../live/gpu-facts.ts";
import { type GpuFacts, gpuText } from "../text/gpu-text.ts";
import { bold, bullet, factLines, writeOut } from "../text/text.ts";

/** Lateness in ms above which the advice mentions a late clock. */
const LATE_MS = 5;

const FREEZERS = {
  cgroup2: "control groups, version 2: no process escapes, and jobs do not notice",
  cgroup1: "control groups, version 1: no process escapes, and jobs do not notice",
  signals:
    "SIGSTOP and SIGCONT: need no privileges, but jobs notice them, and a process that hides well escapes",
};
const PINNING = {
  cpuset: "by cpuset: a job cannot undo it",
  taskset: "by taskset: a job could undo it",
  none: "not possible: taskset is missing",
};
const CONCURRENT = {
  "cpu-group": "by the weights of cpu control groups",
  "idle-class":
    "by SCHED_IDLE, because no cpu control group can be used; costs about 1 ms of CPU time per process at each switch, so use slots of 500 ms or longer",
  autogroup:
    "by the nice values of sessions, because no cpu control group can be used, and SCHED_IDLE has no effect while the kernel groups processes by session",
  none: "not possible here: no cpu control group can be used, and nothing else has an effect without more privileges",
};
const KEPT = "enforced by the kernel";
const USERS = { all: "jobs run as the user who submits them", own: "jobs run as you" };

interface DoctorOptions {
  readonly json?: boolean;
  readonly on: "local" | "slurm" | "ssh";
  readonly hosts?: string;
}

export function configure(command: Command): void {
  command
    .argument(
      "[options...]",
      "after --: options of sbatch with --on slurm, such as --partition=long, or of ssh with --on ssh, such as -F config",
    )
    .option("--json", "print as JSON")
    .addOption(
      new Option(
        "--on <where>",
        "what to examine: this machine, a cluster with Slurm, or hosts that ssh reaches",
      )
        .choices(["local", "slurm", "ssh"])
        .default("local"),
    )
    .option("--hosts <file>", "with --on ssh: the file of hosts")
    .addHelpText(
      "after",
      "\nMeasures for about three seconds. Other work on the machine makes the numbers\nworse. On Slurm, a short job on one node is started, examined and cancelled. On\nssh, Node is carried to each host and removed again.",
    )
    .action(async (words: readonly string[], options: DoctorOptions) => {
      if (options.hosts !== undefined && options.on !== "ssh")
        throw new UsageError("Cannot use --hosts without --on ssh: add --on ssh");
      if (options.on === "slurm") return examineSite(words, options);
      if (options.on === "ssh") return examineHosts(words, options);
      if (words.length > 0) throw new UsageError(`Cannot use "${words[0]}": expected --on slurm before it`);
      const diagnosis = await diagnose();
      const gpus = await gpuFacts();
      const advice = adviceFor(diagnosis);
      writeOut(
        options.json
          ? jsonDocument("tutti.doctor/1", { ...diagnosis, gpus, advice })
          : text(diagnosis, gpus, advice),
      );
    });
}

async function examineHosts(words: readonly string[], { json, hosts }: DoctorOptions): Promise<void> {
  if (hosts === undefined)
    throw new UsageError("Cannot examine hosts without their names: expected --hosts with a file of hosts");
  const { diagnoseHosts } = await import("@tutti/ssh/hosts-doctor.ts");
  const diagnoses = await diagnoseHosts({ hosts, words });
  writeOut(json ? jsonDocument("tutti.doctor-ssh/1", { hosts: diagnoses }) : hostsText(diagnoses));
  if (diagnoses.some(({ failure }) => failure !== undefined)) process.exitCode = ExitCode.failed;
}

function hostsText(diagnoses: readonly HostDiagnosis[]): string {
  const lines = diagnoses.map(({ node, failure, cpus = [], ...facts }) => {
    if (failure !== undefined) return [node, visibleLine(`cannot be used: ${failure}`)] as const;
    const { user, kernel, nodeVersion, memoryBytes = 0, clockMs = 0 } = facts;
    const tenths = Math.round(clockMs / 100);
    const clock = `wall clock ${tenths < 0 ? "−" : "+"}${(Math.abs(tenths) / 10).toFixed(1)} s`;
    const has = `${plural(cpus.length, "CPU")} (${cpusText(cpus)}), ${bytesText(memoryBytes)}`;
    return [
      node,
      visibleLine(`jobs as ${user}; ${has}; Linux ${kernel}, Node ${nodeVersion}; ${clock}`),
    ] as const;
  });
  return [...factLines(Object.fromEntries(lines)), ""].join("\n");
}

async function examineSite(words: readonly string[], { json }: DoctorOptions): Promise<void> {
  const [{ checkSbatchOptions }, { diagnoseSite }, { siteAdvice, siteDiagnosisText }] = await Promise.all([
    import("@tutti/slurm/sbatch-options.ts"),
    import("@tutti/slurm/site-doctor.ts"),
    import("../text/site-diagnosis-text.ts"),
  ]);
  checkSbatchOptions(words);
  const site = await diagnoseSite(words);
  const advice = siteAdvice(site);
  writeOut(
    json ? jsonDocument("tutti.doctor-slurm/1", { ...site, advice }) : siteDiagnosisText(site, advice),
  );
}

function text(diagnosis: Diagnosis, gpus: GpuFacts, advice: readonly string[]): string {
  const { switching, clock } = diagnosis;
  const others = diagnosis.freezers.filter((kind) => kind !== diagnosis.freezer);
  const facts = {
    "stopping gangs": FREEZERS[diagnosis.freezer],
    "  works too": others.length === 0 ? "nothing" : others.join(", "),
    CPUs: `${diagnosis.cpus}, given to gangs ${PINNING[diagnosis.pinning]}`,
    cores: coresText(diagnosis.cores),
    GPUs: gpuText(gpus),
    "memory limits": diagnosis.memoryLimit ? KEPT : "watched once a second: no memory control group",
    "process limits": diagnosis.processLimit ? KEPT : "not possible here: no pids control group",
    "concurrent mode": CONCURRENT[diagnosis.concurrentMode],
    users: USERS[diagnosis.users],
    clock: `${diagnosis.priority === "none" ? "no" : diagnosis.priority} priority; late by ${ms(clock.lateP50Ms)} ms at the median, ${ms(clock.lateP99Ms)} ms at p99, ${ms(clock.lateMaxMs)} ms at most`,
    stop: `${us(switching.stoppedUs)} until ${switching.processes} busy processes had stopped; the call took ${us(switching.stopCallUs)}`,
    continue: `${us(switching.runsUs)} until the first process ran; the call took ${us(switching.continueCallUs)}`,
    load: `${diagnosis.load.toFixed(1)} running processes on ${diagnosis.cpus} CPUs before the measurement`,
  };
  return [...factLines(facts), "", bold("Advice"), ...advice.map(bullet), ""].join("\n");
}

function coresText({ sockets, cores, cpus }: Diagnosis["cores"]): string {
  const threads = cpus === cores ? "" : `, ${cpus} CPUs: jobs get one thread of each core (smt: all)`;
  return `${cores} on ${sockets} ${sockets === 1 ? "socket" : "sockets"}${threads}`;
}

/** Advice in plain words, the most important first. */
function adviceFor(diagnosis: Diagnosis): string[] {
  const { freezer, clock, switching, load, cpus } = diagnosis;
  const advice: string[] = [];
  if (freezer === "signals") {
    advice.push(
      "start the scheduler as root, or by systemd with Delegate=yes: then control groups stop the gangs, and no job can escape",
    );
  }
  const lostMs = clock.lateP50Ms + switching.runsUs.p50 / 1000;
  const slotMs = [20, 50, 100, 200, 500, 1000].find((length) => lostMs / length <= 0.02) ?? 1000;
  advice.push(
    `slots of ${slotMs} ms and longer lose at most about 2 % to switching (lateness plus time until the first process runs: ${ms(lostMs)} ms at the median)`,
  );
  if (load > cpus) {
    advice.push(
      "the machine is busy with other work, which also takes CPU time from gangs during their slots; measure again when it is quiet",
    );
  } else if (clock.lateP99Ms > LATE_MS || switching.missed > 0) {
    advice.push(
      "the clock is sometimes late although the machine is quiet; perhaps it is a virtual machine that shares its CPUs",
    );
  }
  if (diagnosis.priority === "none") {
    advice.push(
      "the conductor gets no priority over the gangs that it continues; as root or with CAP_SYS_NICE, its clock is more exact",
    );
  }
  if (!diagnosis.memoryLimit)
    advice.push("memory limits (--mem) count for scheduling, but nothing enforces them");
  if (diagnosis.concurrentMode === "none") {
    advice.push(
      "tutti serve --mode concurrent is refused here; it needs root, or CAP_SYS_NICE (systemd: AmbientCapabilities=) with a kernel that does not group processes by session (sysctl kernel.sched_autogroup_enabled=0)",
    );
  }
  if (diagnosis.users === "own")
    advice.push("to serve several users of this machine, start the scheduler as root");
  return advice;
}

function us({ p50, p95 }: Spread): string {
  return `${p50.toFixed(0)} µs (p95 ${p95.toFixed(0)})`;
}

function ms(value: number): string {
  return value.toFixed(2);
}
