/** Tests the commands of the live system as users see them, against the real API with a service in memory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestApi } from "@tutti/live/api/server/api-for-tests.ts";
import { FakeService } from "@tutti/live/api/server/fake-service-for-tests.ts";
import type { Api } from "@tutti/live/api/server/server.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CommandResult } from "./command.ts";
import { startTutti, until } from "./live-command.ts";

let folder: string;
let service: FakeService;
let api: Api;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-live-"));
  service = new FakeService(join(folder, "jobs"));
  service.whatIf = async (_, { policy = "fcfs" }) => {
    const atMs = Date.now();
    const start = { p10Ms: atMs + 1000, p50Ms: atMs + 60_000, p90Ms: atMs + 90_000 };
    const end = { endP10Ms: atMs + 61_000, endP50Ms: atMs + 120_000, endP90Ms: atMs + 150_000 };
    return { policy, jobs: [{ job: 1, ...start, ...end }], running: [] };
  };
  service.onShutdown = () => setTimeout(() => api.close(), 20);
  const owner = { uid: process.getuid!(), user: "ada", isAdministrator: true };
  api = await startTestApi(folder, { service, owner });
});
afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

const tutti = (...parameters: string[]): Promise<CommandResult> =>
  startTutti(api.socket, parameters, { cwd: folder }).result;
const onTerminal = (...parameters: string[]): Promise<CommandResult> =>
  startTutti(api.socket, parameters, { cwd: folder, onTerminal: true }).result;

/** Checks cases side by side that do not depend on each other. */
async function together<Case>(cases: readonly Case[], check: (one: Case) => Promise<void>): Promise<void> {
  await Promise.all(cases.map(check));
}

