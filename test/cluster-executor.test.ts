/** Runs the conformance suite of executors on simulated nodes, in virtual time. */
import { executorConformance } from "./executor-conformance.ts";
import { openVirtualStage } from "./executor-stage-virtual.ts";

executorConformance("four nodes in virtual time", (options) =>
  openVirtualStage({ ...options, seed: 1, cpus: [2, 2, 2, 2] }),
);
executorConformance("four unequal nodes in virtual time", (options) =>
  openVirtualStage({ ...options, seed: 2, cpus: [4, 2, 3, 1] }),
);
