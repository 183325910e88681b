/** Lists all studies. */
import { dimitriadou2009Seeds } from "./dimitriadou2009-seeds.ts";
import { kawanami2008Reservations } from "./kawanami2008-reservations.ts";
import { kawanami2008Sensitivity } from "./kawanami2008-sensitivity.ts";
import { phasesStudy } from "./phases.ts";
import { pilotsStudy } from "./pilots.ts";
import { silva1999Settings } from "./silva1999-settings.ts";
import type { Study } from "./study.ts";
import { zhou2000Brmms } from "./zhou2000-brmms.ts";
import { zhou2000Brms } from "./zhou2000-brms.ts";
import { zhou2000ByRound } from "./zhou2000-by-round.ts";
import { zhou2000Rows } from "./zhou2000-rows.ts";
import { zhou2000Seeds } from "./zhou2000-seeds.ts";

export const STUDIES: readonly Study[] = [
  kawanami2008Reservations,
  kawanami2008Sensitivity,
  phasesStudy,
  pilotsStudy,
  silva1999Settings,
  dimitriadou2009Seeds,
  zhou2000Brms,
  zhou2000Brmms,
  zhou2000ByRound,
  zhou2000Rows,
  zhou2000Seeds,
];
