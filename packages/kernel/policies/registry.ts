/** Lists all policies. Their names are what the command line, the tables and the charts show. */
import type { PolicyDefinition } from "../core/policy.ts";
import { bc, buddy } from "./gangs/buddy.ts";
import { br, brmms, brms } from "./gangs/buddy-blocks.ts";
import { gang } from "./gangs/gang.ts";
import { random } from "./gangs/random.ts";
import { wlv } from "./gangs/wlv.ts";
import { connectedReservation } from "./space/connected-reservation.ts";
import { conservative } from "./space/conservative.ts";
import { dynp } from "./space/dynp.ts";
import { easy } from "./space/easy.ts";
import { fcfs } from "./space/fcfs.ts";
import { firstFit } from "./space/first-fit.ts";
import { fpmpfs } from "./space/fpmpfs.ts";

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
