/**
 * Defines what a page's experiment is: where the jobs are from, the settings, and the policies. A link holds
 * it as JSON; a link is text of anybody, so everything in it is checked.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import type { Experiment } from "@tutti/lab/experiments/comparison-of.ts";
import { parseModel } from "@tutti/lab/experiments/jobs.ts";
import { isOwn } from "./own/messages.ts";
import { SETTINGS, type Settings, settingOf } from "./settings.ts";

/** A file as a link names it. The file itself stays where it is. */
interface NamedFile {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of the file; undefined where the browser offers none. */
  readonly sha256: string | undefined;
}

export interface PageExperiment {
  /** A model with its parameters, or a file; undefined if nothing was chosen yet. */
  readonly jobs: { readonly model: string } | { readonly file: NamedFile } | undefined;
  readonly settings: Settings;
  /** As on the command line. */
  readonly policies: readonly string[];
  /** The text of the policy that was typed in; empty if there is none. */
  readonly own: string;
}

export const FIRST_EXPERIMENT: PageExperiment = {
  jobs: undefined,
  settings: {},
  policies: ["fcfs", "easy", "conservative"],
  own: "",
};

const MAX_POLICIES = 40;
/** Characters of one policy with its parameters, as the API allows. */
const MAX_POLICY = 500;
const MAX_NAME = 255;
/** Of a policy that was typed in. */
const MAX_OWN = 32_000;

/** The source as the command line names it. */
function sourceName({ jobs }: PageExperiment): string {
  if (jobs === undefined) return "";
  return "model" in jobs ? jobs.model : jobs.file.name;
}

/** As a word of a command: a file whose name begins with a dash would be an option. */
function sourceWord(experiment: PageExperiment): string {
  const name = sourceName(experiment);
  return name.startsWith("-") ? `./${name}` : name;
}

/** Settings that hold for these jobs: a trace has no seed, and a model no place of sizes. */
export function settingsFor({ jobs }: PageExperiment) {
  const isModel = jobs !== undefined && "model" in jobs;
  return SETTINGS.filter(({ name, group }) => (isModel ? name !== "size-from" : group !== "Model"));
}

/** What is wrong with the settings, one sentence each. */
export function problemsOf(experiment: PageExperiment): string[] {
  const { settings, policies } = experiment;
  const problems = settingsFor(experiment).flatMap(({ name, title, expected }) => {
    const value = settingOf(settings, name);
    const wanted = expected(value);
    return wanted === undefined ? [] : [`${title} cannot be "${value}": expected ${wanted}`];
  });
  if (Number(settingOf(settings, "warmup")) + Number(settingOf(settings, "cooldown")) >= 1)
    problems.push("Warm-up and cool-down leave no job to count: expected a sum below 1");
  const labels = new Set<string>();
  for (const policy of policies) {
    const label = labelOf(policy);
    if (label instanceof InputError) problems.push(label.message);
    else if (labels.has(label))
      problems.push(`Policy "${label}" is there twice: expected different policies`);
    else labels.add(label);
  }
  if (policies.length === 0) problems.push("No policy is chosen: expected at least one");
  return problems;
}

/** What is run. Call it only when there are no problems. */
export function runnable(experiment: PageExperiment): {
  readonly experiment: Experiment;
  readonly replications: number;
} {
  const value = (name: string) => settingOf(experiment.settings, name);
  const number = (name: string) => (value(name) === "" ? undefined : Number(value(name)));
  const isModel = experiment.jobs !== undefined && "model" in experiment.jobs;
  const missing = value("missing-estimate");
  return {
    experiment: {
      source: {
        jobs: sourceName(experiment),
        seed: isModel ? Number(value("seed")) : 1,
        limit: number("first"),
        ...(value("load") !== "" && { load: number("load"), loadOn: number("processors") }),
      },
      processors: number("processors"),
      rules: {
        overrun: value("overrun") === "kill" ? "kill" : "raise",
        missingEstimate: missing === "run" ? "run" : { seconds: Number(missing) },
        oversize: value("oversize") === "clip" ? "clip" : "drop",
      },
      window: { warmupShare: Number(value("warmup")), cooldownShare: Number(value("cooldown")) },
      parameters: { boundS: Number(value("bound")) },
      slotS: Number(value("slot")),
      switchS: Number(value("switch")),
    },
    replications: isModel ? Number(value("replications")) : 1,
  };
}

