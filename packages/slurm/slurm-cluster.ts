/** The nodes of pilots in Slurm, for the executor of a cluster. */

import type { Clock } from "@tutti/host/clock.ts";
import { accessSync, constants, existsSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { delimiter, join } from "@tutti/host/ports/path.ts";
import { fileURLToPath } from "@tutti/host/ports/url.ts";
import { programFile } from "@tutti/host/programs.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type {
  Cluster,
  ClusterListener,
  LinkListener,
  NodeLink,
} from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { Connector } from "@tutti/live/daemon/executor/cluster/connector.ts";
import { LinkTree, MOST_DIRECT } from "@tutti/live/daemon/executor/cluster/link-tree.ts";
import type { AllocationState, Demand } from "@tutti/live/daemon/executor/executor.ts";
import { KeptFile } from "@tutti/live/daemon/executor/kept-file.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { attach, firstAnswer } from "./attach.ts";
import { batchScript, conductorHome, stepOptions } from "./batch-script.ts";
import { commandEnvironment, lastWords, runCommand } from "./commands.ts";
import { type KindSize, mostNodesOf, NodeKinds } from "./node-kinds.ts";
import { learnSizes, newContent, type PilotContent, pilotContent, type StoredPilot } from "./pilot-file.ts";
import { keyFileOf, makeKey } from "./pilot-key.ts";
import { Pilots } from "./pilots.ts";
import { checkSbatchOptions, minutesOf, partitionIn } from "./sbatch-options.ts";
import { IN_SLURM, type Slurm, SlurmCommands } from "./slurm.ts";
import { checkKinds, mostLimitMs, type PilotKind, type SlurmOptions } from "./slurm-options.ts";
import { gangVariables, stepCommand, TASK_PROLOG } from "./step.ts";

/** In the folder of pilots. */
const PROLOG_NAME = "task-prolog";
/** A conductor that has been quiet for longer counts as gone. */
const HEARD_MS = 20_000;

interface ClusterSetup {
  readonly options: SlurmOptions;
  /** Name of this front end, for people. */
  readonly name: string;
  /** Folder for the file of pilots and their output. */
  readonly folder: string;
  readonly clock: Clock;
}

/**
 * Finds out what must be known before jobs are accepted: the pilots of an earlier front end, and how many
 * processors a pilot can have.
 * @throws InputError if Slurm refuses, or does not answer and no earlier front end has kept its answer
 */
export async function slurmCluster({ options, name, folder, clock }: ClusterSetup): Promise<SlurmCluster> {
  checkKinds(options);
  for (const { name: kind } of options.kinds) checkSbatchOptions(sbatchOf(options, kind));
  const slurm = new SlurmCommands(runCommand);
  const store = new KeptFile(join(folder, "pilot.json"), pilotContent, IN_SLURM);
  const content = store.read() ?? newContent();
  const sizes = await learnSizes(content, options.kinds, () => sizesOf(slurm, options));
  // Without an answer: an option too many is only a warning of srun.
  const bindsTasks = await slurm.bindsTasks().catch(() => true);
  if (options.attach !== undefined) {
    const hello = { frontEnd: name, owner: content.owner };
    await attach(slurm, content, options.attach, (node, jobId, mark) =>
      firstAnswer(connectCommand({ srun: programPath("srun"), bindsTasks }, node, jobId, mark), hello),
    );
  } else if (content.pilots.length === 0) {
    // Somebody asks for pilots: those that have ended do not count.
    content.submitted = 0;
  }
  store.write(content);
  writeFileSync(join(folder, PROLOG_NAME), TASK_PROLOG, { mode: 0o700 });
  return new SlurmCluster({ options, name, folder, clock, slurm, store, content, sizes, bindsTasks });
}

/** What pilots of each kind can have. Nodes may differ; which ones Slurm gives is not known. */
async function sizesOf(slurm: Slurm, options: SlurmOptions): Promise<Record<string, KindSize>> {
  const sizes: Record<string, KindSize> = {};
  for (const kind of options.kinds) sizes[kind.name] = await sizeOf(slurm, kind, options);
  return sizes;
}

async function sizeOf(slurm: Slurm, kind: PilotKind, options: SlurmOptions): Promise<KindSize> {
  const partition = partitionOf(options, kind.name);
  const known = await slurm.nodes(undefined, partition);
  const cpus = known.map((node) => node.cpus).sort((a, b) => b - a);
  const nodes = mostNodesOf(kind, options);
  if (cpus.length < nodes) {
    const where = partition === undefined ? "the default partition" : `the partition "${partition}"`;
    const found = cpus.length === 0 ? "does not exist, or has no nodes" : `has ${cpus.length}`;
    throw new InputError(
      `Cannot ask for ${nodes} nodes: ${where} ${found}; use a smaller --nodes, or another partition after -- (sinfo lists them)`,
    );
  }
  const memories = known.map((node) => node.memoryMib);
  const [memoryMib, mostMemoryMib] = [Math.min(...memories), Math.max(...memories)];
  return {
    cpus: { min: cpus[cpus.length - 1], max: cpus[0] },
    ...(memoryMib > 1 && { memoryMib, mostMemoryMib }),
    mostProcessors: cpus.slice(0, nodes).reduce((sum, count) => sum + count, 0),
  };
}

