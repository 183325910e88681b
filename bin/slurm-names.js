#!/usr/bin/env node
// Starts one of Slurm's commands: `node slurm-names.js squeue -h`. The launchers of `tutti slurm-names` call
// it with the Node that wrote them.
import { loadClients } from "./bundle.js";

const { ended } = loadClients("slurm-names") ?? (await import("../packages/slurm-names/main.ts"));
await ended;
