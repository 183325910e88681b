/** Announces windows on a real scheduler, which is killed meanwhile, and lets real jobs wait for them. */
import { userInfo } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const live = new LiveScheduler();
beforeAll(() => live.start());
afterAll(() => live.clear());

const tutti = (...words: readonly string[]) => startTutti(live.socket, words).result;
const said = async (...words: readonly string[]) => (await tutti(...words)).stdout.replace(/\s+/g, " ");

async function again(): Promise<void> {
  await live.killFrontEnd();
  await live.start();
}

test("before a window, a job without a limit waits until it gets one, also after kill -9", async () => {
  expect(
    await said("window", "add", "disk", "--begin", "+3h", "--for", "2h", "--reason", "new disk"),
  ).toMatch(/^Window disk: nothing starts from .* until .*, by .*: new disk\. $/);
  const job = await live.submit("true");
  await again();
  expect(await said("window", "list")).toMatch(/^window +begin +end +for +by +reason\s+disk .* no jobs /);
  expect(await said("status")).toContain("window disk: nothing starts from");
  expect(await said("why", String(job))).toContain(`give it one with tutti update ${job} --time 2h.`);
  expect((await tutti("update", String(job), "--time", "2h")).status).toBe(0);
  expect((await tutti("wait", String(job))).status).toBe(0);
  expect(await tutti("window", "add", "disk", "--for", "2h")).toMatchObject({
    stderr: expect.stringContaining("a window that is not over has this name"),
  });
  expect((await tutti("window", "remove", "disk")).stdout).toBe("Removed window disk.\n");
});

test("in a window, only jobs that it names start; the others do when it is removed", async () => {
  const { username } = userInfo();
  expect(
    await tutti("window", "add", "mine", "--for", "2h", "--user", `${username},nobody-here`),
  ).toMatchObject({
    stderr: expect.stringContaining('no user "nobody-here" can have jobs here'),
  });
  expect((await tutti("window", "add", "mine", "--for", "2h", "--user", username)).status).toBe(0);
  expect((await tutti("run", "--", "true")).status).toBe(0);
  expect((await tutti("window", "add", "disk", "--for", "1h")).status).toBe(0);
  const job = await live.submit("true", { limitMs: 1000 });
  await again();
  expect(await said("why", String(job))).toContain('Window "disk" is open: nothing starts until');
  expect(await live.job(job)).toMatchObject({ state: "queued" });
  expect((await tutti("window", "remove", "disk")).status).toBe(0);
  expect((await tutti("wait", String(job))).status).toBe(0);
  expect(await said("events")).toMatch(/window-began .*disk/);
});