/** The options of all kinds come first, so that those of a kind win. */
function sbatchOf({ sbatch, kinds }: SlurmOptions, name: string | undefined): readonly string[] {
  return [...sbatch, ...(kinds.find((kind) => kind.name === name)?.sbatch ?? [])];
}

function partitionOf(options: SlurmOptions, kind: string | undefined): string | undefined {
  return partitionIn(sbatchOf(options, kind));
}

interface KnownSetup extends ClusterSetup {
  readonly slurm: Slurm;
  readonly store: KeptFile<PilotContent>;
  readonly content: PilotContent;
  readonly sizes: Readonly<Record<string, KindSize>>;
  readonly bindsTasks: boolean;
}

class SlurmCluster implements Cluster {
  readonly mostProcessors: number;
  readonly mostLimitMs: number;
  readonly whyNever: Cluster["whyNever"];
  readonly #setup: KnownSetup;
  readonly #pilots: Pilots;
  /** Links to the nodes of each pilot, by its mark. */
  readonly #trees = new Map<string, LinkTree>();
  readonly #srun: string;

  constructor(setup: KnownSetup) {
    const { options, folder, clock, slurm, store, content, sizes, bindsTasks } = setup;
    this.#setup = setup;
    this.#srun = programPath("srun");
    this.mostProcessors = Math.max(
      ...options.kinds.map(({ name }) => sizes[name].mostProcessors),
      // A pilot of an earlier front end may be of a larger kind.
      ...(content.pilots.length > 0 ? Object.values(sizes).map((size) => size.mostProcessors) : []),
    );
    this.mostLimitMs = mostLimitMs(options);
    const kinds = new NodeKinds(options, sizes);
    this.whyNever = (job) => kinds.whyNever(job);
    this.#pilots = new Pilots({
      slurm,
      clock,
      store,
      content,
      settings: {
        ...options,
        partitionOf: (kind) => partitionOf(options, kind),
        submission: (pilot) => ({
          options: sbatchOptions(options, folder, pilot),
          script: script(pilot.mark, bindsTasks, this.#keyFor(pilot)),
        }),
      },
      kinds,
      isHeard: ({ nodes }) => {
        const names = nodes.map(({ node }) => node);
        return [...this.#trees.values()].some((tree) => clock.nowMs() - tree.lastHeardMs(names) < HEARD_MS);
      },
      endConductors: (nodes) => {
        for (const tree of this.#trees.values()) tree.sendAll({ type: "shutdown", killJobs: true }, nodes);
      },
    });
  }

  /** Undefined: each node of the pilot has a connection of its own. */
  #keyFor({ mark, nodes = 1 }: StoredPilot): string | undefined {
    const { options, folder, content } = this.#setup;
    if (nodes <= (options.direct ?? MOST_DIRECT)) return undefined;
    return makeKey(
      folder,
      nameOf(mark),
      content.pilots.map((pilot) => nameOf(pilot.mark)),
    );
  }