describe("submit", () => {
  test("sends what the options say", async () => {
    const { stdout, status } = await startTutti(
      api.socket,
      [
        "submit",
        "-n",
        "2",
        "--time",
        "10m",
        "--mem",
        "2G",
        "--name",
        "sim",
        "--priority",
        "3",
        "--retries",
        "1",
        "--hold",
        "-o",
        "out-%j",
        "--env",
        "none,A=b",
        "--",
        "./a.out",
        "-n",
        "9",
        "--",
        "x y",
      ],
      { cwd: folder },
    ).result;
    expect([stdout, status]).toEqual(["submitted job 1\n", 0]);
    expect(service.submitted).toEqual([
      {
        command: ["./a.out", "-n", "9", "--", "x y"],
        tasks: 2,
        limitMs: 600_000,
        memoryBytes: 2 ** 31,
        name: "sim",
        priority: 3,
        retries: 1,
        held: true,
        stdout: "out-%j",
        stderr: "out-%j",
        cwd: folder,
        env: { A: "b" },
        umask: process.umask().toString(8).padStart(3, "0"),
      },
    ]);
    // Sent again after a lost answer, it is recognised.
    expect([...service.keys.keys()]).toEqual([expect.stringMatching(/^\d+ [0-9a-f-]{36}$/)]);
  });

  test("reads a script, warns of lines it does not know, and lets the command line win", async () => {
    writeFileSync(
      join(folder, "job.sh"),
      "#!/bin/bash -e\n#SBATCH -n 2 --qos=high -p gpu,main\n#TUTTI --time 1h --env none\n./a.out\n#TUTTI -n 4\n",
    );
    const { stdout, stderr, status } = await tutti("submit", "--time", "5m", "job.sh", "--arg", "1");
    expect([stdout, status]).toEqual(["submitted job 1\n", 0]);
    expect(stderr).toBe("tutti: #SBATCH --qos=high: ignored, not supported here\n");
    expect(service.submitted[0]).toMatchObject({
      command: ["/bin/bash", "-e", join(folder, "job.sh"), "--arg", "1"],
      script: { base64: readFileSync(join(folder, "job.sh")).toString("base64"), word: 2 },
      name: "job.sh",
      tasks: 2,
      queue: "main",
      limitMs: 300_000,
      env: { SLURM_SUBMIT_DIR: folder },
    });
  });

  test("leaves out a partition of a script that is not a queue, and says so; a queue that is named wins", async () => {
    writeFileSync(join(folder, "site.sh"), "#!/bin/sh\n#SBATCH --partition=gpu,cpu\n");
    const { stderr, status } = await tutti("submit", "site.sh");
    expect([stderr, status]).toEqual([
      "tutti: #SBATCH --partition=gpu,cpu: ignored, there is no queue gpu, cpu; there are main, short\n",
      0,
    ]);
    expect(service.submitted[0].queue).toBeUndefined();
    const named = await tutti("submit", "--queue", "short", "site.sh");
    expect([named.stderr, service.submitted[1].queue]).toEqual(["", "short"]);
  });

  test("an array, with its limit, and jobs after others", async () => {
    expect((await tutti("submit", "-a", "1-3%2", "--", "true")).stdout).toBe(
      "submitted jobs 1-3: an array of 3\n",
    );
    await tutti("submit", "--after", "1,any:2", "--", "true");
    expect(service.submitted[0]).toMatchObject({ array: "1-3%2" });
    expect(service.submitted[1].after).toEqual([
      { job: 1, ok: true },
      { job: 2, ok: false },
    ]);
    // Wait for an array by the numbers that its submit has printed.
    await tutti("submit", "-t", "1:30:00", "--after", "any:1-3", "--", "true");
    expect(service.submitted[2]).toMatchObject({
      limitMs: 5_400_000,
      after: [1, 2, 3].map((job) => ({ job, ok: false })),
    });
  });

  test.each([
    [["submit"], 2, /expected a command after --, or a script/],
    [["submit", "missing.sh"], 2, /Cannot submit "missing.sh".*tutti submit -- missing.sh/],
    [["submit", "/bin/ls"], 2, /it is a binary program/],
    [["submit", "-n", "0", "--", "x"], 2, /expected an integer, from 1/],
    [["submit", "--mem", "5", "--", "x"], 2, /expected a size with a unit/],
    [["submit", "-n", "9", "--", "x"], 4, /9 CPUs are asked for, there are 4/],
    [["submit", "-a", "9-1", "--", "x"], 2, /smaller index first/],
    [["submit", "--after", "77", "--", "x"], 4, /no such job/],
    [["submit", "--after", "9-1", "--", "x"], 2, /such as 12,13, 12-40, last, any:12, notok:12 or each:12/],
    [["submit", "-t", "0:00", "--", "x"], 2, /expected a duration above 0/],
    [["submit", "-t", "3651d", "--", "x"], 2, /at most 3650 d/],
    [["submit", "-n", "1e99", "--", "x"], 2, /expected an integer, from 1 to 65536/],
    [["submit", "/"], 2, /it is a folder/],
    [["submit", "empty.sh"], 2, /it is empty/],
    [["submit", "--pty", "--", "x"], 2, /use tutti run --pty, which gives a job a terminal/],
    [["jobs", "--ended", "--first", "5"], 2, /Cannot use --ended with --first: expected one or the other/],
    [["why"], 2, /expected one, such as tutti why last, or --starts/],
    [["usage", "1", "--by", "queue"], 2, /Cannot use --by for jobs "1"/],
  ])("%j is refused with code %i", async (parameters, code, words) => {
    writeFileSync(join(folder, "empty.sh"), "");
    const { status, stderr, stdout } = await tutti(...parameters);
    expect(stderr).toMatch(words);
    expect([status, stdout]).toEqual([code, ""]);
    expect(service.entries.size).toBe(0);
  });

  test("--mem says so if nothing enforces it, and is silent where something does or nobody knows", async () => {
    const messages = async (...words: string[]) => (await tutti(...words, "--mem", "50M", "--", "x")).stderr;
    const usual = service.status();
    const status = vi.spyOn(service, "status");
    for (const limitsMemory of [true, undefined, false]) {
      const conductor = { ...usual.conductor, ...(limitsMemory !== undefined && { limitsMemory }) };
      status.mockImplementation(() => ({ ...usual, conductor }));
      const expected =
        limitsMemory === false ? /^tutti: the job can have more than --mem for about a second/ : /^$/;
      expect(await messages("submit")).toMatch(expected);
      expect(await messages("submit", "--parsable")).toBe("");
    }
    expect((await tutti("submit", "--", "x")).stderr).toBe("");
  });

  test("a full scheduler answers with the exit code for trying later", async () => {
    service.refuseSubmits = { refused: "full", message: "Cannot take more jobs now" };
    expect(await tutti("submit", "--", "true")).toMatchObject({
      status: 75,
      stderr: "tutti: Cannot take more jobs now\n",
    });
  });
});

