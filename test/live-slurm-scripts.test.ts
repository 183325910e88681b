/**
 * Scripts as people write them for Slurm end under Tutti as under a real Slurm: the same exit codes, states,
 * files and variables. What Slurm's commands say is not compared. Those for two nodes are tested by
 * test/slurm/scripts.test.ts.
 */
import { join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installTestTools } from "../scripts/install-test-tools.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { type Outcome, readList, type SlurmScript } from "./slurm-scripts/list.ts";
import { runAll } from "./slurm-scripts/run-case.ts";
import { siteHere } from "./slurm-scripts/sites.ts";
import { unstated } from "./slurm-scripts/stated.ts";

/** They wait for a minute or more. */
const LONG = /^19-/;
const list = readList().filter(({ nodes, script }) => nodes === 1 && (SOAK || !LONG.test(script)));
const scheduler = new LiveScheduler();

describe("a script for Slurm ends as under a real one", () => {
  let outcomes: ReadonlyMap<SlurmScript, Outcome>;

  beforeAll(async () => {
    installTestTools();
    outcomes = await runAll(await siteHere(scheduler), list, join(scheduler.folder, "cases"), 2);
  });
  afterAll(() => scheduler.clear());

  test.each(list)("$script: $covers", (one) => {
    expect(unstated(one, outcomes.get(one))).toEqual([]);
  });
});
