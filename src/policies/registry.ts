/** The one list of policies. The names are what the command line, the tables and the charts show. */
import type { PolicyDefinition } from "../core/policy.ts";
import { bc } from "./bc.ts";
import { br } from "./br.ts";
import { brmms } from "./brmms.ts";
import { brms } from "./brms.ts";
import { buddy } from "./buddy.ts";
import { connectedReservation } from "./connected-reservation.ts";
import { conservative } from "./conservative.ts";
import { dynp } from "./dynp.ts";
import { easy } from "./easy.ts";
import { fcfs } from "./fcfs.ts";
import { firstFit } from "./first-fit.ts";
import { fpmpfs } from "./fpmpfs.ts";
import { gang } from "./gang.ts";
import { random } from "./random.ts";
import { wlv } from "./wlv.ts";

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
