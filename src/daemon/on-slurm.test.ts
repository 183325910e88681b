/** Tests that settings which mean nothing on Slurm are refused before Slurm is asked or a folder is made. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFrontEnd } from "./main.ts";

const stateFolder = join(tmpdir(), `tutti-on-slurm-${process.pid}`);
const pilots = { nodes: 4, timeMs: 3_600_000, drainMs: 300_000, stopBeforeMs: 60_000, sbatch: [] };

test.each([
  [{ slurm: pilots }, { cpus: [0, 1] }, 'Cannot use the setting "cpus" on Slurm'],
  [{ native: { sbatch: [] } }, { policy: "easy", cpus: [0] }, 'Cannot use the setting "cpus" on Slurm'],
  [{ slurm: pilots }, { machine: { smt: true } }, 'Cannot use the setting "smt" on Slurm'],
  [{ slurm: pilots }, { mode: "concurrent" }, 'Cannot use the mode "concurrent" on Slurm'],
  [
    { native: { sbatch: [] } },
    { policy: "easy", mode: "concurrent" },
    'Cannot use the mode "concurrent" on Slurm',
  ],
  [{ native: { sbatch: [] } }, { policy: "br" }, 'Cannot use policy "br" here: its gangs take turns'],
  // The default policy takes turns, too.
  [{ native: { sbatch: [] } }, {}, "its gangs take turns"],
  [
    { native: { sbatch: [] } },
    { policy: "easy", resources: [{ name: "gpu", units: ["0"], isShared: false, variables: [] }] },
    'Cannot count "gpu" on Slurm',
  ],
] as const)("%j with %j is refused", async (place, settings, message) => {
  await expect(startFrontEnd({ stateFolder, isShared: false, settings, ...place })).rejects.toThrow(message);
  expect(existsSync(stateFolder)).toBe(false);
});
