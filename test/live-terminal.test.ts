/**
 * Sends standard input to real jobs, and uses terminals of jobs as a user does: from a terminal (script),
 * under gang scheduling next to another gang, and over kill -9 of front end and clients.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { shows, startShell, tutti, type } from "./live-shell.ts";

const live = new LiveScheduler();
beforeAll(() => live.start());
afterAll(() => live.clear());

/** Starts a line of a shell in which `tutti` is this one; with `isTerminal`, in a terminal of 30 × 100. */
const shell = (line: string, isTerminal = false) =>
  startShell(line, { socket: live.socket, cwd: live.folder, isTerminal });

describe("standard input", () => {
  test("reaches the job, with its end", async () => {
    const run = shell("echo hello | tutti run -- cat; printf 'a\\0b' > file; tutti run -- wc -c < file");
    expect(await run.exit).toBe(0);
    expect(run.shown()).toBe("hello\n3\n");
  });

  test("of 30 MB arrives unchanged at a job that begins to read late", async () => {
    const bytes = 30_000_000;
    const sum = createHash("sha256").update(Buffer.alloc(bytes, "tutti\n")).digest("hex");
    const run = shell(`yes tutti | head -c ${bytes} | tutti run -- sh -c 'sleep 1; sha256sum'`);
    expect(await run.exit).toBe(0);
    expect(run.shown()).toBe(`${sum}  -\n`);
  });

  test("ends as a local pipe: SIGPIPE when the job stops reading, whether it has ended or not", async () => {
    const line = (job: string) => `(yes; echo yes $? >&2) | tutti run -- ${job}; echo \${PIPESTATUS[1]}`;
    const early = shell(line("head -n 1"));
    const closing = shell(line("sh -c 'head -n 1; exec <&-; sleep 1; echo end'"));
    const deaf = shell(line("true"));
    await Promise.all([early.exit, closing.exit, deaf.exit]);
    expect(early.shown().split("\n").sort()).toEqual(["", "0", "y", "yes 141"]);
    expect(closing.shown().split("\n").sort()).toEqual(["", "0", "end", "y", "yes 141"]);
    expect(deaf.shown().split("\n").sort()).toEqual(["", "0", "yes 141"]);
  });

  test("a job whose sender was killed before it began fails and says so", async () => {
    const run = shell(
      "echo lost | { echo pid $BASHPID; exec tutti_run; }".replace("tutti_run", `${tutti} run --hold -- cat`),
    );
    await shows(run, "pid ");
    const held = async () => (await live.client.jobs({ last: 1 })).jobs.at(-1);
    for (;;) {
      const job = await held();
      if (job?.state === "held" && job.input === "pipe") break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { job } = (await held()) ?? { job: 0 };
    process.kill(Number(/pid (\d+)/.exec(run.shown())?.[1]), "SIGKILL");
    await run.exit;
    await live.client.ask(`/v1/jobs/${job}/release`, { method: "POST" });
    expect(await live.client.ended(job)).toMatchObject({
      state: "failed",
      reason:
        "lost: Cannot read standard input: the tutti run that sends it has ended, expected it to wait for the job",
    });
    await expect(
      live.client.ask("/v1/rerun", { method: "POST", body: { jobs: String(job) } }),
    ).rejects.toThrow("what it read as standard input is not kept");
  });
});

describe("standard input that a job cannot have", () => {
  // With --retries, as on Slurm.
  const run = `${tutti} run --retries 1 -- echo ran`;
  const socket = (content: string) =>
    `perl -MSocket -e '$^F = 99; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0); syswrite A, shift; open STDIN, "<&", B; exec @ARGV' '${content}' ${run}`;
  const lines = {
    "a file": `echo a > full; ${run} < full`,
    "a file that a loop has read in part": `seq 9 > rows; { read row; ${run}; } < rows`,
    "a pipe": `rm -f pipe; mkfifo pipe; exec 3<> pipe; echo a >&3; ${run} <&3`,
    "a socket": socket("a"),
    "an empty file": `: > none; ${run} < none`,
    "a file that a loop has read": `echo a > whole; { cat > /dev/null; ${run}; } < whole`,
    "a pipe that has ended": `exec 4< <(:); wait $!; ${run} <&4`,
    "no file": `${run} < /dev/null`,
    "a pipe that is open": `rm -f quiet; mkfifo quiet; exec 3<> quiet; ${run} <&3`,
    "a socket that is open": socket(""),
  };
  const refused =
    "tutti: Cannot give a job with retries a standard input: it is not kept for the next start; leave out retries, or let it read a file, as in sh -c './a.out < data.txt', and give it no input: < /dev/null\n";
  const warned =
    "tutti: the job does not read standard input, which is open but has nothing yet: a job with --retries has none; < /dev/null avoids this message\nran\n";

  test.each(Object.entries(lines))("%s", async (name, line) => {
    const before = (await live.client.jobs({})).jobs.length;
    const asked = shell(line);
    const code = await asked.exit;
    const isRefused = Object.keys(lines).indexOf(name) < 4;
    const isOpen = name.endsWith("is open");
    expect(asked.shown()).toBe(isRefused ? refused : isOpen ? warned : "ran\n");
    expect(code).toBe(isRefused ? 4 : 0);
    expect((await live.client.jobs({})).jobs.length - before).toBe(isRefused ? 0 : 1);
  });
});

describe("a terminal", () => {
  test("python takes turns with another gang, and lives on over kill -9 of the front end and of its client", async () => {
    const { cpus } = await live.status();
    const other = await live.submit("while :; do i=0; done", { tasks: cpus });
    await live.running(other);
    const first = shell(`tutti run --pty -n ${cpus} -- python3 -q -i`, true);
    await shows(first, ">>> ");
    const { job } = (await live.client.jobs({ last: 1 })).jobs[0];
    type(first, "import os; print(os.get_terminal_size())\r");
    await shows(first, "columns=100, lines=30");
    const pts = /on (\S+)/.exec(first.shown())?.[1];
    await shell(`stty -F ${pts} rows 40 cols 120`).exit;
    type(first, "print(os.get_terminal_size())\r");
    await shows(first, "columns=120, lines=40");
    type(first, "import time; print('be', 'gun'); time.sleep(1000)\r");
    await shows(first, "be gun\r\n");
    type(first, "\x03");
    await shows(first, "KeyboardInterrupt");

    await live.killFrontEnd();
    type(first, "print(6 * 7)\r");
    await shows(first, "\n42\r\n");
    await live.start();
    await shows(first, "waiting until it is back");
    type(first, "print(6 * 8)\r");
    await shows(first, "\n48\r\n");

    // Its client is killed with all of its terminal; the job keeps running and shows its screen again.
    first.child.kill("SIGKILL");
    await first.exit;
    const again = shell(`tutti attach ${job}; echo rc $?; stty -a`, true);
    await shows(again, "\n48\r\n");
    await shows(again, `attached to job ${job}`);
    expect((await live.job(job)).state).toBe("running");
    type(again, "\x1d\x1d\x1d");
    await shows(again, `detached from job ${job}`);
    await shows(again, " icanon ");
    await again.exit;
    expect(again.shown()).toContain("rc 0");

    const ten = Array.from({ length: 10 }, () => shell(`tutti attach ${job}`, true));
    await Promise.all(ten.map((one) => shows(one, "attached to job")));
    await live.cancel(job);
    await Promise.all(ten.map(({ exit }) => exit));
    await live.cancel(other);
  });

  test("is given back after a flood of escape sequences, however the job ends", async () => {
    const flood =
      "printf '\\033[?1049h\\033[?25l'; yes $(printf '\\033[31mred') | head -c 20000000; sleep 100";
    const file = join(live.folder, "flood.sh");
    writeFileSync(file, flood);
    const run = shell(`tutti run --pty -- sh ${file}; echo rc $?; stty -a`, true);
    await shows(run, "this is job");
    const { job } = (await live.client.jobs({ last: 1 })).jobs[0];
    await until(() => run.shown().length > 100_000);
    await live.cancel(job);
    await shows(run, "\u001b[?1049l");
    await run.exit;
    const end = run.shown().slice(-2000);
    expect(end).toMatch(/rc 1\d\d/);
    expect(end).toMatch(/ icanon .* echo /s);
  });

  test("needs a terminal here, and a job that has one", async () => {
    const run = shell("tutti run --pty -- true; echo $?");
    await run.exit;
    expect(run.shown()).toContain("Cannot run a job with --pty: standard input is not a terminal");
    const job = await live.submit("true");
    await live.client.ended(job);
    const attach = shell(`tutti attach ${job}; echo $?`, true);
    await attach.exit;
    expect(attach.shown()).toContain(`Cannot attach to job ${job}: it has no terminal`);
  });
});
