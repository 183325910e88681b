/** Runs jobs on this machine, for one user or for all. */

import { allowedCpus, memoryBytes } from "@tutti/host/machine.ts";
import { placesOf } from "@tutti/host/topology.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { cpusText } from "@tutti/kernel/core/machine.ts";
import { withFoundGpus } from "../../config/gpus.ts";
import type { JobRecord } from "../../contract/record.ts";
import type { Configured, Provider } from "../provider.ts";
import { LOCAL, localExecutor } from "./local-executor.ts";
import { type OwnCpus, ownCpus } from "./own-cpus.ts";

export function localProvider(): Provider {
  return {
    servesAllUsers: true,
    capabilities: LOCAL,
    prepare(configured) {
      const { config } = configured;
      return {
        config: { ...config, resources: withFoundGpus(config.resources) },
        processors: chooseCpus(configured).cpus.length,
      };
    },
    async start(setup) {
      const own = chooseCpus(setup, setup.liveJobs());
      const { config, conductor: home, name } = setup;
      const most = config.memoryBytes ?? Number.POSITIVE_INFINITY;
      return {
        executor: localExecutor({ own, memoryBytes: Math.min(most, memoryBytes()), home, name }),
        notes: keptThreads(own),
      };
    },
  };
}

function chooseCpus({ config, settings, configFile }: Configured, live: readonly JobRecord[] = []): OwnCpus {
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

/** What people should know if threads of cores are used although the setting says otherwise. */
function keptThreads({ keptFor }: OwnCpus): string[] {
  if (keptFor.length === 0) return [];
  const jobs = `${keptFor.length === 1 ? "job" : "jobs"} ${keptFor.slice(0, 5).join(", ")}${keptFor.length > 5 ? " and others" : ""}`;
  return [
    `both threads of cores are CPUs for jobs until the next start, because ${jobs} of an earlier start need them; start again after their end, or write machine = { smt = true }`,
  ];
}
