/**
 * Tests the hint that appears if a time limit has no unit, because Slurm would read it as minutes, and the
 * advice for words that are no script.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { Command } from "commander";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { LAST_JOB } from "./job-values.ts";
import { addSubmitOptions, hypotheticalJob, type SubmitOptions, submitJob } from "./submit-options.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-options-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** The job of a command line, and the text on standard error. */
async function submitted(...argv: string[]): Promise<{ readonly job: SubmitJob; readonly said: string }> {
  let said = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
  let job: SubmitJob | undefined;
  const command = addSubmitOptions(new Command("submit").exitOverride(), []);
  command.action(async (words: readonly string[], options: SubmitOptions) => {
    job = await submitJob("submit", words, options, argv);
  });
  await command.parseAsync(argv, { from: "user" });
  return { job: job!, said };
}

function script(...lines: string[]): string {
  const path = join(folder, "job.sh");
  writeFileSync(path, ["#!/bin/sh", ...lines, "true", ""].join("\n"));
  return path;
}

test("-n tasks and -c threads are fields of the job, also in #TUTTI and #SBATCH lines", async () => {
  const hybrid = { tasks: 4, threads: 8 };
  expect((await submitted("-n", "4", "-c", "8", "--", "./a.out")).job).toMatchObject(hybrid);
  expect((await submitted("--threads", "8", "-n", "4", "--", "./a.out")).job).toMatchObject(hybrid);
  expect((await submitted(script("#TUTTI -n 4 -c 8"))).job).toMatchObject(hybrid);
  expect((await submitted(script("#SBATCH -N 2 --ntasks-per-node=2 -c 8"))).job).toMatchObject(hybrid);
  // The command line wins over each option of the script.
  expect((await submitted("-n", "4", script("#SBATCH -n 2 -c 8"))).job).toMatchObject(hybrid);
  expect((await submitted("-n", "4", "--", "./a.out")).job).not.toHaveProperty("threads");
  await expect(submitted(script("#TUTTI -c 0"))).rejects.toThrow("expected an integer, from 1 to 65536");
  expect(hypotheticalJob("-n 4 -c 8")).toEqual(hybrid);
});

test("--tasks-run and --mpi are fields of the job, also in #TUTTI lines", async () => {
  const each = { tasks: 8, tasksRun: "each", mpi: "pmix" };
  const words = ["-n", "8", "--tasks-run", "each", "--mpi", "pmix"];
  expect((await submitted(...words, "--", "./a.out")).job).toMatchObject(each);
  expect((await submitted(script(`#TUTTI ${words.join(" ")}`))).job).toMatchObject(each);
  await expect(submitted(script("#TUTTI --tasks-run twice"))).rejects.toThrow("expected once or each");
});

test("--retry-on and --retry-delay are fields of the job, also in #TUTTI lines; other words are refused", async () => {
  const words = ["--retries", "3", "--retry-on", "fail,75,bus,SIGHUP", "--retry-delay", "1m"];
  const retried = { retries: 3, retryOn: ["fail", "75", "SIGBUS", "SIGHUP"], retryDelayMs: 60_000 };
  expect((await submitted(...words, "--", "./a.out")).job).toMatchObject(retried);
  expect((await submitted(script(`#TUTTI ${words.join(" ")}`))).job).toMatchObject(retried);
  for (const wrong of ["0", "256", "SIGNOT", ""]) {
    await expect(submitted(script(`#TUTTI --retry-on=${wrong}`)), wrong).rejects.toThrow(
      "expected fail, an exit code from 1 to 255 or a signal such as SIGBUS",
    );
  }
});

