/** The hosts of a file as nodes of a cluster: one allocation that has no end. */
import type { Clock } from "@tutti/host/clock.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { readPasswd, userNameOf } from "@tutti/host/passwd.ts";
import { join } from "@tutti/host/ports/path.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import { CONNECTED } from "@tutti/live/conductor/server.ts";
import type {
  Cluster,
  ClusterListener,
  LinkListener,
  NodeLink,
} from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { AllocationState, JobShape } from "@tutti/live/daemon/executor/executor.ts";
import type { KeptStore } from "@tutti/live/daemon/executor/kept-file.ts";
import { mostMemoryFor } from "@tutti/live/daemon/scheduling/whole-tasks.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { AGENT } from "./carried.ts";
import { cpusOf, greetingIn, type HostFacts, memoryOf } from "./host-facts.ts";
import { type Answer, Hosts } from "./hosts.ts";
import type { Host } from "./hosts-file.ts";
import type { HostsContent } from "./hosts-store.ts";
import { FileQueues } from "./output-files.ts";
import { nameOf, sentAttempts } from "./outputs.ts";
import type { Destination } from "./relocate.ts";
import { lastWords, runSsh, sshEnvironment } from "./ssh-command.ts";
import { SshLink } from "./ssh-link.ts";

/** A host that has never answered is asked again after this time. */
const ASK_AGAIN_MS = 15_000;
const OUTPUTS = "output";

interface SshSetup {
  readonly hosts: readonly Host[];
  /** Options for ssh. */
  readonly words: readonly string[];
  readonly clock: Clock;
  /** Private folder. */
  readonly folder: string;
  readonly store: KeptStore<HostsContent>;
  readonly content: HostsContent;
  /** Jobs run as the users who submit them. */
  readonly isShared: boolean;
  /** Two threads of a core are two CPUs. */
  readonly smt: boolean;
}

/**
 * Asks all hosts before jobs are accepted. One that does not answer takes part if it has answered an earlier
 * front end.
 * @returns also what people should know, each a sentence without a full stop
 * @throws InputError if a host cannot be used, or if none is known
 */
export async function sshCluster(
  setup: SshSetup,
): Promise<{ cluster: SshCluster; answered: number; notes: readonly string[] }> {
  const { hosts, content, store, folder } = setup;
  makeFolder(join(folder, OUTPUTS), 0o700);
  const asker = new Hosts(setup);
  const answers = await Promise.all(hosts.map((host) => asker.ask(host)));
  const isNew = Object.keys(content.hosts).length === 0;
  const notes: string[] = [];
  const failures: string[] = [];
  for (const [i, answer] of answers.entries()) {
    const { node } = hosts[i];
    const refusal = refusalOf(hosts, i, answer, content);
    if (refusal !== undefined) {
      // Nobody would remember what was carried over.
      if (isNew) await Promise.all(hosts.map((host) => runSsh(asker.command(host, "remove"))));
      throw new InputError(refusal);
    }
    if ("facts" in answer) content.hosts[node] = answer.facts;
    else {
      failures.push(`${node}: ${answer.failure}`);
      const known = content.hosts[node] !== undefined;
      notes.push(
        `host ${node} cannot be reached (${answer.failure}); it takes part ${known ? "as soon as it can" : "when it has answered and nothing runs"}`,
      );
    }
  }
  if (hosts.every(({ node }) => content.hosts[node] === undefined)) {
    throw new InputError(
      `Cannot reach any host: ${failures.join("; ")}; expected hosts that "ssh HOST true" reaches without a password`,
    );
  }
  store.write(content);
  return { cluster: new SshCluster(setup, asker), answered: hosts.length - failures.length, notes };
}

class SshCluster implements Cluster {
  readonly readmits = true;
  readonly mostLimitMs = Number.POSITIVE_INFINITY;
  readonly #setup: SshSetup;
  readonly #hosts: Hosts;
  readonly #links = new Map<string, SshLink>();
  /** Where hosts have said that their folders are; until then, where they were last. */
  readonly #roots = new Map<string, string>();
  readonly #sent: Set<string>;
  readonly #queues = new FileQueues();
  #listener: ClusterListener | undefined;
  #nodes: readonly Host[] = [];
  #isBusy = true;
  #released: Promise<void> | undefined;
  #stopTimer = () => {};

  constructor(setup: SshSetup, hosts: Hosts) {
    this.#setup = setup;
    this.#hosts = hosts;
    this.#sent = new Set(sentAttempts(this.#outputs));
    this.#choose();
  }

