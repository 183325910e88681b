/**
 * Runs workflows of 50 jobs by Snakemake and Toil, unchanged from Debian, over Slurm's names: a user who is
 * not root runs the tool, and root's scheduler runs the jobs as this user. A step fails and is retried, the
 * front end is killed with -9, and the tool is interrupted and then resumed. Only `npm run soak` installs the
 * tools and runs these tests; they take some minutes.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { installTestTools, isInPath, SOAK_TOOLS } from "../scripts/install-test-tools.ts";
import {
  canMakeAccounts,
  makeAccount,
  removeAccounts,
  resultOf,
  spawnAs,
  type TestAccount,
} from "./accounts.ts";
import type { CommandResult } from "./command.ts";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { JOBS, snakemake, TOTAL, toil, type Workflow } from "./workflows.ts";

if (SOAK) installTestTools(SOAK_TOOLS);
const LONG_MS = 1_800_000;
/** A condition that a workflow of a minute may bring about late on a busy machine. */
const POLL = { timeout: 600_000, interval: 200 };

describe.skipIf(!SOAK || !canMakeAccounts).each([
  ["Snakemake", "snakemake", snakemake],
  ["Toil with a workflow in CWL", "toil-cwl-runner", toil],
] as const)("%s (long runs, as root)", (_title, program, workflowIn) => {
  let scheduler: LiveScheduler;
  let ada: TestAccount;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let workflow: Workflow;

  beforeAll(async () => {
    ada = makeAccount("flow");
    scheduler = new LiveScheduler();
    scheduler.isPrivate = false;
    chmodSync(scheduler.folder, 0o755);
    await scheduler.start();
    const names = join(scheduler.folder, "names");
    expect(await startTutti(scheduler.socket, ["slurm-names", names]).result).toMatchObject({ status: 0 });
    env = {
      PATH: `${names}:/usr/bin:/bin`,
      TUTTI_SOCKET: scheduler.socket,
      USER: ada.user,
      LOGNAME: ada.user,
    };
  });
  afterEach(async () => {
    await shell("scancel --me");
    await expect.poll(() => processes(), POLL).toEqual([]);
  });
  afterAll(async () => {
    await scheduler?.clear();
    removeAccounts();
  });

  /** A home of the user with the files of the workflow. */
  function prepare(name: string): void {
    folder = join(scheduler.folder, name);
    mkdirSync(folder);
    chownSync(folder, ada.uid, ada.gid);
    Object.assign(env, { HOME: folder, TMPDIR: folder });
    workflow = workflowIn(folder);
    for (const [file, text] of Object.entries(workflow.files)) {
      writeFileSync(join(folder, file), text);
      chownSync(join(folder, file), ada.uid, ada.gid);
    }
  }

  /** As a shell with job control runs it: in a process group of its own. */
  function start(words: readonly [string, ...string[]]) {
    const child = spawnAs(ada, ["setsid", "env", "-C", folder, ...words], env);
    return { child, result: resultOf(child) };
  }
  const shell = (line: string): Promise<CommandResult> => resultOf(spawnAs(ada, ["sh", "-c", line], env));
  const started = () =>
    existsSync(join(folder, "starts"))
      ? readFileSync(join(folder, "starts"), "utf8").trimEnd().split("\n").sort()
      : [];
  /** Process ids with command lines. */
  const processes = () =>
    spawnSync("ps", ["-u", ada.user, "-o", "pid=,args="], { encoding: "utf8" })
      .stdout.split("\n")
      .filter((line) => line !== "");
  const queue = async () => (await shell("squeue --me -h -o '%i %T %j'")).stdout;
  /** Jobs of this test that count, among those of the scheduler. */
  const countSteps = async () =>
    (await shell("sacct -X -n -P -o JobName,WorkDir")).stdout
      .split("\n")
      .filter((line) => /^snakejob_count|^toil_job.*\.count\.cwl\|/.test(line) && line.endsWith(folder))
      .length;
  const states = async () =>
    Map.groupBy(
      (await shell("sacct -X -n -P -o State")).stdout.trimEnd().split("\n"),
      (state) => state.split(" ")[0],
    );

  test.skipIf(!isInPath(program))(
    "each of 50 jobs runs once, but the one that fails, though the front end is killed",
    async () => {
      prepare("killed");
      writeFileSync(join(folder, "go"), "");
      const { result } = start(workflow.command);
      await expect.poll(() => started().length, POLL).toBeGreaterThan(JOBS / 3);
      await scheduler.killFrontEnd();
      // A command of the tool meets nobody, and waits.
      await expect
        .poll(() => processes().filter((line) => /slurm-names\.js (?:sacct|squeue|sbatch)/.test(line)), POLL)
        .not.toEqual([]);
      await scheduler.start();
      const { status, stdout, stderr } = await result;
      expect(`${status} ${stdout} ${stderr}`).toMatch(/^0 /);
      expect(readFileSync(workflow.result, "utf8")).toBe(TOTAL);
      const counts = Array.from({ length: JOBS - 1 }, (_, i) => `count-${i + 1}`);
      expect(started()).toEqual([...counts, "total", "total"].sort());
      const by = await states();
      expect([by.get("FAILED")?.length, by.get("COMPLETED")!.length >= JOBS, by.size]).toEqual([1, true, 2]);
      expect(await queue()).toBe("");
    },
    LONG_MS,
  );

  test.skipIf(!isInPath(program))(
    "an interrupt and a cancel leave no job, and the workflow can be resumed",
    async () => {
      prepare("interrupted");
      const { child, result } = start(workflow.command);
      await expect.poll(() => started().length, POLL).toBeGreaterThan(5);
      // A submit that is interrupted would leave a job of which no tool knows.
      await expect.poll(countSteps, POLL).toBe(JOBS - 1);
      // As Ctrl-C.
      process.kill(-child.pid!, "SIGINT");
      const interrupted = await result;
      expect(interrupted.status).not.toBe(0);
      if (workflow.cancel !== undefined)
        expect(await shell(workflow.cancel)).toMatchObject({ status: 0, stderr: "" });
      await expect.poll(queue, POLL).toBe("");
      await expect.poll(() => processes(), POLL).toEqual([]);
      expect((await states()).get("CANCELLED")?.length).toBeGreaterThan(0);
      const before = started().length;
      expect(before).toBeLessThan(JOBS - 1);
      writeFileSync(join(folder, "go"), "");
      const resumed = await start(workflow.resume).result;
      expect(`${resumed.status} ${resumed.stdout} ${resumed.stderr}`).toMatch(/^0 /);
      expect(readFileSync(workflow.result, "utf8")).toBe(TOTAL);
      // Each step ran, and only those that the interrupt hit ran again.
      expect(new Set(started()).size).toBe(JOBS);
      expect(started().length).toBeLessThanOrEqual(before + JOBS + 1);
      expect(await queue()).toBe("");
    },
    LONG_MS,
  );
});
