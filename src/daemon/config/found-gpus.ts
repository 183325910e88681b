/** Adds the GPUs that this machine has to the countable resources of the configuration. */

import { GPU, type Resource } from "../../protocol/resources.ts";
import { findGpus, type Gpus } from "./gpus.ts";

const VARIABLE = { nvidia: "CUDA_VISIBLE_DEVICES", amd: "ROCR_VISIBLE_DEVICES" } as const;

/**
 * The kind gpu is as configured, and as found if the configuration does not name it. Jobs get only the
 * variable of the GPUs' maker: programs for AMD read both, and the second list counts within the first one.
 * Without a driver, they get both.
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
