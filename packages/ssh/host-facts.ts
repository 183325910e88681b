/** What a host says about itself, by the script on the host and the program that it starts. */
import { firstThreads, inOrder } from "@tutti/host/topology.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import { list, object, problemIn, type TypeOf, text, whole } from "@tutti/protocol/shape.ts";
import { MARKER } from "./host-script.ts";
import type { Host } from "./hosts-file.ts";

export const hostFacts = object({
  /** Folder of Tutti on the host. */
  root: text,
  /** The user who is logged in. */
  uid: whole(),
  gid: whole(),
  user: text,
  kernel: text,
  node: text,
  places: list(object({ cpu: whole(), socket: whole(), core: whole() })),
  memoryBytes: whole(),
  /** The same for two names of one machine, until it starts again. */
  machine: text,
  /** Its wall clock when it said this. */
  unixMs: whole(),
});
export type HostFacts = TypeOf<typeof hostFacts>;

/** The line of the script, which comes first. */
interface Greeting {
  readonly root: string;
  /** missing: the programs are not there, or are not whole. */
  readonly state: "ready" | "missing" | "broken";
  /** As `uname -m` has it. */
  readonly machine: string;
  readonly uid: number;
}

/** Undefined for what a login shell prints by itself. */
export function greetingIn(line: string): Greeting | undefined {
  const [marker, root = "", state, machine = "", uid] = line.split(" ");
  if (marker !== MARKER) return undefined;
  return { root, state: state as Greeting["state"], machine, uid: Number(uid) };
}

/** What a host has printed, in the mode `facts` or `carry`. */
export function answerIn(stdout: string): { readonly greeting?: Greeting; readonly facts?: HostFacts } {
  const lines = stdout.split("\n");
  const at = lines.findIndex((line) => greetingIn(line) !== undefined);
  if (at < 0) return {};
  const greeting = greetingIn(lines[at])!;
  try {
    const facts = { root: greeting.root, ...JSON.parse(lines[at + 1]) };
    return problemIn(hostFacts, facts) === undefined ? { greeting, facts } : { greeting };
  } catch {
    return { greeting };
  }
}

/** CPUs for jobs, in the order in which policies number them. */
export function cpusOf(host: Host, { places }: HostFacts, smt: boolean): readonly number[] {
  if (host.cpus !== undefined) return host.cpus;
  const all = inOrder(places);
  return (smt ? all : firstThreads(all)).map(({ cpu }) => cpu);
}

/** Memory for jobs. */
export function memoryOf(host: Host, facts: HostFacts): number {
  return Math.min(host.memoryBytes ?? Number.POSITIVE_INFINITY, facts.memoryBytes);
}

const OLDEST_NODE = 24;

/** Why jobs cannot run on a host; undefined: they can. @param isShared jobs run as all users */
export function unfit(host: Host, facts: HostFacts, isShared: boolean): string | undefined {
  const { uid, user, node, places } = facts;
  if (isShared && uid !== 0)
    return `ssh logs in as ${user}, expected root, because this scheduler serves all users; write root@${host.node}, or start tutti serve with --private or as another user`;
  if (Number(/^v(\d+)/.exec(node)?.[1]) < OLDEST_NODE)
    return `its Node is ${node}, expected ${OLDEST_NODE} or newer; leave out node= in the file of hosts, so that Node is carried over`;
  const known = places.map(({ cpu }) => cpu);
  const missing = (host.cpus ?? []).filter((cpu) => !known.includes(cpu));
  if (missing.length > 0)
    return `it has no CPU ${cpusText(missing)}, expected some of ${cpusText(known)} behind cpus= in the file of hosts`;
  return undefined;
}

/** Names of the machine on which the carried Node runs, as `uname -m` has them. */
export const OWN_MACHINE: string =
  { x64: "x86_64", arm64: "aarch64" }[process.arch as string] ?? process.arch;
