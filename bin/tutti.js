#!/usr/bin/env node
// Starts the command line. This is plain JavaScript, so that even an old Node can run it and say which
// version is needed.
import { isBundleFresh, loadClients } from "./bundle.js";

const MIN_MAJOR = 24;
/**
 * The scheduler runs for a long time, creates many short-lived objects, and shares the machine with jobs. So
 * each of V8's three spaces for new objects gets 8 MiB instead of 32 MiB.
 */
const SCHEDULER_OPTION = "--max-semi-space-size=8";
/** Commands that need the whole program, so it is not tried first whether the clients' bundle will do. */
const WHOLE_PROGRAM = new Set(["serve", "simulate", "compare", "reproduce", "torture", "workload"]);

if (Number(process.versions.node.split(".")[0]) < MIN_MAJOR) {
  await restartWithNewerNode();
} else if (process.argv[2] === "serve" && !process.execArgv.includes(SCHEDULER_OPTION) && process.execve) {
  // Node reads these options only at its start, so the process replaces itself.
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, SCHEDULER_OPTION, ...process.argv.slice(1)],
    // glibc gives each thread its own arena, and memory that is freed in one arena is not reused in another.
    { MALLOC_ARENA_MAX: "2", ...process.env },
  );
} else {
  // V8 can mix up the numbers of two objects; see docs/decisions.md, Numbers.
  process.getBuiltinModule("node:v8").setFlagsFromString("--no-maglev-escape-analysis");
  const isDone = !WHOLE_PROGRAM.has(process.argv[2]) && (await loadClients("client")?.ended);
  if (!isDone) await import(isBundleFresh("tutti") ? "../dist/tutti.js" : "../packages/cli/main.ts");
}

/** In a checkout, `npm ci` has installed a newer Node. Elsewhere, we can only say which version is needed. */
async function restartWithNewerNode() {
  const fs = await import("node:fs");
  const { fileURLToPath } = await import("node:url");
  const { constants } = await import("node:os");
  const node = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));
  if (!fs.existsSync(node)) {
    process.stderr.write(
      `tutti: Cannot run on Node ${process.version}: expected Node ${MIN_MAJOR} or newer; see https://nodejs.org/en/download\n`,
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
