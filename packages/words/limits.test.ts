import { expect, test } from "vitest";
import { limitsText, ownLimitsText } from "./limits.ts";

test("limits are said together, and only those that there are", () => {
  expect(limitsText({ runningCpus: 6, runningJobs: 4, waitingJobs: 2000 })).toBe(
    "6 CPUs and 4 jobs at once, 2,000 waiting",
  );
  expect(limitsText({ runningJobs: 1 })).toBe("1 job at once");
  expect(limitsText({ waitingJobs: 7 })).toBe("7 waiting");
});

test("a limit on your own jobs is said with what they use of it; a name cannot break the line", () => {
  const used = { usedCpus: 3, usedJobs: 2, waiting: 1 };
  expect(ownLimitsText({ of: "user", name: "anna", runningCpus: 8, ...used })).toBe(
    "Jobs of user anna: at most 8 CPUs at once. Yours use 3 CPUs in 2 jobs, and 1 waits.",
  );
  expect(ownLimitsText({ of: "user", name: "anna", cpuHours: 1, usedCpuMs: 45 * 60_000, ...used })).toBe(
    "Jobs of user anna: at most 1 CPU hour used. Yours use 3 CPUs in 2 jobs, and 1 waits. What yours have used counts 0.75 CPU hours now.",
  );
  expect(ownLimitsText({ of: "group", name: "a\nb", waitingJobs: 5, ...used })).not.toContain("\n");
});
