/** What the next front end must know about the hosts: STATE/hosts/hosts.json. */
import { createHash } from "@tutti/host/ports/crypto.ts";
import { newOwner, owner } from "@tutti/live/daemon/executor/kept-file.ts";
import { object, oneOf, record, type TypeOf, whole } from "@tutti/protocol/shape.ts";
import { hostFacts } from "./host-facts.ts";

export const hostsContent = object({
  schema: oneOf("tutti.hosts/1"),
  owner,
  /** Number of the last allocation. */
  allocation: whole(),
  /** Hosts that have answered, by their names in the file of hosts. */
  hosts: record(hostFacts),
});
export type HostsContent = TypeOf<typeof hostsContent>;

export function newContent(): HostsContent {
  return { schema: "tutti.hosts/1", owner: newOwner(), allocation: 1, hosts: {} };
}

/** Longer names are shortened: the path of a Unix socket has at most 108 bytes. */
const MAX_NAME = 32;
const KEPT_NAME = 23;

/** Name of the folder on a host, the same for all front ends of a state folder. */
export function folderOn(node: string, { owner }: HostsContent): string {
  const sum = createHash("sha256").update(node).digest("hex").slice(0, 8);
  const name = node.length <= MAX_NAME ? node : `${node.slice(0, KEPT_NAME)}.${sum}`;
  return `${owner}-${name}`;
}

/** The marks of gangs begin with it, on all hosts. */
export function clusterOf({ owner }: HostsContent): string {
  return `${owner}-1`;
}
