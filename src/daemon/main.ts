/**
 * Starts the process of `tutti serve`, without the API: locks the state folder, opens the store, starts or
 * finds the conductor and returns the service.
 */
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { InputError } from "../core/errors.ts";
import { cpusText } from "../core/machine.ts";
import type { PolicyDefinition } from "../core/policy.ts";
import { systemClock } from "../host/clock.ts";
import { allowedCpus, memoryBytes } from "../host/machine.ts";
import { groupLookup, readPasswd, userNameOf } from "../host/passwd.ts";
import { bootId } from "../host/processes.ts";
import { placesOf } from "../host/topology.ts";
import { replaceablePart } from "../host/trusted-path.ts";
import { withPrivateUmask } from "../host/umask.ts";
import type { FreezerKind } from "../protocol/attempts.ts";
import { type Config, DEFAULT_CONFIG, type ReadConfig, readConfig } from "./config/config.ts";
import { readText } from "./config/config-text.ts";
import { withFoundGpus } from "./config/gpus.ts";
import type { JobRecord } from "./contract/record.ts";
import type { PilotControl } from "./contract/service.ts";
import { allAccounts, ownAccount, refuseJobsOfOthers } from "./executor/accounts.ts";
import { type Executor, ON_SLURM } from "./executor/executor.ts";
import { Launcher } from "./executor/launcher.ts";
import { canRunBehind, localExecutor } from "./executor/local.ts";
import { type OwnCpus, ownCpus } from "./executor/own-cpus.ts";
import { nativeExecutor } from "./executor/slurm/native/start.ts";
import { slurmExecutor } from "./executor/slurm/slurm-executor.ts";
import type { NativeOptions, SlurmOptions } from "./executor/slurm/slurm-options.ts";
import { forecastThread } from "./forecast/thread.ts";
import { FrontEnd } from "./front-end/front-end.ts";
import { runnerIn } from "./news/runner-process.ts";
import {
  choosePolicyFor,
  ownPolicyIn,
  refuseResources,
  refuseUnlessCapable,
  refuseWideMachine,
} from "./scheduling/policy-choice.ts";
import { lineFile, NumbersFile } from "./state/numbers.ts";
import {
  checkStateFolder,
  closedPart,
  lockStateFolder,
  makeStateFolder,
  missingParts,
  openToJobs,
  removeMade,
  type StateFolder,
} from "./state/state-folder.ts";
import { StateWatch } from "./state/state-watch.ts";
import { Store } from "./store/store.ts";
import { fileError } from "./store/store-error.ts";

interface FrontEndSetup {
  /** Created if it is missing; see `defaultStateFolder`. */
  readonly stateFolder: string;
  /** JSON or TOML; undefined: the defaults. */
  readonly configFile?: string | undefined;
  /** Settings of the command line, which override the file. */
  readonly settings?: Partial<Config>;
  /** Jobs run as the users who submit them; for a front end run by root. */
  readonly isShared: boolean;
  /** Undefined: the best one that works on this machine. */
  readonly freezer?: FreezerKind | undefined;
  /** Undefined: jobs run on this machine. */
  readonly slurm?: SlurmOptions | undefined;
  /** Each job is a job of Slurm. */
  readonly native?: NativeOptions | undefined;
  /** Checks of the caller: a start that they refuse has made and changed nothing. */
  readonly beforeMaking?: () => Promise<void>;
}

export interface RunningFrontEnd {
  readonly service: FrontEnd;
  /** With the policy in force. */
  readonly config: Config;
  readonly jobsFolder: string;
  /** Sentences about older names in the configuration. */
  readonly notes: readonly string[];
  /** Ends the front end; jobs and the conductor continue. */
  stop(): Promise<void>;
}

/**
 * @throws InputError if the folder is in use, belongs to another user or contains something other than a
 *   store, or if the configuration is wrong; StorageError if the disk refuses
 */
