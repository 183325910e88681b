/**
 * Finds out what `tutti serve --on ssh` would meet: carries the programs to each host, and removes them
 * again.
 */
import { unixMs } from "@tutti/host/clock.ts";
import { mkdtempSync, rmSync } from "@tutti/host/ports/fs.ts";
import { tmpdir } from "@tutti/host/ports/os.ts";
import { join } from "@tutti/host/ports/path.ts";
import { cpusOf, memoryOf } from "./host-facts.ts";
import { Hosts } from "./hosts.ts";
import { type Host, readHosts } from "./hosts-file.ts";
import { newContent } from "./hosts-store.ts";
import { runSsh } from "./ssh-command.ts";
import { checkSshOptions, type SshOptions } from "./ssh-options.ts";

/** What a host is like, or why it cannot be used. */
export interface HostDiagnosis {
  readonly node: string;
  readonly failure?: string;
  readonly user?: string;
  readonly kernel?: string;
  readonly nodeVersion?: string;
  readonly cpus?: readonly number[];
  /** For jobs. */
  readonly memoryBytes?: number;
  /** Its wall clock minus this machine's, to about a tenth of a second. */
  readonly clockMs?: number;
}

/** @throws InputError for a file of hosts, or options of ssh, that cannot be used */
export async function diagnoseHosts({ hosts: file, words }: SshOptions): Promise<readonly HostDiagnosis[]> {
  checkSshOptions(words);
  const hosts = readHosts(file);
  const folder = mkdtempSync(join(tmpdir(), "tutti-doctor-"));
  try {
    const asker = new Hosts({ words, folder, content: newContent(), isShared: false });
    return await Promise.all(hosts.map((host) => diagnose(asker, host)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function diagnose(asker: Hosts, host: Host): Promise<HostDiagnosis> {
  const { node } = host;
  try {
    const answer = await asker.ask(host);
    // The host has looked at its clock last, just before it answered.
    const nowMs = unixMs();
    if ("failure" in answer) return { node, failure: answer.failure };
    const { user, kernel, node: nodeVersion, unixMs: thereMs } = answer.facts;
    const cpus = cpusOf(host, answer.facts, false);
    const memoryBytes = memoryOf(host, answer.facts);
    return { node, user, kernel, nodeVersion, cpus, memoryBytes, clockMs: Math.round(thereMs - nowMs) };
  } finally {
    await runSsh(asker.command(host, "remove"));
  }
}
