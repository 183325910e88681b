/** Real jobs where something runs out: the disk that their output goes to, the files that the front end may open. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "../src/api/client.ts";
import type { JobsAnswer, StatusAnswer, SubmitJob } from "../src/api/contract.ts";
import { Leftovers } from "./leftovers.ts";
import { startTutti, until } from "./live-command.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const FILES = 256;

let folder: string;
let socket: string;
let small: string;
let leftovers: Leftovers;
let client: Client;
let isMounted = false;
let pid: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-limits-"));
  socket = join(folder, "run", "tutti.sock");
  small = join(folder, "small");
  const state = join(folder, "state");
  leftovers = new Leftovers(folder, state);
  mkdirSync(small);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", small], { stdio: "ignore" });
    isMounted = true;
  } catch {
    // Only root may mount.
  }
  const words = ["serve", "--private", "--no-http", "--slot", "20ms", "--state", state];
  const server = spawn(
    "sh",
    ["-c", `ulimit -n ${FILES} && exec "$@"`, "sh", process.execPath, program, ...words],
    { env: { ...process.env, NO_COLOR: "1", TUTTI_SOCKET: socket }, stdio: ["ignore", "pipe", "inherit"] },
  );
  pid = server.pid!;
  let text = "";
  server.stdout.on("data", (piece) => {
    text += piece;
  });
  await until(() => text.includes("next") || server.exitCode !== null);
  client = new Client({ TUTTI_SOCKET: socket });
});
afterAll(async () => {
  await startTutti(socket, ["down", "--kill"]).result;
  await leftovers.clear();
  if (isMounted) execFileSync("umount", ["-l", small]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

async function submit(script: string, more: Partial<SubmitJob> = {}): Promise<number> {
  const job = {
    command: ["sh", "-c", script],
    cwd: folder,
    env: { PATH: process.env.PATH ?? "" },
    ...more,
  };
  const body = { jobs: [job] };
  return (await client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body })).jobs[0]!.job;
}

describe("a full disk at the output of a job", () => {
  test("the job sees it and its exit code is told; the scheduler and other jobs go on", async ({ skip }) => {
    if (!isMounted) skip("only root may mount a small disk");
    const output = join(small, "out");
    const filler = await submit("head -c 4000000 /dev/zero; echo status $? >&2; exit 3", { stdout: output });
    const other = await submit("echo fine");
    expect(await client.ended(filler)).toMatchObject({ state: "failed", code: 3 });
    expect(await client.text(`/v1/jobs/${filler}/logs/stderr`)).toMatch(/No space left[\s\S]*status 1\n$/);
    expect(statSync(output).size).toBeLessThanOrEqual(2 ** 20);
    expect(await client.ended(other)).toMatchObject({ state: "done" });
    // There is not even room for the file of the next.
    const next = await submit("echo x; echo still", { stdout: join(small, "more"), stderr: output });
    expect(await client.ended(next)).toMatchObject({ state: "failed", code: 1 });
    const status = await client.ask<StatusAnswer>("/v1/status");
    expect(status.trouble).toBeUndefined();
    rmSync(output);
    const after = await submit("echo room", { stdout: join(small, "after") });
    expect((await client.ended(after)).state).toBe("done");
    expect(readFileSync(join(small, "after"), "utf8")).toBe("room\n");
  });
});

describe(`a limit of ${FILES} files`, () => {
  test("2,000 submits by 400 clients at once: what is acknowledged is there once, and the front end lives", async () => {
    const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
    expect(limits).toMatch(new RegExp(`Max open files +${FILES} +${FILES}`));
    const acknowledged: number[] = [];
    let cutOff = 0;
    let next = 0;
    const work = async () => {
      while (next++ < 2000) {
        try {
          // One of 50 runs meanwhile: its folder needs files of the front end too.
          acknowledged.push(await submit("exit 5", { name: "burst", held: next % 50 !== 0 }));
        } catch {
          cutOff++;
        }
      }
    };
    await Promise.all(Array.from({ length: 400 }, work));
    const { jobs } = await client.jobs({ last: 5000 });
    const names = jobs.filter(({ name }) => name === "burst").map(({ job }) => job);
    console.log(
      JSON.stringify({ submitted: 2000, acknowledged: acknowledged.length, cutOff, there: names.length }),
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(acknowledged.filter((job) => !names.includes(job))).toEqual([]);
    const run = jobs.filter(({ name, state }) => name === "burst" && state !== "held");
    expect(run.length).toBeGreaterThan(0);
    for (const { job } of run) expect(await client.ended(job)).toMatchObject({ code: 5, attempt: 1 });
  });
});
