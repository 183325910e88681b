/** Checks what a user's own policy says about itself. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { NONE, type PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { definePolicy, type PolicyParts } from "@tutti/kernel/policies/define-policy.ts";

const PARAMETER_KINDS = ["choice", "integer", "number"];

/** Checks a definition. Fields that only describe the policy may be left out and get defaults. */
export function checkDefinition(path: string, value: unknown): PolicyDefinition {
  const refuse = (what: string): never => {
    throw new InputError(`Cannot load policy "${path}": ${what}; see \`tutti list policies --help\``);
  };
  if (typeof value !== "object" || value === null) {
    return refuse("it has no default export, expected a policy definition");
  }
  const given = value as Partial<PolicyDefinition>;
  if (typeof given.name !== "string" || !/^[\w.-]+$/.test(given.name)) {
    return refuse(`its name is ${JSON.stringify(given.name)}, expected letters, digits, dots and dashes`);
  }
  if (given.sharing !== "space" && given.sharing !== "time") {
    return refuse(`its sharing is ${JSON.stringify(given.sharing)}, expected "space" or "time"`);
  }
  if (typeof given.make !== "function") return refuse("it has no function make(machine, jobs, parameters)");
  for (const field of ["title", "summary", "source"] as const) {
    if (typeof (given[field] ?? "") !== "string")
      return refuse(`its ${field} is not a string, expected one sentence`);
  }
  if (!isListOf(given.rules ?? [], isRule)) return refuse("its rules are not a list of sentences");
  if (!isListOf(given.parameters ?? [], isParameter)) {
    return refuse(
      "its parameters are not a list of { name, kind, default, description } with choices, or with min and max",
    );
  }
  if (given.guarantees !== undefined && typeof given.guarantees !== "function")
    return refuse("its guarantees are not a function");
  return definePolicy({
    summary: `the user's own policy, from ${path}`,
    source: path,
    ...(given as PolicyParts),
    make: (given.make as (...all: unknown[]) => never).bind(given),
  });
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isRule(value: unknown): boolean {
  if (typeof value === "string") return true;
  if (typeof value !== "object" || value === null) return false;
  const { text, when } = value as Readonly<Record<string, unknown>>;
  return typeof text === "string" && (when === undefined || typeof when === "function");
}

function isParameter(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const spec = value as Readonly<Record<string, unknown>>;
  if (typeof spec.name !== "string" || !PARAMETER_KINDS.includes(spec.kind as string)) return false;
  if (spec.kind === "choice")
    return isListOf(spec.choices, (choice) => typeof choice === "string") && typeof spec.default === "string";
  const numbers = [spec.min, spec.max, ...(spec.default === NONE ? [] : [spec.default])];
  return numbers.every((number) => typeof number === "number");
}
