/**
 * Closes the process of a user's own policy, after Tutti's code is loaded and before the policy is:
 *
 *   - what differs from run to run (clocks, random numbers, the process) throws;
 *   - modules come only from the policy's folder, `tutti`, and a few built-in modules that only compute;
 *   - the built-in objects of the language are frozen, so that the policy cannot change the simulator that
 *     runs in the same process, or listen to what it hands around.
 *
 * Node's permission model does the rest from outside (lab/experiments/apart.ts).
 */
import assert from "node:assert";
import { isBuiltin, registerHooks } from "node:module";
import path from "node:path";
import process from "node:process";
import url, { fileURLToPath, pathToFileURL } from "node:url";
import util from "node:util";
import { closeGlobals, lock, lockIntrinsics, refusing } from "./closed-globals.ts";

const ASSERT =
  "AssertionError ok equal notEqual deepEqual notDeepEqual deepStrictEqual notDeepStrictEqual strictEqual notStrictEqual partialDeepStrictEqual throws rejects doesNotThrow doesNotReject ifError match doesNotMatch fail";
const PATH =
  "resolve normalize isAbsolute join relative dirname basename extname format parse matchesGlob sep delimiter";
/**
 * Built-in modules, and their members that only compute. Other members are refused, also those of a later
 * Node: a module that nobody takes for a clock may hand one out (`transferableAbortController` of util).
 */
const ALLOWED: Readonly<Record<string, readonly [module: object, members: string]>> = {
  assert: [assert, ASSERT],
  "assert/strict": [assert.strict, ASSERT],
  path: [path, PATH],
  "path/posix": [path.posix, PATH],
  url: [
    url,
    "URL URLSearchParams parse resolve format domainToASCII domainToUnicode fileURLToPath pathToFileURL urlToHttpOptions",
  ],
  util: [
    util,
    "format formatWithOptions inspect isDeepStrictEqual diff inherits promisify types isArray stripVTControlCharacters toUSVString parseEnv TextDecoder TextEncoder MIMEType MIMEParams",
  ],
};
/** The scheme of the modules that policies get in their place. */
const ALLOWED_URL = "tutti-allowed:";

/**
 * Closes the process, and freezes what the module `tutti` exports. @throws never
 * @param world.isQuiet whether the policy's console prints nothing
 */
export function closeWorld(world: {
  readonly folders: readonly string[];
  readonly kit: object;
  readonly isQuiet: boolean;
}): void {
  closeModules(world.folders);
  const { error } = console;
  closeGlobals((...texts) => {
    if (!world.isQuiet) error(...texts);
  });
  // Node's own code reads the environment and the process through modules of its own.
  process.env = {};
  for (const exported of Object.values(world.kit)) lock(exported);
  lockIntrinsics();
}

/** The folders from which Tutti itself is loaded: here its files and its packages are trusted. */
function closeModules(folders: readonly string[]): void {
  const asUrl = (folder: string) => `${pathToFileURL(folder).href}/`;
  const own = folders.map(asUrl);
  // Everything that is loaded now is Tutti's; what it loads later comes from the same folder.
  const program = new URL(import.meta.url.endsWith(".ts") ? "../" : "./", import.meta.url).href;
  const sources = offerAllowed();
  registerHooks({
    resolve: (specifier, context, next) => {
      if (context.parentURL?.startsWith(program)) return next(specifier, context);
      if (isBuiltin(specifier)) {
        const name = specifier.replace(/^node:/, "");
        if (Object.hasOwn(ALLOWED, name)) return { url: `${ALLOWED_URL}${name}`, shortCircuit: true };
        throw new Error(
          `a policy may not load "${specifier}", expected "tutti", files of its own folder, or one of ${Object.keys(ALLOWED).join(", ")}`,
        );
      }
      const found = next(specifier, context);
      if (specifier === "tutti" || own.some((folder) => found.url.startsWith(folder))) return found;
      throw new Error(`a policy may not load "${specifier}", expected "tutti" or a file of its own folder`);
    },
    load: (url, context, next) => {
      if (url.startsWith(ALLOWED_URL)) {
        return { format: "module", source: sources[url.slice(ALLOWED_URL.length)], shortCircuit: true };
      }
      const loaded = next(url, context);
      if (!url.startsWith("file:") || url.startsWith(program) || !loaded.format?.startsWith("commonjs"))
        return loaded;
      throw new Error(
        `a policy may not be a CommonJS module, expected ${fileURLToPath(url)} to use import and export`,
      );
    },
  });
}

/** The texts of the modules that policies get: they export what the allowed ones have, or refuse it. */
function offerAllowed(): Readonly<Record<string, string>> {
  const given: Record<string, Record<string, unknown>> = {};
  const sources: Record<string, string> = {};
  for (const [name, [module, members]] of Object.entries(ALLOWED)) {
    const allowed = members.split(" ");
    const all = module as Record<string, unknown>;
    const parts = Object.keys(all).map((member) => [
      member,
      allowed.includes(member) ? all[member] : refusing(`${name}.${member}`),
    ]);
    // `assert` is a function with members.
    const whole = typeof module === "function" ? (...all: [unknown]) => assert.ok(...all) : {};
    given[name] = Object.freeze(Object.assign(whole, Object.fromEntries(parts)));
    const exported = parts.map(([member]) => `export const ${member} = whole.${member};`);
    sources[name] =
      `const whole = globalThis[Symbol.for("${ALLOWED_URL}")]["${name}"]; export default whole; ${exported.join(" ")}`;
  }
  Object.defineProperty(globalThis, Symbol.for(ALLOWED_URL), { value: Object.freeze(given) });
  return sources;
}
