/**
 * Two real users with shares 3 : 1 get them within 10 % over ten minutes, with real processes. Takes ten
 * minutes, so it runs only in `npm run soak`; packages/live/daemon/shares/live-shares.test.ts is the same
 * with a fake clock.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import { canMakeAccounts, makeAccount, removeAccounts, type TestAccount } from "./accounts.ts";

const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };
const MINUTES = 10;
const POLICIES = ["fcfs:order=fair-share", "easy:order=fair-share", "wlv:queueOrder=fair-share"];

describe.skipIf(!SOAK || !canMakeAccounts)("shares of real users (as root, with useradd)", () => {
  afterAll(removeAccounts);

  test.concurrent.each(POLICIES)(
    "%s",
    async (policy) => {
      const folder = mkdtempSync(join(tmpdir(), "tutti-shares-"));
      chmodSync(folder, 0o755);
      const name = policy.split(":")[0];
      const users = [makeAccount(`a${name}`), makeAccount(`b${name}`)];
      const [first, second] = users;
      const shares = { halfLifeDays: 7, users: { [first.user]: 3, [second.user]: 1 }, groups: {} };
      const frontEnd = await startFrontEnd({
        stateFolder: join(folder, "state"),
        isShared: true,
        settings: { policy, slotMs: 100, maxRows: 3, shares },
      });
      try {
        for (const user of users) await submitMany(frontEnd, user);
        await new Promise((resolve) => setTimeout(resolve, MINUTES * 60_000));
        const [ofFirst, ofSecond] = users.map(({ user }) => usedMs(frontEnd, user));
        const share = ofFirst / (ofFirst + ofSecond);
        process.stderr.write(`${policy}: ${ofFirst} ms and ${ofSecond} ms, the first user has ${share}\n`);
        // At least half of the time of two CPUs.
        expect(ofFirst + ofSecond).toBeGreaterThan(MINUTES * 60_000);
        expect(Math.abs(share / 0.75 - 1)).toBeLessThan(0.1);
        expect(Math.abs((1 - share) / 0.25 - 1)).toBeLessThan(0.1);
      } finally {
        await frontEnd.service.shutdown(ROOT, true);
        await frontEnd.stop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      }
    },
    (MINUTES + 5) * 60_000,
  );
});

/** More work than two CPUs do in the time: jobs of 2 to 6 s on one CPU. */
async function submitMany(frontEnd: RunningFrontEnd, { uid, user }: TestAccount): Promise<void> {
  const jobs = Array.from(
    { length: 600 },
    (_, i): SubmitJob => ({
      command: ["sleep", String(2 + (i % 5))],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      limitMs: 60_000,
    }),
  );
  const answer = await frontEnd.service.submit({ uid, user, isAdministrator: false }, jobs);
  if ("refused" in answer) throw new Error(answer.message);
}

function usedMs(frontEnd: RunningFrontEnd, user: string): number {
  return frontEnd.service.shares(ROOT).users.find((one) => one.user === user)!.usedCpuMs;
}
