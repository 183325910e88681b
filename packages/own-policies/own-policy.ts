/** Loads users' own policies: modules whose default export is a PolicyDefinition. */

import { existsSync, writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isAbsolute, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { programFile } from "@tutti/host/programs.ts";
import { writablePart } from "@tutti/host/trusted-path.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { choosePolicy, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { checkDefinition } from "./definition.ts";
import {
  describeThrown,
  guardedPolicy,
  type Limit,
  PolicyError,
  policyAtWork,
  workingAsync,
} from "./guarded-policy.ts";
import { isPolicyFile } from "./policy-file.ts";

/** The module that `import … from "tutti"` loads in a policy's file. */
const KIT = programFile("kit", new URL("../kernel/kit.ts", import.meta.url)).href;
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
  return guardedPolicy(
    checkDefinition(path, module.default),
    path,
    maxMs === undefined ? undefined : timeLimit(path, maxMs),
  );
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

/** Each call of the policy is aborted after this time. */
export function timeLimit(path: string, maxMs: number): Limit {
  return (run) =>
    withTimeLimit(maxMs, run, () => {
      throw new PolicyError(
        `Cannot continue with policy "${path}": it took more than ${maxMs / 1000} s, expected a faster decision`,
      );
    });
}

/**
 * Runs code with a time limit: another thread of V8 watches the clock and aborts the code, even in an endless
 * loop.
 */
const WORK = Symbol.for("tutti.limited-work");
const runWork = new Script(`globalThis[Symbol.for("tutti.limited-work")]()`);
const scope = globalThis as { [WORK]?: (() => void) | undefined };

/**
 * Runs synchronous code with a time limit: another thread of V8 watches the clock and aborts the code, even
 * in an endless loop. If the code is aborted, its changes may be half done: neither its `catch` nor its
 * `finally` blocks run.
 * @param late called after an abort
 */
function withTimeLimit<Result>(maxMs: number, work: () => Result, late: () => never): Result {
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
  const before = scope[WORK];
  scope[WORK] = () => {
    try {
      outcome = { result: work() };
    } catch (error) {
      outcome = { error };
    }
  };
  try {
    runWork.runInThisContext({ timeout: maxMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") late();
    throw error;
  } finally {
    scope[WORK] = before;
  }
  if (outcome === undefined) return late();
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}
