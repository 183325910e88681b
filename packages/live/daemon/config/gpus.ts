/**
 * Finds the GPUs of this machine, by the files of the drivers of NVIDIA and AMD. Environment variables such
 * as CUDA_VISIBLE_DEVICES do not count: they say what one process is meant to use.
 *
 *   NVIDIA   /proc/driver/nvidia/gpus/0000:3b:00.0/information    Device Minor: 1
 *            /dev/nvidia1
 *   AMD      /sys/class/kfd/kfd/topology/nodes/1/properties       simd_count 440, drm_render_minor 128
 *            /dev/dri/renderD128
 *
 * A GPU counts if its device file is there: a container may have only some of the machine's GPUs.
 */

import { readText } from "@tutti/host/files.ts";
import { existsSync, readdirSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { GPU, type Resource } from "@tutti/protocol/resources.ts";

interface Gpus {
  readonly maker: "nvidia" | "amd";
  /** As CUDA (in the order PCI_BUS_ID) or ROCm numbers them: 0, 1, … */
  readonly names: readonly string[];
}

/** Undefined: there are none. On a machine with both makers, those of NVIDIA. @param root for tests */
export function findGpus(root = "/"): Gpus | undefined {
  const nvidia = nvidiaGpus(root);
  if (nvidia > 0) return { maker: "nvidia", names: numbered(nvidia) };
  const amd = amdGpus(root);
  return amd > 0 ? { maker: "amd", names: numbered(amd) } : undefined;
}

function nvidiaGpus(root: string): number {
  const devices = entries(join(root, "dev")).filter((name) => /^nvidia\d+$/.test(name));
  const known = entries(join(root, "proc/driver/nvidia/gpus"));
  if (known.length === 0) return devices.length;
  return known.filter((address) => {
    const facts = readText(join(root, "proc/driver/nvidia/gpus", address, "information"), "latin1") ?? "";
    const minor = /^Device Minor:\s*(\d+)\s*$/m.exec(facts)?.[1];
    return devices.includes(`nvidia${minor}`);
  }).length;
}

/** Nodes of the topology without SIMD units are CPUs. */
function amdGpus(root: string): number {
  const nodes = join(root, "sys/class/kfd/kfd/topology/nodes");
  return entries(nodes).filter((node) => {
    const facts = readText(join(nodes, node, "properties"), "latin1") ?? "";
    const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(facts)?.[1] ?? 0);
    const device = `dev/dri/renderD${value("drm_render_minor")}`;
    return value("simd_count") > 0 && existsSync(join(root, device));
  }).length;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(i));
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const VARIABLE = { nvidia: "CUDA_VISIBLE_DEVICES", amd: "ROCR_VISIBLE_DEVICES" } as const;

/**
 * Adds the GPUs of this machine to the countable resources. The kind gpu is as configured, and as found if
 * the configuration does not name it. Jobs get only the variable of the GPUs' maker: programs for AMD read
 * both, and the second list counts within the first one. Without a driver, they get both.
 */
export function withFoundGpus(
  resources: readonly Resource[],
  gpus: Gpus | undefined = findGpus(),
): readonly Resource[] {
  if (gpus === undefined) return resources;
  const variables = [VARIABLE[gpus.maker]];
  if (resources.every(({ name }) => name !== GPU)) {
    return [...resources, { name: GPU, units: gpus.names, isShared: false, variables }];
  }
  return resources.map((resource) => (resource.name === GPU ? { ...resource, variables } : resource));
}
