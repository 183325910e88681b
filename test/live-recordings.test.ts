/**
 * Today's scheduler takes over stores that earlier revisions left, as test/recordings/record-state.ts has
 * recorded them: every job is listed as it was, and the queue goes on. packages/live/daemon/store/golden has
 * stores of versions 5 and 6, whose own revisions are not in the history.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

/** The migrations of the oldest include those of all others. */
const STORES = [
  { version: 7, revision: "2cf16449" },
  { version: 8, revision: "7f38d752" },
  { version: 9, revision: "b492a21e" },
  { version: 10, revision: "03527bd4" },
].slice(0, SOAK ? undefined : 1);

let live: LiveScheduler;
beforeEach(() => {
  live = new LiveScheduler();
});
afterEach(() => live.clear());

// The recorded jobs are root's.
describe.skipIf(process.getuid!() !== 0).each(STORES)(
  "a store of version $version ($revision)",
  ({ version }) => {
    test("is read: jobs are listed, the queue goes on, and new jobs get new numbers", async () => {
      mkdirSync(live.state, { mode: 0o700 });
      const recorded = readFileSync(join(import.meta.dirname, `recordings/store-v${version}.db.zst`));
      writeFileSync(join(live.state, "tutti.db"), zstdDecompressSync(recorded), { mode: 0o600 });
      await live.start();
      expect((await live.status()).trouble).toBeUndefined();
      const jobs = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((job) => live.job(job)));
      expect(jobs).toMatchObject([
        { name: "fails", state: "failed", code: 41, attempt: 1, command: ["sh", "-c", "exit 41"] },
        { name: "works", state: "done", tasks: 2, limitMs: 600_000, priority: 3 },
        { name: "held", state: "held", retries: 2, cwd: "/tmp", stdout: "/dev/null" },
        { name: "waits", state: "queued", after: [3] },
        { name: "array", state: "held", array: 5, arrayIndex: 1 },
        { name: "array", state: "held", array: 5, arrayIndex: 2 },
        { name: "array", state: "held", array: 5, arrayIndex: 3 },
        { name: "cancelled", state: "cancelled" },
      ]);
      expect(await live.submit("exit 49")).toBe(9);
      expect((await startTutti(live.socket, ["release", "3,5-7"]).result).status).toBe(0);
      const codes = { 3: 43, 4: 44, 5: 1, 6: 2, 7: 3, 9: 49 };
      for (const [job, code] of Object.entries(codes)) {
        while ((await live.job(Number(job))).endedAtMs === undefined);
        expect(await live.job(Number(job))).toMatchObject({ state: "failed", code });
      }
      const checked = startTutti(live.socket, ["store", "check"], { env: { TUTTI_STATE: live.state } });
      expect((await checked.result).status).toBe(0);
    });
  },
);
