/**
 * Defines countable resources, such as GPUs and licences: what a job asks for, and the units that it holds.
 * Both are by kind, such as `gpu`. Names of kinds and units come from the configuration. Without zod, which
 * pages do not load.
 */
/** Units of one kind, and kinds of one job. */
export const MAX_UNITS = 10_000;
export const MAX_KINDS = 16;

/** The kind whose units jobs find by the variables of CUDA and ROCm. */
export const GPU = "gpu";
/** Variables that name a job's GPUs to CUDA and to ROCm. */
export const GPU_VARIABLES = ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"] as const;

export interface Resource {
  readonly name: string;
  readonly units: readonly string[];
  /** Any number of jobs may hold a unit at the same time. */
  readonly isShared: boolean;
  /**
   * Each node of a cluster has these units. A job gets as many as it asks for on each of its nodes, under the
   * same names, and shares them only with jobs on these nodes.
   */
  readonly isPerNode?: true;
  /** Further variables that list the units, besides `variableOf`. */
  readonly variables: readonly string[];
}

/** How many units of each kind a job asks for. */
export type Use = Readonly<Record<string, number>>;
/** The units that a job holds, by kind. */
export type Units = Readonly<Record<string, readonly string[]>>;

/** Names of kinds. */
export const KIND_PATTERN = /^[a-z][a-z0-9_-]{0,31}$/;
/** The variables that these names would get have another meaning. */
const TAKEN: ReadonlySet<string> = new Set(
  "cpu cpus gpus job_id job_name attempt ntasks nodelist hostfile script array_job_id array_index".split(" "),
);
/** What a name of a kind must be. */
export const KIND_NAME = "a word of small letters, digits, - and _, such as gpu or licence";
/** What else it must be. */
export const FREE_KIND_NAME = `${KIND_NAME}, other than ${[...TAKEN].join(", ")}`;

/** Whether the name of a kind gives its variable no other meaning. */
export function isFreeKindName(name: string): boolean {
  return !TAKEN.has(name.replaceAll("-", "_"));
}

/** The variable in which a job finds the names of its units, such as TUTTI_GPUS or TUTTI_LICENCE. */
export function variableOf(kind: string): string {
  return kind === GPU ? "TUTTI_GPUS" : `TUTTI_${kind.replaceAll("-", "_").toUpperCase()}`;
}

/** Value of a kind. The kind may have the name of a property that every object has. */
export function ofKind<T>(values: Readonly<Record<string, T>> | undefined, kind: string): T | undefined {
  return values !== undefined && Object.hasOwn(values, kind) ? values[kind] : undefined;
}

/** Units by kind, such as `gpu 0,1; licence 2`. */
export function unitsText(units: Units): string {
  return Object.entries(units)
    .map(([kind, names]) => `${kind} ${names.join(",")}`)
    .join("; ");
}

/** Reads `gpu` or `gpu:2,licence:1`; undefined: the text is something else, or names a kind twice. */
export function parseUse(text: string): Use | undefined {
  const use = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, kind = "", amount = "1"] = /^([^:]*?)(?::([1-9]\d{0,4}))?$/.exec(part.trim()) ?? [];
    if (!KIND_PATTERN.test(kind) || !isFreeKindName(kind) || Number(amount) > MAX_UNITS || use.has(kind))
      return undefined;
    use.set(kind, Number(amount));
  }
  return use.size > MAX_KINDS ? undefined : Object.fromEntries(use);
}

/** What `parseUse` does not accept in a text, as the beginning of a sentence. */
export function whyNoUse(text: string): string {
  const kinds = new Set<string>();
  for (const part of text.split(",").map((word) => word.trim())) {
    const [kind = "", amount] = part.split(":");
    if (!KIND_PATTERN.test(kind)) return `"${part}" does not begin with ${KIND_NAME}`;
    if (!isFreeKindName(kind))
      return `A resource cannot be called "${kind}"${kind === "gpus" ? ", write gpu" : ""}`;
    if (amount !== undefined && parseUse(part) === undefined) {
      return `"${part}" has no number of units from 1 to ${MAX_UNITS} after the colon`;
    }
    if (kinds.has(kind)) return `"${kind}" is there twice`;
    kinds.add(kind);
  }
  return `There are more than ${MAX_KINDS} resources`;
}

/** What a job asks for, as on the command line: `gpu:2,licence:1`. */
export function useText(use: Use): string {
  return Object.entries(use)
    .map(([kind, amount]) => `${kind}:${amount}`)
    .join(",");
}
