/** The list of providers. Each is loaded when somebody names it. */
import type { NativeOptions, SlurmOptions } from "./slurm/slurm-options.ts";

export const PROVIDERS = {
  local: async () => (await import("./local/provider.ts")).localProvider(),
  slurm: async (options: SlurmOptions) => (await import("./slurm/provider.ts")).pilotProvider(options),
  "slurm-native": async (options: NativeOptions) =>
    (await import("./slurm/native/provider.ts")).nativeProvider(options),
};
