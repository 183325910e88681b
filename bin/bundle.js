// Finds the program to run: a bundle, or in a checkout with newer sources, these. Plain JavaScript, as the
// programs that import it. `import` would ask Node's modules for all their names, which costs ms at each start.
const builtIn = (name) => process.getBuiltinModule(name);

/**
 * Whether a bundle exists and, in a checkout, was made of the present sources. A bundle that lacks a new file
 * was made of an older version of the file that imports it.
 * @param name such as `tutti`
 */
export function isBundleFresh(name) {
  const { existsSync, readFileSync, statSync } = builtIn("node:fs");
  const root = rootFolder();
  if (!existsSync(`${root}packages`)) return existsSync(`${root}dist/${fileOf(name)}`);
  const list = `${root}dist/sources.json`;
  const builtMs = statSync(list, { throwIfNoEntry: false })?.mtimeMs;
  if (builtMs === undefined) return false;
  return JSON.parse(readFileSync(list, "utf8"))[name].every(
    (source) => statSync(root + source, { throwIfNoEntry: false })?.mtimeMs <= builtMs,
  );
}

/**
 * What a bundle of clients exports. Undefined if it is missing or older than its sources.
 * @param name `client` or `slurm-names`
 */
export function loadClients(name) {
  if (!isBundleFresh(name)) return undefined;
  return builtIn("node:module").createRequire(import.meta.url)(`${rootFolder()}dist/${fileOf(name)}`);
}

function rootFolder() {
  return builtIn("node:url").fileURLToPath(new URL("../", import.meta.url));
}

function fileOf(name) {
  return name === "tutti" ? "tutti.js" : `${name}.cjs`;
}
