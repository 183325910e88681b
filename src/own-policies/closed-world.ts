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
import { isBuiltin, registerHooks } from "node:module";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { closeGlobals, lock, lockIntrinsics } from "./closed-globals.ts";

/** Built-in modules that only compute. */
const ALLOWED = ["assert", "assert/strict", "path", "path/posix", "url", "util"];

/** Closes the process, and freezes what the module `tutti` exports. @throws never */
export function closeWorld(world: { readonly folders: readonly string[]; readonly kit: object }): void {
  closeModules(world.folders);
  const { error } = console;
  closeGlobals((...texts) => error(...texts));
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
  registerHooks({
    resolve: (specifier, context, next) => {
      if (context.parentURL?.startsWith(program)) return next(specifier, context);
      if (isBuiltin(specifier)) {
        if (ALLOWED.includes(specifier.replace(/^node:/, ""))) return next(specifier, context);
        throw new Error(
          `a policy may not load "${specifier}", expected "tutti", files of its own folder, or one of ${ALLOWED.join(", ")}`,
        );
      }
      const found = next(specifier, context);
      if (specifier === "tutti" || own.some((folder) => found.url.startsWith(folder))) return found;
      throw new Error(`a policy may not load "${specifier}", expected "tutti" or a file of its own folder`);
    },
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.startsWith("file:") || url.startsWith(program) || !loaded.format?.startsWith("commonjs"))
        return loaded;
      throw new Error(
        `a policy may not be a CommonJS module, expected ${fileURLToPath(url)} to use import and export`,
      );
    },
  });
}
