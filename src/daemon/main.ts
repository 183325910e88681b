/**
 * Starts the process of `tutti serve`, without the API: locks the state folder, opens the store, starts or
 * finds the conductor and returns the service.
 */
import { resolve } from "node:path";
import { InputError } from "../core/errors.ts";
import { cpusText } from "../core/machine.ts";
import { systemClock } from "../host/clock.ts";
import { allowedCpus, memoryBytes } from "../host/machine.ts";
import { bootId } from "../host/processes.ts";
import { replaceablePart } from "../host/trusted-path.ts";
import { withPrivateUmask } from "../host/umask.ts";
import type { FreezerKind } from "../protocol/attempts.ts";
import { type Config, DEFAULT_CONFIG, type ReadConfig, readConfig } from "./config/config.ts";
import { readText } from "./config/config-text.ts";
import { allAccounts, ownAccount, refuseJobsOfOthers } from "./executor/accounts.ts";
import { Launcher } from "./executor/launcher.ts";
import { canRunBehind, localExecutor } from "./executor/local.ts";
import { forecastThread } from "./forecast/thread.ts";
import { FrontEnd } from "./front-end/front-end.ts";
import { choosePolicyFor, ownPolicyIn, refuseWideMachine } from "./scheduling/policy-choice.ts";
import { lineFile, NumbersFile } from "./state/numbers.ts";
import { lockStateFolder, makeStateFolder, openToJobs } from "./state/state-folder.ts";
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
  const config = { ...file.config, ...setup.settings };
  const cpus = chooseCpus(config, setup);
  const ownPolicy = await ownPolicyIn(config);
  refuseWideMachine(choosePolicyFor(config.policy, config, ownPolicy), cpus.length, config);
  if (config.mode === "concurrent" && !canRunBehind(setup.freezer)) {
    throw new InputError(
      'Cannot use the mode "concurrent": this user cannot run gangs at low priority here, expected a cpu control group or the right to change scheduling classes; use the mode "gang", or start the scheduler as root or with CAP_SYS_NICE; tutti doctor shows what works here',
    );
  }
  const path = resolve(setup.stateFolder);
  const held = new DisposableStack();
  try {
    const folder = makeStateFolder(path, setup.isShared);
    held.defer(lockStateFolder(folder));
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
    const executor = localExecutor({
      cpus,
      memoryBytes: Math.min(config.memoryBytes ?? Number.POSITIVE_INFINITY, memoryBytes()),
      home: folder.conductor,
      name: `tutti ${process.pid}`,
      ...(setup.freezer !== undefined && { freezer: setup.freezer }),
    });
    held.defer(() => executor.close());
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
      policy: setup.settings?.policy,
      ownPolicy,
      forecastEngine: forecastThread(),
      bootId: bootId(),
      launcher: new Launcher({
        jobsFolder: folder.jobs,
        graceMs: config.graceMs,
        accounts: setup.isShared ? allAccounts() : ownAccount(),
      }),
    });
    service.retention.start();
    service.forecaster.start();
    held.defer(() => service.stop());
    return {
      service,
      config: { ...config, policy: service.policy().policy },
      jobsFolder: folder.jobs,
      notes: file.notes,
      stop: async () => held.dispose(),
    };
  } catch (error) {
    held.dispose();
    throw fileError(path, error);
  }
}

function configIn(file: string | undefined): Pick<ReadConfig, "config" | "notes"> {
  if (file === undefined) return { config: DEFAULT_CONFIG, notes: [] };
  const problem = process.getuid?.() === 0 ? replaceablePart(file, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot use "${file}" as root's configuration: ${problem}, so another user could change it; expected a file and folders that belong to root and to which only root can write, such as /etc/tutti.toml`,
    );
  }
  return readConfig(readText(file), file);
}

function chooseCpus({ cpus }: Config, { settings, configFile }: FrontEndSetup): readonly number[] {
  const allowed = allowedCpus();
  if (cpus === undefined) return allowed;
  const missing = cpus.filter((cpu) => !allowed.includes(cpu));
  if (missing.length === 0) return cpus;
  const change =
    settings?.cpus === undefined ? `change "cpus" in "${configFile}"` : "name only these with --cpus";
  throw new InputError(
    `Cannot use CPU ${cpusText(missing)}: this process may use ${cpusText(allowed)}; ${change}`,
  );
}