describe("run", () => {
  test("shows the output as it comes and ends with the job's exit code", async () => {
    const { stdout, stderr, result } = startTutti(api.socket, ["run", "--", "./a.out"], { cwd: folder });
    await until(() => service.entries.size === 1);
    service.start(1, "first\n");
    await until(() => stdout() === "first\n");
    const { info } = service.entries.get(1)!;
    writeFileSync(info.stderr, "trouble\n");
    await until(() => stderr() === "trouble\n");
    writeFileSync(info.stdout, "last\n", { flag: "a" });
    service.finish(1, 7);
    expect(await result).toEqual({ status: 7, stdout: "first\nlast\n", stderr: "trouble\n" });
  });

  test("says after some seconds why the job does not run, once", async () => {
    const { stderr, result } = startTutti(api.socket, ["run", "--", "./a.out"], { cwd: folder });
    await until(() => stderr().includes("\n"));
    service.start(1, "");
    service.finish(1, 0);
    expect((await result).stderr).toMatch(
      /^tutti: job 1 waits: There are 2 jobs before it in the queue\. It needs 1 CPU; [^\n]*\n$/,
    );
  });

  test("an array is refused, also one that a script asks for, since its outputs would be mixed", async () => {
    writeFileSync(join(folder, "array.sh"), "#!/bin/sh\n#SBATCH -a 1-2\ntrue\n");
    for (const words of [["array.sh"], ["-a", "1-2", "--", "true"]]) {
      const { status, stderr } = await tutti("run", ...words);
      expect(stderr).toBe(
        "tutti: Cannot run an array: the output of its jobs would be mixed; use tutti submit and tutti wait instead\n",
      );
      expect(status).toBe(2);
    }
    expect(service.submitted).toEqual([]);
  });

  test("Ctrl-C cancels the job", async () => {
    const { child, result, stderr } = startTutti(api.socket, ["run", "--", "./a.out"]);
    await until(() => service.entries.size === 1);
    service.start(1, "x\n");
    await until(() => service.entries.get(1)?.info.state === "running");
    // The handler is in place once the output flows.
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    // With a terminal and a launcher in between, the same key press arrives twice.
    child.kill("SIGINT");
    await until(() => stderr().includes("interrupted"));
    child.kill("SIGINT");
    const { status } = await result;
    expect(status).toBe(130);
    expect(stderr()).toMatch(/interrupted, cancelling job 1;/);
    expect(stderr()).not.toMatch(/not cancelled|is still ending/);
    expect(service.entries.get(1)!.info.state).toBe("cancelled");
  });

  test("a reader that leaves ends the job", async () => {
    const { child, result } = startTutti(api.socket, ["run", "--", "yes"]);
    await until(() => service.entries.size === 1);
    service.start(1, "y\n".repeat(500_000));
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    child.stdout!.destroy();
    await result;
    expect(service.entries.get(1)!.info.state).toBe("cancelled");
  });

  test("output in a file of the user's own is shown from there, what stood in it before is not", async () => {
    writeFileSync(join(folder, "own.txt"), "of last week\n");
    const { result } = startTutti(api.socket, ["run", "-o", join(folder, "own.txt"), "--", "x"], {
      cwd: folder,
    });
    await until(() => service.entries.size === 1);
    service.start(1, "of last week\nin my file\n");
    service.finish(1, 0);
    expect(await result).toEqual({ status: 0, stdout: "in my file\n", stderr: "" });
  });
});

