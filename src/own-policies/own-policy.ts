/** Loads users' own policies: modules whose default export is a PolicyDefinition. */
import { existsSync, writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isAbsolute, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { InputError } from "../core/errors.ts";
import { NONE, type PolicyChoice, type PolicyDefinition } from "../core/policy.ts";
import { programFile } from "../host/programs.ts";
import { writablePart } from "../host/trusted-path.ts";
import { definePolicy, type PolicyParts } from "../policies/define-policy.ts";
import { choosePolicy, makeChoice } from "../policies/parse-policy.ts";
import { describeThrown, guardedPolicy, policyAtWork, workingAsync } from "./guarded-policy.ts";

const PARAMETER_KINDS = ["choice", "integer", "number"];
/** The module that `import … from "tutti"` loads in a policy's file. */
const KIT = programFile("kit", new URL("../kit.ts", import.meta.url)).href;
/** Loads that module, before a policy does. */
export function loadKit(): Promise<object> {
  return import(KIT);
}

let isWatching = false;
let findsKit = false;
/** Maps the absolute path of a loaded module to the path that the user wrote. */
const loaded = new Map<string, string>();

/**
 * A policy by its text: `easy:order=shortest` from the registry, `./mine.ts:parameter=value` from a file.
 * @throws InputError for an unknown name, a file that is not a policy, or a parameter out of range
 */
export async function loadPolicy(text: string): Promise<PolicyChoice> {
  const [name = "", ...settings] = text.split(":");
  if (!isPolicyFile(name)) return choosePolicy(text);
  return makeChoice(await importPolicy(name), settings);
}

/**
 * Loads a policy file for the live scheduler. The path becomes the policy's name.
 * @param maxMs time limit of each call; a longer one is aborted with a PolicyError
 * @throws InputError for a file that is not a policy, or that anybody but root and this user could replace
 */
export async function loadLivePolicy(file: string, maxMs: number): Promise<PolicyDefinition> {
  const refuse = (problem: string, expected: string): never => {
    throw new InputError(`Cannot use the policy file "${file}" live: ${problem}, expected ${expected}`);
  };
  if (!isAbsolute(file)) refuse("the path is relative", "an absolute path");
  const problem = writablePart(file, process.getuid!());
  if (problem !== undefined) {
    refuse(
      `${problem}, so another user could replace the policy`,
      "a file and folders of root or the scheduler's user to which nobody else can write, such as /etc/tutti",
    );
  }
  return { ...(await importPolicy(file, maxMs)), name: file };
}

/** Whether the name of a policy is the path of a file. */
export function isPolicyFile(name: string): boolean {
  return name.includes("/") || /\.[cm]?[jt]s$/.test(name);
}

async function importPolicy(path: string, maxMs?: number): Promise<PolicyDefinition> {
  const file = resolve(path);
  if (!existsSync(file)) {
    throw new InputError(
      `Cannot load policy "${path}": there is no such file, expected a module (.ts or .js)`,
    );
  }
  watchProcess();
  offerKit();
  loaded.set(file, path);
  let module: { readonly default?: unknown };
  try {
    module = await workingAsync(path, () => settled(import(pathToFileURL(file).href)));
  } catch (error) {
    throw new InputError(
      `Cannot load policy "${path}": ${describeThrown(error)}, expected a module that can be imported`,
      { cause: error },
    );
  }
  return guardedPolicy(checkDefinition(path, module.default), path, maxMs);
}

/** Makes `import … from "tutti"` load this program, wherever the policy's file is. Needed once per thread. */
function offerKit(): void {
  if (findsKit) return;
  findsKit = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "tutti" ? { url: KIT, shortCircuit: true } : next(specifier, context),
  });
}

/** The promise; rejects if it is still pending when the program has nothing left to do. */
function settled<Result>(promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("it waits for something that never happens"));
    process.once("beforeExit", giveUp);
    promise.then(resolve, reject).finally(() => process.off("beforeExit", giveUp));
  });
}

let reportStray = (message: string): void => {
  writeSync(2, `tutti: ${message}\n`);
  process.exit(1);
};

/** Calls with a message, instead of ending the program, when a promise fails that a policy left behind. */
export function onStray(report: (message: string) => void): void {
  reportStray = report;
}

/** A policy that ends the program, or fails in a background task, must not look like a successful run. */
function watchProcess(): void {
  if (isWatching || !isMainThread) return;
  isWatching = true;
  process.on("unhandledRejection", (reason) => {
    const stack = reason instanceof Error ? String(reason.stack) : "";
    const path = [...loaded].find(([file]) => stack.includes(file))?.[1];
    if (path === undefined) throw reason;
    reportStray(
      `Cannot continue with policy "${path}": a promise that it left pending was rejected with ${describeThrown(reason)}`,
    );
  });
  process.on("exit", () => {
    const path = policyAtWork();
    if (path === undefined) return;
    writeSync(
      2,
      `tutti: Cannot continue with policy "${path}": it ended the program, expected it to return\n`,
    );
    process.exitCode = 1;
  });
}

/** Checks a definition. Fields that only describe the policy may be left out and get defaults. */
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
