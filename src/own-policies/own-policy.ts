/** A policy of the user's own: a module whose default export is a PolicyDefinition. */
import { existsSync, writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { InputError } from "../core/errors.ts";
import { NONE, type PolicyChoice, type PolicyDefinition } from "../core/policy.ts";
import { programFile } from "../host/programs.ts";
import { writablePart } from "../host/trusted-path.ts";
import { definePolicy, type PolicyParts } from "../policies/define-policy.ts";
import { choosePolicy, makeChoice } from "../policies/parse-policy.ts";
import { guardedPolicy, policyAtWork, shown, workingAsync } from "./guarded-policy.ts";

const PARAMETER_KINDS = ["choice", "integer", "number"];
/** What `import … from "tutti"` means in a policy's file. */
const KIT = programFile("index", new URL("../index.ts", import.meta.url)).href;
let isWatching = false;
let findsKit = false;
/** The modules by their files, as the user wrote their paths. */
const loaded = new Map<string, string>();

/**
 * A policy by its text: `easy:order=shortest` from the registry, `./mine.ts:parameter=value` from a file.
 * @throws InputError for an unknown name, a file that is no policy, or a parameter out of range
 */
export async function loadPolicy(text: string): Promise<PolicyChoice> {
  const [name = "", ...settings] = text.split(":");
  if (!isFile(name)) return choosePolicy(text);
  return makeChoice(await importPolicy(name), settings);
}

/**
 * The policy of a file for the live scheduler, with the path as its name.
 * @param mostMs what its code takes longer for is cut off with a PolicyError
 * @throws InputError for a file that is no policy, or that somebody else than root and this user could exchange
 */
export async function loadLivePolicy(file: string, mostMs: number): Promise<PolicyDefinition> {
  const refuse = (problem: string, expected: string): never => {
    throw new InputError(`Cannot use the policy file "${file}" live: ${problem}, expected ${expected}`);
  };
  if (!isAbsolute(file)) refuse("it may mean several files", "its whole path, from /");
  const problem = writablePart(file, process.getuid!());
  if (problem !== undefined) {
    refuse(
      `${problem}, so that another user could decide in the scheduler's place`,
      "a file and folders of root or the scheduler's user that nobody else can write, such as /etc/tutti",
    );
  }
  return { ...(await importPolicy(file, mostMs)), name: file };
}

/** Whether the policy comes from a file of the user's. */
export function isFile(name: string): boolean {
  return name.includes("/") || /\.[cm]?[jt]s$/.test(name);
}

async function importPolicy(path: string, mostMs?: number): Promise<PolicyDefinition> {
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
      `Cannot load policy "${path}": ${shown(error)}, expected a module that can be imported`,
      { cause: error },
    );
  }
  return guardedPolicy(checkDefinition(path, module.default), path, mostMs);
}

/** Wherever the file lies, and whatever is installed there, it gets the modules of this program; in each thread. */
function offerKit(): void {
  if (findsKit) return;
  findsKit = true;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === "tutti" ? { url: KIT, shortCircuit: true } : next(specifier, context),
  });
}

/** The promise, or a refusal when the program has nothing left to do and it still waits. */
function settled<Result>(promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("it waits for something that never comes"));
    process.once("beforeExit", giveUp);
    promise.then(resolve, reject).finally(() => process.off("beforeExit", giveUp));
  });
}

/** A policy that ends the program, or fails in what it has left running, must not look like a run that went well. */
function watchProcess(): void {
  if (isWatching || !isMainThread) return;
  isWatching = true;
  process.on("unhandledRejection", (reason) => {
    const stack = reason instanceof Error ? String(reason.stack) : "";
    const path = [...loaded].find(([file]) => stack.includes(file))?.[1];
    if (path === undefined) throw reason;
    writeSync(
      2,
      `tutti: Cannot go on with policy "${path}": something that it has left running failed with ${shown(reason)}\n`,
    );
    process.exit(1);
  });
  process.on("exit", () => {
    const path = policyAtWork();
    if (path === undefined) return;
    writeSync(
      2,
      `tutti: Cannot go on with policy "${path}": it ended the program, expected one that decides\n`,
    );
    process.exitCode = 1;
  });
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
  for (const field of ["title", "summary", "source"] as const) {
    if (typeof (given[field] ?? "") !== "string")
      return refuse(`its ${field} is no text, expected one sentence`);
  }
  if (!isListOf(given.rules ?? [], isRule)) return refuse("its rules are no list of sentences");
  if (!isListOf(given.parameters ?? [], isParameter)) {
    return refuse(
      "its parameters are no list of { name, kind, default, description } with choices, or with min and max",
    );
  }
  if (given.guarantees !== undefined && typeof given.guarantees !== "function")
    return refuse("its guarantees are no function");
  return definePolicy({
    summary: `the user's own policy, from ${path}`,
    source: path,
    ...(given as PolicyParts),
    make: (given.make as (...all: unknown[]) => never).bind(given),
  });
}

function isListOf(value: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isOne);
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
  return numbers.every((one) => typeof one === "number");
}
