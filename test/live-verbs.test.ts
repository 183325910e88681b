/**
 * The verbs about jobs that run again, later, one after another, or not for a while, as a user types them:
 * real commands against a real scheduler with real jobs. Their words and exit codes come from
 * docs/reference-jobs.md and the help.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const s = new LiveScheduler();
const file = (name: string) => join(s.folder, name);

beforeAll(async () => {
  const config = file("tutti.toml");
  writeFileSync(config, '[resources]\ngpu = ["0", "1"]\n', { mode: 0o600 });
  s.words.push("--config", config);
  await s.start();
});
afterAll(() => s.clear());

async function tutti(...words: string[]) {
  const env = { HOME: s.folder, CUDA_VISIBLE_DEVICES: undefined };
  const { status, stdout, stderr } = await startTutti(s.socket, words, { cwd: s.folder, env }).result;
  return { status, stdout, stderr };
}

/** The number that a submit with --parsable prints. */
async function submit(...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await tutti("submit", "--parsable", ...words);
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining("Cannot") });
  expect(stdout).toMatch(/^\d+\n$/);
  return stdout.trim();
}

/** A job that runs until the file exists. */
const until = (name: string) => ["--", "sh", "-c", `until [ -e '${file(name)}' ]; do sleep 0.02; done`];
const open = (name: string) => writeFileSync(file(name), "");
const state = async (job: string) => (await s.job(Number(job))).state;
const becomes = (job: string, wanted: string) => expect.poll(() => state(job)).toBe(wanted);

describe("pause and resume", () => {
  test("stop a running job and continue it; each says what the job does now", async () => {
    const job = await submit("--name", "sim", ...until("paused"));
    await becomes(job, "running");
    expect(await tutti("pause", job)).toEqual({
      status: 0,
      stdout: `job ${job} (sim): ❚ paused\n`,
      stderr: "",
    });
    open("paused");
    expect((await tutti("why", job)).stdout).toContain("tutti resume continues it");
    expect(await state(job)).toBe("paused");
    expect(await tutti("resume", "state:paused")).toMatchObject({
      status: 0,
      stdout: `job ${job} (sim): ▶ running\n`,
    });
    expect((await tutti("wait", job)).status).toBe(0);
    expect(await tutti("pause", job)).toMatchObject({
      status: 4,
      stdout: "",
      stderr: expect.stringMatching(new RegExp(`^tutti: Cannot pause job ${job}: it is done`)),
    });
    expect((await tutti("pause", "99999")).status).toBe(5);
    expect((await tutti("pause", "state:running")).status).toBe(5);
  });
});

describe("drain and undrain", () => {
  test("nothing starts in between, and why and status say so", async () => {
    const { status, stdout } = await tutti("drain", "--reason", "new disk");
    expect(status).toBe(0);
    expect(stdout).toMatch(/drained the scheduler .*: new disk\.\n$/);
    const job = await submit("--", "true");
    expect((await tutti("why", job)).stdout).toContain("new disk");
    expect((await tutti("status")).stdout).toContain("new disk");
    expect(await state(job)).toBe("queued");
    expect(await tutti("drain", "--end")).toEqual({ status: 0, stdout: "Jobs start again.\n", stderr: "" });
    expect((await tutti("wait", job)).status).toBe(0);
    expect((await tutti("drain", "--end")).status).toBe(0);
  });
});

