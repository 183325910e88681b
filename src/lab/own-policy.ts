/** A policy of the user's own: a module whose default export is a PolicyDefinition. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { InputError } from "../core/errors.ts";
import type { PolicyChoice, PolicyDefinition } from "../core/policy.ts";
import { choosePolicy, makeChoice } from "../policies/choose.ts";

/** The user's own policy threw something while it was asked to decide. */
export class PolicyError extends Error {
  override name = "PolicyError";
}

/**
 * A policy by its text: `easy:order=shortest` from the registry, `./mine.ts:parameter=value` from a file.
 * @throws InputError for an unknown name, a file that is no policy, or a parameter out of range
 */
export async function loadPolicy(text: string): Promise<PolicyChoice> {
  const [name = "", ...settings] = text.split(":");
  if (!isFile(name)) return choosePolicy(text);
  return makeChoice(await importPolicy(name), settings);
}

/** Whether the policy comes from a file of the user's. */
export function isFile(name: string): boolean {
  return name.includes("/") || /\.[cm]?[jt]s$/.test(name);
}

async function importPolicy(path: string): Promise<PolicyDefinition> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new InputError(
      `Cannot load policy "${path}": there is no such file, expected a module (.ts or .js)`,
    );
  }
  let module: { readonly default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message.split("\n")[0]}` : String(error);
    throw new InputError(`Cannot load policy "${path}": ${reason}, expected a module that can be imported`, {
      cause: error,
    });
  }
  return checkDefinition(path, module.default);
}

/** What a run needs of a definition; the descriptive fields may be left out and are filled in. */
function checkDefinition(path: string, value: unknown): PolicyDefinition {
  const refuse = (what: string): never => {
    throw new InputError(`Cannot load policy "${path}": ${what}; see \`tutti policies --help\``);
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
  return {
    title: given.name,
    summary: `the user's own policy, from ${path}`,
    rules: [],
    source: path,
    parameters: [],
    guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false }),
    ...given,
  } as PolicyDefinition;
}
