#!/usr/bin/env node
// Starts one of Slurm's commands: `node slurm-names.js squeue -h`. The launchers of `tutti slurm-names` call
// it with the Node that wrote them.
import { isBundleFresh } from "./bundle.js";

await import(isBundleFresh("slurm-names.js") ? "../dist/slurm-names.js" : "../packages/slurm-names/main.ts");
