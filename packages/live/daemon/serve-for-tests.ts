/**
 * Runs a front end as a process: `node serve-for-tests.ts FOLDER [GO]`. Prints "up", or why it cannot start,
 * and runs until it is killed. With GO, it prints "ready" first and starts when that file exists, so that
 * several start at the same instant.
 */
import { existsSync } from "node:fs";
import { startFrontEnd } from "./main.ts";

const go = process.argv[3];
if (go !== undefined) {
  await import("./executor/local/provider.ts");
  console.log("ready");
  while (!existsSync(go));
}
try {
  await startFrontEnd({ stateFolder: process.argv[2] ?? "", isShared: false });
  console.log("up");
  setInterval(() => {}, 1000);
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