export async function startFrontEnd(setup: FrontEndSetup): Promise<RunningFrontEnd> {
  const file = configIn(setup.configFile);
  const isLocal = setup.slurm === undefined && setup.native === undefined;
  const given = { ...file.config, ...setup.settings };
  const config = isLocal ? { ...given, resources: withFoundGpus(given.resources) } : given;
  const ownPolicy = await ownPolicyIn(config);
  refuseMode(config, setup);
  refuseOnSlurm(config, setup, ownPolicy);
  const refuseWide = (processors: number) =>
    refuseWideMachine(choosePolicyFor(config.policy, config, ownPolicy), processors, config);
  // Before a folder is made.
  if (isLocal) refuseWide(chooseCpus(config, setup).cpus.length);
  const path = resolve(setup.stateFolder);
  const held = new DisposableStack();
  try {
    const folder = checkStateFolder(path, setup.isShared);
    // The lock of an earlier start tells whether another scheduler runs.
    const isLocked = existsSync(folder.lock);
    if (isLocked) held.defer(lockStateFolder(folder));
    await setup.beforeMaking?.();
    let made: readonly string[] = missingParts(folder);
    held.defer(() => removeMade(made, "folders"));
    makeStateFolder(path, setup.isShared);
    if (!isLocked) held.defer(lockStateFolder(folder));
    held.defer(() => removeMade(made, "files"));
    const store = held.adopt(
      withPrivateUmask(() => new Store(folder.database)),
      (opened) => opened.close(),
    );
    if (!setup.isShared) {
      const uid = process.getuid!();
      refuseJobsOfOthers(store.liveJobsOfOthers(uid), { uid, folder: folder.path });
    }
    openToJobs(folder);
    const numbers = held.adopt(
      withPrivateUmask(() => new NumbersFile(lineFile(folder.numbers), bootId())),
      (opened) => opened.close(),
    );
    const own = isLocal ? chooseCpus(config, setup, store.liveJobs()) : undefined;
    const { executor, pilots } = await executorFor(config, setup, folder, own);
    held.defer(() => executor.close());
    const { nodes, mostProcessors = nodes.processors } = executor.capacity;
    refuseWide(mostProcessors);
    // From here on, nothing is refused.
    made = [];
    const service = new FrontEnd({
      store,
      numbers,
      watch: new StateWatch({
        kept: [folder.path, folder.lock, folder.database, `${folder.database}-wal`, `${folder.database}-shm`],
        jobs: { path: folder.jobs, mode: folder.jobsMode },
        numbers: { path: folder.numbers, recreate: () => withPrivateUmask(() => numbers.recreate()) },
      }),
      executor,
      pilots,
      clock: systemClock,
      config,
      isUser: setup.isShared
        ? (name) => readPasswd().some(({ user }) => user === name)
        : (name) => name === userNameOf(process.getuid!()),
      groupsOf: groupLookup(),
      policy: setup.settings?.policy,
      ownPolicy,
      forecastEngine: forecastThread(),
      bootId: bootId(),
      launcher: new Launcher({
        jobsFolder: folder.jobs,
        graceMs: config.graceMs,
        resources: config.resources,
        accounts: setup.isShared ? allAccounts() : ownAccount(),
        choosesNodes: setup.slurm !== undefined,
      }),
    });
    service.news.start(runnerIn(folder.hooks));
    service.retention.start();
    service.forecaster.start();
    held.defer(() => service.stop());
    return {
      service,
      config: { ...config, policy: service.policy().policy },
      jobsFolder: folder.jobs,
      notes: [
        ...file.notes,
        ...(own === undefined ? [] : keptThreads(own)),
        ...(setup.isShared ? closedToUsers(folder) : []),
      ],
      stop: async () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw fileError(path, error);
  }
}

async function executorFor(
  config: Config,
  setup: FrontEndSetup,
  folder: StateFolder,
  own: OwnCpus | undefined,
): Promise<{ readonly executor: Executor; readonly pilots?: PilotControl }> {
  if (setup.native !== undefined) {
    const options = setup.native;
    return { executor: await nativeExecutor({ options, folder: folder.slurm, clock: systemClock }) };
  }
  if (setup.slurm !== undefined) {
    return slurmExecutor({
      options: setup.slurm,
      folder: folder.slurm,
      clock: systemClock,
      name: nameOf(folder),
    });
  }
  const executor = localExecutor({
    own: own!,
    memoryBytes: Math.min(config.memoryBytes ?? Number.POSITIVE_INFINITY, memoryBytes()),
    home: folder.conductor,
    name: nameOf(folder),
    freezer: setup.freezer,
  });
  return { executor };
}

/** Name of this front end, for people. */
function nameOf({ path }: StateFolder): string {
  return `tutti serve on ${hostname()} (process ${process.pid}, state folder ${path})`;
}

function refuseMode({ mode }: Config, { freezer, slurm, native }: FrontEndSetup): void {
  if (mode !== "concurrent") return;
  if (slurm !== undefined || native !== undefined) {
    throw new InputError(
      'Cannot use the mode "concurrent" on Slurm: users cannot run gangs at low priority there, expected the mode "gang"',
    );
  }
  if (!canRunBehind(freezer)) {
    throw new InputError(
      'Cannot use the mode "concurrent": this user cannot run gangs at low priority here, expected a cpu control group or the right to change scheduling classes; use the mode "gang", or start the scheduler as root or with CAP_SYS_NICE; tutti doctor shows what works here',
    );
  }
}

/**
 * Settings that nothing on Slurm can follow. A policy that the last run was switched to may take the place of
 * the configured one, so that one is looked at later.
 */
function refuseOnSlurm(config: Config, setup: FrontEndSetup, ownPolicy: PolicyDefinition | undefined): void {
  const { slurm, native, settings } = setup;
  if (slurm === undefined && native === undefined) return;
  const { cpus, memoryBytes, machine, resources } = config;
  const setting =
    cpus !== undefined ? "cpus" : memoryBytes !== undefined ? "memoryBytes" : machine.smt ? "smt" : undefined;
  if (setting !== undefined) {
    throw new InputError(
      `Cannot use the setting "${setting}" on Slurm: jobs have the CPUs and the memory that Slurm gives, expected options of sbatch instead, such as -- --nodelist=n[1-4] --mem=64G`,
    );
  }
  refuseResources(resources, ON_SLURM);
  const isFirst = !existsSync(resolve(setup.stateFolder));
  const policy = settings?.policy ?? (isFirst ? config.policy : undefined);
  if (policy === undefined) return;
  refuseUnlessCapable(choosePolicyFor(policy, config, ownPolicy), { timeSharing: native === undefined });
}

function configIn(file: string | undefined): Pick<ReadConfig, "config" | "notes"> {
  if (file === undefined) return { config: DEFAULT_CONFIG, notes: [] };
  const problem = process.getuid?.() === 0 ? replaceablePart(file, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot use "${file}" as root's configuration: ${problem}, so another user could change it; expected a file and folders that belong to root and to which only root can write, such as /etc/tutti.toml`,
    );
  }
  const read = readConfig(readText(file), file);
  refuseOpenHooks(read.config, file);
  return read;
}

