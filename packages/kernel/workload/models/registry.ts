/** Lists all workload models. */
import { downey } from "./downey.ts";
import { feitelson96 } from "./feitelson96.ts";
import { hpc2500 } from "./hpc2500.ts";
import { jann } from "./jann.ts";
import { lublin } from "./lublin.ts";
import type { ModelDefinition } from "./model.ts";

export const MODELS: readonly ModelDefinition[] = [downey, lublin, jann, feitelson96, hpc2500];
