/** What Slurm's commands say about a job, computed from what the scheduler says. */
import { nodeName } from "@tutti/cli/options/slurm-site.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { limitMs, longDuration } from "../text/times.ts";

/** What the commands answer to --version: the version whose formats they follow. */
export const VERSION = "slurm-wlm 22.05.8";

const MIB = 2 ** 20;

/** `12`, or `12_3` for a job of an array. */
export function jobId({ job, array, arrayIndex }: Job): string {
  return array === undefined ? String(job) : `${array}_${arrayIndex}`;
}

export function cpusOf({ tasks, threads = 1 }: Job): number {
  return tasks * threads;
}

/** The nodes of a job that has CPUs, as a list; empty without CPUs. */
export function nodesOf({ cpus, nodes, startedAtMs }: Job): readonly string[] {
  if (nodes !== undefined) return nodes.map(({ node }) => node);
  return cpus.length > 0 || startedAtMs !== undefined ? [nodeName()] : [];
}

export function isWaiting({ state }: Job): boolean {
  return state === "queued" || state === "held";
}

/** When the job ended, or is ended at its limit; undefined: nobody knows. */
export function expectedEndMs({ endedAtMs, startedAtMs, limitMs: ms }: Job): number | undefined {
  return endedAtMs ?? (startedAtMs === undefined || ms === undefined ? undefined : startedAtMs + ms);
}

/** `1:00`, or UNLIMITED. @param text of a number of milliseconds */
export function limitText({ limitMs: ms }: Job, text: (ms: number) => string = longDuration): string {
  return ms === undefined ? "UNLIMITED" : text(limitMs(ms));
}

/** Memory as `100M` or `4G`; undefined: none was asked for. */
export function memoryText({ memoryBytes }: Job): string | undefined {
  if (memoryBytes === undefined) return undefined;
  const mebibytes = Math.ceil(memoryBytes / MIB);
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}G` : `${mebibytes}M`;
}

const DEPENDENCIES = { any: "afterany", ok: "afterok", notok: "afternotok" };

/** What a waiting job waits for, such as `afterok:12(unfulfilled),singleton(unfulfilled)`. */
export function dependencyText(job: Job): string {
  if (!isWaiting(job)) return "(null)";
  const { after, afterKinds, singleton } = job;
  const parts = [
    ...after.map((other, i) => `${DEPENDENCIES[afterKinds?.[i] ?? "any"]}:${other}`),
    ...(singleton ? ["singleton"] : []),
  ];
  return parts.map((part) => `${part}(unfulfilled)`).join(",") || "(null)";
}

/** Countable resources, such as `cpu=2,mem=4G,node=1,billing=2`. */
export function tresText(job: Job): string {
  const memory = memoryText(job);
  const nodes = Math.max(1, nodesOf(job).length);
  const units = Object.entries(job.use ?? {}).map(([kind, count]) => `,gres/${kind}=${count}`);
  return `cpu=${cpusOf(job)}${memory === undefined ? "" : `,mem=${memory}`},node=${nodes},billing=${cpusOf(job)}${units.join("")}`;
}

/** The file of a batch script or the command; null if there is none. */
export function commandText({ command }: Job): string {
  const words = /\/(?:ba|da|z|k)?sh$|\/env$|python\d?$/.test(command[0]) ? command.slice(1) : command;
  return words.join(" ") || "(null)";
}
