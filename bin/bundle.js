// Says whether the bundle or the sources are to be run. Plain JavaScript, as the programs that import it.
import fs from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
/** Of papers and studies; the bundle contains them. */
const DATA = /\.(?:numbers|texts)\.json$|^studies\/.*\.json$/;

/** Whether the bundle exists and, in a checkout, no source file and no data of papers are newer than it. */
export function isBundleFresh(name) {
  const builtMs = modifiedMs(new URL(`dist/${name}`, root));
  if (builtMs === undefined) return false;
  if (!fs.existsSync(new URL("packages/", root))) return true;
  const sources = [...filesIn("packages/", /(?<!\.test)\.ts$/), ...filesIn("docs/", DATA)];
  return sources.every((path) => fs.statSync(path).mtimeMs <= builtMs);
}

function filesIn(folder, names) {
  const path = fileURLToPath(new URL(folder, root));
  const files = fs.readdirSync(path, { recursive: true });
  return files.filter((name) => names.test(name)).map((name) => path + name);
}

function modifiedMs(url) {
  return fs.statSync(url, { throwIfNoEntry: false })?.mtimeMs;
}
