/**
 * Starts the longest of the files that run several at a time first, so that none of them runs alone at the
 * end. Without it, the test runner goes by the sizes of files where it has no results of an earlier run.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** In this order, before all others of their group. A file that is not here takes less than a minute. */
const FIRST = [
  "test/slurm/pilot-end.test.ts",
  "test/slurm/import.test.ts",
  "test/slurm/native.test.ts",
  "test/slurm/need.test.ts",
  "test/slurm/doctor.test.ts",
  "test/slurm/cluster.test.ts",
  "test/live-attack.test.ts",
  "test/live-web-jobs.test.ts",
  "test/live-cli.test.ts",
  "test/live-web-changes.test.ts",
  "test/live-store.test.ts",
  "test/live-slurm-names.test.ts",
  "test/live-kill-loop.test.ts",
  "test/live-python.test.ts",
  "test/live-web.test.ts",
  "test/live-hostile.test.ts",
  "test/live-users.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder ?? 0;
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = FIRST.findIndex((name) => moduleId.endsWith(`/${name}`));
  return place < 0 ? FIRST.length : place;
}