test("--signal is read as Slurm reads it, also in #TUTTI and #SBATCH lines; hooks are passed on as they are", async () => {
  const readings = [
    ["USR1@30", { name: "SIGUSR1", beforeMs: 30_000 }],
    ["B:SIGTERM@120", { name: "SIGTERM", beforeMs: 120_000, batchOnly: true }],
    // Linux: 12 is USR2; the default is 60 s.
    ["12", { name: "SIGUSR2", beforeMs: 60_000 }],
  ] as const;
  for (const [text, limitSignal] of readings) {
    expect((await submitted("--signal", text, "--", "./a.out")).job, text).toMatchObject({ limitSignal });
    expect((await submitted(script(`#TUTTI --signal ${text}`))).job, text).toMatchObject({ limitSignal });
    expect((await submitted(script(`#SBATCH --signal=${text}`))).job, text).toMatchObject({ limitSignal });
  }
  expect((await submitted(script("#SBATCH --signal=RB:USR1@30"))).job).toMatchObject({
    limitSignal: { name: "SIGUSR1", beforeMs: 30_000, batchOnly: true },
  });
  expect((await submitted(script("#SBATCH --signal=R:USR1@30"))).job).toMatchObject({
    limitSignal: { name: "SIGUSR1", beforeMs: 30_000 },
  });
  for (const wrong of ["KILL@30", "USR1@x", "", "STOP"]) {
    await expect(submitted(script(`#TUTTI --signal=${wrong}`)), wrong).rejects.toThrow("USR1@30");
  }
  const hooks = {
    onStart: "a '$b' \"c\"",
    onEnd: "./e",
    onFail: "./f",
    webhook: "https://h/x",
    mail: "ada@example.org,bob",
    notify: ["start", "end"],
  };
  const words = ["--on-start", hooks.onStart, "--on-end", "./e", "--on-fail", "./f"];
  const more = [
    "--webhook",
    hooks.webhook,
    "--mail",
    " ada@example.org , bob",
    "--notify",
    "start,end,start",
  ];
  expect((await submitted(...words, ...more, "--", "./a.out")).job).toMatchObject(hooks);
  await expect(submitted(script("#TUTTI --notify stop"))).rejects.toThrow("expected start, end or fail");
  await expect(submitted(script("#TUTTI --webhook ftp://h"))).rejects.toThrow("http:// or https://");
  await expect(submitted(script("#TUTTI --mail -f"))).rejects.toThrow("--mail");
  await expect(submitted(script("#TUTTI --mail=-f"))).rejects.toThrow("mail addresses such as");
});

test("--begin is a Unix time, which a hint repeats with its day; also in #TUTTI and #SBATCH lines", async () => {
  const year = new Date().getFullYear() + 5;
  const beginAtMs = Date.parse(`${year}-12-01T07:00:00Z`);
  for (const words of [
    ["--begin", `${year}-12-01T08:00+01:00`, "--", "true"],
    [script(`#TUTTI --begin ${year}-12-01T07:00Z`)],
    [script(`#SBATCH --begin=${year}-12-01T07:00Z`)],
  ]) {
    const { job, said } = await submitted(...words);
    expect(job.beginAtMs).toBe(beginAtMs);
    expect(said).toMatch(/^tutti: the job begins no earlier than \d{4}-1\d-\d\d \d\d:\d\d:00\n$/);
  }
  await expect(submitted(script("#TUTTI --begin 2020-01-01"))).rejects.toThrow(
    "expected a time in the future",
  );
  await expect(submitted(script("#TUTTI --begin +4000d"))).rejects.toThrow(
    "expected a time in the next ten years",
  );
  await expect(submitted(script("#TUTTI --begin soon"))).rejects.toThrow("expected +2h, 23:00");
});

test("--after reads every kind of dependency, and --singleton is a field of the job", async () => {
  const { job } = await submitted(
    "--after",
    "12-13,any:14,notok:15,each:16,last,any:last",
    "--singleton",
    "--",
    "true",
  );
  expect(job).toMatchObject({
    singleton: true,
    after: [
      { job: 12, ok: true },
      { job: 13, ok: true },
      { job: 14, ok: false },
      { job: 15, ok: false, kind: "notok" },
      { job: 16, ok: true, kind: "each" },
      { job: LAST_JOB, ok: true },
      { job: LAST_JOB, ok: false },
    ],
  });
  for (const wrong of ["0", "bad:12", "last-3", "3-1"]) {
    await expect(submitted(script(`#TUTTI --after ${wrong}`)), wrong).rejects.toThrow("12-40, last, any:12");
  }
});

