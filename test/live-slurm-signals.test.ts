/**
 * Tests which processes get the signals of scancel, with a real scheduler. scancel(1) says what is expected,
 * and Slurm 22.05.8 did that with the same scripts.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { SlurmNames, script } from "./slurm-names.ts";

let site: SlurmNames;
const shell = (line: string, input = "") => site.shell(line, input);

beforeAll(async () => {
  site = await SlurmNames.start();
});
afterAll(() => site.clear());

/** Says USR1 and USR2 in its own file and ends at TERM; the file NAME.up says that it is ready. */
const listener = (name: string) =>
  `trap 'echo USR1 >> ${name}' USR1; trap 'echo USR2 >> ${name}' USR2; trap 'exit 0' TERM; : > ${name}.up; while :; do sleep 0.05; done`;

const file = (name: string) => (existsSync(join(site.folder, name)) ? site.read(name) : "");

/** Submits a script whose shell, step and child listen. @returns the job's number */
async function listeners(name: string): Promise<string> {
  const lines = `#SBATCH -n 2 -o ${name}.out
srun -n 2 sh -c '${listener(`${name}-step-$SLURM_PROCID`).replaceAll("'", `'"'"'`)}' &
sh -c '${listener(`${name}-child`).replaceAll("'", `'"'"'`)}' &
${listener(`${name}-shell`)}`;
  const { stdout, stderr } = await shell("sbatch --parsable", script(lines));
  expect(stderr).toBe("");
  for (const part of ["step-0", "step-1", "child", "shell"])
    await until(() => existsSync(join(site.folder, `${name}-${part}.up`)));
  return stdout.trim();
}

const heard = (name: string) =>
  Object.fromEntries(
    ["shell", "child", "step-0", "step-1"].map((part) => [
      part,
      file(`${name}-${part}`).split("\n").slice(0, -1),
    ]),
  );

async function untilShown(line: string, text: string): Promise<void> {
  while ((await shell(line)).stdout !== text);
}

describe("scancel -s", () => {
  test("reaches the ranks of steps, or the shell, or all, each once", async () => {
    const job = await listeners("all");
    const sent = async (words: string, most: Readonly<Record<string, readonly string[]>>) => {
      expect(await shell(`scancel ${words} ${job}`)).toEqual({ status: 0, stdout: "", stderr: "" });
      await until(() => JSON.stringify(heard("all")) === JSON.stringify(most));
    };
    await sent("-s USR1", { shell: [], child: [], "step-0": ["USR1"], "step-1": ["USR1"] });
    await sent("-b --signal=SIGUSR1", {
      shell: ["USR1"],
      child: [],
      "step-0": ["USR1"],
      "step-1": ["USR1"],
    });
    const both = ["USR1", "USR2"];
    await sent("--full -s 12", { shell: both, child: ["USR2"], "step-0": both, "step-1": both });
    const own = await startTutti(site.socket, ["cancel", "--signal", "usr1", job]).result;
    expect(own).toMatchObject({ status: 0, stdout: expect.stringMatching(/ running, sent SIGUSR1\n$/) });
    const more = [...both, "USR1"];
    await until(
      () =>
        JSON.stringify(heard("all")) ===
        JSON.stringify({ shell: more, child: ["USR2", "USR1"], "step-0": more, "step-1": more }),
    );
    // Whatever was sent twice would be here by now: signals of a process are taken in order.
    await shell(`scancel -f -s TERM ${job}`);
    await untilShown(`squeue -h -j ${job} -o %t`, "");
    expect(heard("all").shell).toEqual(more);
    expect(heard("all")["step-1"]).toEqual(more);
  });

  test("refuses unknown signals and jobs that have not started, and stops and continues by turns", async () => {
    const { stdout } = await shell("sbatch --parsable -H -o none.out --wrap true");
    const waiting = stdout.trim();
    expect(await shell(`scancel -s BOGUS ${waiting}`)).toEqual({
      status: 1,
      stdout: "",
      stderr: "scancel: error: Unknown job signal: BOGUS\n",
    });
    expect(await shell(`scancel -s USR1 ${waiting}`)).toEqual({
      status: 1,
      stdout: "",
      stderr: `scancel: error: Kill job error on job id ${waiting}: Job can not be altered now, try again later: Cannot send SIGUSR1 to job ${waiting}: it is held; only running jobs get signals\n`,
    });
    const job = await listeners("turns");
    const state = async () => (await shell(`squeue -h -j ${job} -o %T`)).stdout.trim();
    await shell(`scancel -s STOP ${job}`);
    expect(await state()).toBe("SUSPENDED");
    expect(await shell(`scancel -s USR1 ${job}`)).toMatchObject({ status: 1 });
    await shell(`scancel -s CONT ${job}`);
    expect(await state()).toBe("RUNNING");
    // Only the shell is killed, and with it the job.
    await shell(`scancel -b -s KILL ${job}`);
    await untilShown(`sacct -X -n -P -o State,ExitCode -j ${job}`, "FAILED|0:9\n");
    for (const signal of ["STOP", "18", "nothing"])
      expect(await startTutti(site.socket, ["cancel", "--signal", signal, waiting]).result).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(
          signal === "nothing" ? /such as USR1 or 10/ : /tutti pause stops a job/,
        ),
      });
    await shell(`scancel ${waiting}`);
  });
});
