/** What a life on a cluster knows besides that of one machine. */
import type { Life } from "../life.ts";
import { Losses } from "./losses.ts";

const LOSSES = new WeakMap<Life, Losses>();

export function lossesOf(life: Life): Losses {
  let losses = LOSSES.get(life);
  if (losses === undefined) {
    losses = new Losses(life);
    LOSSES.set(life, losses);
  }
  return losses;
}
