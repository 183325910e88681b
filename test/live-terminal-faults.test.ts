/**
 * What becomes of terminals and standard input when the scheduler, its state or the user's terminal is gone,
 * and an editor in a gang of slices of 100 ms. `npm run soak` adds what takes long.
 */
import { spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allPids } from "@tutti/host/processes.ts";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { type Shell, shows, startShell, type } from "./live-shell.ts";

const hasVim = spawnSync("vim", ["--version"]).status === 0;

const live = new LiveScheduler();
live.words.push("--slot", "100ms");
beforeAll(() => live.start());
afterAll(() => live.clear());

const shell = (line: string, isTerminal = false, socket = live.socket) =>
  startShell(line, { socket, cwd: live.folder, isTerminal });

/** What `stty -a` says of the terminal in which a line runs. */
function modesOf(of: Shell): string {
  const [, device = ""] = /on (\/dev\/pts\/\d+)/.exec(of.shown()) ?? [];
  return spawnSync("stty", ["-F", device, "-a"], { encoding: "utf8" }).stdout;
}

/** A shell in a terminal of a job, after its first answer. */
async function startBash(socket?: string): Promise<{ readonly bash: Shell; readonly job: number }> {
  const bash = shell("stty -a > modes; tutti run --pty -- bash --norc; echo rc $?", true, socket);
  await shows(bash, "this is job");
  type(bash, "echo be$((1+1))gun\r");
  await shows(bash, "be2gun");
  return { bash, job: Number(/this is job (\d+)/.exec(bash.shown())?.[1]) };
}

const modesBefore = () => readFileSync(join(live.folder, "modes"), "utf8");

describe("a terminal", () => {
  test("is given back when the job ends while the scheduler is away; then attach ends at once", async () => {
    const { bash } = await startBash();
    expect(modesOf(bash)).not.toBe(modesBefore());
    await live.killFrontEnd();
    type(bash, "exit 3\r");
    await shows(bash, "waiting until the scheduler says how the job ended (Ctrl-C ends only this wait)");
    expect(modesOf(bash)).toBe(modesBefore());
    const attach = shell("tutti attach 7; echo rc $?", true);
    await attach.exit;
    expect(attach.shown()).toMatch(/Cannot reach the scheduler[\s\S]*rc 3/);
    await live.start();
    await shows(bash, "rc 3");
    await bash.exit;
  });

  test("survives kill -9 of the conductor, and its client ends with its terminal", async () => {
    const { bash, job } = await startBash();
    process.kill(await live.conductorPid(), "SIGKILL");
    type(bash, "echo go$((1+1))es on\r");
    await shows(bash, "go2es on");
    const clients = allPids().filter((pid) => {
      const words = read(`/proc/${pid}/cmdline`).split("\0");
      return words.includes("--pty") && read(`/proc/${pid}/environ`).includes(live.socket);
    });
    expect(clients.length).toBeGreaterThan(0);
    bash.child.kill("SIGKILL");
    await until(() => clients.every((pid) => read(`/proc/${pid}/cmdline`) === ""));
    expect((await live.job(job)).state).toBe("running");
    const again = shell(`tutti attach ${job}; echo rc $?`, true);
    await shows(again, "attached to job");
    type(again, "exit 4\r");
    await shows(again, "rc 4");
    await again.exit;
  });

  test.skipIf(!hasVim)(
    "vim saves a file in a gang with slices of 100 ms, resized and over kill -9 of the front end (skipped without vim)",
    async () => {
      const { cpus } = await live.status();
      const other = await live.submit("while :; do i=0; done", { tasks: cpus });
      await live.running(other);
      const vim = shell(`tutti run --pty -n ${cpus} -- vim -u NONE -N text; echo rc $?; stty -a`, true);
      await shows(vim, "[New]");
      type(vim, ":set laststatus=2 statusline=%{&lines}x%{&columns}!\r");
      await shows(vim, "30x100!");
      type(vim, "ifirst line\rsecond");
      await shows(vim, "second");
      const [, device = ""] = /on (\/dev\/pts\/\d+)/.exec(vim.shown()) ?? [];
      spawnSync("stty", ["-F", device, "rows", "40", "cols", "120"]);
      await shows(vim, "40x120!");
      await live.killFrontEnd();
      type(vim, " line\rtyped while the front end is away");
      await shows(vim, "typed while the front end is away");
      await live.start();
      type(vim, "\x1b:wq\r");
      await vim.exit;
      expect(vim.shown()).toMatch(/rc 0[\s\S]* icanon /);
      expect(readFileSync(join(live.folder, "text"), "utf8")).toBe(
        "first line\nsecond line\ntyped while the front end is away\n",
      );
      await live.cancel(other);
    },
  );
});