  /** A job can have more memory than any host only with tasks on several. */
  readonly whyNever = ({ tasks, threads = 1, memoryBytes = 0 }: JobShape): string | undefined => {
    const hosts = this.#nodes.map((host) => ({
      cpus: this.#cpusOf(host).length,
      memoryBytes: memoryOf(host, this.#factsOf(host)),
    }));
    const most = mostMemoryFor({ tasks, threads }, hosts);
    if (most === 0 || memoryBytes <= most) return undefined;
    return `${tasks === 1 ? "one task" : plural(tasks, "task")} can have at most ${(Math.floor(most / 2 ** 30 / 0.1) * 0.1).toFixed(1)} GiB of memory on these hosts`;
  };

  /** Of all hosts, as far as they are known. */
  get mostProcessors(): number {
    return this.#nodes.reduce((sum, host) => sum + this.#cpusOf(host).length, 0);
  }

  get owner(): string {
    return this.#setup.content.owner;
  }

  /** Those that have never answered, or did so while jobs ran. */
  get awaited(): readonly string[] {
    return this.#setup.hosts.filter((host) => !this.#nodes.includes(host)).map(({ node }) => node);
  }

  get allocations(): AllocationState[] {
    if (this.#released !== undefined) return [];
    return [{ name: this.#name, state: "RUNNING", nodes: this.#nodes.map(({ node }) => node) }];
  }

  start(listener: ClusterListener): void {
    this.#listener = listener;
    this.#allocate();
    this.#askAgain();
  }

  link(node: string, listener: LinkListener): NodeLink {
    const { clock } = this.#setup;
    const host = this.#hostOf(node);
    let isCarrying = false;
    const carry = () => {
      if (isCarrying) return;
      isCarrying = true;
      void this.#ask(host).finally(() => {
        isCarrying = false;
      });
    };
    const link: SshLink = new SshLink({
      node,
      clock,
      listener,
      outputs: this.#outputs,
      queues: this.#queues,
      way: {
        command: () =>
          isCarrying ? "the programs are being carried over" : this.#hosts.command(host, "connect"),
        env: sshEnvironment(),
        lastWords,
        preface: (line) => {
          const greeting = greetingIn(line);
          if (greeting?.state === "missing") carry();
          if (greeting !== undefined) this.#roots.set(node, greeting.root);
          return line === CONNECTED;
        },
      },
      destination: () => this.#destinationOf(host),
      accountOf: ({ uid = process.getuid!(), gid = process.getgid!() }) => ({ uid, gid }),
      uidOf: (user) => readPasswd().find((entry) => entry.user === user)?.uid ?? 0,
      onSent: (spec) => this.#sent.add(nameOf(spec)),
      notice: (text) => this.#listener?.notice("output", text, node),
      onClose: () => {
        if (this.#links.get(node) === link) this.#links.delete(node);
      },
    });
    this.#links.set(node, link);
    return link;
  }

  /** What mpirun needs to start its daemons by ssh, and to mark them. */
  variables({ nodes = [], env }: LaunchSpec): Readonly<Record<string, string>> {
    const [lead] = nodes;
    if (lead === undefined) return {};
    const host = this.#hostOf(lead.node);
    const agent = join(this.#hosts.programsOn(host, this.#rootOf(host)), AGENT);
    // Open MPI looks for its agent on all hosts, where its path is another one. Only that of the first host
    // is used, if no host starts daemons on the next.
    const wanted = {
      OMPI_MCA_plm_rsh_agent: `${agent} : ssh`,
      OMPI_MCA_plm_rsh_no_tree_spawn: "1",
      PRTE_MCA_plm_ssh_agent: `${agent} : ssh`,
      PRTE_MCA_plm_ssh_no_tree_spawn: "1",
      OMPI_MCA_orte_default_hostfile: env.TUTTI_HOSTFILE,
      PRTE_MCA_prte_default_hostfile: env.TUTTI_HOSTFILE,
      HYDRA_LAUNCHER_EXEC: agent,
      HYDRA_HOST_FILE: env.TUTTI_HOSTFILE,
    };
    return Object.fromEntries(
      Object.entries(wanted).filter(([name, value]) => value !== undefined && env[name] === undefined),
    ) as Record<string, string>;
  }

  /** Whether some conductor may have started the attempt. */
  isSent(spec: LaunchSpec): boolean {
    return this.#sent.has(nameOf(spec));
  }

  /** A host that is back takes part again, whatever was lost there. */
  setLostJobs(): void {}

  setBusy(nodes: ReadonlyMap<string, number>): void {
    this.#isBusy = [...nodes.values()].some((busy) => busy > 0);
  }

  setDemand(): void {}

  /** The hosts are there as long as the scheduler is. */
  again(): void {}

  /** Ends the conductors, and removes what was carried over. */
  release(): Promise<void> {
    this.#released ??= this.#remove();
    return this.#released;
  }

  async #remove(): Promise<void> {
    this.#stopTimer();
    for (const link of this.#links.values()) link.send({ type: "shutdown", killJobs: true });
    this.#closeLinks();
    const left = await Promise.all(
      this.#nodes.map(async (host) => {
        const { failure } = await runSsh(this.#hosts.command(host, "remove"));
        return failure === undefined ? [] : [`${this.#rootOf(host)} on ${host.node} (${failure})`];
      }),
    );
    if (left.flat().length > 0) {
      throw new InputError(
        `Cannot remove ${left.flat().join(", ")}. When ${left.flat().length === 1 ? "that host answers" : "these hosts answer"}, tutti serve --on ssh with the same options, then tutti down --kill, ends what runs there and removes it.`,
      );
    }
  }

  close(): void {
    this.#stopTimer();
    this.#closeLinks();
  }

  #closeLinks(): void {
    for (const link of [...this.#links.values()]) link.close();
    this.#links.clear();
  }

  get #outputs(): string {
    return join(this.#setup.folder, OUTPUTS);
  }

  get #name(): string {
    return `hosts-${this.#setup.content.allocation}`;
  }

  #hostOf(node: string): Host {
    return this.#setup.hosts.find((host) => host.node === node)!;
  }

  #factsOf({ node }: Host): HostFacts {
    return this.#setup.content.hosts[node];
  }

  #cpusOf(host: Host): readonly number[] {
    return cpusOf(host, this.#factsOf(host), this.#setup.smt);
  }

  #rootOf(host: Host): string {
    return this.#roots.get(host.node) ?? this.#factsOf(host).root;
  }

  #destinationOf(host: Host): Destination {
    const { uid, gid } = this.#factsOf(host);
    return {
      root: this.#rootOf(host),
      login: this.#setup.isShared ? undefined : { uid, gid },
      userOf: userNameOf,
    };
  }

  /** Takes the hosts that are known. */
  #choose(): void {
    const { hosts, content } = this.#setup;
    this.#nodes = hosts.filter(({ node }) => content.hosts[node] !== undefined);
  }

  #allocate(): void {
    this.#listener?.allocated({
      name: this.#name,
      nodes: this.#nodes.map((host) => ({
        node: host.node,
        cpus: this.#cpusOf(host),
        memoryBytes: memoryOf(host, this.#factsOf(host)),
      })),
      memoryBytes: this.#nodes.reduce((sum, host) => sum + memoryOf(host, this.#factsOf(host)), 0),
    });
  }

  /** Asks a host, and keeps what it says. @returns whether it can be used */
  async #ask(host: Host): Promise<boolean> {
    const answer = await this.#hosts.ask(host);
    const { hosts, content } = this.#setup;
    if (!("facts" in answer) || twinOf(host.node, answer.facts, hosts, content) !== undefined) return false;
    this.#setup.content.hosts[host.node] = answer.facts;
    this.#setup.store.write(this.#setup.content);
    return true;
  }

  /** Looks for hosts that have never answered. They take part from a moment on in which nothing runs. */
  #askAgain(): void {
    const { clock, hosts, content } = this.#setup;
    const missing = () => hosts.filter(({ node }) => content.hosts[node] === undefined);
    this.#stopTimer = clock.at(clock.nowMs() + ASK_AGAIN_MS, async () => {
      await Promise.all(missing().map((host) => this.#ask(host).catch(() => false)));
      if (this.#released !== undefined) return;
      const more = hosts.filter(
        (host) => content.hosts[host.node] !== undefined && !this.#nodes.includes(host),
      );
      if (more.length > 0 && !this.#isBusy) {
        const names = more.map(({ node }) => node).join(", ");
        this.#listener?.released(this.#name, `${names} can be reached now`);
        this.#closeLinks();
        content.allocation++;
        this.#setup.store.write(content);
        this.#choose();
        this.#allocate();
      }
      if (missing().length > 0 || hosts.length > this.#nodes.length) this.#askAgain();
    });
  }
}

/** Why the scheduler does not start. */
function refusalOf(
  hosts: readonly Host[],
  i: number,
  answer: Answer,
  content: HostsContent,
): string | undefined {
  const { node } = hosts[i];
  if ("failure" in answer)
    return answer.isUnfit ? `Cannot use the host "${node}": ${answer.failure}` : undefined;
  const twin = twinOf(node, answer.facts, hosts.slice(0, i), content);
  return twin === undefined
    ? undefined
    : `Cannot use the hosts "${twin}" and "${node}": they are the same machine, expected each machine once in the file of hosts`;
}

/** Another host that is the same machine. */
function twinOf(
  node: string,
  { machine }: HostFacts,
  hosts: readonly Host[],
  content: HostsContent,
): string | undefined {
  return hosts.find((host) => host.node !== node && content.hosts[host.node]?.machine === machine)?.node;
}
