// Says whether the bundle or the sources are to be run. Plain JavaScript, as the programs that import it.
import fs from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);

/** Whether the bundle exists and, in a checkout, no source file is newer than the bundle. */
export function isBundleFresh(name) {
  const builtMs = modifiedMs(new URL(`dist/${name}`, root));
  if (builtMs === undefined) return false;
  const src = fileURLToPath(new URL("src/", root));
  if (!fs.existsSync(src)) return true;
  return fs
    .readdirSync(src, { recursive: true })
    .every((name) => !/(?<!\.test)\.ts$/.test(name) || fs.statSync(src + name).mtimeMs <= builtMs);
}

function modifiedMs(url) {
  return fs.statSync(url, { throwIfNoEntry: false })?.mtimeMs;
}
