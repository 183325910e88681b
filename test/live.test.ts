/**
 * Tests everything together: `tutti serve` with its conductor on this machine, real processes, and every step
 * through the command line. Nothing may be left behind.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, MatrixAnswer } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandResult } from "./command.ts";
import { type Started, startTutti, until } from "./live-command.ts";

let folder: string;
let socket: string;
let server: Started;

const start = (...parameters: string[]) => startTutti(socket, parameters, { cwd: folder });
const tutti = (...parameters: string[]): Promise<CommandResult> => start(...parameters).result;

async function json(...parameters: string[]) {
  const { stdout, stderr } = await tutti(...parameters, "--json");
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

/** Command lines of all processes that name our folder, or the mark of one of our jobs. */
function ourProcesses(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return text.includes(folder) ? [`${pid} ${text}`] : [];
      } catch {
        return [];
      }
    });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-whole-"));
  socket = join(folder, "run", "tutti.sock");
  server = start("serve", "--private", "--port", "0", "--state", join(folder, "state"), "--slot", "50ms");
  await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
});
afterAll(async () => {
  if (server.child.exitCode === null) {
    await tutti("down", "--kill");
    server.child.kill();
    await server.result;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

describe("the whole", () => {
  test("serve prints its address and what to type next", async () => {
    const text = server.stdout();
    expect(text).toMatch(/^tutti \S+ schedules \d+ CPUs?: policy gang, slots of 50 ms/);
    expect(text).toContain(`socket ${socket}\n`);
    const [, address = "", file = ""] =
      /API +(http:\/\/127\.0\.0\.1:\d+\/)api with the token in (.*)$/m.exec(text) ?? [];
    expect(await (await fetch(`${address}api`)).text()).toContain("<h1>Tutti");
    const token = readFileSync(file, "utf8").trim();
    const answer = await fetch(`${address}v1/status`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(text).toMatch(/\npage: .*\ntry: {2}tutti run -n \d -- nproc .*\nhelp: .*\n$/);
  });

  test("run gives the job's output, environment, folder and exit code", async () => {
    const script = "echo out $TUTTI_JOB_ID $TUTTI_NTASKS; echo err >&2; pwd; exit 7";
    const { stdout, stderr, status } = await tutti("run", "--", "sh", "-c", script);
    expect(stdout).toBe(`out 1 1\n${folder}\n`);
    expect([stderr, status]).toEqual(["err\n", 7]);
    expect((await json("show", "1")).jobs[0]).toMatchObject({ state: "failed", code: 7, attempt: 1 });
  });

  test("submit, wait, logs; two gangs on the same CPUs take turns", async () => {
    const burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done";
    const { cpus } = await json("status");
    // One batch, so that both arrive together.
    expect(
      (await tutti("submit", "-n", String(cpus), "-a", "1,2", "--name", "burner", "--", "sh", "-c", burn))
        .status,
    ).toBe(0);
    const client = new Client({ TUTTI_SOCKET: socket });
    let rows = 0;
    const waiting = start("wait", "name:burner");
    while (waiting.child.exitCode === null) {
      rows = Math.max(rows, (await client.ask<MatrixAnswer>("/v1/matrix")).rows.length);
    }
    expect((await waiting.result).status).toBe(0);
    expect(rows).toBe(2);
    expect(await client.text("/v1/jobs/2/logs/stdout")).toBe("done\n");
    const jobs = (await json("jobs", "--ended")).jobs.filter(({ name }: Job) => name === "burner");
    expect(jobs).toHaveLength(2);
    // Each had the processors for about half of the time while both were there.
    for (const { ranMs, startedAtMs, endedAtMs } of jobs) expect(ranMs).toBeLessThan(endedAtMs - startedAtMs);
  });

  test("a script runs as it was when it was submitted, also after a restart of the job", async () => {
    const path = join(folder, "copied.sh");
    writeFileSync(path, '#!/bin/sh\necho "first $1 $(basename "$0") $TUTTI_SCRIPT"\nsleep 1000\n');
    await tutti("submit", "--hold", "--retries", "1", "--name", "copied", "copied.sh", "one");
    writeFileSync(path, "#!/bin/sh\necho second\n");
    await tutti("release", "last");
    const line = `first one copied.sh ${path}\n`;
    const text = async () => (await tutti("logs", "last")).stdout;
    while ((await text()) !== line);
    rmSync(path);
    await tutti("requeue", "last");
    while ((await text()) !== line + line);
    await tutti("cancel", "last");
    await tutti("wait", "last");
    writeFileSync(path, "#!/bin/sh\n\nnonsense_command\n");
    await tutti("submit", "copied.sh");
    await tutti("wait", "last");
    // A shell names the file and the line.
    expect((await tutti("logs", "last", "--stderr")).stdout).toMatch(/script\/copied\.sh: .*3: .*nonsense/);
  });

  test("a script with directives, an array and its indices, a job after another", async () => {
    writeFileSync(
      join(folder, "job.sh"),
      "#!/bin/sh\n#TUTTI --name scripted --time 1m\necho index $TUTTI_ARRAY_INDEX\n",
    );
    const { stdout } = await tutti("submit", "--array", "2,5", "-o", "out-%a.txt", "job.sh");
    const [, first = ""] = /submitted jobs (\d+)-\d+: an array of 2/.exec(stdout) ?? [];
    await tutti(
      "submit",
      "--name",
      "after",
      "--after",
      `${first},${Number(first) + 1}`,
      "--",
      "cat",
      "out-2.txt",
      "out-5.txt",
    );
    expect((await tutti("wait", "name:scripted", "name:after")).status).toBe(0);
    expect((await tutti("logs", "name:after")).stdout).toBe("index 2\nindex 5\n");
  });

  test("an array with a limit never has more jobs started than that", async () => {
    await tutti("submit", "--array", "1-5%2", "--name", "limited", "--", "sleep", "0.2");
    expect((await tutti("wait", "name:limited")).status).toBe(0);
    const { jobs } = await json("show", "name:limited");
    const changes = jobs.flatMap(({ startedAtMs = 0, endedAtMs = 0 }: Job) => [
      [startedAtMs, 1],
      [endedAtMs, -1],
    ]);
    changes.sort(([a, x]: number[], [b, y]: number[]) => a! - b! || x! - y!);
    let running = 0;
    for (const [, change] of changes) {
      running += change;
      expect(running).toBeLessThanOrEqual(2);
    }
    expect(jobs).toHaveLength(5);
  });

  test("hold, why, release; cancel ends the whole tree", async () => {
    await tutti("submit", "--hold", "--name", "held", "--", "true");
    expect((await tutti("why", "name:held")).stdout).toMatch(/It is held: tutti release lets it start/);
    expect((await tutti("release", "name:held")).status).toBe(0);
    expect((await tutti("wait", "name:held")).status).toBe(0);
    const mark = join(folder, "mark");
    await tutti(
      "submit",
      "--name",
      "tree",
      "--",
      "sh",
      "-c",
      `sh -c 'sleep 1000; : ${mark}' & sh -c 'sleep 1000; : ${mark}' & echo up; wait`,
    );
    while ((await tutti("logs", "name:tree")).stdout !== "up\n");
    expect(ourProcesses().filter((text) => text.includes(mark)).length).toBeGreaterThanOrEqual(2);
    expect((await tutti("cancel", "name:tree")).status).toBe(0);
    expect((await tutti("wait", "name:tree")).status).toBe(1);
    await until(() => !ourProcesses().some((text) => text.includes(mark)));
    expect((await json("show", "name:tree")).jobs[0].state).toBe("cancelled");
  });

  test("Ctrl-C of run cancels its job", async () => {
    const { child, result, stdout } = start(
      "run",
      "--name",
      "interrupted",
      "--",
      "sh",
      "-c",
      "echo up; sleep 1000",
    );
    await until(() => stdout() === "up\n");
    child.kill("SIGINT");
    expect((await result).status).toBe(130);
    expect((await json("show", "name:interrupted")).jobs[0].state).toBe("cancelled");
  });

  test("a second serve on the same state or socket is refused with a message", async () => {
    const { status, stderr } = await tutti(
      "serve",
      "--private",
      "--port",
      "0",
      "--state",
      join(folder, "state"),
    );
    expect(status).toBe(66);
    expect(stderr).toMatch(/^tutti: Cannot start a scheduler in .*another one uses it/);
  });

  test("the policy changes while jobs run; whatif and history answer; the export goes back into the laboratory", async () => {
    expect((await tutti("policy", "fcfs")).stdout).toMatch(/^fcfs/);
    const { cpus } = await json("status");
    const [long = "", next = ""] = await Promise.all(
      ["long", "next"].map(async (name) => {
        const said = await tutti("submit", "-n", String(cpus), "-t", "1h", "-J", name, "--", "sleep", "600");
        return /job (\d+)/.exec(said.stdout)?.[1] ?? "";
      }),
    );
    const eta = await tutti("why", "--starts");
    expect(eta.stdout).toMatch(
      /^job +name +starts in +at +80 % range\n +\d+ +(next|long) +(\d+:)?\d\d:\d\d .* to /,
    );
    await tutti("cancel", next, long);
    await tutti("wait", next, long);
    expect((await tutti("policy", "no-such-policy")).status).toBe(4);
    expect((await tutti("policy", "gang")).status).toBe(0);
    expect((await json("whatif", "easy")).policies.map(({ policy }: { policy: string }) => policy)).toEqual([
      "gang",
      "easy",
    ]);
    expect((await tutti("export", "-o", "ran.swf")).status).toBe(0);
    const { status, stdout } = await tutti("simulate", "ran.swf", "--policy", "easy", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout).workload.jobs).toBeGreaterThan(4);
  });

  test("with address and token file from tutti status the requests of docs/api.md are answered", async () => {
    const { stdout } = await tutti("status");
    const [, address = "", file = ""] = /API +(\S+) with the token in\s+(\S+)/.exec(stdout) ?? [];
    const page = readFileSync(new URL("../docs/api.md", import.meta.url), "utf8");
    const requests = page.match(/^curl .*ADDRESS.*$/gm)!.filter((line) => !line.includes("-N"));
    expect(requests).toHaveLength(2);
    for (const line of requests) {
      const script = line.replace("ADDRESS", address).replace("TOKEN_FILE", file);
      const { status, stdout: answer } = spawnSync("sh", ["-c", script.replace("curl", "curl -s")]);
      expect(status).toBe(0);
      expect(JSON.parse(String(answer))).toMatchObject({ schema: "tutti.jobs/1" });
    }
    await tutti("wait", "last");
  });

  test("down is refused while a job runs, ends all with --kill, and leaves no process and no socket", async () => {
    const { result } = start("run", "--name", "last", "--", "sh", "-c", `echo up; sleep 1000; : ${folder}`);
    while ((await json("jobs")).jobs.every(({ state }: { state: string }) => state !== "running"));
    const refused = await tutti("down");
    expect([refused.status, refused.stderr]).toEqual([4, expect.stringMatching(/1 job is running/)]);
    expect((await tutti("down", "--kill")).status).toBe(0);
    await result;
    expect((await server.result).status).toBe(0);
    expect(existsSync(socket)).toBe(false);
    await until(() => ourProcesses().length === 0);
  });
});