describe("a limit", () => {
  test("without a unit is in seconds, and one hint says so", async () => {
    const told = "tutti: the time limit is 90 s; for minutes, write 90m\n";
    const command = await submitted("-t", "90", "--", "true");
    expect(command).toMatchObject({ job: { limitMs: 90_000 }, said: told });
    const inScript = await submitted(script("#TUTTI -t 90"));
    expect(inScript).toMatchObject({ job: { limitMs: 90_000 }, said: told });
  });

  test.each([
    ["90s", 90_000],
    ["90m", 5_400_000],
    ["1:30", 90_000],
    ["1-12", 129_600_000],
  ])("%s needs no hint", async (text, limitMs) => {
    expect(await submitted("-t", text, "--", "true")).toMatchObject({ job: { limitMs }, said: "" });
  });

  test("in #SBATCH lines is in minutes; the limit on the command line wins over that of the script", async () => {
    const path = script("#SBATCH -t 90");
    expect(await submitted(path)).toMatchObject({ job: { limitMs: 5_400_000 }, said: "" });
    const bare = script("#TUTTI -t 90");
    expect(await submitted("-t", "2h", bare)).toMatchObject({ job: { limitMs: 7_200_000 }, said: "" });
  });
});

describe.each(["submit", "run"] as const)("tutti %s names itself in its advice", (verb) => {
  const refused = (...words: string[]) => submitJob(verb, words, {}, ["tutti", verb, ...words]);

  test("without a command", () =>
    expect(refused()).rejects.toThrow(
      `Cannot ${verb} a job without a command: expected a command after --, or a script; see tutti ${verb} --help`,
    ));

  test("for a script that is too large", () => {
    const path = join(folder, "large.sh");
    writeFileSync(path, Buffer.alloc(2 ** 20 + 1, "x"));
    return expect(refused(path)).rejects.toThrow(
      `Cannot ${verb} "${path}": it has 1048577 bytes, expected a script of at most 1048576 bytes; move its data to another file, or write tutti ${verb} -- ${path}, which copies nothing`,
    );
  });
});

describe("the working directory", () => {
  const inFolder = async (cwd: string, ...more: string[]) =>
    (await submitted("-D", cwd, ...more, "--", "true")).job.cwd;

  test("must be a folder that its user may enter", async () => {
    const missing = join(folder, "missing");
    const file = script();
    expect(await inFolder(folder)).toBe(folder);
    await expect(inFolder(missing)).rejects.toThrow(
      `Cannot submit a job in the folder "${missing}": it does not exist, expected a folder`,
    );
    await expect(inFolder(join(file, "x"))).rejects.toThrow("it does not exist");
    await expect(inFolder(file)).rejects.toThrow("it is not a folder");
  });

  test.skipIf(process.getuid?.() === 0)("must not be closed to its user", async () => {
    const closed = mkdtempSync(join(folder, "closed-"));
    chmodSync(closed, 0o600);
    await expect(inFolder(closed)).rejects.toThrow("it may not be entered");
  });

  test("of a job that waits for others may be made by them", async () => {
    const later = join(folder, "later");
    expect(await inFolder(later, "--after", "12")).toBe(later);
  });

  test("that was removed is refused with advice", async () => {
    vi.spyOn(process, "cwd").mockImplementation(() => {
      throw new Error("ENOENT");
    });
    await expect(submitted("--", "true")).rejects.toThrow(
      "Cannot submit a job in this folder: it was removed",
    );
  });
});

describe("--use", () => {
  test.each([
    [["--use", "gpu"], { gpu: 1 }],
    [["--use", "gpu:2,licence"], { gpu: 2, licence: 1 }],
    [["--use", "gpu:2", "--use", "licence:3"], { gpu: 2, licence: 3 }],
  ])("%j", async (words, use) => {
    expect((await submitted(...words, "--", "true")).job.use).toEqual(use);
  });

  test("in a script, which the command line overrides", async () => {
    const path = script("#TUTTI --use gpu:2");
    expect((await submitted(path)).job.use).toEqual({ gpu: 2 });
    expect((await submitted("--use", "gpu:1", path)).job.use).toEqual({ gpu: 1 });
  });

  test("of a hypothetical job", () => {
    expect(hypotheticalJob("-n 2 --use gpu:1")).toEqual({ tasks: 2, use: { gpu: 1 } });
  });

  test.each([
    ["gpu:0", '"gpu:0" has no number of units from 1 to 10000 after the colon'],
    ["gpu:-1", '"gpu:-1" has no number'],
    ["gpu:x", '"gpu:x" has no number'],
    ["gpu:10001", '"gpu:10001" has no number'],
    ["licence,gpu:", '"gpu:" has no number'],
    ["gpu:1:2", '"gpu:1:2" has no number'],
    ["GPU", '"GPU" does not begin with a word of small letters'],
    ["gpu=2", '"gpu=2" does not begin'],
    ["", '"" does not begin'],
    ["gpu,gpu:2", '"gpu" is there twice'],
    ["cpus:2", 'A resource cannot be called "cpus"'],
    ["gpus:2", 'A resource cannot be called "gpus", write gpu'],
    [Array.from({ length: 17 }, (_, i) => `r${i}`).join(","), "There are more than 16 resources"],
  ])("%s is refused", async (text, why) => {
    const refusal = expect(submitted(script(`#TUTTI --use '${text}'`))).rejects;
    await refusal.toThrow(why);
    await refusal.toThrow(
      ", expected resources with their numbers of units, such as gpu:1 or gpu:2,licence:1",
    );
  });
});

