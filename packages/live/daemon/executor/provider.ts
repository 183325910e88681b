/**
 * Defines a provider: a kind of place where jobs can run, with its executor and its words. Each is a folder
 * or a package, and a line of cli/providers.ts. Nothing else knows which providers there are.
 */
import type { Clock } from "@tutti/host/clock.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Config } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Capabilities, Executor } from "./executor.ts";

/** A batch system refuses something, or does not answer. */
export class ProviderError extends InputError {
  override name = "ProviderError";
  /** There was no answer, so the order may have been carried out all the same. */
  readonly isAway: boolean;

  constructor(message: string, isAway: boolean) {
    super(message);
    this.isAway = isAway;
  }
}

/** What the user has configured. */
export interface Configured {
  /** The settings of the file, overridden by those of the command line. */
  readonly config: Config;
  /** Only those of the command line. */
  readonly settings?: Partial<Config> | undefined;
  readonly configFile?: string | undefined;
}

interface ProviderSetup extends Configured {
  readonly clock: Clock;
  /** Of the front end, for people. */
  readonly name: string;
  /** Folder of the conductors on this machine. */
  readonly conductor: string;
  /** Private folder of the provider, not made yet. */
  readonly folder: string;
  /** Jobs run as the users who submit them. */
  readonly isShared: boolean;
  /** Jobs that have not ended. */
  readonly liveJobs: () => readonly JobRecord[];
}

interface Started {
  readonly executor: Executor;
  /** How many of its nodes have answered; left out: none was asked. */
  readonly answered?: number;
  /** What people should know about the start, each a sentence without a full stop. */
  readonly notes?: readonly string[];
}

export interface Provider {
  /** Jobs can run as all users of this machine. Left out: all are of one user. */
  readonly servesAllUsers?: true;
  readonly capabilities: Capabilities;
  /** How many nodes it asks for. Left out: it has all of its CPUs from the start. */
  readonly nodes?: number;
  /** The options of `tutti serve` that choose it, such as "--on slurm"; left out: it is this machine. */
  readonly chosenBy?: string;
  /** Where the CPUs or nodes are, for people, such as "of Slurm"; left out: on this machine. */
  readonly place?: string;
  /** Its folder in the state: "hosts" of hosts that ssh reaches; left out: "slurm", of all other ones. */
  readonly keepsIn?: "hosts";
  /** It chooses the first node of a gang when the gang starts. */
  readonly choosesNodes?: true;
  /**
   * Looks at the settings before a folder is made, and adds what it finds.
   * @returns also the number of processors, if it is known already
   * @throws InputError for a setting that means nothing there
   */
  prepare(configured: Configured): { readonly config: Config; readonly processors?: number };
  /** @throws InputError if jobs cannot run there */
  start(setup: ProviderSetup): Promise<Started>;
}
