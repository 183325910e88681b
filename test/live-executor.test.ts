/** Runs the conformance suite of executors on the local machine, with a real scheduler. */
import { executorConformance } from "./executor-conformance.ts";
import { openLocalStage } from "./executor-stage-local.ts";

executorConformance("this machine", openLocalStage);
