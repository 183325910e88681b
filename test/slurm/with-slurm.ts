/** Marks tests that need Slurm. */
import { describe } from "vitest";
import { whyNoSlurm } from "./cluster.ts";

/**
 * Tests that need Slurm. Where it cannot be started they are skipped, and listed by name; with
 * TUTTI_REQUIRE_SLURM=1 they fail.
 */
export const describeWithSlurm = describe.skipIf(
  process.env.TUTTI_REQUIRE_SLURM !== "1" && whyNoSlurm() !== undefined,
);
