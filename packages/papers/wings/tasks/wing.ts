/**
 * The model `tasks`: gangs whose tasks block, and what their processors do meanwhile (Silva and Scherson
 * 1999).
 */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { choice, integer, number } from "@tutti/kernel/core/parameters.ts";
import type {
  GangPolicyDefinition,
  ParameterSpec,
  ParameterValues,
  PolicyChoice,
} from "@tutti/kernel/core/policy.ts";
import { sumOf } from "@tutti/kernel/metrics/compensated-sum.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { type Measure, measure, type Wing, type WingRun } from "../wing.ts";
import { TaskChecker } from "./checker.ts";
import type { LocalSchedulerDefinition, TaskPrograms, TasksOptions, TasksResult } from "./contract.ts";
import { grades, idle } from "./local-task-scheduler.ts";
import { TASKS_RULES } from "./rules.ts";
import { simulateTasks } from "./simulate.ts";
import { type JobKind, makeTaskPrograms } from "./task-programs.ts";

const MIXTURE: readonly JobKind[] = ["mixed", "I/O", "computation", "communication", "synchronisation"];
const GANGS = POLICIES.filter((policy) => policy.sharing === "time");
/** Service times below this count as this much in bounded slowdowns; the default is the same as elsewhere. */
const BOUND_MS = 10_000;

const PARAMETERS: readonly ParameterSpec[] = [
  integer(
    "processors",
    { min: 1, max: 65_536, default: 32 },
    "processors of the machine; ranges of sizes that reach above this number are left out",
  ),
  number(
    "hours",
    { min: 0.001, max: 10_000, default: 10, unit: "h" },
    "number of hours in which jobs arrive; then the run ends",
  ),
  choice(
    "kind",
    [...MIXTURE, "fork-join"],
    "what the tasks of a job do between computations; mixed: equal shares of jobs of all kinds but fork-join; fork-join: the first task creates the others",
  ),
  choice(
    "jobs",
    ["rigid", "moldable"],
    "whether a job keeps its processors until it ends (rigid), or gets and gives back processors as its tasks are created and end (moldable; place=any only)",
  ),
  number(
    "locals",
    { min: 0, max: 1e6, default: 0 },
    "local tasks that arrive at each processor per hour; they count as jobs",
  ),
  seconds("localWork", 60, "mean service time of a local task"),
  number("interarrival", { min: 1e-6, max: 1e6, default: 0.6 }, "factor on the times between arrivals"),
  number("work", { min: 1e-6, max: 1e6, default: 8 }, "factor on the service times"),
  seconds("compute", 9, "mean length of a computation"),
  seconds("io", 20, "mean length of an I/O"),
  seconds("latency", 1.5, "mean time that a message takes to arrive"),
  number(
    "spread",
    { min: 0, max: 1, default: 0.5 },
    "half width of the uniform distribution of these lengths, as a share of the mean",
  ),
  seconds("slot", 30, "time between two clock signals"),
  number(
    "switch",
    { min: 0, max: 1e6, default: 0, unit: "s" },
    "time that a processor loses when it changes to another task; shorter than the slot",
  ),
  choice(
    "returns",
    ["yes", "no"],
    "whether the task that owns the slot takes its processor back as soon as it can run again (as in the paper)",
  ),
  choice(
    "gang",
    GANGS.map(({ name }) => name),
    "the gang policy that fills the matrix",
  ),
  choice(
    "fit",
    ["first", "best"],
    "gang=gang: which row with room an arriving job takes: the first one, or the one with the fewest idle processors left",
  ),
  choice(
    "place",
    ["any", "adjacent"],
    "gang=gang: which idle processors of a row an arriving job may take; any: as in the paper",
  ),
];

function seconds(name: string, value: number, description: string): ParameterSpec {
  return number(name, { min: 0.001, max: 1e6, default: value, unit: "s" }, description);
}

const WORKLOAD_RULES = [
  "workload: hyper-Erlang arrivals and service times by ranges of size, as fitted for the model jann; a job's tasks run rounds until the job has had its service time; a round is a computation, then what the job's kind blocks for",
  "times are rounded to whole milliseconds; the run ends when the arrivals end, and only jobs that have ended by then count",
  "bounded slowdown: response ÷ the time that the job takes on processors of its own; if that time is below 10 s, 10 s count instead",
];

export const tasks: Wing<LocalSchedulerDefinition> = {
  name: "tasks",
  title: "Tasks on a processor",
  summary:
    "Gangs whose tasks block for I/O, messages and barriers, and what their processors do in the meantime.",
  machine:
    "the tasks of each processor while the task that owns the slot waits for I/O, a message or a barrier",
  rules: [...WORKLOAD_RULES, ...TASKS_RULES],
  source: "Silva and Scherson 1999, sections 2 and 4",
  parameters: PARAMETERS,
  policies: [idle, grades],
  simulate: simulateWing,
};

