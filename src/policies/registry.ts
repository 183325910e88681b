/** The one list of policies, of every kind. The names are what the command line, the tables and the charts show. */
import type { PolicyDefinition } from "../core/policy.ts";
import { connectedReservation } from "./connected-reservation.ts";
import { conservative } from "./conservative.ts";
import { dynp } from "./dynp.ts";
import { easy } from "./easy.ts";
import { fcfs } from "./fcfs.ts";
import { firstFit } from "./first-fit.ts";
import { fpmpfs } from "./fpmpfs.ts";
import { bc, br, brmms, brms, buddy, gang, wlv } from "./gangs-with-admission.ts";
import { type AnyPolicyDefinition, isForOneMachine } from "./kinds.ts";
import { grades, idle } from "./local-task-scheduler.ts";
import { random } from "./random.ts";
import { acrossSites, oneSite } from "./sites.ts";

export const ALL_POLICIES: readonly AnyPolicyDefinition[] = [
  fcfs,
  firstFit,
  easy,
  conservative,
  fpmpfs,
  dynp,
  connectedReservation,
  gang,
  random,
  buddy,
  bc,
  br,
  brms,
  brmms,
  wlv,
  oneSite,
  acrossSites,
  idle,
  grades,
];

/** Those that schedule the jobs of one machine: what can be simulated on a trace, and chosen for the live scheduler. */
export const POLICIES: readonly PolicyDefinition[] = ALL_POLICIES.filter(isForOneMachine);