  #treeOf(mark: string): LinkTree {
    const { options, folder, clock } = this.#setup;
    let tree = this.#trees.get(mark);
    if (tree !== undefined) return tree;
    for (const [name, one] of this.#trees) if (one.isEmpty) this.#trees.delete(name);
    const env = commandEnvironment(process.env);
    tree = new LinkTree({
      clock,
      mostDirect: options.direct,
      canRelay: () => existsSync(keyFileOf(folder, nameOf(mark))),
      connect: (node, listener, onRelayed) => {
        const way = { command: () => this.#connectCommand(node), env, lastWords };
        return new Connector({ node, clock, listener, onRelayed, way });
      },
    });
    this.#trees.set(mark, tree);
    return tree;
  }

  start(listener: ClusterListener): void {
    this.#pilots.start(listener);
  }

  get isFinding(): boolean {
    return this.#pilots.isFinding;
  }

  link(node: string, listener: LinkListener): NodeLink {
    return this.#treeOf(this.#pilots.pilotOf(node)?.mark ?? "").link(node, {
      ...listener,
      closed: (because) => {
        this.#pilots.suspect();
        listener.closed(because);
      },
    });
  }

  step(spec: LaunchSpec): readonly string[] {
    return stepCommand({ ...this.#placeOf(spec), srun: this.#srun }, spec);
  }

  variables(spec: LaunchSpec): Readonly<Record<string, string>> {
    return gangVariables(this.#placeOf(spec), spec);
  }

  setLostJobs(node: string, jobs: readonly number[]): void {
    this.#pilots.setLostJobs(node, jobs);
  }

  setBusy(nodes: ReadonlyMap<string, number>): void {
    this.#pilots.setBusy(nodes);
  }

  setDemand(demand: Demand | undefined): void {
    this.#pilots.setDemand(demand);
  }

  /** Random name of the state folder. */
  get owner(): string {
    return this.#setup.content.owner;
  }

  get allocations(): AllocationState[] {
    return this.#pilots.status;
  }

  get trouble(): string | undefined {
    return this.#pilots.trouble;
  }

  get rests(): string | undefined {
    return this.#pilots.rests;
  }

  get next(): string | undefined {
    return this.#pilots.next;
  }

  get coming(): string | undefined {
    return this.#pilots.coming;
  }

  get bill() {
    return this.#pilots.bill;
  }

  /** Asks for pilots again, after they were cancelled or have ended. */
  again(): void {
    this.#pilots.again();
  }

  async release(): Promise<void> {
    try {
      await this.#pilots.release();
    } finally {
      this.#closeLinks();
    }
  }

  close(): void {
    this.#pilots.close();
    this.#closeLinks();
  }

  #closeLinks(): void {
    for (const tree of this.#trees.values()) tree.close();
  }

  /** A gang is on one pilot. */
  #placeOf({ nodes = [] }: LaunchSpec) {
    const { bindsTasks } = this.#setup;
    const pilot = nodes.length === 0 ? undefined : this.#pilots.pilotOf(nodes[0].node);
    const prolog = join(this.#setup.folder, PROLOG_NAME);
    return { jobId: pilot?.jobId ?? "0", environment: slurmEnvironment(), bindsTasks, prolog };
  }

  #connectCommand(node: string): readonly [string, ...string[]] | string {
    const { jobId, mark } = this.#pilots.pilotOf(node) ?? {};
    if (jobId === undefined || mark === undefined) return "there is no pilot";
    return connectCommand({ srun: this.#srun, bindsTasks: this.#setup.bindsTasks }, node, jobId, mark);
  }
}

/** Starts the program on the node that connects to its conductor. */
function connectCommand(
  { srun, bindsTasks }: { readonly srun: string; readonly bindsTasks: boolean },
  node: string,
  jobId: string,
  mark: string,
): readonly [string, ...string[]] {
  const where = [`--jobid=${jobId}`, "--nodes=1", "--ntasks=1", `--nodelist=${node}`];
  const name = nameOf(mark);
  const words = [process.execPath, CONNECT, conductorHome(process.getuid!(), name, node), name];
  return [srun, ...stepOptions(bindsTasks), ...where, ...words];
}

const CONDUCTOR = fileURLToPath(
  programFile("conductor", new URL("../live/conductor/main.ts", import.meta.url)),
);
const CONNECT = fileURLToPath(
  programFile("connect", new URL("../live/conductor/connect.ts", import.meta.url)),
);

function script(mark: string, bindsTasks: boolean, keyFile: string | undefined): string {
  const node = process.execPath;
  return batchScript({ node, conductor: CONDUCTOR, name: nameOf(mark), bindsTasks, keyFile });
}

/** OWNER-COUNTER, from the mark tutti:OWNER:COUNTER. */
function nameOf(mark: string): string {
  return mark.split(":").slice(1).join("-");
}

/** Our options come last, so that they win. */
function sbatchOptions(options: SlurmOptions, folder: string, pilot: StoredPilot): string[] {
  const { mark, kind, nodes = 1, timeMs = 0 } = pilot;
  return [
    "--job-name=tutti",
    `--output=${join(folder, "pilot-%j.log")}`,
    ...sbatchOf(options, kind),
    "--chdir=/",
    `--nodes=${nodes}`,
    `--time=${minutesOf(timeMs)}`,
    "--exclusive",
    "--no-kill",
    "--no-requeue",
    "--open-mode=append",
    `--comment=${mark}`,
  ];
}

/** What srun needs from the environment, also where the conductor or a job starts it. */
function slurmEnvironment(): Record<string, string> {
  const { PATH = "", SLURM_CONF, LD_LIBRARY_PATH } = process.env;
  return {
    PATH,
    ...(SLURM_CONF !== undefined && { SLURM_CONF }),
    ...(LD_LIBRARY_PATH !== undefined && { LD_LIBRARY_PATH }),
  };
}

/** Path of a command of Slurm. The nodes of a cluster have it at the same place. */
function programPath(name: string): string {
  const path = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  if (path !== undefined) return path;
  throw new InputError(
    `Cannot use Slurm: the command ${name} is not in the PATH; run tutti serve --on slurm on a login node of the cluster`,
  );
}
