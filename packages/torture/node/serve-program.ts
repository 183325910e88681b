/**
 * The program of a front end in a simulated world: `node serve.js STATE CONFIG [PILOT]`. It is `tutti serve`
 * without HTTP, and gives its service to the world instead. With PILOT, options of pilots as JSON, it is
 * `tutti serve --on slurm`.
 */
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";
import { startFrontEnd } from "@tutti/live/daemon/main.ts";
import { pilotProvider } from "@tutti/slurm/provider.ts";
import { Decisions } from "./decisions.ts";
import { differencesFromRecord } from "./rebuilt.ts";
import type { Served } from "./world.ts";

declare const world: { serving(given: Served): void };

const [stateFolder = "", configFile, pilot] = process.argv.slice(2);
try {
  const decisions = new Decisions();
  const isShared = process.getuid!() === 0;
  const provider = pilot === undefined ? undefined : pilotProvider(JSON.parse(pilot));
  const frontEnd = await startFrontEnd({ stateFolder, configFile, isShared, provider, observer: decisions });
  // Jobs and the conductor continue.
  const end = async () => {
    await frontEnd.stop();
    process.exit(0);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, end);
  void frontEnd.service.drained.then(end);
  const { service } = frontEnd;
  world.serving({ service, decisions: decisions.list, differences: () => differencesFromRecord(service) });
} catch (error) {
  if (!(error instanceof InputError || error instanceof StorageError)) throw error;
  console.error(`tutti: ${error.message}`);
  process.exit(1);
}