describe("-c with another OMP_NUM_THREADS", () => {
  afterEach(() => vi.unstubAllEnvs());
  const saidWith = async (variables: Record<string, string>, ...words: string[]) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    return (await submitted(...words)).said;
  };
  const HINT =
    "tutti: OMP_NUM_THREADS is 4 in the job's environment, although -c is 8; --env all,OMP_NUM_THREADS=8 changes it for this job\n";

  test("in the environment is mentioned, also for a script", async () => {
    vi.stubEnv("TUTTI_JOB_ID", undefined);
    expect(await saidWith({ OMP_NUM_THREADS: "4" }, "-c", "8", "--", "true")).toBe(HINT);
    expect(await saidWith({ OMP_NUM_THREADS: "4" }, script("#TUTTI -c 8"))).toBe(HINT);
  });

  test("is not mentioned if it is equal, not passed on, set on purpose, or that of an outer job", async () => {
    vi.stubEnv("TUTTI_JOB_ID", undefined);
    expect(await saidWith({ OMP_NUM_THREADS: "8" }, "-c", "8", "--", "true")).toBe("");
    expect(await saidWith({ OMP_NUM_THREADS: "4" }, "-n", "8", "--", "true")).toBe("");
    expect(await saidWith({ OMP_NUM_THREADS: "4" }, "-c", "8", "--env", "PATH", "--", "true")).toBe("");
    expect(await saidWith({}, "-c", "8", "--env", "all,OMP_NUM_THREADS=8", "--", "true")).toBe("");
    const outer = { OMP_NUM_THREADS: "4", TUTTI_JOB_ID: "1", TUTTI_THREADS: "4" };
    expect(await saidWith(outer, "-c", "8", "--", "true")).toBe("");
  });
});

test("a wrong array, a retry without its option and a wrong #TUTTI line are named as they were typed", async () => {
  const refused = (...words: string[]) => submitted(...words, "--", "true");
  await expect(refused("-a", "5-1")).rejects.toThrow("the range is empty, expected the smaller index first");
  await expect(refused("-a", "x")).rejects.toThrow("expected indices such as 1-100, 0-20:5 or 1,4,9");
  expect((await submitted("-a", "%4", "--", "true")).job.array).toBe("%4");
  await expect(refused("--retry-on", "fail")).rejects.toThrow(
    "Cannot use --retry-on without --retries: expected a number of restarts, such as --retries 3",
  );
  await expect(refused("--retries", "1", "--retry-delay", "5s")).rejects.toThrow("without --retry-on");
  const path = script("#TUTTI -n 2", "#TUTTI --foo  # wide");
  await expect(submitted(path)).rejects.toThrow(
    `Cannot use the line "#TUTTI --foo  # wide" of "${path}": "--foo": there is no such option`,
  );
});

test("a folder of the output that cannot be made is said", async () => {
  writeFileSync(join(folder, "plain"), "");
  const said = async (...words: string[]) => (await submitted(...words, "--", "true")).said;
  expect(await said("-o", join(folder, "plain/logs/%a"))).toMatch(/warning: .*plain\/logs\/%a": ENOTDIR/);
  expect(await said("-e", join(folder, "plain/out"))).toContain("ENOTDIR");
  expect(await said("-o", join(folder, "new/logs/%a"))).toBe("");
  expect(await said("-o", join(folder, "plain"))).toBe("");
  // The name of the folder, or an earlier job, decides.
  expect(await said("-o", join(folder, "plain/%j/out"))).toBe("");
  expect(await said("--after", "1", "-o", join(folder, "plain/out"))).toBe("");
});
