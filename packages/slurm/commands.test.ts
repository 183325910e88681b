import { describe, expect, test } from "vitest";
import {
  commandEnvironment,
  lastWords,
  outputOf,
  type RunCommand,
  runCommand,
  type SlurmError,
} from "./commands.ts";
import { SlurmCommands } from "./slurm.ts";

/** Answers each program with a text, or with an error on standard error. */
function answering(answers: Readonly<Record<string, { stdout?: string; stderr?: string }>>): RunCommand {
  return async (program, args) => {
    const { stdout = "", stderr = "" } = answers[`${program} ${args[0]}`] ?? answers[program] ?? {};
    return { stdout, stderr, code: stderr === "" ? 0 : 1, isTimeout: false };
  };
}

const failure = async (call: Promise<unknown>) => (await call.catch((error: unknown) => error)) as SlurmError;

describe("a command of Slurm", () => {
  test("gets its arguments and its input as they are, without a shell", async () => {
    const { stdout, code } = await runCommand(
      "/bin/sh",
      ["-c", 'cat; printf %s "$1"', "sh", "$(id); x"],
      "in ",
    );
    expect([stdout, code]).toEqual(["in $(id); x", 0]);
  });

  test("does not get what an allocation of Slurm or a user's form of output has put into the environment", () => {
    const own = {
      PATH: "/bin",
      SLURM_CONF: "/c",
      SLURM_JOB_ID: "1",
      SQUEUE_FORMAT: "%i",
      SBATCH_ACCOUNT: "a",
      // sbatch would make the pilot an array, or wait for its end.
      SBATCH_ARRAY_INX: "1-3",
      SBATCH_WAIT: "1",
      SBATCH_WAIT_ALL_NODES: "1",
    };
    const passed = commandEnvironment(own);
    expect(passed).toMatchObject({ PATH: "/bin", SLURM_CONF: "/c", SBATCH_ACCOUNT: "a", LC_ALL: "C" });
    expect(Object.keys(passed).filter((name) => name.startsWith("S"))).toEqual([
      "SLURM_CONF",
      "SBATCH_ACCOUNT",
      "SBATCH_WAIT_ALL_NODES",
      "SLURM_TIME_FORMAT",
    ]);
  });

  test("that is missing is an error that says where it is expected", async () => {
    const error = await failure(outputOf(runCommand, "/no/such/squeue", []));
    expect(error.message).toMatch(/Cannot run \/no\/such\/squeue: .*expected Slurm's commands in the PATH/);
    expect(error.isAway).toBe(false);
  });

  // Recorded from 22.05.8, while the controller was away and for the first seconds after its start.
  test.each([
    [
      "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
      true,
    ],
    ["slurm_load_jobs error: Unable to contact slurm controller (connect failure)", true],
    ["srun: error: Unable to confirm allocation for job 4: Expired or invalid job 4", true],
    ["sbatch: error: Batch job submission failed: Invalid partition name specified", false],
    ["sbatch: error: Batch job submission failed: Requested node configuration is not available", false],
  ])("that says %j is repeated as often as needed: %s", async (stderr, isAway) => {
    const error = await failure(outputOf(answering({ sbatch: { stderr } }), "sbatch", []));
    expect(error.isAway).toBe(isAway);
    expect(error.message).toContain(lastWords(stderr));
  });

  test("has its last words shown without its name and without warnings", () => {
    const text =
      "tutti: no conductor\nsrun: error: n2: task 0: Exited with exit code 1\nsrun: cluster configuration lacks support for cpu binding\n";
    expect(lastWords(text)).toBe("no conductor");
    expect(lastWords("srun: error: Unable to create step\n")).toBe("Unable to create step");
    // Recorded from 22.05.8.
    const usage = `sbatch: unrecognized option '--bogus'\nTry "sbatch --help" for more information\n`;
    expect(lastWords(usage)).toBe("unrecognized option '--bogus'");
  });
});

describe("Slurm", () => {
  test("a job that squeue does not know is absent; another error is an error", async () => {
    const unknown = new SlurmCommands(
      answering({ squeue: { stderr: "slurm_load_jobs error: Invalid job id specified\n" } }),
    );
    expect(await unknown.job("7")).toBeUndefined();
    const away = new SlurmCommands(answering({ squeue: { stderr: "Unable to contact slurm controller\n" } }));
    expect((await failure(away.job("7"))).isAway).toBe(true);
  });

  test("an id is a number before it becomes an argument", async () => {
    const slurm = new SlurmCommands(answering({}));
    expect((await failure(slurm.cancel("-u root"))).message).toContain('the job id "-u root"');
  });

  test("a job that has ended need not be cancelled", async () => {
    const stderr = "scancel: error: Kill job error on job id 7: Invalid job id specified\n";
    await new SlurmCommands(answering({ scancel: { stderr } })).cancel("7");
  });

  test("sbatch may name the cluster behind the id", async () => {
    const slurm = (stdout: string) => new SlurmCommands(answering({ sbatch: { stdout } }));
    expect(await slurm("12\n").submit([], "")).toBe("12");
    expect(await slurm("12;tutti\n").submit([], "")).toBe("12");
  });

  test("output of an unknown form names the version", async () => {
    const slurm = new SlurmCommands(
      answering({ squeue: { stdout: "{}\n" }, "squeue --version": { stdout: "slurm 99.05.1\n" } }),
    );
    expect((await failure(slurm.queue())).message).toMatch(/squeue of slurm 99\.05\.1: found "{}"/);
  });
});
