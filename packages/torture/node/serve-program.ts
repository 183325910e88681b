/**
 * The program of a front end in a simulated world: `node serve.js STATE [CONFIG]`. It is `tutti serve`
 * without HTTP, and gives its service to the world instead.
 */
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";

declare const world: { serving(frontEnd: RunningFrontEnd): void };

const [stateFolder = "", configFile] = process.argv.slice(2);
try {
  const isShared = process.getuid!() === 0;
  const frontEnd = await startFrontEnd({ stateFolder, configFile, isShared });
  // Jobs and the conductor continue.
  const end = async () => {
    await frontEnd.stop();
    process.exit(0);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, end);
  void frontEnd.service.drained.then(end);
  world.serving(frontEnd);
} catch (error) {
  if (!(error instanceof InputError || error instanceof StorageError)) throw error;
  console.error(`tutti: ${error.message}`);
  process.exit(1);
}
