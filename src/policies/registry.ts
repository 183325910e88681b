/** The one list of policies. The names are what the command line, the tables and the charts show. */
import type { PolicyDefinition } from "../core/policy.ts";
import { connectedReservation } from "./connected-reservation.ts";
import { conservative } from "./conservative.ts";
import { dynp } from "./dynp.ts";
import { easy } from "./easy.ts";
import { fcfs } from "./fcfs.ts";
import { firstFit } from "./first-fit.ts";
import { fpmpfs } from "./fpmpfs.ts";
import { bc, br, brmms, brms, buddy, gang, wlv } from "./gangs-with-admission.ts";
import { random } from "./random.ts";

export const POLICIES: readonly PolicyDefinition[] = [
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
];
