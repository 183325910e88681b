/** Gives cells their jobs and policies. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Rules } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { type CellInputs, canonicalText, type MachineCell } from "./cell.ts";
import { applyJobChanges, generateJobs, type JobSource, machineSize } from "./jobs.ts";

/** Opens the sources and policies that a cell only names. */
export interface Environment {
  /** The jobs of a trace or a model. */
  open(jobs: string, seed: number, sizeFrom?: string): Workload | Promise<Workload>;
  policy(text: string): PolicyChoice | Promise<PolicyChoice>;
}

/** Models and registered policies: all that exists without files. */
export const WITHOUT_FILES: Environment = { open: generateJobs, policy: choosePolicy };

/** Jobs in memory, with their changes made. */
export interface OpenedJobs {
  readonly source: JobSource;
  readonly workload: Workload;
}

/** Maximum processors for gang policies, which keep a record of every processor, as their machine does. */
export const MAX_GANG_PROCESSORS = 2 ** 24;

/** Keeps only the jobs of the last source: cells of one source should be adjacent. */
export class RunInputs implements CellInputs {
  readonly #environment: Environment;
  readonly #opened: OpenedJobs | undefined;
  #made: { readonly text: string; readonly value: unknown } | undefined;
  readonly progress: CellInputs["progress"];

  constructor(environment: Environment, opened?: OpenedJobs, progress?: CellInputs["progress"]) {
    this.#environment = environment;
    this.#opened = opened;
    this.progress = progress;
  }

  async ready(cell: MachineCell) {
    const instance = await this.instance(cell);
    const choice = await this.#environment.policy(cell.policy);
    requireGangSize(instance, choice);
    return { instance, choice };
  }

  /** The jobs of a cell on its machine. */
  async instance({ source, processors, rules }: Omit<MachineCell, "policy">): Promise<Instance> {
    const key = [source, processors ?? null, rules];
    return this.once(key, async () => prepareJobs((await this.opened(source)).workload, processors, rules));
  }

  once<Made>(key: object, make: () => Made): Made {
    const text = canonicalText(key);
    if (this.#made?.text !== text) this.#made = { text, value: make() };
    return this.#made.value as Made;
  }

  /** The jobs of a source. @throws InputError if the source cannot be used */
  async opened(source: JobSource): Promise<OpenedJobs> {
    const opened = this.#opened;
    if (opened !== undefined && canonicalText(opened.source) === canonicalText(source)) return opened;
    return openJobs(source, this.#environment);
  }
}

/** @throws InputError if the source cannot be used */
export async function openJobs(source: JobSource, { open }: Pick<Environment, "open">): Promise<OpenedJobs> {
  return { source, workload: applyJobChanges(await open(source.jobs, source.seed, source.sizeFrom), source) };
}

/** @throws InputError if the machine has no size or if no job fits it */
export function prepareJobs(workload: Workload, processors: number | undefined, rules: Rules): Instance {
  const instance = prepare(workload, machineSize(workload, processors), rules);
  if (instance.count > 0) return instance;
  throw new InputError(
    `Cannot use the jobs of "${workload.name}": all ${workload.count} of them are larger than the machine of ${instance.processors} processors, expected a larger --processors, or --oversize clip`,
  );
}

/**
 * Time sharing keeps a record of every processor.
 * @throws InputError if the machine is too large for a gang policy
 */
export function requireGangSize({ processors }: Instance, { definition, label }: PolicyChoice): void {
  if (definition.sharing !== "time" || processors <= MAX_GANG_PROCESSORS) return;
  throw new InputError(
    `Cannot use policy "${label}" on ${processors} processors: time sharing keeps a record of every processor, expected at most ${MAX_GANG_PROCESSORS}`,
  );
}
