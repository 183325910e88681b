/**
 * Runs a front end as a process: `node serve-for-tests.ts FOLDER`. Prints "up", or why it cannot start, and
 * runs until it is killed.
 */
import { startFrontEnd } from "./main.ts";

try {
  await startFrontEnd({ stateFolder: process.argv[2] ?? "", isShared: false });
  console.log("up");
  setInterval(() => {}, 1000);
} catch (error) {
  console.log((error as Error).message);
  process.exit(1);
}
