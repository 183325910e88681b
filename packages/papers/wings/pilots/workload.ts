/** Makes site and jobs: those of a log in any format of traces, or of the model of Lublin and Feitelson. */
import { InputError, ModelError } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { file, integer, number } from "@tutti/kernel/core/parameters.ts";
import { NONE, type ParameterSpec, type ParameterValues, setNumber } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { lublin } from "@tutti/kernel/workload/models/lublin.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { scaleToLoad } from "@tutti/kernel/workload/scale.ts";
import { detectFormat } from "@tutti/kernel/workload/traces/formats.ts";
import { requireJobs } from "@tutti/kernel/workload/traces/swf-rules.ts";
import type { WingFiles } from "../wing.ts";
import type { PilotSite, PilotsInstance } from "./contract.ts";
import { BEGIN_S } from "./machine.ts";

/** Of the model. */
const MODEL_JOBS = 1000;
const MODEL_NODES = 32;
const FACTOR = 5;

const seconds = (name: string, max: number, value: number, description: string) =>
  number(name, { min: 0, max, default: value, unit: "s" }, description);

/**
 * `wait` and `start` are as on the Slurm of the tests with nodes to spare: 2.5 to 3.1 s from sbatch until the
 * pilot runs; then 1.2 to 2.3 s until conductors listen, and 1.0 to 2.1 s until they answer.
 */
export const PILOTS_PARAMETERS: readonly ParameterSpec[] = [
  file("file", "a log in any format that `compare` reads, plain or gzip; none: jobs of the model lublin"),
  integer(
    "jobs",
    { min: 1, max: 100_000_000, default: NONE, noneFrom: 0 },
    `jobs of the log, from its beginning (none: all), or of the model (none: ${MODEL_JOBS})`,
  ),
  number(
    "load",
    { min: 0.001, max: 1000, default: NONE, noneFrom: 0 },
    "offered load of all nodes, reached by scaling the submit times; none: they stay as they are",
  ),
  number(
    "factor",
    { min: 1, max: 1000, default: FACTOR },
    "model: limits are uniform between the run time and its product with this factor",
  ),
  integer(
    "nodes",
    { min: 1, max: 1_000_000, default: NONE, noneFrom: 0 },
    `nodes of the site; none: as many as hold the processors of the log, or ${MODEL_NODES} for the model`,
  ),
  integer("cpus", { min: 1, max: 65_536, default: 4 }, "CPUs of a node"),
  seconds("wait", 1e6, 3, "from asking for a pilot until it runs, if its nodes are free"),
  seconds("start", BEGIN_S - 1, 3, "from then until jobs can have its nodes"),
  seconds("stop", 1e6, 60, "this long before its limit, a pilot goes back"),
  seconds("drain", 1e6, 300, "this long before its limit, a pilot begins to drain; longer than `stop`"),
];

/** The site and the jobs that the parameters describe. */
export function instanceOf(parameters: ParameterValues, seed: number, files: WingFiles = {}): PilotsInstance {
  const cpusPerNode = Number(parameters.cpus);
  const wanted = setNumber(parameters.nodes);
  const [stopBeforeS, drainS] = [Number(parameters.stop), Number(parameters.drain)];
  if (stopBeforeS >= drainS)
    throw new ModelError(`Cannot use stop=${stopBeforeS} with drain=${drainS}: expected less than ${drainS}`);
  const source =
    parameters.file === NONE
      ? modelJobs(parameters, (wanted ?? MODEL_NODES) * cpusPerNode, seed)
      : logJobs(parameters, files);
  const nodes = wanted ?? Math.ceil(processorsOf(source) / cpusPerNode);
  const site: PilotSite = {
    ...{ nodes, cpusPerNode, stopBeforeS, drainS },
    waitS: Number(parameters.wait),
    startS: Number(parameters.start),
  };
  const processors = nodes * cpusPerNode;
  const load = setNumber(parameters.load);
  const workload = load === undefined ? source : scaleToLoad(source, load, processors);
  return { site, jobs: requireFitting(prepare(workload, processors, DEFAULT_RULES)) };
}

function modelJobs({ jobs, factor }: ParameterValues, processors: number, seed: number): Workload {
  if (processors < 4)
    throw new ModelError(`Cannot make jobs for ${processors} processors: expected 4 or more (nodes × cpus)`);
  const settings = [`jobs=${setNumber(jobs) ?? MODEL_JOBS}`, `processors=${processors}`];
  const limits = ["estimates=factor", `estimateFactor=${factor}`];
  const { parameters } = makeChoice({ ...lublin, guarantees: () => ({}) }, [...settings, ...limits]);
  return lublin.generate(parameters, seed);
}

function logJobs({ file: path, jobs: most, factor }: ParameterValues, files: WingFiles): Workload {
  if (factor !== FACTOR)
    throw new ModelError(
      `Cannot use factor=${factor} with file=: it is for the model, and the log has limits of its own`,
    );
  const name = String(path);
  const bytes = new TextEncoder().encode(files[name]);
  const reader = detectFormat(bytes, name).open(name.replace(/^.*\//, ""), bytes.length);
  reader.push(bytes);
  const { name: shown, count, jobs, processors, diagnostics } = requireJobs(reader.end());
  const first = Math.min(count, setNumber(most) ?? count);
  return {
    ...{ name: shown, count: first, processors, diagnostics, trace: undefined, header: [] },
    jobs: {
      id: jobs.id.slice(0, first),
      submitS: jobs.submitS.slice(0, first),
      runS: jobs.runS.slice(0, first),
      size: jobs.size.slice(0, first),
      estimateS: jobs.estimateS.slice(0, first),
    },
  };
}

/** Those that the log states, or those of its largest job. */
function processorsOf({ processors, jobs }: Workload): number {
  return processors ?? jobs.size.reduce((most, size) => Math.max(most, size), 1);
}

function requireFitting(jobs: PilotsInstance["jobs"]): PilotsInstance["jobs"] {
  if (jobs.count > 0) return jobs;
  const { name } = jobs.workload;
  throw new InputError(
    `Cannot use ${name}: no job fits on ${jobs.processors} processors, expected more nodes or CPUs`,
  );
}
