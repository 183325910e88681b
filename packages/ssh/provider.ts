/** Runs jobs on the hosts of a file, which are reached by ssh: the executor of a cluster. */
import { join } from "@tutti/host/ports/path.ts";
import { ON_CLUSTER } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { ClusterExecutor } from "@tutti/live/daemon/executor/cluster/cluster-executor.ts";
import type { Capabilities } from "@tutti/live/daemon/executor/executor.ts";
import { KeptFile } from "@tutti/live/daemon/executor/kept-file.ts";
import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { readHosts } from "./hosts-file.ts";
import { hostsContent, newContent } from "./hosts-store.ts";
import { sshCluster } from "./ssh-cluster.ts";
import { checkSshOptions, configOnHosts, type SshOptions } from "./ssh-options.ts";

const ON_HOSTS: Capabilities = {
  ...ON_CLUSTER,
  takesInput: "pipes",
  offByWord: true,
  resources: "each host has GPUs and licences of its own, which nobody counts",
};

/** @throws InputError for a file of hosts, or options of ssh, that cannot be used */
export function sshProvider({ hosts: file, words }: SshOptions): Provider {
  checkSshOptions(words);
  const hosts = readHosts(file);
  return {
    servesAllUsers: true,
    capabilities: ON_HOSTS,
    nodes: hosts.length,
    chosenBy: "--on ssh",
    place: "reached by ssh",
    keepsIn: "hosts",
    choosesNodes: true,
    prepare: configOnHosts,
    async start({ folder, clock, name, config, isShared }) {
      const store = new KeptFile(join(folder, "hosts.json"), hostsContent, "on a host");
      const content = store.read() ?? newContent();
      const smt = config.machine.smt;
      const setup = { hosts, words, clock, folder, store, content, isShared, smt };
      const { cluster, answered, notes } = await sshCluster(setup);
      const executor = new ClusterExecutor({
        cluster,
        clock,
        frontEnd: name,
        owner: cluster.owner,
        // No batch system bounds them.
        steps: Number.POSITIVE_INFINITY,
        capabilities: ON_HOSTS,
        claims: {
          isClaimed: (spec) => cluster.isSent(spec),
          block: (spec) => !cluster.isSent(spec),
          areKept: true,
        },
      });
      return { executor, answered, notes };
    },
  };
}
