/** Launches as the hosts get them. Expected values are written by hand. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterAll, expect, test } from "vitest";
import { launchFor, memberFor } from "./relocate.ts";

const jobs = mkdtempSync(join(tmpdir(), "tutti-relocate-"));
afterAll(() => rmSync(jobs, { recursive: true }));
const script = join(jobs, "12/script/job.sh");
for (const folder of ["12/1", "12/script"]) mkdirSync(join(jobs, folder), { recursive: true });
writeFileSync(join(jobs, "12/1/hosts"), "elm slots=2\n");
writeFileSync(script, "echo hi\n");

const IDENTITY = "0123456789abcdef0123456789abcdef";
const THERE = `/var/tmp/t/jobs/12.1-${IDENTITY}`;
const SPEC: LaunchSpec = {
  job: 12,
  attempt: 1,
  identity: IDENTITY,
  folder: join(jobs, "12/1"),
  command: ["sh", script, "an argument"],
  cwd: "/home/anna",
  env: { TUTTI_HOSTFILE: join(jobs, "12/1/hosts"), OMPI_MCA_hosts: join(jobs, "12/1/hosts"), LANG: "C" },
  stdout: "/home/anna/out.txt",
  stderr: "/dev/null",
  uid: 1000,
  gid: 100,
  graceMs: 0,
};
const SHARED = {
  root: "/var/tmp/t",
  login: undefined,
  userOf: (uid: number) => `user${uid}`,
};
const ONE_USER = { ...SHARED, login: { uid: 7, gid: 8 } };

test("a launch names the host's folders, carries host file and script, and its user by name", () => {
  expect(launchFor(SPEC, SHARED)).toEqual({
    ...SPEC,
    user: "user1000",
    folder: `${THERE}/1`,
    command: ["sh", `${THERE}/script/job.sh`, "an argument"],
    env: { TUTTI_HOSTFILE: `${THERE}/1/hosts`, OMPI_MCA_hosts: `${THERE}/1/hosts`, LANG: "C" },
    stdout: `${THERE}/1/out`,
    stderr: "/dev/null",
    ownFolder: {
      hosts: "elm slots=2\n",
      script: { path: `${THERE}/script/job.sh`, base64: Buffer.from("echo hi\n").toString("base64") },
    },
  });
});

test("a user's own scheduler runs all as the user who is logged in", () => {
  expect(launchFor(SPEC, ONE_USER)).toMatchObject({ uid: 7, gid: 8 });
  expect(launchFor(SPEC, ONE_USER)).not.toHaveProperty("user");
});

test("output and errors in one file stay in one file", () => {
  const { stdout, stderr } = launchFor({ ...SPEC, stderr: SPEC.stdout }, SHARED);
  expect([stdout, stderr]).toEqual([`${THERE}/1/out`, `${THERE}/1/out`]);
  expect(launchFor({ ...SPEC, stderr: "/home/anna/err" }, SHARED).stderr).toBe(`${THERE}/1/err`);
});

test("a part of a gang has the folder without the script, which its step brings", () => {
  const { job, attempt, identity, folder, uid, gid, graceMs } = SPEC;
  const member = {
    job,
    attempt,
    identity,
    folder,
    uid,
    gid,
    graceMs,
    nodes: ["elm"],
    tasksRun: "each",
    ranks: [0],
  } as const;
  expect(memberFor(member, SHARED)).toEqual({
    ...member,
    user: "user1000",
    folder: `${THERE}/1`,
    ownFolder: { hosts: "elm slots=2\n" },
  });
});
