/**
 * Reads the parameters of policies and models from texts of the form `name=value`, checks the values, and
 * writes them back as text.
 */
import { closest } from "./did-you-mean.ts";
import { InputError } from "./errors.ts";
import { NONE, type ParameterSpec, type ParameterValues } from "./policy.ts";

type Numeric = "integer" | "number";
type LimitsOf<Kind> = Omit<Extract<ParameterSpec, { kind: Kind }>, "name" | "kind" | "of" | "description">;

/** A parameter that is a number between limits. */
export function number(name: string, limits: LimitsOf<Numeric>, description: string): ParameterSpec {
  return { name, kind: "number", ...limits, description };
}

/** A parameter that is a whole number between limits. */
export function integer(name: string, limits: LimitsOf<Numeric>, description: string): ParameterSpec {
  return { name, kind: "integer", ...limits, description };
}

/** A parameter that is a list of numbers, each between the limits. */
export function list(
  name: string,
  of: Numeric,
  limits: LimitsOf<"list">,
  description: string,
): ParameterSpec {
  return { name, kind: "list", of, ...limits, description };
}

/** A parameter that names a file. */
export function file(name: string, description: string): ParameterSpec {
  return { name, kind: "file", default: NONE, description };
}

/** A parameter that is one of some words, the first by default. */
export function choice(name: string, choices: readonly string[], description: string): ParameterSpec {
  return { name, kind: "choice", choices, default: choices[0], description };
}

/**
 * Returns values for all specs; parameters that are not set keep their defaults.
 * @param owner what the parameters belong to, for messages, such as `policy "easy"`
 * @param settings texts of the form `name=value`
 * @throws InputError that names the parameter, the value and what was expected
 */
export function parseParameters(
  owner: string,
  specs: readonly ParameterSpec[],
  settings: readonly string[],
): ParameterValues {
  const values: Record<string, string | number> = {};
  for (const spec of specs) values[spec.name] = spec.default;
  for (const setting of settings) {
    const equals = setting.indexOf("=");
    const name = equals < 0 ? setting : setting.slice(0, equals);
    const spec = specs.find((s) => s.name === name || s.aliases?.includes(name));
    if (spec === undefined) {
      const names = specs.map((s) => s.name);
      const expected = names.length === 0 ? "it has no parameters" : `expected one of ${names.join(", ")}`;
      throw new InputError(`Cannot set parameter "${name}" of ${owner}${closest(name, names)}: ${expected}`);
    }
    if (equals < 0)
      throw new InputError(`Cannot set parameter "${name}" of ${owner}: expected ${name}=VALUE`);
    values[spec.name] = parseValue(owner, spec, setting.slice(equals + 1));
  }
  return values;
}

/** The parameters that differ from their defaults as `:name=value…`, in the order of the specs. */
export function parameterSuffix(specs: readonly ParameterSpec[], values: ParameterValues): string {
  let suffix = "";
  for (const spec of specs)
    if (values[spec.name] !== spec.default) suffix += `:${spec.name}=${values[spec.name]}`;
  return suffix;
}

/** The numbers of a list. */
export function numbersIn(list: string | number): number[] {
  return String(list).split(",").map(Number);
}

function parseValue(owner: string, spec: ParameterSpec, text: string): string | number {
  if (spec.kind === "list") {
    const one = { ...spec, kind: spec.of, default: 0 };
    return text
      .split(",")
      .map((part) => parseValue(owner, one, part))
      .join(",");
  }
  const refuse = (expected: string): never => {
    throw new InputError(
      `Cannot set parameter "${spec.name}" of ${owner} to "${text}": expected ${expected}`,
    );
  };
  if (spec.kind === "choice") {
    if (spec.choices.includes(text)) return text;
    return refuse(`one of ${spec.choices.join(", ")}${closest(text, spec.choices)}`);
  }
  if (spec.kind === "file") return text === "" ? refuse("the name of a file") : text;
  const { noneFrom, unit } = spec;
  if (noneFrom !== undefined && text === NONE) return NONE;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const whole = spec.kind === "integer";
  if (Number.isFinite(value) && value >= spec.min && value <= spec.max && (!whole || Number.isInteger(value)))
    return value;
  if (noneFrom !== undefined && value >= noneFrom && value < spec.min) return NONE;
  const range = `${whole ? "an integer" : "a number"} from ${spec.min} to ${spec.max}${unit ? ` ${unit}` : ""}`;
  return refuse(noneFrom === undefined ? range : `${range}, or ${NONE}`);
}
