/** Lists the policies of phases. */
import type { PhasesPolicyDefinition } from "../contract.ts";
import { exclusive } from "./exclusive.ts";
import { grades } from "./grades.ts";
import { lock } from "./lock.ts";
import { pool } from "./pool.ts";
import { rows } from "./rows.ts";

export const PHASES_POLICIES: readonly PhasesPolicyDefinition[] = [exclusive, lock, pool, rows, grades];
