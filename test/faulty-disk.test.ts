import { expect, test } from "vitest";
import { isInPath } from "../scripts/install-test-tools.ts";
import { runOnFaultyDisk } from "./faulty-disk/rounds.ts";

/** If the store does not write its log again at the start, round 4 finds a damaged store. */
const [SEED, ROUNDS] = [3, 12];

test.skipIf(!isInPath("gcc"))(
  "the store keeps what it has acknowledged, on a disk that refuses and that loses power",
  async () => {
    const { problems, ...counts } = await runOnFaultyDisk(SEED, ROUNDS);
    expect(problems).toEqual([]);
    for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0);
  },
);
