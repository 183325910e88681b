/**
 * Lists the settings of an experiment: machine, rules and statistics. A new setting is one entry of this
 * list; form, link and command line follow from it. Names and values are those of the options of
 * `tutti compare`.
 */
import { DEFAULT_RULES, describeRules, type Rules } from "@tutti/kernel/core/rules.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import { MAX_LOAD } from "@tutti/kernel/workload/scale.ts";
import { parseSizeFrom } from "@tutti/kernel/workload/traces/size-from.ts";
import { SIZE_RULE } from "@tutti/kernel/workload/traces/swf.ts";

/** Values as texts by name; a setting that is not in it has its default. */
export type Settings = Readonly<Record<string, string>>;

export interface Setting {
  /** Name of the option of `tutti compare`, without `--`. */
  readonly name: string;
  readonly title: string;
  readonly group: "Machine" | "Rules" | "Time sharing" | "Statistics" | "Model";
  /** Empty if nothing is set by default. */
  readonly default: string;
  /** The only values; undefined for a number or another text. */
  readonly choices?: readonly string[];
  readonly unit?: string;
  /** What is wrong with a value, as in "expected …"; undefined if nothing is. */
  expected(value: string): string | undefined;
  /** What the value means, in words. */
  rule(value: string): string;
}

const DURATION_MAX_S = 1e9;
/** As the command line has it: with shorter slots, slot numbers would exceed exact integers. */
const MIN_SLOT_S = 1e-6;

export const SETTINGS: readonly Setting[] = [
  {
    name: "processors",
    title: "Processors",
    group: "Machine",
    default: "",
    expected: optional(whole(1, 2 ** 31 - 1)),
    rule: (value) =>
      value === ""
        ? "the machine has as many processors as the trace or the model names"
        : `the machine has ${value} processors`,
  },
  {
    name: "first",
    title: "First jobs",
    group: "Machine",
    default: "",
    expected: optional(whole(1, Number.MAX_SAFE_INTEGER)),
    rule: (value) => (value === "" ? "all jobs are used" : `only the first ${value} jobs are used`),
  },
  {
    name: "load",
    title: "Offered load",
    group: "Machine",
    default: "",
    expected: optional((value) =>
      isNumber(value) && Number(value) > 0 && Number(value) <= MAX_LOAD
        ? undefined
        : `a number above 0, at most ${MAX_LOAD}, such as 0.7`,
    ),
    rule: (value) =>
      value === ""
        ? "the times of submit are those of the source"
        : `all gaps between submits are scaled by one factor, so that the offered load is ${value}`,
  },
  {
    name: "size-from",
    title: "Size of a job",
    group: "Machine",
    default: "allocated",
    expected: (value) => {
      try {
        parseSizeFrom(value);
        return undefined;
      } catch {
        return "allocated, requested, frontier, or field=N with the number of a field from 1 to 1000";
      }
    },
    rule: (value) => withoutSetting(safeSizeRule(value)),
  },
  {
    name: "overrun",
    title: "Overrun",
    group: "Rules",
    default: DEFAULT_RULES.overrun,
    choices: ["raise", "kill"],
    expected: among(["raise", "kill"]),
    rule: (value) => ruleText({ overrun: value as Rules["overrun"] }, 0),
  },
  {
    name: "missing-estimate",
    title: "Missing estimate",
    group: "Rules",
    default: "run",
    unit: "run, or seconds",
    expected: (value) =>
      value === "run"
        ? undefined
        : seconds(Number.MIN_VALUE)(value) && `run, or ${seconds(Number.MIN_VALUE)(value)}`,
    rule: (value) => ruleText({ missingEstimate: value === "run" ? "run" : { seconds: Number(value) } }, 1),
  },
  {
    name: "oversize",
    title: "Oversize",
    group: "Rules",
    default: "drop",
    choices: ["drop", "clip"],
    expected: among(["drop", "clip"]),
    rule: (value) => ruleText({ oversize: value as Rules["oversize"] }, 2),
  },
  {
    name: "slot",
    title: "Slot",
    group: "Time sharing",
    default: "60",
    unit: "s",
    expected: seconds(MIN_SLOT_S),
    rule: (value) => `a row of the matrix runs for ${value} s before the next one does`,
  },
  {
    name: "switch",
    title: "Switch",
    group: "Time sharing",
    default: "0",
    unit: "s",
    expected: seconds(0),
    rule: (value) =>
      value === "0" ? "a change of rows takes no time" : `each change of rows takes ${value} s`,
  },
  {
    name: "warmup",
    title: "Warm-up",
    group: "Statistics",
    default: "0",
    unit: "share",
    expected: share,
    rule: (value) => notCounted(value, "first"),
  },
  {
    name: "cooldown",
    title: "Cool-down",
    group: "Statistics",
    default: "0",
    unit: "share",
    expected: share,
    rule: (value) => notCounted(value, "last"),
  },
  {
    name: "bound",
    title: "Bound",
    group: "Statistics",
    default: String(DEFAULT_METRIC_PARAMETERS.boundS),
    unit: "s",
    expected: seconds(Number.MIN_VALUE),
    rule: (value) => `the bounded slowdown counts a run time below ${value} s as ${value} s`,
  },
  {
    name: "seed",
    title: "Seed",
    group: "Model",
    default: "1",
    expected: whole(0, Number.MAX_SAFE_INTEGER - 10_000),
    rule: (value) => `the model draws its jobs from seed ${value}; the same seed gives the same jobs`,
  },
  {
    name: "replications",
    title: "Replications",
    group: "Model",
    default: "1",
    expected: whole(1, 10_000),
    rule: (value) =>
      value === "1"
        ? "one run for each policy"
        : `${value} runs for each policy, with seeds that count up; means have 95 % confidence intervals`,
  },
];

