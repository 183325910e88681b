/** All invariants of a life on a cluster. */
import { checkBegins, watchBegins } from "../invariants/begins.ts";
import { watchRecord } from "../invariants/record.ts";
import type { Life } from "../life.ts";
import { watchNodes } from "./nodes.ts";
import { watchPilots } from "./pilots.ts";
import { checkClusterRest } from "./rest.ts";

export { atRest } from "./rest.ts";

export const CLUSTER_WATCHES: readonly ((life: Life) => Promise<void>)[] = [
  watchBegins,
  watchNodes,
  watchPilots,
  watchRecord,
];
export const CLUSTER_CHECKS: readonly ((life: Life) => readonly string[])[] = [checkClusterRest, checkBegins];