describe("again", () => {
  test("--retry-on: fail starts it again within --retries, and show says how often it ran", async () => {
    const count = file("count");
    const job = await submit(
      ...["--retries", "2", "--retry-on", "75", "--retry-delay", "1s", "--"],
      ...["sh", "-c", `echo $TUTTI_ATTEMPT >>'${count}'; [ $TUTTI_ATTEMPT = 3 ] || exit 75`],
    );
    expect((await tutti("wait", job)).status).toBe(0);
    expect(readFileSync(count, "utf8")).toBe("1\n2\n3\n");
    const other = await submit(...["--retries", "2", "--retry-on", "75", "--", "sh", "-c", "exit 7"]);
    expect((await tutti("wait", other)).status).toBe(1);
    expect(await s.job(Number(other))).toMatchObject({ attempt: 1, code: 7, state: "failed" });
    expect(await tutti("submit", "--retry-on", "fail", "--", "x")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--retries 3"),
    });
    expect((await tutti("submit", "--retries", "1", "--retry-on", "never", "--", "x")).status).toBe(2);
  });

  test("rerun runs ended jobs as new ones", async () => {
    const job = await submit("--name", "once", "--", "sh", "-c", "echo hello");
    await tutti("wait", job);
    const again = await tutti("rerun", job);
    const [, number] = /^submitted job (\d+), which repeats job \d+\n$/.exec(again.stdout) ?? [];
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining(`repeats job ${job}\n`) });
    expect((await tutti("wait", number)).status).toBe(0);
    expect((await tutti("logs", number)).stdout).toBe("hello\n");
    expect((await tutti("rerun", "--parsable", "name:once")).stdout).toMatch(/^\d+-\d+\n$/);
    const waiting = await submit("--hold", "--", "true");
    expect(await tutti("rerun", waiting)).toMatchObject({
      status: 4,
      stderr: expect.stringContaining("it is held; expected a job that has ended"),
    });
    expect((await tutti("rerun", "99999")).status).toBe(5);
    await tutti("cancel", waiting);
  });
});

test("update changes what a waiting job asks for, of a running one only its name and retries", async () => {
  const job = await submit(
    "--hold",
    "--",
    "sh",
    "-c",
    `echo $TUTTI_NTASKS $TUTTI_JOB_NAME >'${file("got")}'`,
  );
  expect(await tutti("update", job, "-n", "2", "--name", "wide", "--time", "2h")).toMatchObject({
    status: 0,
    stdout: `job ${job} (wide): ‖ held, tasks 2, limit 2 h\n`,
  });
  await tutti("release", job);
  await tutti("wait", job);
  expect(readFileSync(file("got"), "utf8")).toBe("2 wide\n");
  expect(await tutti("update", job, "--name", "late")).toMatchObject({ status: 4, stdout: "" });
  const running = await submit(...until("updated"));
  await becomes(running, "running");
  expect(await tutti("update", running, "-n", "2")).toMatchObject({
    status: 4,
    stderr: expect.stringContaining("its tasks cannot change once it has started"),
  });
  expect((await tutti("update", running, "--name", "fresh")).stdout).toContain(`job ${running} (fresh)`);
  expect(await tutti("update", running)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("nothing changes"),
  });
  open("updated");
  await tutti("wait", running);
});