describe("jobs", () => {
  beforeEach(async () => {
    await tutti("submit", "--name", "sim", "-n", "2", "--", "x");
    await tutti("submit", "--name", "evil\u001b[2J\n<b>", "--", "x");
    service.start(1, "red \u001b[31mtext\u001b[0m\n");
  });

  test("are listed, running ones first, control characters as text", async () => {
    const { stdout } = await onTerminal("jobs");
    expect(stdout).toMatch(/1 +sim +▶ running/);
    // The terminal is narrow: a long name is shortened before columns are left out.
    expect(stdout).toContain("evil\\x1b[2J\\…");
    expect(stdout.replaceAll("\r\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("older names do what they did, and say the new ones on a terminal only", async () => {
    const pairs = [
      ["eta --json", "why --starts --json"],
      ["history --last 3", "jobs --ended --last 3"],
      ["queues", "list queues"],
      ["windows", "window list"],
      ["shares", "usage --shares"],
      ["efficiency 1", "usage 1"],
      ["jobs --last 3", "jobs --ended --last 3"],
    ];
    for (const [older = "", now = ""] of pairs) {
      const [before, after] = [await tutti(...older.split(" ")), await tutti(...now.split(" "))];
      expect(before.status, older).toBe(0);
      expect(before.stdout.replace(/"atMs": \d+/, ""), older).toBe(after.stdout.replace(/"atMs": \d+/, ""));
      expect(before.stderr, older).toBe(after.stderr);
    }
    expect((await onTerminal("queues")).stdout).toContain(
      "tutti queues is an older name of tutti list queues",
    );
    expect((await tutti("priority", "0", "3")).stdout).toBe(
      (await tutti("update", "3", "--priority", "0")).stdout,
    );
  });

  test("--json gives the API's answer with its schema, for scripts", async () => {
    const schemas = [
      [["jobs"], "tutti.jobs/1"],
      [["show", "1"], "tutti.jobs/1"],
      [["why", "2"], "tutti.why/1"],
      [["matrix"], "tutti.matrix/1"],
      [["list", "queues"], "tutti.queues/1"],
      [["policy"], "tutti.policy/1"],
      [["status"], "tutti.status/1"],
      [["jobs", "--ended"], "tutti.jobs/1"],
      [["whatif"], "tutti.whatif/1"],
      [["why", "--starts"], "tutti.whatif/1"],
    ] as const;
    await together(schemas, async ([verb, schema]) => {
      const { stdout, status } = await tutti(...verb, "--json");
      expect(JSON.parse(stdout).schema).toBe(schema);
      expect(status).toBe(0);
    });
  });

  test("show, why, matrix, queues, policy, whatif, history, events and status print sentences", async () => {
    service.finish(1, 3);
    await tutti("submit", "--name", "next", "--", "x");
    service.start(2);
    expect((await tutti("show", "1")).stdout).toMatch(/job 1: sim\n {2}state {5}✗ failed\n {2}exit {6}3\n/);
    expect((await tutti("why", "3")).stdout).toMatch(
      /Has waited 3(?:\.\d+)? min in queue main\. .*It\s+needs\s+1\s+CPU;\s+the\s+emptiest\s+of\s+3\s+rows\s+has\s+1\s+free/s,
    );
    expect((await tutti("matrix")).stdout).toMatch(/row 1 2 {2}· {2}· {2}·\n/);
    expect((await tutti("list", "queues")).stdout).toMatch(/main +1 +1 +4/);
    expect((await tutti("update", "3", "--priority", "-3")).stdout).toMatch(
      /^job 3 \(next\): .*queued, priority -3\n$/,
    );
    expect((await tutti("jobs", "3")).stdout).toMatch(/queued .* priority -3\n$/);
    expect((await tutti("policy")).stdout).toMatch(/^fcfs, at most 4 rows\n {2}- Jobs start/);
    const changed = await tutti("policy", "easy");
    expect(changed.stdout).toBe(
      "easy is in force from now on; running jobs continue when there is room for them\n",
    );
    expect(changed.stderr).toMatch(/next: tutti policy states its rules/);
    expect((await tutti("why", "1")).stdout).toMatch(/^job 1 \(sim\) failed with exit code 3/);
    expect((await tutti("why", "name:evil*")).stdout).toMatch(
      /▶ running\n {2}Runs on CPU 0 since .*, and has run for/,
    );
    // A few ms pass until the answer tells its time.
    expect((await tutti("whatif", "gang")).stdout).toMatch(
      /easy \(now\) +gang\nmean wait +60(?:\.0)? s +60(?:\.0)? s\n1 /,
    );
    const eta = await tutti("why", "--starts");
    expect(eta.stdout).toMatch(/^job +name +starts in .*\n +3 +next +– +– +–\n$/);
    expect(eta.stderr).toMatch(/why NUMBER/);
    expect((await tutti("jobs", "--ended")).stdout).toMatch(/1 +sim +✗ failed/);
    expect((await tutti("events")).stdout.split("\n")).toHaveLength(service.events.length + 1);
    expect((await tutti()).stdout).toMatch(/^tutti 1\.2\.3: 1 of 4 CPUs busy, 1 running, 1 queued/);
  });

  test("logs: escapes are text on a terminal, bytes in a pipe, obeyed only with --raw", async () => {
    expect((await onTerminal("logs", "1")).stdout).toBe("red \\x1b[31mtext\\x1b[0m\r\n");
    expect((await tutti("logs", "1")).stdout).toBe("red \u001b[31mtext\u001b[0m\n");
    expect((await onTerminal("logs", "--raw", "1")).stdout).toBe("red \u001b[31mtext\u001b[0m\r\n");
  });

  test("logs --tail counts lines, with -f too, and of an output in the user's own file", async () => {
    await tutti("submit", "-o", join(folder, "own.txt"), "--", "x");
    for (const job of [2, 3]) {
      service.start(job, "one\ntwo\nthree\nfour");
      service.finish(job, 0);
      const cases = [
        [["--tail", "2"], "three\nfour"],
        [["-f", "--tail", "2"], "three\nfour"],
        [["--tail", "99"], "one\ntwo\nthree\nfour"],
        [["--tail", "0"], ""],
      ] as const;
      await together(cases, async ([words, stdout]) => {
        expect(await tutti("logs", ...words, String(job))).toEqual({ stdout, stderr: "", status: 0 });
      });
    }
  });

  test("logs of a job that wrote nothing say so, and show its state", async () => {
    expect(await tutti("logs", "2")).toEqual({
      status: 0,
      stdout: "",
      stderr: expect.stringMatching(
        /^tutti: nothing was written; job 2 is queued; --stderr shows its standard error\n$/,
      ),
    });
    service.fail(2, 'lost: Cannot run "x": no such command');
    expect((await tutti("logs", "2")).stderr).toMatch(
      /nothing was written; job 2 .* failed \(Cannot run "x"/,
    );
  });

  test("logs -f ends when the job ends", async () => {
    const { result, stdout } = startTutti(api.socket, ["logs", "-f", "last"]);
    service.start(2, "a");
    await until(() => stdout() === "a");
    service.finish(2);
    expect(await result).toMatchObject({ status: 0, stdout: "a" });
  });

  test("hold, release, priority, requeue and cancel change what the selector means", async () => {
    expect((await tutti("hold", "all")).stdout).toMatch(/^job 2 \(evil\\x1b\[2J\\n<b>\): ‖ held\n$/);
    expect((await tutti("release", "state:held")).stdout).toMatch(/· queued/);
    expect((await tutti("update", "2", "--priority", "5")).status).toBe(0);
    expect(service.entries.get(2)!.info.priority).toBe(5);
    expect((await tutti("requeue", "1")).status).toBe(0);
    expect((await tutti("cancel", "1-2")).stdout).toMatch(
      /job 1 \(sim\) was cancelled.*\njob 2 .* was cancelled/,
    );
    const again = await tutti("cancel", "1", "2");
    expect([again.status, again.stdout]).toEqual([4, ""]);
    expect(again.stderr.split("\n").filter((line) => line.startsWith("tutti: Cannot"))).toHaveLength(2);
    expect((await tutti("cancel", "all")).status).toBe(5);
    expect((await tutti("show", "99")).status).toBe(5);
  });

  test("pause and resume change running and paused jobs; --release is passed on", async () => {
    const { change } = service;
    const changes: object[] = [];
    service.change = (caller, one, jobs) => {
      changes.push(one);
      return change.call(service, caller, one, jobs);
    };
    expect((await tutti("pause", "all")).stdout).toBe("job 1 (sim): ❚ paused\n");
    expect((await tutti("jobs", "state:paused")).stdout).toMatch(/sim +❚ paused/);
    expect((await tutti("resume", "state:paused")).stdout).toMatch(/▶ running/);
    expect((await tutti("pause", "1", "--release")).status).toBe(0);
    expect(changes).toEqual([{ action: "pause" }, { action: "resume" }, { action: "pause", release: true }]);
    expect(await tutti("pause", "2")).toMatchObject({ status: 4, stdout: "" });
    expect((await tutti("config", "completions", "bash")).stdout).toMatch(/\bpause\b.*\bresume\b/s);
  });

  test("wait ends with 0 when all ended well, with 1 else", async () => {
    const both = startTutti(api.socket, ["wait", "1", "2"]);
    service.start(2);
    service.finish(2, 0);
    await until(() => both.stdout().includes("job 2"));
    service.finish(1, 3);
    expect(await both.result).toMatchObject({ status: 1 });
    expect(both.stdout()).toMatch(
      /job 2 .* succeeded after 5 s\njob 1 \(sim\) failed with exit code 3 after 5 s\n/,
    );
    expect((await tutti("wait", "2")).status).toBe(0);
  });

  test("export goes back into simulate; CSV is for spreadsheets and holds no formula", async () => {
    service.finish(1, 0);
    await tutti("submit", "--name", "=1+1", "--", "x");
    const file = join(folder, "ran.swf");
    expect((await tutti("export", "-o", file)).stderr).toMatch(
      /next: tutti compare .*ran.swf --policy fcfs,gang:rows=4,easy --slot \d+ms/,
    );
    const { stdout, status } = await tutti("simulate", file, "--policy", "easy", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout).workload).toMatchObject({ jobs: 1, processors: 4 });
    const lines = (await tutti("export", "--format", "csv")).stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^job,array,array_index,name,/);
    expect(lines.some((line) => line.startsWith("3,,,'=1+1,ada,main,queued,"))).toBe(true);
  });
});

describe("matrix --watch", () => {
  test("redraws in place on a terminal and gives the cursor back on Ctrl-C", async () => {
    await tutti("submit", "--", "x");
    service.start(1);
    const { child, result } = startTutti(api.socket, ["matrix", "--watch"]);
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    child.kill("SIGINT");
    expect(await result).toMatchObject({ status: 130, stdout: expect.stringMatching(/row 1 1/) });
  });
});

describe("down", () => {
  test("ends it, or says why not", async () => {
    await tutti("submit", "--", "x");
    service.start(1);
    expect(await tutti("down")).toMatchObject({
      status: 4,
      stderr: expect.stringMatching(/1 job is running/),
    });
    expect(await tutti("down", "--kill")).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/has stopped/),
    });
  });
});

