/** Defines what users say about hosts that are reached by ssh. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Config } from "@tutti/live/daemon/config/config.ts";
import type { Configured } from "@tutti/live/daemon/executor/provider.ts";

export interface SshOptions {
  /** The file of hosts. */
  readonly hosts: string;
  /** More options for ssh, such as -F or -i. */
  readonly words: readonly string[];
}

/** Options of ssh that would take our command, our input, or the connection away. */
const REFUSED = /^-[fGnNMOSsTtWwVDLRQ]/;
/** Those that have a value as the next word. */
const WITH_VALUE = /^-[BbcEeFIiJlmop]$/;

/** @throws InputError for options of ssh that cannot work */
export function checkSshOptions(words: readonly string[]): void {
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (REFUSED.test(word) || !word.startsWith("-") || word === "--") {
      throw new InputError(
        `Cannot give ssh the option "${word}": expected options about how hosts are reached, such as -F config, -i key, -o ProxyJump=gate`,
      );
    }
    if (WITH_VALUE.test(word)) i++;
  }
}

/** @throws InputError for a setting that means nothing on other machines */
export function configOnHosts({ config }: Configured): { readonly config: Config } {
  const { cpus, memoryBytes } = config;
  const setting = cpus !== undefined ? "cpus" : memoryBytes !== undefined ? "memoryBytes" : undefined;
  if (setting === undefined) return { config };
  throw new InputError(
    `Cannot use the setting "${setting}" on hosts: each host has its own, expected cpus= and memory= in the file of hosts`,
  );
}
