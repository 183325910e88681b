/** Runs a real scheduler with a policy from its administrator's file. */
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writablePart } from "@tutti/host/trusted-path.ts";
import type { PolicyAnswer } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const example = join(import.meta.dirname, "../examples/my-policy.ts");

let s: LiveScheduler;
let folder: string;
beforeEach(() => {
  s = new LiveScheduler();
  // Not in the folder for temporary files, where all users may write.
  folder = mkdtempSync(join(homedir(), ".tutti-own-policy-"));
});
afterEach(async () => {
  await s.clear();
  rmSync(folder, { recursive: true });
});

/** Names a policy in the configuration of the scheduler. */
function configure(policy: string): void {
  const file = join(folder, "tutti.json");
  writeFileSync(file, JSON.stringify({ policy }));
  s.words.push("--config", file);
}

const tutti = (...words: string[]) => startTutti(s.socket, words).result;
const policyInForce = async () => (await s.client.ask<PolicyAnswer>("/v1/policy")).policy;

test("it runs jobs, is forecast by, is gone back to, and no other file is taken", async ({ skip }) => {
  const open = writablePart(folder, process.getuid!());
  if (open !== undefined) skip(`a policy in the home folder is refused: ${open}`);
  const file = join(folder, "mine.ts");
  copyFileSync(example, file);
  configure(`${file}:reserve=1`);
  await s.start();
  expect(await policyInForce()).toBe(`${file}:reserve=1`);
  const { cpus } = await s.status();
  const wide = await s.submit(`until [ -e ${s.folder}/go ]; do sleep 0.05; done; echo ran`, { tasks: cpus });
  await s.running(wide);
  const second = await s.submit("echo ran");
  // The first forecast comes when its thread has read the policy.
  await vi.waitUntil(async () => /expected|forecast/i.test((await tutti("why", String(second))).stdout), {
    timeout: 120_000,
  });
  const other = join(folder, "other.ts");
  copyFileSync(example, other);
  const refused = await tutti("policy", other);
  expect(refused.stderr).toContain("only the file named in the configuration of tutti serve is allowed");
  expect((await tutti("policy", "easy")).status).toBe(0);
  expect((await tutti("policy", file)).status).toBe(0);
  expect(await policyInForce()).toBe(file);
  writeFileSync(join(s.folder, "go"), "");
  for (const job of [wide, second]) expect(await s.client.ended(job)).toMatchObject({ state: "done" });
  expect((await s.status()).trouble).toBeUndefined();
});

test("one that loops without end is replaced, and jobs go on", async ({ skip }) => {
  if (writablePart(folder, process.getuid!()) !== undefined) skip("the home folder is open to others");
  const file = join(folder, "endless.mjs");
  writeFileSync(
    file,
    `export default { name: "endless", sharing: "space", make: (pool) => ({
       depart() {}, decide(arrived) { for (const job of arrived) pool.start(job); while (arrived.length > 0); } }) };`,
  );
  configure(file);
  await s.start();
  const jobs = [await s.submit("echo one"), await s.submit("echo two")];
  for (const job of jobs) expect(await s.client.ended(job)).toMatchObject({ state: "done" });
  expect(await policyInForce()).toBe("fcfs");
  expect((await tutti("status")).stdout).toContain(`the policy ${file} failed and was replaced by fcfs`);
});

test("one that others could replace is refused with a message, at the start and by tutti config check", async () => {
  const file = join(folder, "mine.ts");
  copyFileSync(example, file);
  configure(file);
  chmodSync(folder, 0o777);
  const sentence =
    /Cannot use the policy file ".*mine\.ts" live: others may write to ".*expected a file and folders of root/;
  // A scheduler run by root first checks its configuration, which is in the same folder.
  const config = join(s.folder, "tutti.json");
  writeFileSync(config, JSON.stringify({ policy: file }));
  s.words.splice(0, 2, "--config", config);
  await expect(s.start()).rejects.toThrow(sentence);
  expect((await tutti("config", "check", config)).stderr).toMatch(sentence);
});