/** The value of a setting, or its default. */
export function settingOf(settings: Settings, name: string): string {
  return settings[name] ?? SETTINGS.find((setting) => setting.name === name)?.default ?? "";
}

/** A rule of core/rules.ts in words. */
function ruleText(change: Partial<Rules>, index: number): string {
  return withoutSetting(describeRules({ ...DEFAULT_RULES, ...change })[index]);
}

/** `overrun=raise: an estimate …` without what stands in front of the colon. */
function withoutSetting(rule: string): string {
  return rule.slice(rule.indexOf(": ") + 2);
}

function safeSizeRule(value: string): string {
  try {
    return parseSizeFrom(value)?.rule ?? SIZE_RULE;
  } catch {
    return SIZE_RULE;
  }
}

function notCounted(value: string, end: "first" | "last"): string {
  return Number(value) === 0
    ? `the ${end} jobs count like all others`
    : `the ${end} ${Number((100 * Number(value)).toPrecision(6))} % of the jobs are simulated but not counted`;
}

function optional(expected: Setting["expected"]): Setting["expected"] {
  return (value) => (value === "" ? undefined : expected(value));
}

function whole(min: number, max: number): Setting["expected"] {
  return (value) => {
    const isWhole = /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;
    return isWhole ? undefined : `a whole number from ${min} to ${max}`;
  };
}

function seconds(min: number): Setting["expected"] {
  return (value) => {
    if (isNumber(value) && Number(value) >= min && Number(value) <= DURATION_MAX_S) return undefined;
    const least = min === Number.MIN_VALUE ? "above 0, at most" : `from ${min} to`;
    return `seconds ${least} ${DURATION_MAX_S}, such as 1.5`;
  };
}

/** As the command line reads durations: no sign and no exponent. */
function isNumber(value: string): boolean {
  return /^(\d+\.?\d*|\.\d+)$/.test(value);
}

function share(value: string): string | undefined {
  const isShare = isNumber(value) && Number(value) < 1;
  return isShare ? undefined : "a share of the jobs from 0 to below 1";
}

function among(choices: readonly string[]): Setting["expected"] {
  return (value) => (choices.includes(value) ? undefined : `one of ${choices.join(", ")}`);
}
