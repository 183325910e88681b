/**
 * Starts the process of `tutti serve`, without the API: locks the state folder, opens the store, starts or
 * finds the conductor and returns the service.
 */

import { systemClock } from "@tutti/host/clock.ts";
import { groupLookup, readPasswd, userNameOf } from "@tutti/host/passwd.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { hostname } from "@tutti/host/ports/os.ts";
import { resolve } from "@tutti/host/ports/path.ts";
import { bootId } from "@tutti/host/processes.ts";
import { replaceablePart } from "@tutti/host/trusted-path.ts";
import { withPrivateUmask } from "@tutti/host/umask.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { type Config, DEFAULT_CONFIG, type ReadConfig, readConfig } from "./config/config.ts";
import { readText } from "./config/config-text.ts";
import { allAccounts, ownAccount, refuseJobsOfOthers } from "./executor/accounts.ts";
import type { Capabilities } from "./executor/executor.ts";
import { Launcher } from "./executor/launcher.ts";
import type { Provider } from "./executor/provider.ts";
import { forecastThread } from "./forecast/thread.ts";
import { FrontEnd } from "./front-end/front-end.ts";
import { refuseOtherPlace, rememberPlace } from "./front-end/last-place.ts";
import { runnerIn } from "./news/runner-process.ts";
import {
  choosePolicyFor,
  ownPolicyIn,
  refuseMode,
  refuseResources,
  refuseUnlessCapable,
  refuseWideMachine,
} from "./scheduling/policy-choice.ts";
import { lineFile, NumbersFile } from "./state/numbers.ts";
import {
  checkStateFolder,
  closedPart,
  endStart,
  lockStateFolder,
  makeFoldersIn,
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
  /** Where jobs run; left out: on this machine. */
  readonly provider?: Provider;
  /** Receives the policy's decisions. */
  readonly observer?: Observer | undefined;
  /** Checks of the caller: a start that they refuse has made and changed nothing. */
  readonly beforeMaking?: () => Promise<void>;
}

export interface RunningFrontEnd {
  readonly service: FrontEnd;
  /** With the policy in force. */
  readonly config: Config;
  readonly jobsFolder: string;
  /** How many nodes have answered; undefined: none was asked. */
  readonly answered?: number | undefined;
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
  const provider = setup.provider ?? (await import("./executor/local/provider.ts")).localProvider();
  const { settings, configFile } = setup;
  const { capabilities } = provider;
  const given = { config: { ...file.config, ...settings }, settings, configFile };
  const ownPolicy = await ownPolicyIn(given.config);
  refuseMode(given.config, capabilities);
  const { config, processors } = provider.prepare(given);
  refuseResources(config.resources, capabilities);
  refuseFirstPolicy(config, setup, ownPolicy, capabilities);
  const refuseWide = (processors: number) =>
    refuseWideMachine(choosePolicyFor(config.policy, config, ownPolicy), processors, config);
  // Before a folder is made.
  if (processors !== undefined) refuseWide(processors);
  const path = resolve(setup.stateFolder);
  const held = new DisposableStack();
  try {
    const folder = checkStateFolder(path, setup.isShared);
    // The lock of an earlier start tells whether another scheduler runs.
    const isLocked = existsSync(folder.lock);
    if (isLocked) held.defer(lockStateFolder(folder));
    await setup.beforeMaking?.();
    let made: ReturnType<typeof missingParts> | undefined = missingParts(folder);
    held.defer(() => removeMade(made?.folders ?? []));
    makeStateFolder(path, setup.isShared);
    if (!isLocked) held.defer(lockStateFolder(folder));
    held.defer(() => removeMade(made?.inside ?? []));
    makeFoldersIn(folder);
    const store = held.adopt(
      withPrivateUmask(() => new Store(folder.database)),
      (opened) => opened.close(),
    );
    if (!setup.isShared) {
      const uid = process.getuid!();
      refuseJobsOfOthers(store.liveJobsOfOthers(uid), { uid, folder: folder.path });
    }
    refuseOtherPlace(store, provider, path);
    openToJobs(folder);
    const numbers = held.adopt(
      withPrivateUmask(() => new NumbersFile(lineFile(folder.numbers), bootId())),
      (opened) => opened.close(),
    );
    const {
      executor,
      answered,
      notes = [],
    } = await provider.start({
      ...given,
      config,
      clock: systemClock,
      name: nameOf(folder),
      conductor: folder.conductor,
      folder: folder[provider.keepsIn ?? "slurm"],
      isShared: setup.isShared,
      liveJobs: () => store.liveJobs(),
    });
    held.defer(() => executor.close());
    const { nodes, mostProcessors = nodes.processors } = executor.capacity;
    refuseWide(mostProcessors);
    // From here on, nothing is refused.
    made = undefined;
    rememberPlace(store, provider);
    const service = new FrontEnd({
      store,
      numbers,
      watch: new StateWatch({
        kept: [folder.path, folder.lock, folder.database, `${folder.database}-wal`, `${folder.database}-shm`],
        jobs: { path: folder.jobs, mode: folder.jobsMode },
        numbers: { path: folder.numbers, recreate: () => withPrivateUmask(() => numbers.recreate()) },
      }),
      executor,
      clock: systemClock,
      config,
      isUser: setup.isShared
        ? (name) => readPasswd().some(({ user }) => user === name)
        : (name) => name === userNameOf(process.getuid!()),
      groupsOf: groupLookup(),
      policy: settings?.policy,
      ownPolicy,
      observer: setup.observer,
      forecastEngine: forecastThread(),
      bootId: bootId(),
      launcher: new Launcher({
        jobsFolder: folder.jobs,
        graceMs: config.graceMs,
        resources: config.resources,
        accounts: setup.isShared ? allAccounts() : ownAccount(),
        choosesNodes: provider.choosesNodes,
      }),
    });
    service.news.start(runnerIn(folder.hooks));
    service.retention.start();
    service.forecaster.start();
    held.defer(() => service.stop());
    endStart(folder);
    return {
      service,
      config: { ...config, policy: service.policy().policy },
      jobsFolder: folder.jobs,
      answered,
      notes: [...file.notes, ...notes, ...(setup.isShared ? closedToUsers(folder) : [])],
      stop: async () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw fileError(path, error);
  }
}

/** Name of this front end, for people. */
function nameOf({ path }: StateFolder): string {
  return `tutti serve on ${hostname()} (process ${process.pid}, state folder ${path})`;
}

/** The last run may have been switched to another policy, which is looked at later. */
function refuseFirstPolicy(
  config: Config,
  { settings, stateFolder }: FrontEndSetup,
  ownPolicy: PolicyDefinition | undefined,
  capabilities: Capabilities,
): void {
  const isFirst = !existsSync(resolve(stateFolder));
  const policy = settings?.policy ?? (isFirst ? config.policy : undefined);
  if (policy !== undefined) refuseUnlessCapable(choosePolicyFor(policy, config, ownPolicy), capabilities);
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

function closedToUsers({ path }: StateFolder): string[] {
  const closed = closedPart(path);
  return closed === undefined
    ? []
    : [
        `no job of a user can start unless the user may enter "${closed}", which is closed to most users; chmod o+x "${closed}", or use another folder with --state`,
      ];
}
