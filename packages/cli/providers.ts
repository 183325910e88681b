/** The list of providers. Each is loaded when somebody names it. */
import type { NativeOptions, SlurmOptions } from "@tutti/slurm/slurm-options.ts";
import type { SshOptions } from "@tutti/ssh/ssh-options.ts";

export const PROVIDERS = {
  local: async () => (await import("@tutti/live/daemon/executor/local/provider.ts")).localProvider(),
  slurm: async (options: SlurmOptions) => (await import("@tutti/slurm/provider.ts")).pilotProvider(options),
  "slurm-native": async (options: NativeOptions) =>
    (await import("@tutti/slurm/native/provider.ts")).nativeProvider(options),
  ssh: async (options: SshOptions) => (await import("@tutti/ssh/provider.ts")).sshProvider(options),
};
