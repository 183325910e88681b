/** The one list of policies. The names are what the command line, the tables and the charts show. */
import type { PolicyDefinition } from "../core/policy.ts";
import { conservative } from "./conservative.ts";
import { easy } from "./easy.ts";
import { fcfs } from "./fcfs.ts";
import { firstFit } from "./first-fit.ts";

export const POLICIES: readonly PolicyDefinition[] = [fcfs, firstFit, easy, conservative];
