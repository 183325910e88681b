/** How Slurm's users see a machine on which Tutti runs. */
import { hostname } from "node:os";

/** The only account: Tutti has none. */
export const ACCOUNT = "default";
export const QOS = "normal";
export const CLUSTER = "tutti";
/** This machine as the name of a node. */
export function nodeName(): string {
  return hostname().split(".")[0];
}