describe("later and after others", () => {
  test("--begin: the job says when it begins, and does not begin before", async () => {
    const { status, stdout, stderr } = await tutti("submit", "--begin", "+2h", "--", "true");
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^submitted job \d+\n$/) });
    expect(stderr).toContain("tutti: the job begins no earlier than ");
    const job = /\d+/.exec(stdout)![0];
    expect((await tutti("why", job)).stdout).toMatch(/begin/i);
    expect(await state(job)).toBe("queued");
    const soonMs = Date.now() + 1000;
    expect((await tutti("update", job, "--begin", "+1s")).status).toBe(0);
    expect((await tutti("wait", job)).status).toBe(0);
    expect((await s.job(Number(job))).startedAtMs).toBeGreaterThanOrEqual(soonMs);
    expect(await tutti("submit", "--begin", "2020-01-01", "--", "x")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("expected a time in the future"),
    });
  });

  test("--after notok, each and last; one that can never run is cancelled at once with code 1", async () => {
    const fails = await submit("--hold", "--", "false");
    const repair = await submit("--after", `notok:${fails}`, "--", "true");
    const useless = await submit("--after", "last", "--after", fails, "--", "true");
    const array = (
      await tutti(
        "submit",
        "--parsable",
        "--hold",
        "-a",
        "1-2",
        "--",
        "sh",
        "-c",
        "exit $((TUTTI_ARRAY_INDEX-1))",
      )
    ).stdout.trim();
    const [first] = array.split("-");
    const each = (
      await tutti("submit", "--parsable", "-a", "1-2", "--after", `each:${first}`, "--", "true")
    ).stdout.trim();
    expect(each).toMatch(/^\d+-\d+$/);
    await tutti("release", fails, array);
    expect((await tutti("wait", repair)).status).toBe(0);
    expect((await tutti("wait", useless)).status).toBe(1);
    expect(await state(useless)).toBe("cancelled");
    expect((await tutti("wait", each)).status).toBe(1);
    const [one, two] = each.split("-");
    expect([await state(one), await state(two)]).toEqual(["done", "cancelled"]);
    const never = await tutti("submit", "--after", `notok:${repair}`, "--", "true");
    expect(never).toMatchObject({ status: 1, stderr: expect.stringContaining("cancelled at once") });
    expect(await tutti("submit", "--after", "99999", "--", "true")).toMatchObject({
      status: 4,
      stderr: "tutti: Cannot wait for job 99999: there is no such job\n",
    });
  });

  test("--singleton waits for the earlier jobs of its name", async () => {
    const first = await submit("--name", "nightly", ...until("nightly"));
    const second = await submit("--name", "nightly", "--singleton", "--", "true");
    await becomes(first, "running");
    expect((await tutti("why", second)).stdout).toContain(first);
    expect(await state(second)).toBe("queued");
    open("nightly");
    expect((await tutti("wait", second)).status).toBe(0);
    const [one, two] = [await s.job(Number(first)), await s.job(Number(second))];
    expect(two.startedAtMs).toBeGreaterThanOrEqual(one.endedAtMs!);
  });
});

test("--dry-run submits nothing, and is refused where a submit would be", async () => {
  const before = (await tutti("jobs", "--all", "--json")).stdout;
  const trial = await tutti("submit", "--dry-run", "-n", "1", "--", "touch", file("dry"));
  expect(trial).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^would submit 1 job with 1 CPU to queue /),
  });
  expect(await tutti("submit", "--dry-run", "--use", "gpu:3", "--", "true")).toMatchObject({
    status: 4,
    stdout: "",
  });
  const count = (text: string) => JSON.parse(text).jobs.length;
  expect(count((await tutti("jobs", "--all", "--json")).stdout)).toBe(count(before));
  expect(existsSync(file("dry"))).toBe(false);
});

test("--use gives a job units that nobody else has; --parsable prints numbers only", async () => {
  const job = (name: string) => [
    "--",
    "sh",
    "-c",
    `echo $TUTTI_GPUS >'${file(name)}'; until [ -e '${file("go")}' ]; do sleep 0.02; done`,
  ];
  const one = await submit("--use", "gpu", ...job("one"));
  const two = await submit("--use", "gpu:1", ...job("two"));
  const both = await submit("--use", "gpu:2", ...job("both"));
  const written = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : "");
  await expect.poll(() => [written("one"), written("two")].sort()).toEqual(["0\n", "1\n"]);
  expect((await tutti("why", both)).stdout).toMatch(/gpu/);
  expect(await state(both)).toBe("queued");
  open("go");
  for (const number of [one, two, both]) expect((await tutti("wait", number)).status).toBe(0);
  expect(written("both")).toBe("0,1\n");
  expect(await tutti("submit", "--use", "gpu:3", "--", "x")).toMatchObject({
    status: 4,
    stderr: expect.stringMatching(/gpu/),
  });
  expect((await tutti("submit", "--use", "gpu:none", "--", "x")).status).toBe(2);
  expect((await tutti("submit", "--parsable", "-a", "1-3", "--", "true")).stdout).toMatch(/^\d+-\d+\n$/);
});
