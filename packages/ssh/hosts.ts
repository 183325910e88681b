/** Asks hosts what they are like, and carries the programs to them. */
import { join } from "@tutti/host/ports/path.ts";
import { type Carried, carried } from "./carried.ts";
import { answerIn, type HostFacts, OWN_MACHINE, unfit } from "./host-facts.ts";
import type { HostCommand } from "./host-script.ts";
import type { Host } from "./hosts-file.ts";
import { clusterOf, folderOn, type HostsContent } from "./hosts-store.ts";
import { runSsh, sshCommand, withCure } from "./ssh-command.ts";

/** Carrying Node over takes a second on most networks, and a minute on slow ones. */
const CARRY_MS = 600_000;
const KNOWN_MS = 5000;

/** What a question to a host has brought. */
export type Answer =
  | { readonly facts: HostFacts }
  /** Why it cannot be used. */
  | { readonly failure: string; readonly isUnfit: boolean };

interface HostsSetup {
  /** Options for ssh. */
  readonly words: readonly string[];
  /** Private folder. */
  readonly folder: string;
  readonly content: HostsContent;
  /** Jobs run as the users who submit them. */
  readonly isShared: boolean;
}

export class Hosts {
  readonly #setup: HostsSetup;
  readonly #carried = new Map<boolean, Carried>();

  constructor(setup: HostsSetup) {
    this.#setup = setup;
  }

  command(host: Host, what: HostCommand["what"]): readonly [string, ...string[]] {
    const { words, content } = this.#setup;
    const { checksum } = this.#programsFor(host);
    const folder = folderOn(host.node, content);
    return sshCommand(words, host, { what, folder, checksum, cluster: clusterOf(content) });
  }

  /** Folder of the programs on a host. */
  programsOn(host: Host, root: string): string {
    return join(root, "programs", this.#programsFor(host).checksum);
  }

  /** Asks what the host is like; the programs are carried over if they are missing there, or different. */
  async ask(host: Host): Promise<Answer> {
    // One that is known takes part when it answers: a start does not wait for a host that is off.
    const isKnown = this.#setup.content.hosts[host.node] !== undefined;
    const asked = await runSsh(this.command(host, "facts"), undefined, isKnown ? KNOWN_MS : undefined);
    const { greeting, facts } = answerIn(asked.stdout);
    if (greeting?.state !== "missing" || asked.failure !== undefined) return this.#judged(host, asked, facts);
    if (host.nodeProgram === undefined && greeting.machine !== OWN_MACHINE) {
      return {
        failure: `its architecture is ${greeting.machine}, expected ${OWN_MACHINE}, since the Node of this machine is carried over; install Node there, and write its path into the file of hosts: node=/usr/bin/node`,
        isUnfit: true,
      };
    }
    const brought = await runSsh(this.command(host, "carry"), this.#programsFor(host).archive, CARRY_MS);
    return this.#judged(host, brought, answerIn(brought.stdout).facts);
  }

  #judged(
    host: Host,
    { failure, isRemote }: Awaited<ReturnType<typeof runSsh>>,
    facts: HostFacts | undefined,
  ): Answer {
    // What worked before may work again, when the disk has room, for example.
    const isKnown = this.#setup.content.hosts[host.node] !== undefined;
    if (failure !== undefined) {
      const text = isRemote ? failure : withCure(failure, this.#setup.words, host);
      return { failure: text, isUnfit: isRemote && !isKnown };
    }
    if (facts === undefined)
      return {
        failure: "what it answers is not understood, expected the answer of a POSIX shell",
        isUnfit: !isKnown,
      };
    const problem = unfit(host, facts, this.#setup.isShared);
    return problem === undefined ? { facts } : { failure: problem, isUnfit: true };
  }

  #programsFor({ nodeProgram }: Host): Carried {
    const hasOwn = nodeProgram !== undefined;
    const known = this.#carried.get(hasOwn) ?? carried(this.#setup.folder, hasOwn);
    this.#carried.set(hasOwn, known);
    return known;
  }
}
