/**
 * Reads what all processes that a gang ever had have used together. Only control groups count that; a value
 * that the kernel does not count is left out.
 */

import type { GangGroups } from "@tutti/host/cgroups.ts";
import { existsSync, readdirSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import type { Usage } from "@tutti/protocol/attempts.ts";

/** CPU time in ms. */
export function cpuMsOf(groups: GangGroups, gang: string): number | undefined {
  if (groups.of("cpuacct")?.version === 1) {
    const ns = groups.read("cpuacct", gang, "cpuacct.usage");
    return ns === undefined ? undefined : Number(ns) / 1e6;
  }
  const us = /usage_usec (\d+)/.exec(groups.read("cpuacct", gang, "cpu.stat") ?? "")?.[1];
  return us === undefined ? undefined : Number(us) / 1e3;
}

/** @param devices what the kernel says about block devices by number */
export function usageOf(groups: GangGroups, gang: string, devices = "/sys/dev/block"): Usage {
  const cpuMs = cpuMsOf(groups, gang);
  const peakFile = groups.of("memory")?.version === 1 ? "memory.max_usage_in_bytes" : "memory.peak";
  // Zero: no process of the gang was ever in that group, because a v1 group is joined only for a limit.
  const peakMemoryBytes = Number(groups.read("memory", gang, peakFile) ?? 0);
  const io = groups.read("io", gang, "io.stat");
  return {
    ...(cpuMs !== undefined && { cpuMs: Math.round(cpuMs) }),
    ...(peakMemoryBytes > 0 && { peakMemoryBytes }),
    ...(io !== undefined && ioOf(io, devices)),
  };
}

/**
 * Bytes read from and written to block devices. Each line is about a device:
 * `8:16 rbytes=1459200 wbytes=314773504 rios=192 …` (Documentation/admin-guide/cgroup-v2.rst).
 */
function ioOf(text: string, devices: string): Pick<Usage, "readBytes" | "writtenBytes"> {
  const sum = { readBytes: 0, writtenBytes: 0 };
  for (const line of text.split("\n")) {
    const [device = "", ...fields] = line.split(" ");
    if (isOnAnother(join(devices, device))) continue;
    const values = new Map(fields.map((field) => field.split("=") as [string, string]));
    sum.readBytes += Number(values.get("rbytes") ?? 0);
    sum.writtenBytes += Number(values.get("wbytes") ?? 0);
  }
  return sum;
}

/** Whether the device stands on other devices, such as RAID, which count the same bytes again. */
function isOnAnother(device: string): boolean {
  try {
    return existsSync(join(device, "loop")) || readdirSync(join(device, "slaves")).length > 0;
  } catch {
    return false;
  }
}
