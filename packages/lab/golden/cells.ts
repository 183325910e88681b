/**
 * Lists the golden schedules: what every policy does with every trace and model. They are committed in one
 * file, which shows when a change of the code changes a schedule. Other simulators can compare their results
 * with it (docs/golden.md).
 *
 * A cell is one policy with one setting on one source, on the machine of the source, under the default rules.
 * Its result is the hash of all starts and ends, and two numbers that people can compare: the mean and the
 * longest wait.
 */
import type { ParameterSpec, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import type { Cell } from "../experiments/kinds.ts";

/** Slot and switch of gang policies, in seconds: the defaults of `tutti simulate`. */
export const GOLDEN_SLOT_S = 60;
export const GOLDEN_SWITCH_S = 0;
/** Seed of the models. */
export const GOLDEN_SEED = 1;
/** Number of rows for policies with an admission queue. */
const FEW_ROWS = 4;
/** Seconds of service that a move to other processors costs, for policies that may move gangs. */
const MIGRATION_S = 60;

/** The reading of zhou2000's BRMS that is nearest to its table 2; the default is nearest to table 1. */
const ONE_PER_CHANGE = "order=largest:perChange=1";

/** Traces by their names in TUTTI_TRACES, in order of their number of jobs. */
export const GOLDEN_TRACES = [
  "NASA-iPSC-1993-3.1-cln.swf.gz",
  "KTH-SP2-1996-2.1-cln.swf.gz",
  "lublin_256.swf.gz",
  "LLNL-Atlas-2006-2.1-cln.swf.gz",
  "SDSC-Par-1996-3.1-cln.swf.gz",
  "SDSC-SP2-1998-4.2-cln.swf.gz",
  "CTC-SP2-1996-3.1-cln.swf.gz",
  "LANL-CM5-1994-4.1-cln.swf.gz",
  "HPC2N-2002-2.2-cln.swf.gz",
] as const;

/** Traces on which literal BRMS takes too long. */
const LONG_TRACES: ReadonlySet<string> = new Set(GOLDEN_TRACES.slice(3));

export interface GoldenKey {
  /** File name of a trace, or name of a model with its default parameters. */
  readonly source: string;
  /** As on the command line. */
  readonly policy: string;
}

/**
 * All rows of the table, source by source. Literal BRMS without a limit on rows is left out on long traces:
 * jobs keep every idle slot that they ever got, the matrix grows to thousands of rows, and a schedule would
 * take minutes to hours.
 */
export function goldenKeys(sources: readonly string[] = goldenSources()): GoldenKey[] {
  return sources.flatMap((source) =>
    goldenPolicies()
      .filter((policy) => !(LONG_TRACES.has(source) && isLiteralBrms(policy)))
      .map((policy) => ({ source, policy })),
  );
}

function isLiteralBrms(policy: string): boolean {
  return /^brms(?:$|:)/.test(policy) && !/:rows=/.test(policy) && !policy.includes(ONE_PER_CHANGE);
}

/** Models first, then traces. */
export function goldenSources(): string[] {
  return [...MODELS.map(({ name }) => name), ...GOLDEN_TRACES];
}

/**
 * Every policy with its defaults, with each value of each choice, and with few rows if it has that parameter.
 */
export function goldenPolicies(): string[] {
  return POLICIES.flatMap(settingsOf);
}

function settingsOf({ name, parameters }: PolicyDefinition): string[] {
  const has = (wanted: string) => parameters.some((spec) => spec.name === wanted);
  // The queue parameters belong to the admission queue of a matrix with few rows, and do nothing without a
  // limit.
  const isAdmitted = has("rows");
  const ofQueue = parameters.filter((spec) => isAdmitted && /^queue/.test(spec.name));
  const own = parameters.filter((spec) => !ofQueue.includes(spec)).flatMap(otherValues);
  const few = `rows=${FEW_ROWS}`;
  const admitted = isAdmitted
    ? [few, ...ofQueue.flatMap(otherValues).map((setting) => `${few}:${setting}`)]
    : [];
  const onePerChange = has("extraPerChange") ? [ONE_PER_CHANGE] : [];
  const moved = has("migrate") ? [[...onePerChange, `migrate=${MIGRATION_S}`].join(":")] : [];
  return [name, ...[...own, ...onePerChange, ...admitted, ...moved].map((setting) => `${name}:${setting}`)];
}

/** `name=value` for each value of a choice except its default. */
function otherValues(spec: ParameterSpec): string[] {
  if (spec.kind !== "choice") return [];
  return spec.choices
    .filter((value) => value !== spec.default)
    .map((value) => `${oldestName(spec)}=${value}`);
}

export function goldenCell({ source, policy }: GoldenKey): Cell<"golden"> {
  return {
    kind: "golden",
    source: { jobs: source, seed: GOLDEN_SEED },
    rules: DEFAULT_RULES,
    policy,
    slotS: GOLDEN_SLOT_S,
    switchS: GOLDEN_SWITCH_S,
  };
}

/**
 * The cell with its tables, for an archive. Literal BRMS moves jobs through thousands of rows: the table of
 * its places would not fit into memory.
 */
export function archiveCell(key: GoldenKey): Cell<"golden"> {
  return { ...goldenCell(key), tables: isLiteralBrms(key.policy) ? ["schedule"] : ["schedule", "places"] };
}

/** The oldest name of a parameter, so that the rows of the table keep their names. */
function oldestName({ name, aliases = [] }: ParameterSpec): string {
  return aliases[0] ?? name;
}