/** Hooks of the machine run with the rights of the scheduler. */
function refuseOpenHooks({ hooks }: Config, file: string): void {
  const uid = process.getuid!();
  for (const [name, hook] of Object.entries(hooks)) {
    const problem = Array.isArray(hook) ? replaceablePart(hook[0], uid) : undefined;
    if (problem === undefined) continue;
    throw new InputError(
      `Cannot use hooks.${name} in "${file}": ${problem}, so another user could replace the program; expected a program on a path that only root and the user of the scheduler can change`,
    );
  }
}

function chooseCpus(
  config: Config,
  { settings, configFile }: FrontEndSetup,
  live: readonly JobRecord[] = [],
): OwnCpus {
  const allowed = allowedCpus();
  const { cpus = allowed } = config;
  const missing = cpus.filter((cpu) => !allowed.includes(cpu));
  if (missing.length === 0) return ownCpus(placesOf(cpus), config, live);
  const change =
    settings?.cpus === undefined ? `change "cpus" in "${configFile}"` : "name only these with --cpus";
  throw new InputError(
    `Cannot use CPU ${cpusText(missing)}: this process may use ${cpusText(allowed)}; ${change}`,
  );
}

function closedToUsers({ path }: StateFolder): string[] {
  const closed = closedPart(path);
  return closed === undefined
    ? []
    : [
        `no job of a user can start unless the user may enter "${closed}", which is closed to most users; chmod o+x "${closed}", or use another folder with --state`,
      ];
}

/** What people should know if threads of cores are used although the setting says otherwise. */
function keptThreads({ keptFor }: OwnCpus): string[] {
  if (keptFor.length === 0) return [];
  const jobs = `${keptFor.length === 1 ? "job" : "jobs"} ${keptFor.slice(0, 5).join(", ")}${keptFor.length > 5 ? " and others" : ""}`;
  return [
    `both threads of cores are CPUs for jobs until the next start, because ${jobs} of an earlier start need them; start again after their end, or write machine = { smt = true }`,
  ];
}