test("reserve, windows and unreserve: what they print, what status says, and bad options", async () => {
  const { stdout, stderr, status } = await tutti(
    ...["window", "add", "disk", "--begin", "+3h", "--for", "2h", "--reason", "new disk"],
  );
  expect({ status, stderr }).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("tutti window remove disk"),
  });
  expect(stdout).toMatch(/^Window disk: nothing starts from .* until .*, by ada: new disk\.$/m);
  expect((await tutti("window", "list")).stdout).toMatch(
    /^window +begin +end +for +by +reason\s+disk .* no jobs /,
  );
  expect((await tutti("status")).stdout).toContain("window disk: nothing starts from");
  const bad = [
    [["x"], "it has no end"],
    [["x", "--for", "2h", "--until", "23:00"], "it has two ends"],
    [["x", "--begin", "soon", "--for", "2h"], "expected +2h, 23:00"],
    [["x", "--for", "never"], "expected a duration above 0"],
  ] as const;
  await together(bad, async ([words, problem]) => {
    expect(await tutti("window", "add", ...words)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(problem),
    });
  });
  const removed = JSON.parse((await tutti("window", "remove", "disk", "--json")).stdout);
  expect(removed).toMatchObject({ schema: "tutti.window/1", window: { name: "disk", by: "ada" } });
  expect((await tutti("window", "remove", "disk")).status).toBe(5);
  expect((await tutti("window", "list")).stdout).toBe("No windows are announced.\n");
});

