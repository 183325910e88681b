/** Tests that settings which mean nothing on Slurm are refused before Slurm is asked or a folder is made. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFrontEnd } from "@tutti/live/daemon/main.ts";
import { expect, test } from "vitest";
import { nativeProvider } from "./native/provider.ts";
import { pilotProvider } from "./provider.ts";
import { KIND } from "./slurm-for-tests.ts";

const stateFolder = join(tmpdir(), `tutti-on-slurm-${process.pid}`);
const pilots = pilotProvider({
  kinds: [KIND],
  maxNodes: 4,
  drainMs: 300_000,
  stopBeforeMs: 60_000,
  sbatch: [],
});
const native = nativeProvider({ sbatch: [] });

test.each([
  [pilots, { cpus: [0, 1] }, 'Cannot use the setting "cpus" on Slurm'],
  [native, { policy: "easy", cpus: [0] }, 'Cannot use the setting "cpus" on Slurm'],
  [pilots, { machine: { smt: true } }, 'Cannot use the setting "smt" on Slurm'],
  [
    pilots,
    { mode: "concurrent" },
    'Cannot use the mode "concurrent": users cannot run gangs at low priority on Slurm',
  ],
  [
    native,
    { policy: "easy", mode: "concurrent" },
    'Cannot use the mode "concurrent": users cannot run gangs at low priority on Slurm',
  ],
  [native, { policy: "br" }, 'Cannot use policy "br" here: its gangs take turns'],
  // The default policy takes turns, too.
  [native, {}, "its gangs take turns"],
  [
    native,
    { policy: "easy", resources: [{ name: "gpu", units: ["0"], isShared: false, variables: [] }] },
    'Cannot count "gpu" here: nodes of Slurm have',
  ],
] as const)("%j with %j is refused", async (provider, settings, message) => {
  await expect(startFrontEnd({ stateFolder, isShared: false, settings, provider })).rejects.toThrow(message);
  expect(existsSync(stateFolder)).toBe(false);
});
