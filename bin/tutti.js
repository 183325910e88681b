#!/usr/bin/env node
// Starts the command line. Plain JavaScript that an old Node can read, so that it can say what is needed.
import fs from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

const NEEDED_MAJOR = 24;
/** The scheduler lives long, makes much that soon goes, and shares the machine with jobs: V8's three spaces of 32 MiB become 8 MiB each. */
const SCHEDULER_OPTION = "--max-semi-space-size=8";
const root = new URL("../", import.meta.url);

if (Number(process.versions.node.split(".")[0]) < NEEDED_MAJOR) {
  await restartWithNewerNode();
} else if (process.argv[2] === "serve" && !process.execArgv.includes(SCHEDULER_OPTION) && process.execve) {
  // The same process with other options: they are read at the start only.
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, SCHEDULER_OPTION, ...process.argv.slice(1)],
    // glibc gives each thread an arena of its own, and what is freed in one is not used by another.
    { MALLOC_ARENA_MAX: "2", ...process.env },
  );
} else {
  // V8 can mix up the numbers of two objects; see docs/decisions.md, Numbers.
  setFlagsFromString("--no-maglev");
  await import(isBundleFresh() ? "../dist/tutti.js" : "../src/cli/main.ts");
}

/** In a checkout `npm ci` has brought a newer Node; elsewhere there is nothing to do but to say so. */
async function restartWithNewerNode() {
  const node = fileURLToPath(new URL("node_modules/.bin/node", root));
  if (!fs.existsSync(node)) {
    process.stderr.write(
      `tutti: needs Node ${NEEDED_MAJOR} or newer, this is ${process.version}; see https://nodejs.org/en/download\n`,
    );
    process.exitCode = 69;
    return;
  }
  const { spawn } = await import("node:child_process");
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 15);
  });
}

/** Whether the bundle is there and, in a checkout, no source file is newer. */
function isBundleFresh() {
  const builtMs = modifiedMs(new URL("dist/tutti.js", root));
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