test("drain says what follows, status shows it, undrain ends it; an empty reason is refused", async () => {
  const drained = /^Nothing starts until tutti drain --end: ada drained the scheduler at .*: new disk\.$/m;
  const { stdout, stderr, status } = await tutti("drain", "--reason", "new disk");
  expect(status).toBe(0);
  expect(stdout).toMatch(drained);
  expect(stderr).toContain("tutti wait state:running");
  expect((await tutti("status")).stdout.replace(/\s+/g, " ")).toContain(
    "drained: Nothing starts until tutti drain --end: ada drained the scheduler at",
  );
  expect((await tutti("events")).stdout).toMatch(/drained .*new disk/);
  expect(JSON.parse((await tutti("drain", "--end", "--json")).stdout)).toEqual({ schema: "tutti.drain/1" });
  expect(await tutti("drain", "--end")).toMatchObject({ status: 0, stdout: "Jobs start again.\n" });
  expect((await tutti("status")).stdout).not.toContain("drained");
  expect(await tutti("drain", "--reason", "")).toMatchObject({
    status: 2,
    stderr: "tutti: Cannot use the reason: it has 0 characters, expected at least 1 character\n",
  });
});

describe("habits from elsewhere", () => {
  test.each([
    [["squeue"], /Cannot run "squeue": there is no such command; use tutti jobs\n/],
    [["kill", "7"], /use tutti cancel\n/],
    [["submit", "--dependency=afterok:3", "--", "x"], /instead of Slurm's --dependency, use --after 12,13/],
    [["submit", "--gres=gpu:1", "--", "x"], /instead of Slurm's --gres, use --use gpu:1/],
    [["run", "--licenses", "x:1", "--", "x"], /instead of Slurm's --licenses, use --use NAME:1/],
    [["submit", "-N", "2", "--", "x"], /use -n with the number of tasks, .* -c with the CPUs of a node/],
    [
      ["submit", "--pack", "whole-node", "--", "x"],
      /there is no such option; tutti serve --pack is for all jobs\n$/,
    ],
    [
      ["submit", "-p", "main", "--", "x"],
      /there is no such option; instead of Slurm's -p, use --queue NAME\n$/,
    ],
    [
      ["serve", "--on", "slurm", "--partition=long"],
      /; options of sbatch follow --, such as -- --partition=long\n$/,
    ],
    [["serve", "--on=ssh", "-F", "config"], /; options of ssh follow --, such as -- -F\n$/],
    [
      ["serve", "--partition=long"],
      /^tutti: Cannot use "--partition=long": there is no such option; see tutti serve --help\n$/,
    ],
    [
      ["rerun", "--begin", "23:00", "3"],
      /^tutti: Cannot use "--begin": there is no such option; see tutti rerun --help\n$/,
    ],
  ])("%j: the answer says what it is here", async (parameters, words) => {
    const { status, stderr, stdout } = await tutti(...parameters);
    expect(stderr).toMatch(words);
    expect([status, stdout]).toEqual([2, ""]);
  });
});

describe("what a terminal shows", () => {
  test("events -f begins with the last twenty and continues", async () => {
    await tutti("submit", "-a", "1-40", "--", "x");
    const { child, stdout, result } = startTutti(api.socket, ["events", "-f"]);
    await until(() => stdout().includes("job 40 "));
    expect(stdout().trimEnd().split("\n")).toHaveLength(20);
    await tutti("submit", "--", "x");
    await until(() => stdout().includes("job 41 "));
    child.kill("SIGINT");
    await result;
    const all = await tutti("events");
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(service.events.length);
  });

  test("a program that cannot be run ends run with 127, as in a shell", async () => {
    const { result } = startTutti(api.socket, ["run", "--", "./nowhere"]);
    await until(() => service.entries.size === 1);
    service.start(1);
    service.fail(1, 'lost: Cannot run "./nowhere": no such command');
    const { status, stderr } = await result;
    expect(stderr).toBe('tutti: job 1 (nowhere) failed (Cannot run "./nowhere": no such command)\n');
    expect(status).toBe(127);
  });
});

describe("many jobs at once", () => {
  test("are cancelled from the last on, so that none starts only because another is gone", async () => {
    await tutti("submit", "-a", "1-200", "--", "x");
    const cancel = vi.spyOn(service, "cancel");
    await tutti("cancel", "all");
    const order = cancel.mock.calls.map(([, job]) => job);
    expect(order).toHaveLength(200);
    expect(Math.min(...order.slice(0, 100))).toBeGreaterThan(50);
    expect(Math.max(...order.slice(-8))).toBe(8);
  });

  test("are changed together and counted; one that ended meanwhile is no failure unless it was named", async () => {
    await tutti("submit", "-a", "1-30", "--", "x");
    service.start(1);
    service.finish(1, 0);
    expect(await tutti("cancel", "1-30")).toMatchObject({ status: 0, stdout: "29 jobs: 29 cancelled\n" });
    expect(await tutti("cancel", "1")).toMatchObject({ status: 4, stdout: "" });
    expect((await tutti("cancel", "all")).stderr).toBe(
      'tutti: Cannot find a job for "all": no waiting or running job matches; tutti jobs --all lists all jobs\n',
    );
  });
});

describe("a job that the selector means and that cannot be changed", () => {
  test("is reported with its reason: an error when nothing was changed, a remark otherwise", async () => {
    await tutti("submit", "-a", "1-3", "--", "x");
    service.start(3);
    const alone = await tutti("hold", "last");
    expect(alone).toMatchObject({ status: 4, stdout: "" });
    expect(alone.stderr).toMatch(/^tutti: Cannot .*3/);
    const besides = await tutti("hold", "last", "all");
    expect(besides.status).toBe(0);
    expect(besides.stdout.match(/‖ held/g)).toHaveLength(2);
    expect(besides.stderr).toMatch(/^tutti: 1 job left unchanged: Cannot .*3/);
  });
});

test("wait all is over at once when nothing waits or runs; a name that nothing has is refused", async () => {
  expect(await tutti("wait", "all")).toEqual({
    status: 0,
    stdout: "",
    stderr: "No jobs are waiting or running.\n",
  });
  expect((await tutti("wait", "name:none")).status).toBe(5);
});

describe("config", () => {
  test("check prints what is in force and where it comes from, or what is wrong; schema is JSON", async () => {
    writeFileSync(join(folder, "t.toml"), '# ours\nslotMs = 50\npolicy = "easy"\n');
    const { stdout, status } = await tutti("config", "check", "t.toml");
    expect(stdout).toMatch(/^slotMs +50 +line 2$/m);
    expect(stdout).toMatch(/^policy +easy +line 3$/m);
    expect(stdout).toMatch(/^maxRows +4 +default$/m);
    expect(status).toBe(0);
    writeFileSync(join(folder, "t.toml"), "mostRows = 3\n");
    const older = await tutti("config", "check", "t.toml");
    expect(older.stdout).toMatch(/^maxRows +3 +line 1$/m);
    expect(older.stderr).toMatch(/^tutti: note: "mostRows" .*write "maxRows"\n$/);
    writeFileSync(join(folder, "t.toml"), 'policy = "eazy"\n');
    const wrong = await tutti("config", "check", "t.toml");
    expect([wrong.status, wrong.stdout]).toEqual([66, ""]);
    expect(wrong.stderr).toMatch(/Cannot use "eazy" as policy in "t.toml", line 1: .*easy/);
    expect(await tutti("config", "check", "none.toml")).toMatchObject({
      status: 66,
      stderr: expect.stringMatching(/^tutti: .*"none\.toml": there is no such file, expected .*\n$/),
    });
    expect(JSON.parse((await tutti("config", "schema")).stdout).properties.slotMs.minimum).toBe(20);
  });
});

describe("without a scheduler", () => {
  test("every verb says what, why and what to type, with code 3; tutti alone says how to start", async () => {
    await api.close();
    const verbs = [
      ["jobs"],
      ["submit", "--", "x"],
      ["show", "1"],
      ["wait", "all"],
      ["matrix"],
      ["down"],
      ["status"],
      ["events"],
    ];
    await together(verbs, async (parameters) => {
      const { status, stderr, stdout } = await tutti(...parameters);
      expect(stderr).toMatch(
        /^tutti: Cannot reach the scheduler: there is no socket .*; start it with tutti serve .*\n$/,
      );
      expect([status, stdout]).toEqual([3, ""]);
    });
    const byNpx = { cwd: folder, env: { npm_lifecycle_event: "npx" } };
    expect((await startTutti(api.socket, ["jobs"], byNpx).result).stderr).toMatch(
      /; start it with npx tutti serve /,
    );
    expect(await tutti()).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^No scheduler is running here for you\..*\n\n {2}tutti serve\n/),
    });
  });
});
