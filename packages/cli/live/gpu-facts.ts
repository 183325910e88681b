/** Finds out which GPUs this machine has, and which of them jobs get. */
import { findGpuPrograms, readGpus } from "@tutti/host/gpu-programs.ts";
import { basename } from "@tutti/host/ports/path.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import { withFoundGpus } from "@tutti/live/daemon/config/gpus.ts";
import { GPU } from "@tutti/protocol/resources.ts";
import type { StatusAnswer } from "@tutti/protocol/schema.ts";
import type { GpuFacts } from "../text/gpu-text.ts";

export async function gpuFacts(): Promise<GpuFacts> {
  const programs = findGpuPrograms();
  const { program, gpus = [] } = (await readGpus(programs)) ?? {};
  const served = await servedResources();
  const kinds = served ?? withFoundGpus([]);
  return {
    programs: programs.map((path) => basename(path)),
    ...(program !== undefined && { program }),
    gpus,
    units: kinds.find(({ name }) => name === GPU)?.units ?? [],
    isServed: served !== undefined,
  };
}

/** Of the scheduler of this machine; undefined: none runs, or its jobs run elsewhere. */
async function servedResources(): Promise<StatusAnswer["resources"] | undefined> {
  try {
    const { nodes, resources = [] } = await new Client().ask<StatusAnswer>("/v1/status");
    return nodes === undefined ? resources : undefined;
  } catch (error) {
    if (error instanceof NoDaemonError) return undefined;
    throw error;
  }
}