function simulateWing(
  parameters: ParameterValues,
  local: PolicyChoice<LocalSchedulerDefinition>,
  seed: number,
  isAudited: boolean,
): WingRun {
  const programs = programsOf(parameters, seed);
  const options = optionsOf(parameters, local);
  const checker = isAudited ? new TaskChecker(programs, options) : undefined;
  const result = simulateTasks(programs, { ...options, observer: checker });
  checker?.check(result);
  const { submitMs, size, dedicatedMs, op, operand, latencyMs } = programs;
  return {
    jobs: programs.jobCount,
    processors: options.processors,
    workloadHash: hashColumns(submitMs, size, dedicatedMs, Int32Array.from(op), operand, latencyMs),
    scheduleHash: hashColumns(result.endMs),
    left: 0,
    measures: measuresOf(programs, result, options.processors),
    checked: checker === undefined ? undefined : `${checker.endedTasks} tasks to their end`,
  };
}

/** The jobs that the parameters describe. */
function programsOf(parameters: ParameterValues, seed: number): TaskPrograms {
  const times = timesOf(parameters);
  const kind = parameters.kind as JobKind;
  return makeTaskPrograms(kind, {
    seed,
    untilMs: untilMs(parameters),
    maxSize: Number(parameters.processors),
    interarrivalFactor: Number(parameters.interarrival),
    serviceFactor: Number(parameters.work),
    locals: { perHour: Number(parameters.locals), workMs: 1000 * Number(parameters.localWork) },
    kinds: (kind === "mixed" ? MIXTURE : [kind]).map((drawn) => ({ kind: drawn, weight: 1 })),
    times: { "I/O": times, communication: times, synchronisation: times, mixed: times },
  });
}

function timesOf({ compute, io, latency, spread }: ParameterValues) {
  const duration = (meanS: string | number | undefined) => ({
    meanMs: 1000 * Number(meanS),
    spread: Number(spread),
  });
  return { compute: duration(compute), io: duration(io), latency: duration(latency) };
}

function untilMs({ hours }: ParameterValues): number {
  return Math.round(3_600_000 * Number(hours));
}

function optionsOf(
  parameters: ParameterValues,
  local: PolicyChoice<LocalSchedulerDefinition>,
): Omit<TasksOptions, "observer"> {
  const slotMs = Math.round(1000 * Number(parameters.slot));
  const switchMs = Math.round(1000 * Number(parameters.switch));
  if (parameters.kind === "fork-join" && parameters.jobs === "rigid") {
    throw new ModelError(
      "Cannot use kind=fork-join with jobs=rigid: these jobs create tasks, expected jobs=moldable",
    );
  }
  if (switchMs >= slotMs) {
    throw new ModelError(
      `Cannot use switch=${parameters.switch} with slot=${parameters.slot}: expected a switch shorter than the slot`,
    );
  }
  return {
    processors: Number(parameters.processors),
    slotMs,
    switchMs,
    ownReturns: parameters.returns === "yes",
    moldable: parameters.jobs === "moldable",
    gang: gangOf(parameters),
    local,
    recordAtMs: [untilMs(parameters)],
  };
}

function gangOf(parameters: ParameterValues): PolicyChoice<GangPolicyDefinition> {
  const definition = GANGS.find(({ name }) => name === parameters.gang) as GangPolicyDefinition;
  const has = (wanted: string) => definition.parameters.some(({ name }) => name === wanted);
  const settings = ["fit", "place"].filter(has).map((name) => `${name}=${parameters[name]}`);
  return makeChoice(definition, settings);
}

function measuresOf(
  { submitMs, dedicatedMs, jobCount }: TaskPrograms,
  { endMs, totals, meanRows, maxRows }: TasksResult,
  processors: number,
): Measure[] {
  const ended = Array.from({ length: jobCount }, (_, job) => job).filter((job) => !Number.isNaN(endMs[job]));
  const responsesMs = ended.map((job) => endMs[job] - submitMs[job]);
  const response = sumOf(responsesMs.map((responseMs) => responseMs / 1000));
  const slowdown = sumOf(
    responsesMs.map((responseMs, i) => Math.max(1, responseMs / Math.max(dedicatedMs[ended[i]], BOUND_MS))),
  );
  const { timeMs, jobsCompleted, busyMs, switchMs, ioMs, messageMs, barrierMs, emptyMs } = totals[0];
  const share = (name: string, title: string, partMs: number, isCompared = false) =>
    measure(name, title, "share", partMs / (processors * timeMs), isCompared);
  return [
    measure("ended", "jobs ended", "1", jobsCompleted, true),
    measure("response", "mean response", "s", response / jobsCompleted, true),
    measure("bounded-slowdown", "bounded slowdown", "1", slowdown / jobsCompleted, true),
    share("busy", "processors computing", busyMs, true),
    share("idle", "processors idle", ioMs + messageMs + barrierMs + emptyMs, true),
    share("idle-io", "idle, own task in I/O", ioMs),
    share("idle-message", "idle, own task waiting for a message", messageMs),
    share("idle-barrier", "idle, own task at a barrier", barrierMs),
    share("idle-empty", "idle, no own task", emptyMs),
    share("switch", "lost to switches", switchMs),
    measure("mean-rows", "rows of the matrix, on average", "1", meanRows),
    measure("max-rows", "rows of the matrix, at most", "1", maxRows),
  ];
}
