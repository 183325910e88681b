/**
 * Runs front ends as a process: `node serve-for-tests.ts FOLDER...`. Prints "up", or why it cannot start, and
 * runs until it is killed. With several folders, it prints "ready" first and starts in each when the file
 * FOLDER.go exists, so that several processes start at the same instant.
 */
import { existsSync } from "node:fs";
import { startFrontEnd } from "./main.ts";

const folders = process.argv.slice(2);
if (folders.length > 1) {
  await import("./executor/local/provider.ts");
  console.log("ready");
}
const cell = new Int32Array(new SharedArrayBuffer(4));
for (const stateFolder of folders) {
  // Without a pause, those that are ready first would take the CPUs from the others.
  while (folders.length > 1 && !existsSync(`${stateFolder}.go`)) Atomics.wait(cell, 0, 0, 1);
  try {
    await startFrontEnd({ stateFolder, isShared: false });
    console.log("up");
    setInterval(() => {}, 1000);
  } catch (error) {
    console.log((error as Error).message);
  }
}