describe("standard input", () => {
  test("binary, over kill -9 of the front end, arrives unchanged, and so does the output", async () => {
    const bytes = randomBytes(4_000_000);
    writeFileSync(join(live.folder, "bytes"), bytes);
    const job = "head -c 1000000; until [ -e go ]; do sleep 0.05; done; cat";
    const run = shell(`tutti run -- sh -c '${job}' < bytes > copy; echo rc $?`);
    await until(() => sizeOf("copy") >= 1_000_000);
    await live.killFrontEnd();
    writeFileSync(join(live.folder, "go"), "");
    await live.start();
    await run.exit;
    expect(run.shown()).toMatch(/rc 0\n$/);
    expect(readFileSync(join(live.folder, "copy")).equals(bytes)).toBe(true);
  });

  test("that is empty, closed or /dev/null is an end of input", async () => {
    const runs = ["< /dev/null", "<&-", "< empty"].map((input) =>
      shell(`: > empty; tutti run -- wc -c ${input}; echo rc $?`),
    );
    await Promise.all(runs.map(({ exit }) => exit));
    expect(runs.map(({ shown }) => shown())).toEqual(["0\nrc 0\n", "0\nrc 0\n", "0\nrc 0\n"]);
  });
});

describe.skipIf(!SOAK)("what takes long (soak)", () => {
  const MEBI = 2 ** 20;

  /** The peak of resident memory of the clients while a line runs, and the growth of the front end. */
  async function memoryOf(line: string) {
    const before = residentBytes(live.frontEndPid);
    const run = shell(line);
    let isOver = false;
    void run.exit.then(() => {
      isOver = true;
    });
    let client = 0;
    let frontEnd = 0;
    await until(() => {
      for (const pid of allPids()) {
        if (!read(`/proc/${pid}/cmdline`).includes("tutti.js\0run\0")) continue;
        if (read(`/proc/${pid}/environ`).includes(live.socket)) client = Math.max(client, residentBytes(pid));
      }
      frontEnd = Math.max(frontEnd, residentBytes(live.frontEndPid) - before);
      return isOver;
    });
    console.log(`client ${Math.round(client / MEBI)} MiB, front end +${Math.round(frontEnd / MEBI)} MiB`);
    return { shown: run.shown(), client, frontEnd };
  }

  test("300 MB for a job that reads late take little memory and arrive", async () => {
    const bytes = 300_000_000;
    const sum = createHash("sha256").update(Buffer.alloc(bytes, "tutti\n")).digest("hex");
    const line = `yes tutti | head -c ${bytes} | tutti run -- sh -c 'sleep 5; sha256sum'`;
    const { shown, client, frontEnd } = await memoryOf(line);
    expect(shown).toBe(`${sum}  -\n`);
    expect(client).toBeLessThan(250 * MEBI);
    expect(frontEnd).toBeLessThan(50 * MEBI);
  });

  test("a client that does not read 300 MB of output costs little memory", async () => {
    const line = "tutti run -- head -c 300000000 /dev/zero | (sleep 15; wc -c)";
    const { shown, client, frontEnd } = await memoryOf(line);
    expect(shown).toBe("300000000\n");
    expect(client).toBeLessThan(250 * MEBI);
    expect(frontEnd).toBeLessThan(50 * MEBI);
  });

  test("a flood of keys for a job that reads none takes little memory", async () => {
    const run = shell("tutti run --pty -- sh -c 'echo re\"\"ady; exec sleep 1000'; echo rc $?", true);
    await shows(run, "ready");
    const { job } = (await live.client.jobs({ last: 1 })).jobs[0];
    const holder = live.pidOf(job, "job");
    // The terminal of the user takes no more when the client does not: then the writer waits.
    const flood = Buffer.alloc(MEBI, "typed without an end of line ");
    for (let i = 0; i < 64; i++) run.child.stdin?.write(flood);
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    expect(residentBytes(holder)).toBeLessThan(40 * MEBI);
    const clients = allPids().filter((pid) => read(`/proc/${pid}/cmdline`).includes("\0--pty\0"));
    for (const pid of clients) expect(residentBytes(pid)).toBeLessThan(250 * MEBI);
    await live.cancel(job);
    await shows(run, "rc 1");
    run.child.kill("SIGKILL");
  });

  test("whose state is removed, is given back when its job ends", async () => {
    const other = new LiveScheduler();
    await other.start();
    try {
      const { bash } = await startBash(other.socket);
      rmSync(other.state, { recursive: true });
      type(bash, "echo st$((1+1))ill\r");
      await shows(bash, "st2ill");
      type(bash, "exit 5\r");
      await until(() => modesOf(bash) === modesBefore());
      bash.child.kill("SIGKILL");
    } finally {
      await other.clear();
    }
  });
});

function sizeOf(name: string): number {
  return statSync(join(live.folder, name), { throwIfNoEntry: false })?.size ?? 0;
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}
