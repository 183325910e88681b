/**
 * Reads the file of hosts, one on each line, as ssh knows it:
 *
 *   # the machines under our desks
 *   oak
 *   anna@elm.example.org  cpus=0-7 memory=32G
 *   yew                   node=/opt/node/bin/node
 *
 * cpus     those that jobs may use; left out: one of each core
 * memory   for jobs; left out: all
 * node     a Node program of the host; left out: that of the scheduler is carried over
 */
import { parseCpus } from "@tutti/host/machine.ts";
import { readFileSync } from "@tutti/host/ports/fs.ts";
import { replaceablePart } from "@tutti/host/trusted-path.ts";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";

export interface Host {
  /** Name of the node: the destination without the user. */
  readonly node: string;
  /** What ssh gets: `elm`, or `anna@elm`. */
  readonly destination: string;
  readonly cpus?: readonly number[];
  readonly memoryBytes?: number;
  /** Path of Node on the host. */
  readonly nodeProgram?: string;
}

/** Names go into lists of hosts, names of folders, and sentences. An option of ssh begins with a dash. */
const DESTINATION = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?([A-Za-z0-9_][A-Za-z0-9._-]{0,62})$/;
const PATH = /^\/[A-Za-z0-9._/+-]+$/;
const UNITS: Readonly<Record<string, number>> = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const MAX_HOSTS = 64;

/** @throws InputError that names file, line and value */
export function readHosts(file: string): readonly Host[] {
  const problem = process.getuid?.() === 0 ? replaceablePart(file, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot use "${file}" as root's file of hosts: ${problem}, so another user could change where jobs run; expected a file and folders that only root can change, such as /etc/tutti.hosts`,
    );
  }
  return parseHosts(textOf(file), file);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InputError(
      `Cannot read the file of hosts "${file}": ${whyUnreadable(error)}, expected a text file with one host on each line, such as anna@elm`,
    );
  }
}

/** @param file its name, for messages */
export function parseHosts(text: string, file: string): readonly Host[] {
  const hosts: Host[] = [];
  const lines = new Map<string, number>();
  for (const [i, whole] of text.split("\n").entries()) {
    const line = whole.replace(/(?:^|\s)#.*$/, "").trim();
    if (line === "") continue;
    const fail = (why: string) => new InputError(`Cannot use "${file}", line ${i + 1}: ${why}`);
    const host = hostIn(line, fail);
    const earlier = lines.get(host.node);
    if (earlier !== undefined)
      throw fail(`line ${earlier} names "${host.node}" already, expected each host once`);
    lines.set(host.node, i + 1);
    hosts.push(host);
  }
  if (hosts.length === 0)
    throw new InputError(
      `Cannot use "${file}": it names no host, expected one on each line, such as anna@elm`,
    );
  if (hosts.length > MAX_HOSTS)
    throw new InputError(
      `Cannot use "${file}": it names ${hosts.length} hosts, expected at most ${MAX_HOSTS}`,
    );
  return hosts;
}

function hostIn(line: string, fail: (why: string) => InputError): Host {
  const [destination = "", ...settings] = line.split(/\s+/);
  const node = DESTINATION.exec(destination)?.[1];
  if (node === undefined) {
    throw fail(
      `"${destination}" is not a host, expected a name that ssh knows, with or without a user, such as elm or anna@elm; for an address of IPv6 or a port, write an alias into ~/.ssh/config`,
    );
  }
  const host: { -readonly [Field in keyof Host]: Host[Field] } = { node, destination };
  for (const setting of settings) {
    const [, key = "", value = ""] = /^(\w+)=(.*)$/.exec(setting) ?? [];
    if (key === "cpus") {
      const cpus = parseCpus(value);
      if (cpus === undefined) throw fail(`"${value}" is not a list of CPUs, expected one such as cpus=0-3,6`);
      host.cpus = cpus;
    } else if (key === "memory") {
      const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)([MGT])$/.exec(value) ?? [];
      const bytes = Math.floor(Number(number) * (UNITS[unit] ?? 0));
      if (bytes < 1) throw fail(`"${value}" is not an amount of memory, expected one such as memory=16G`);
      host.memoryBytes = bytes;
    } else if (key === "node") {
      if (!PATH.test(value))
        throw fail(`"${value}" is not the path of a program, expected node=/usr/bin/node`);
      host.nodeProgram = value;
    } else throw fail(`"${setting}" is no setting of a host, expected cpus=, memory= or node=`);
  }
  return host;
}