/** The equal command: `tutti compare` prints the same numbers and hashes. */
export function commandLine(experiment: PageExperiment): string {
  const options = settingsFor(experiment).flatMap(({ name, default: usual }) => {
    const value = settingOf(experiment.settings, name);
    return value === usual ? [] : [`--${name}`, value];
  });
  const words = [
    "tutti",
    "compare",
    sourceWord(experiment),
    "--policy",
    experiment.policies.join(","),
    ...options,
  ];
  return words.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Plain data for a link: what is not usual. */
export function experimentData({ jobs, settings, policies, own }: PageExperiment): object {
  return { tutti: 1, ...jobs, settings, policies, ...(own !== "" && { own }) };
}

/**
 * An experiment of a link.
 * @throws InputError that names the first part that cannot be used
 */
export function readExperiment(data: unknown): PageExperiment {
  if (!isRecord(data) || data.tutti !== 1) throw refusal("it is not of this version", "a link of this page");
  const { own: _, ...short } = data;
  // They could leave the quotes of a command line that is pasted into a terminal.
  if (/\\u00[01]|\p{Cc}/u.test(JSON.stringify(short)))
    throw refusal("it contains control characters", "printable text");
  const { model, file, settings = {}, policies = [], own = "" } = data;
  if (typeof own !== "string" || own.length > MAX_OWN)
    throw refusal("its own policy is too long", `a text of at most ${MAX_OWN} characters`);
  if (!isRecord(settings)) throw refusal("its settings are not an object", "names with values");
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(settings)) {
    if (!SETTINGS.some((setting) => setting.name === name))
      throw refusal(
        `it has a setting ${shown(name)}`,
        `one of ${SETTINGS.map((each) => each.name).join(", ")}`,
      );
    if (typeof value !== "string" || value.length > MAX_NAME)
      throw refusal(`its setting "${name}" is ${shown(value)}`, "a short text");
    read[name] = value;
  }
  if (!Array.isArray(policies) || policies.length > MAX_POLICIES)
    throw refusal("its policies are not a list", `at most ${MAX_POLICIES} policies`);
  for (const policy of policies) {
    if (typeof policy !== "string" || policy.length > MAX_POLICY)
      throw refusal(`it has the policy ${shown(policy)}`, "a short text such as easy");
    if (!isOwn(policy)) choosePolicy(policy);
  }
  return { jobs: jobsOf(model, file), settings: read, policies: policies as string[], own };
}

function jobsOf(model: unknown, file: unknown): PageExperiment["jobs"] {
  if (model !== undefined) {
    if (typeof model !== "string" || parseModel(model) === undefined)
      throw refusal(`its model is ${shown(model)}`, "a model such as downey:jobs=1000");
    return { model };
  }
  if (file === undefined) return undefined;
  const isFile =
    isRecord(file) &&
    typeof file.name === "string" &&
    file.name.length <= MAX_NAME &&
    Number.isSafeInteger(file.bytes) &&
    (file.sha256 === undefined || /^[0-9a-f]{64}$/.test(String(file.sha256)));
  if (!isFile) throw refusal(`its file is ${shown(file)}`, "a name, a number of bytes and a SHA-256");
  const { name, bytes, sha256 } = file as unknown as NamedFile;
  return { file: { name, bytes, sha256 } };
}

/** The policy's label, or what is wrong with the policy. */
function labelOf(policy: string): string | InputError {
  if (isOwn(policy)) return policy;
  try {
    return choosePolicy(policy).label;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

function refusal(fact: string, expected: string): InputError {
  return new InputError(`Cannot use the experiment of this link: ${fact}, expected ${expected}`);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 60);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
