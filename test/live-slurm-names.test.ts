/**
 * Tests Slurm's names with a real scheduler: scripts in the style of public repositories, and the commands
 * that workflow tools run, with the file and line where they run them.
 */
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installTestTools } from "../scripts/install-test-tools.ts";
import { startTutti } from "./live-command.ts";
import { SlurmNames, script } from "./slurm-names.ts";

let site: SlurmNames;
const shell = (line: string, input = "") => site.shell(line, input);
const read = (name: string) => site.read(name);
const batch = (lines: string, options = "") => site.batch(lines, options);
const node = hostname().split(".")[0];

beforeAll(async () => {
  site = await SlurmNames.start();
});
afterAll(() => site.clear());

describe("tutti slurm-names", () => {
  test("may be repeated, and leaves files of others alone", async () => {
    const again = () => startTutti(site.socket, ["slurm-names", site.names]).result;
    const before = readdirSync(site.names).sort();
    expect(await again()).toMatchObject({ status: 0 });
    expect(readdirSync(site.names).sort()).toEqual(before);
    expect(before).toEqual(
      "sacct sacctmgr salloc sbatch scancel scontrol seff sinfo sprio squeue sreport srun sshare sstat".split(
        " ",
      ),
    );
    expect(statSync(join(site.names, "sbatch")).mode & 0o777).toBe(0o755);
    const foreign = join(site.folder, "foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "sbatch"), "mine");
    symlinkSync("/bin/true", join(foreign, "srun"));
    expect(await startTutti(site.socket, ["slurm-names", foreign]).result).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("sbatch, srun are there and not made by Tutti"),
    });
    expect(readdirSync(foreign)).toHaveLength(2);
  });
});

describe("six scripts of Slurm's users", () => {
  test("a serial one with a module, a partition, an account, mail and srun", async () => {
    const lines = `#SBATCH -J serial
#SBATCH -p compute
#SBATCH -A physics
#SBATCH --mail-type=END --mail-user=a@example.invalid
#SBATCH --time=00:01
#SBATCH -o serial-%j.out
module load gcc 2> /dev/null
srun hostname -s
echo "$SLURM_JOB_PARTITION $SLURM_JOB_NODELIST $SLURM_NNODES $SLURM_CPUS_ON_NODE $SLURM_JOB_NAME $SLURM_RESTART_COUNT."
scontrol show job $SLURM_JOB_ID | grep -o 'TimeLimit=[^ ]*'`;
    const { status, stdout, stderr } = await batch(lines);
    expect(stderr).toMatch(
      /^sbatch: --partition=compute: ignored, there is no queue compute; there are short, long, batch$/m,
    );
    expect(stderr).toMatch(/^sbatch: --account=physics: ignored/m);
    expect(stdout).toMatch(/^Submitted batch job \d+\n$/);
    expect(status).toBe(0);
    const output = read(`serial-${stdout.trim().split(" ")[3]}.out`);
    expect(output).toBe(`${node}\nshort ${node} 1 1 serial .\nTimeLimit=00:01:00\n`);
  });

  test("one with MPI: mpirun works, and srun refuses a type of MPI that is not there as Slurm does", async () => {
    installTestTools();
    const lines = `#SBATCH --nodes=1 --ntasks-per-node=2 --mem-per-cpu=50M -t 1-00:00:00 --exclusive -o mpi.out
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
echo "$SLURM_NTASKS $SLURM_NTASKS_PER_NODE $SLURM_TASKS_PER_NODE $SLURM_MEM_PER_CPU $SLURM_JOB_PARTITION"
command -v mpirun > /dev/null && mpirun sh -c 'echo rank' | sort
srun --mpi=cray_shasta ./solver`;
    const { status } = await batch(lines);
    expect(status).toBe(1);
    expect(read("mpi.out")).toMatch(
      /^2 2 2 50 long\n(?:rank\nrank\n)?srun: error: Couldn't find the specified plugin name for mpi\/cray_shasta/,
    );
  });

  test("an array with a limit, and %x_%A_%a", async () => {
    mkdirSync(join(site.folder, "logs"));
    const lines = `#SBATCH --job-name=arr --array=0-6:2%2 --output=logs/%x_%A_%a.out
echo $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN $SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_STEP`;
    const { status, stdout } = await batch(lines, "--parsable");
    expect(status).toBe(0);
    const id = stdout.trim();
    for (const i of [0, 2, 4, 6]) expect(read(`logs/arr_${id}_${i}.out`)).toBe(`${i} 4 0 6 2\n`);
    expect((await shell(`sacct -X -n -P -o JobID,State -j ${id}`)).stdout).toBe(
      [0, 2, 4, 6].map((i) => `${id}_${i}|COMPLETED\n`).join(""),
    );
  });

  test("one with a GPU is refused if the machine has no GPU", async () => {
    const refused = await batch("#SBATCH --gres=gpu:1\nnvidia-smi");
    expect(refused).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^sbatch: error: Invalid generic resource \(gres\) specification$/m),
    });
  });

  test("one with a signal, a requeue and an open mode", async () => {
    const lines = `#SBATCH --signal=B:USR1@30
#SBATCH --requeue --open-mode=append -o appended.out
echo $SLURM_OPEN_MODE`;
    writeFileSync(join(site.folder, "appended.out"), "before\n");
    const { status, stderr } = await batch(lines);
    expect(status).toBe(0);
    expect(stderr).not.toContain("requeue");
    expect(stderr).toContain("sbatch: --signal: ignored, no time limit is so long\n");
    expect(read("appended.out")).toBe("before\na\n");
  });

  test("one with a reservation, a constraint or an unknown dependency is refused as by Slurm", async () => {
    const refusals = await Promise.all(
      [
        "#SBATCH --dependency=singleton --begin=now+1hour --qos=high --reservation=lab",
        "#SBATCH -C skylake",
        "#SBATCH -d afterok:x",
        "#SBATCH -w othernode",
      ].map((line) => batch(line)),
    );
    expect(refusals.map(({ stderr }) => stderr.split("\n")[0])).toEqual([
      "sbatch: error: Batch job submission failed: Requested reservation is invalid",
      "sbatch: error: Batch job submission failed: Invalid feature specification",
      "sbatch: error: Batch job submission failed: Job dependency problem",
      "sbatch: error: Batch job submission failed: Invalid node name specified",
    ]);
    expect(refusals.map(({ status, stdout }) => [status, stdout])).toEqual(refusals.map(() => [1, ""]));
  });
});

describe("tutti submit of a script for Slurm", () => {
  const tutti = (...words: string[]) =>
    startTutti(site.socket, words, { cwd: site.folder, env: { XDG_DATA_HOME: join(site.folder, "data") } })
      .result;

  test("is sbatch: the same variables, files and restarts", async () => {
    const lines = `#SBATCH -J door -p elsewhere,batch -n 2 --mem-per-cpu=20M -t 5
echo "start $SLURM_RESTART_COUNT"
echo "to standard error" >&2
[ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue $SLURM_JOB_ID; sleep 60; }
srun -l echo rank
env | grep ^SLURM | sort`;
    writeFileSync(join(site.folder, "door.sh"), script(lines));
    const bySbatch = (await batch(lines, "--parsable")).stdout.trim();
    const submitted = await tutti("submit", "--parsable", "door.sh");
    expect(submitted).toMatchObject({ status: 0, stderr: "" });
    const number = submitted.stdout.trim();
    expect(await tutti("wait", number)).toMatchObject({ status: 0 });
    const [expected, found] = [bySbatch, number].map((job) =>
      read(`slurm-${job}.out`).replaceAll(new RegExp(`\\b${job}\\b`, "g"), "JOB"),
    );
    expect(expected).toMatch(/^start 1\nto standard error\n(?:[01]: rank\n){2}SLURMD_NODENAME=/);
    expect(expected).toContain("SLURM_JOB_PARTITION=long\n");
    expect(found).toBe(expected);
  });

  test("its own options win over #TUTTI lines, and these over #SBATCH lines", async () => {
    const lines = `#SBATCH -o slurm.out -J slurm -n 2 --comment=x
#TUTTI --name tutti -n 1
echo "$SLURM_JOB_NAME $SLURM_NTASKS"`;
    writeFileSync(join(site.folder, "three.sh"), script(lines));
    writeFileSync(join(site.folder, "own.out"), "before\n");
    const { stdout } = await tutti(
      "submit",
      "--parsable",
      "-o",
      "own.out",
      "--open-mode",
      "append",
      "three.sh",
    );
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 0 });
    expect(read("own.out")).toBe("before\ntutti 1\n");
  });

  test("#TUTTI lines count for sbatch, too", async () => {
    const { status } = await batch(
      "#SBATCH -o both.out -n 2\n#TUTTI -n 1 --name own\necho $SLURM_JOB_NAME $SLURM_NTASKS",
    );
    expect(status).toBe(0);
    expect(read("both.out")).toBe("own 1\n");
  });

  test("an output file that is there is truncated, as by sbatch", async () => {
    writeFileSync(join(site.folder, "over.sh"), script("#SBATCH -o over.out\necho new"));
    writeFileSync(join(site.folder, "over.out"), "before\n");
    const { stdout } = await tutti("submit", "--parsable", "over.sh");
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 0 });
    expect(read("over.out")).toBe("new\n");
  });

  test("a constraint that the nodes meet is taken", async () => {
    writeFileSync(
      join(site.folder, "met.sh"),
      script("#SBATCH -C 'skylake|haswell&ssd' -o met.out\necho met"),
    );
    const { stdout } = await tutti("submit", "--parsable", "met.sh");
    expect(await tutti("wait", stdout.trim())).toMatchObject({ status: 0 });
    expect(read("met.out")).toBe("met\n");
  });

  test("what is not there is refused by the line that asks for it", async () => {
    writeFileSync(join(site.folder, "fussy.sh"), script("#SBATCH -n 1 -C skylake\necho"));
    expect(await tutti("submit", "fussy.sh")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        'Cannot use the line "#SBATCH -C skylake": the nodes have the features haswell, ssd',
      ),
    });
  });
});

test("ten more scripts run", async () => {
  const S: Readonly<Record<string, string>> = {
    // Hyperparameters by the index of an array.
    grid: `#SBATCH -a 1-2 -o s-grid-%a.out\nRATES=(x 0.1 0.01)\necho "rate \${RATES[$SLURM_ARRAY_TASK_ID]}"`,
    // Lines of a file by index.
    lines: `#SBATCH --array=2 -o s-lines.out\nprintf 'a\\nb\\n' > s-list\nsed -n "\${SLURM_ARRAY_TASK_ID}p" s-list`,
    // OpenMP by the variable of the number of CPUs.
    openmp: `#SBATCH --cpus-per-task=2\n#SBATCH -o s-openmp.out\nexport OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\necho $OMP_NUM_THREADS $(nproc)`,
    // Data parallel training: one node as the master, ranks by srun.
    train: `#SBATCH --nodes=1 --ntasks-per-node=2 -o s-train.out
MASTER=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun bash -c "echo $MASTER \\$SLURM_PROCID of \\$SLURM_NTASKS on \\$SLURM_NODEID/\\$SLURM_LOCALID" | sort`,
    // Several steps at once, and wait.
    steps: `#SBATCH -n 2 -o s-steps.out\nfor i in 1 2; do srun -n1 --exclusive sh -c "echo step $i" & done\nwait`,
    // A folder of its own for each job, removed at the end.
    scratch: `#SBATCH -o s-scratch.out\nset -euo pipefail\nT=$(mktemp -d)\ntrap 'rm -rf $T; echo cleaned' EXIT\ncd $T; echo $(basename $SLURM_SUBMIT_DIR) > x; cat x`,
    // Labels, and an exit code of a step.
    label: `#SBATCH -n 2 -o s-label.out\nsrun -l sh -c 'exit $SLURM_PROCID'\necho "code $?"`,
    // Files per task.
    files: `#SBATCH -n 2 -o s-files.out\nsrun -o s-task-%t.out sh -c 'echo task $SLURM_PROCID'\ncat s-task-0.out s-task-1.out`,
    // Limits of memory and time in all spellings.
    sizes: `#SBATCH --mem=100MB --time=0-0:05:00 -o s-sizes.out\necho $SLURM_MEM_PER_NODE`,
    // The shell of the interpreter's line, with arguments.
    args: `#SBATCH -o s-args.out\necho "$0" "$1" "$#" | sed 's|.*/||'`,
  };
  const results = await Promise.all(
    Object.entries(S).map(async ([name, lines]) => {
      writeFileSync(join(site.folder, `${name}.sh`), script(lines));
      return shell(`sbatch --wait ${name}.sh one 'two 2'`);
    }),
  );
  expect(results.map(({ status }) => status)).toEqual(results.map(() => 0));
  expect(read("s-grid-1.out") + read("s-grid-2.out")).toBe("rate 0.1\nrate 0.01\n");
  expect(read("s-lines.out")).toBe("b\n");
  expect(read("s-openmp.out")).toMatch(/^2 \d+\n$/);
  expect(read("s-train.out")).toBe(`${node} 0 of 2 on 0/0\n${node} 1 of 2 on 0/1\n`);
  expect(read("s-steps.out").split("\n").sort().join()).toBe(",step 1,step 2");
  expect(read("s-scratch.out")).toBe(`${site.folder.split("/").at(-1)}\ncleaned\n`);
  expect(read("s-label.out")).toBe(`srun: error: ${node}: task 1: Exited with exit code 1\ncode 1\n`);
  expect(read("s-files.out")).toBe("task 0\ntask 1\n");
  expect(read("s-sizes.out")).toBe("100\n");
  expect(read("s-args.out")).toBe("args.sh one 2\n");
});

describe("the commands that tools run", () => {
  /** Polls until a command prints something. */
  const until = (line: string, expected: RegExp) =>
    expect.poll(async () => (await shell(line)).stdout).toMatch(expected);

  // snakemake/snakemake@00332045, snakemake/executors/slurm/slurm_submit.py: get_account (line 32),
  // test_account (49), get_default_partition (73), cancel (145), run (209-272), job_status (296, 314);
  // slurm_jobstep.py: run (115).
  test("Snakemake 7: --slurm", async () => {
    const [account, accounts, partitions] = await Promise.all([
      shell('sacct -nu "$USER" -o Account%20 | head -n1'),
      shell('sacctmgr -n -s list user "$USER" format=account%20'),
      shell("sinfo -o %P"),
    ]);
    expect(accounts.stdout.split(/\s+/)).toContain(account.stdout.trim() || "default");
    // Tutti chooses among several queues, so none is the default.
    expect(partitions.stdout).toBe("PARTITION\nshort\nlong\nbatch\n");
    const { stdout } = await shell(
      `sbatch -J snakejob -o .snakemake/%j.log --export=ALL -A default -p short -t 5 --mem 100 --cpus-per-task=1 -D ${site.folder} --wrap='srun -n1 --cpu-bind=q sh -c "exit 3"' 2>&1`,
    );
    // It takes the last word of both streams.
    const id = stdout.trim().split(" ").at(-1);
    expect(id).toMatch(/^\d+$/);
    await until(
      `sacct -P -n --format=JobIdRaw,State -j ${id}`,
      new RegExp(`^${id}\\|FAILED\\n${id}.batch\\|FAILED\\n$`),
    );
    expect((await shell(`scontrol show jobid -dd ${id}`)).stdout).toMatch(/JobState=FAILED/);
    expect(await shell(`scancel ${id}`)).toMatchObject({ status: 0, stderr: "" });
  });

  // DataBiosphere/toil@00a23b2a, src/toil/batchSystems/slurm.py: _get_partition_info (line 150),
  // getRunningJobIDs (232), killJob (250), _getJobDetailsFromSacct (433), _getJobDetailsFromScontrol (507),
  // prepareSbatch (605). Toil 5.9.2, toil@54bfe0b1: getWaitDuration (344), which fails without a number.
  test("Toil", async () => {
    const config = (await shell("scontrol show config")).stdout;
    expect(config).toMatch(/^AcctGatherNodeFreq += 0 sec$/m);
    expect(config).toMatch(/^SchedulerTimeSlice += 1 sec$/m);
    const partitions = (await shell('sinfo -a -o "%P %G %l %p %c %m"')).stdout.trim().split("\n");
    expect(partitions.map((line) => line.split(" ").length)).toEqual([6, 6, 6, 6]);
    expect(partitions[1]).toMatch(/^short \(null\) 02:00:00 1 2 \d+$/);
    const sbatch = (command: string) =>
      shell(
        `sbatch -J toil_job_1_x --signal=B:INT@30 --export=ALL,A_B=c --mem=100 --cpus-per-task=1 --time=0:3600 -o toil-%j.out --wrap="exec ${command}"`,
      );
    const [fails, sleeps] = await Promise.all([sbatch("sh -c 'echo \\$A_B; exit 7'"), sbatch("sleep 600")]);
    const [failed, slept] = [fails, sleeps].map(({ stdout }) => stdout.trim().split(/\s+/).at(-1)!);
    await until('squeue -h --format "%i %t %M"', new RegExp(`^${slept} R \\d+:\\d\\d$`, "m"));
    await until(
      `sacct -n -j ${failed},${slept} --format JobIDRaw,State,ExitCode -P -S 1970-01-01`,
      new RegExp(`^${failed}\\|FAILED\\|7:0$`, "m"),
    );
    expect(read(`toil-${failed}.out`)).toBe("c\n");
    expect((await shell(`scontrol show job ${slept}`)).stdout).toMatch(/JobState=RUNNING .*ExitCode=0:0/s);
    expect(await shell(`scancel ${slept}`)).toMatchObject({ status: 0 });
    await until(
      `sacct -n -j ${slept} --format JobIDRaw,State,ExitCode -P -S 1970-01-01`,
      /^\d+\|CANCELLED by \d+\|0:0$/m,
    );
  });

  // nextflow-io/nextflow@06e3c4a4, modules/nextflow/src/main/groovy/nextflow/executor/SlurmExecutor.groovy:
  // getDirectives (lines 56-102), getSubmitCommandLine (114), parseJobId (127), getKillCommand (145),
  // queueStatusCommand (148), STATUS_MAP and parseQueueStatus (168).
  test("Nextflow", async () => {
    writeFileSync(
      join(site.folder, ".command.run"),
      script(
        `#SBATCH -J nf-task\n#SBATCH -o ${site.folder}/.command.log\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n#SBATCH -c 2\n#SBATCH -t 01:00:00\n#SBATCH --mem 100M\n#SBATCH -p short\necho done`,
      ),
    );
    const { stdout } = await shell("sbatch .command.run");
    const id = /Submitted batch job (\d+)/.exec(stdout)?.[1];
    await until('squeue --noheader -o "%i %t" -t all -p short -u root', new RegExp(`^${id} CD$`, "m"));
    expect((await shell('squeue --noheader -o "%i %t" -t all')).stdout).toMatch(
      /^(?:\d+(?:_\d+)? (?:PD|R|CA|CF|CG|CD|F|TO|NF|S)\n)+$/,
    );
    expect(read(".command.log")).toBe("done\n");
  });

  // dask/dask-jobqueue@49db60ad, dask_jobqueue/slurm.py: SLURMJob.__init__ (lines 66-99); core.py:
  // job_id_regexp (159), _submit_job (422), _close_job (474).
  test("dask-jobqueue", async () => {
    const lines = `#SBATCH -J dask-worker\n#SBATCH -e w-%J.err\n#SBATCH -o w-%J.out\n#SBATCH -n 1\n#SBATCH -N 1\n#SBATCH --cpus-per-task=2\n#SBATCH --mem=100M\n#SBATCH -t 00:30:00\necho $SLURM_JOB_ID; exec sleep 600`;
    writeFileSync(join(site.folder, "dask.sh"), script(lines));
    const id = /\d+/.exec((await shell("sbatch dask.sh")).stdout)![0];
    await expect.poll(() => readdirSync(site.folder)).toContain(`w-${id}.out`);
    await expect.poll(() => read(`w-${id}.out`)).toBe(`${id}\n`);
    expect(await shell(`scancel ${id}`)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    await until(`squeue -h -j ${id}`, /^$/);
  });

  // facebookincubator/submitit@01eedd3f, submitit/slurm/slurm.py: SlurmInfoWatcher._make_command (line 50),
  // SlurmJobEnvironment (180-188), _make_submission_command (355), _get_job_id_from_submission_command (362),
  // affinity (373), _make_sbatch_string (469-495).
  test("submitit: an array whose command srun starts", async () => {
    expect(await shell("command -v srun")).toMatchObject({ status: 0 });
    const lines = `
# Parameters
#SBATCH --array=0-1%2
#SBATCH --error=%A_%a_0_log.err
#SBATCH --job-name=submitit
#SBATCH --mem=1GB
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --open-mode=append
#SBATCH --output=%A_%a_0_log.out
#SBATCH --signal=USR1@90
#SBATCH --time=5
#SBATCH --wckey=submitit

# command
export SUBMITIT_EXECUTOR=slurm
srun --output %A_%a_%t_log.out --error %A_%a_%t_log.err --unbuffered sh -c 'echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_JOB_NUM_NODES $SLURM_NTASKS $SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID $SLURM_JOB_NODELIST'`;
    writeFileSync(join(site.folder, "submission.sh"), script(lines));
    const id = /job (\d+)/.exec((await shell("sbatch submission.sh")).stdout)![1];
    await until(
      `sacct -o JobID,State --parsable2 -j ${id}`,
      new RegExp(`^JobID\\|State\n${id}_0\\|COMPLETED\n${id}_0.batch\\|COMPLETED\n${id}_1\\|COMPLETED\n`),
    );
    for (const i of [0, 1]) expect(read(`${id}_${i}_0_log.out`)).toBe(`${id} ${i} 1 1 0 0 0 ${node}\n`);
  });
});

describe("srun and salloc outside of a job", () => {
  test("submit, wait, and exit with the code", async () => {
    const [labelled, failed, missing, allocated] = await Promise.all([
      shell("srun -n2 -l sh -c 'echo $SLURM_PROCID/$SLURM_NTASKS'"),
      shell("srun sh -c 'exit 5'"),
      shell("srun /no/such"),
      shell("salloc -n2 srun sh -c 'echo $SLURM_PROCID'"),
    ]);
    expect(labelled.status).toBe(0);
    expect(labelled.stdout.split("\n").sort()).toEqual(["", "0: 0/2", "1: 1/2"]);
    expect(failed).toMatchObject({
      status: 5,
      stderr: expect.stringContaining(`srun: error: ${node}: task 0: Exited with exit code 5\n`),
    });
    expect(missing.status).toBe(2);
    expect(missing.stderr).toContain("execve(): /no/such: No such file or directory");
    expect(allocated.status).toBe(0);
    expect(allocated.stdout.split("\n").sort()).toEqual(["", "0", "1"]);
    expect(allocated.stderr).toMatch(
      /^salloc: Granted job allocation (\d+)\n(?:.*\n)*salloc: Relinquishing job allocation \1$/m,
    );
  });
});

test("what names nothing is said, and never means more jobs than meant", async () => {
  const options = '--mail-user="" --dependency="" --job-name="" --parsable';
  const { stdout } = await shell(`sbatch ${options} -p short --wrap "sleep 600"`);
  const id = stdout.trim();
  const there = "there is no queue compute; there are short, long, batch";
  expect(await shell(`squeue -h -p compute -o %i -j ${id}`)).toMatchObject({
    status: 0,
    stdout: `${id}\n`,
    stderr: `squeue: ${there}\n`,
  });
  expect((await shell(`sacct -nX -r compute -o JobID -P -j ${id}`)).stderr).toBe(`sacct: ${there}\n`);
  expect(await shell("scancel -p compute")).toMatchObject({
    status: 1,
    stderr: `scancel: error: Invalid partition specified: ${there}\n`,
  });
  expect((await shell(`squeue -h -p long,compute -o %i -j ${id}`)).stdout).toBe("");
  expect(await shell("scancel -p short,compute")).toMatchObject({ status: 1 });
  expect((await shell(`squeue -h -o %t -j ${id}`)).stdout).toMatch(/^(?:PD|CF|R)\n$/);
  await shell(`scancel ${id}`);
  const bad = (await shell("sbatch --parsable", "#!/no/such\n")).stdout.trim();
  const line = `sacct -nX -P -o State,ExitCode -j ${bad} -S 1970-01-01`;
  await expect.poll(async () => (await shell(line)).stdout).toBe("FAILED|2:0\n");
  expect(await shell("mkdir gone && cd gone && rmdir ../gone && sbatch --wrap pwd")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("sbatch: error: The current folder has been removed"),
  });
});

test("jobs are held, released, requeued, changed and cancelled by their names of Slurm", async () => {
  await shell("scancel -n held");
  const id = (await shell("sbatch --parsable -H -a 1-3 -J held --wrap 'sleep 600'")).stdout.trim();
  expect((await shell("squeue -h -n held -o '%i %t %r'")).stdout).toBe(
    [1, 2, 3].map((i) => `${id}_${i} PD JobHeldUser\n`).join(""),
  );
  expect(await shell(`scontrol update JobId=${id} TimeLimit=5 Partition=batch`)).toMatchObject({
    status: 0,
    stderr: "",
  });
  // An alias of the queue long.
  expect((await shell(`squeue -h -j ${id}_2 -p batch -o '%l %P'`)).stdout).toBe("5:00 long\n");
  expect(await shell(`scancel ${id}_[1-2]`)).toMatchObject({ status: 0 });
  expect((await shell("squeue -h -n held -o %i")).stdout).toBe(`${id}_3\n`);
  expect(await shell(`scontrol release ${id}_3`)).toMatchObject({ status: 0, stderr: "" });
  await expect.poll(async () => (await shell("squeue -h -n held -o %t")).stdout).toBe("R\n");
  expect(await shell(`scancel -s STOP ${id}_3`)).toMatchObject({ status: 0 });
  expect((await shell("squeue -h -n held -o %T")).stdout).toBe("SUSPENDED\n");
  expect(await shell(`scancel -s USR1 ${id}_3`)).toMatchObject({ status: 1 });
  expect(await shell("scancel -n held")).toMatchObject({ status: 0 });
  await expect.poll(async () => (await shell("squeue -h -n held")).stdout).toBe("");
});

/** Waits until squeue says so about a job. @param what such as `%T` */
const expectQueue = (id: string, what: string, is: string) =>
  expect.poll(async () => (await shell(`squeue -h -j ${id} -o '${what}'`)).stdout.trim()).toBe(is);

describe("requeue, as a real Slurm 22.05.8 with JobRequeue=1", () => {
  // --signal needs a limit of a minute at least, and sends its signal 50 s before it at the latest.
  test("a script that requeues itself at its signal goes on in a second start, and afterok waits for that", async () => {
    const lines = `echo "start \${SLURM_RESTART_COUNT:-none}" >> idiom
if [ -n "$SLURM_RESTART_COUNT" ]; then echo finished >> idiom; exit 0; fi
trap 'scontrol requeue $SLURM_JOB_ID; exit 0' USR1
sleep 600 & wait`;
    const options = "-t 1 --signal=B:USR1@50";
    const id = (await shell(`sbatch --parsable ${options}`, script(lines))).stdout.trim();
    const after = (await shell(`sbatch --parsable --wait -d afterok:${id} --wrap 'echo after >> idiom'`))
      .status;
    expect(after).toBe(0);
    expect(read("idiom")).toBe("start none\nstart 1\nfinished\nafter\n");
    expect((await shell(`sacct -n -X -P -j ${id} -o state,exitcode`)).stdout).toBe("COMPLETED|0:0\n");
    expect((await shell(`scontrol -o show job ${id}`)).stdout).toContain(" Requeue=1 Restarts=1 ");
  });

  test("any number of times, from outside, held, and not with --no-requeue", async () => {
    const submit = async (options = "") =>
      (await shell(`sbatch --parsable -o /dev/null ${options} --wrap 'sleep 600'`)).stdout.trim();
    const id = await submit();
    for (let restarts = 0; restarts < 4; restarts++) {
      await expectQueue(id, "%T", "RUNNING");
      expect((await shell(`scontrol -o show job ${id}`)).stdout).toContain(` Restarts=${restarts} `);
      expect(await shell(`scontrol requeue ${id}`)).toEqual({ status: 0, stdout: "", stderr: "" });
      await expect
        .poll(async () => (await shell(`scontrol -o show job ${id}`)).stdout)
        .toContain(` Restarts=${restarts + 1} `);
    }
    await expectQueue(id, "%T", "RUNNING");
    expect(await shell(`scontrol requeuehold ${id}`)).toEqual({ status: 0, stdout: "", stderr: "" });
    await expectQueue(id, "%T %r", "PENDING job requeued in held state");
    expect((await shell(`scontrol -o show job ${id}`)).stdout).toContain(
      " Reason=job_requeued_in_held_state ",
    );
    const pending = `Job is pending execution for job ${id}\n`;
    expect(await shell(`scontrol requeuehold ${id}`)).toEqual({ status: 1, stdout: "", stderr: pending });
    expect(await shell(`scontrol requeue ${id}`)).toEqual({ status: 1, stdout: "", stderr: pending });
    expect(await shell(`scontrol release ${id}`)).toMatchObject({ status: 0 });
    await expectQueue(id, "%T", "RUNNING");
    expect(await shell(`scontrol update jobid=${id} requeue=0; scontrol requeue ${id}`)).toEqual({
      status: 1,
      stdout: "",
      stderr: `Requested operation is presently disabled for job ${id}\n`,
    });
    const never = await submit("--requeue --no-requeue");
    await expectQueue(never, "%T", "RUNNING");
    expect(await shell(`scontrol requeue ${never} ${id}`)).toMatchObject({
      status: 1,
      stderr: `Requested operation is presently disabled for job ${never}\nRequested operation is presently disabled for job ${id}\n`,
    });
    expect((await shell(`scontrol -o show job ${never}`)).stdout).toContain(" Requeue=0 Restarts=0 ");
    expect(
      await shell("scontrol requeue 99999; scontrol requeue abc; scontrol requeue 6_0,6_1; scontrol requeue"),
    ).toMatchObject({
      status: 1,
      stderr:
        "Invalid job id specified for job 99999\nInvalid job id specified for job abc\n6_0: Invalid job id specified\n6_1: Invalid job id specified\ntoo few arguments for keyword:requeue\n",
    });
    await shell(`scancel ${id} ${never}`);
  });

  test("of an array: all that run, one, and those that cannot are named", async () => {
    const id = (await shell("sbatch --parsable -o /dev/null -a 0-2%2 --wrap 'sleep 600'")).stdout.trim();
    await expectQueue(`${id}_[0-1]`, "%T", "RUNNING\nRUNNING");
    expect(await shell(`scontrol requeue ${id}`)).toEqual({
      status: 1,
      stdout: "",
      stderr: `${id}_0,${id}_1: No error\n${id}_2: Job is pending execution\n`,
    });
    await expect
      .poll(async () => (await shell(`scontrol -o show job ${id}_1`)).stdout)
      .toContain(" JobState=RUNNING ");
    await shell(`scancel ${id}`);
  });
});

// As a real Slurm 22.05.8 prints them.
test("dependencies are shown with their kind until they are fulfilled", async () => {
  const done = (await shell("sbatch --parsable --wait --wrap true")).stdout.trim();
  const held = (await shell("sbatch --parsable -H --wrap true")).stdout.trim();
  const kinds = `afterok:${done}:${held},afternotok:${held},afterany:${held}`;
  const id = (await shell(`sbatch --parsable -d ${kinds} --wrap true`)).stdout.trim();
  const shown = "afterok:H(unfulfilled),afternotok:H(unfulfilled),afterany:H(unfulfilled)".replaceAll(
    "H",
    held,
  );
  expect((await shell(`squeue -h -j ${held},${id} -S i -o '%i %E'`)).stdout).toBe(
    `${held} (null)\n${id} ${shown}\n`,
  );
  expect((await shell(`scontrol show job ${id}`)).stdout).toContain(` Dependency=${shown}\n`);
  expect(await shell(`scancel ${held} ${id}`)).toMatchObject({ status: 0 });
});

// First lines and exit codes of a real Slurm 22.05.8.
const REFUSALS: readonly (readonly [line: string, input: string, status: number, first: string])[] = [
  ["sbatch", "", 1, "sbatch: error: Batch script is empty!"],
  ["sbatch no.sh", "", 1, "sbatch: error: Unable to open file no.sh"],
  ["sbatch", "echo hi\n", 1, "sbatch: error: This does not look like a batch script.  The first"],
  ["sbatch --wrap true x.sh", "", 1, "sbatch: error: Script arguments not permitted with --wrap option"],
  ["sbatch --time=xx --wrap true", "", 255, "sbatch: error: Invalid --time specification"],
  ["sbatch --mem=xx --wrap true", "", 255, "sbatch: error: Invalid --mem specification"],
  ["sbatch -n x --wrap true", "", 1, 'sbatch: error: Invalid numeric value "x" for --ntasks.'],
  [
    "sbatch -d foo:1 --wrap true",
    "",
    1,
    "sbatch: error: Batch job submission failed: Job dependency problem",
  ],
  [
    "sbatch -a 5-1 --wrap true",
    "",
    1,
    "sbatch: error: Batch job submission failed: Invalid job array specification",
  ],
  ["sbatch --bogus --wrap true", "", 255, "sbatch: unrecognized option '--bogus'"],
  ["srun", "", 1, "srun: fatal: No command given to execute."],
  ["srun -n 0 true", "", 1, 'srun: error: Invalid numeric value "0" for --ntasks.'],
  ["srun --bogus true", "", 255, "srun: unrecognized option '--bogus'"],
  ["squeue -j 999999", "", 1, "slurm_load_jobs error: Invalid job id specified"],
  ["squeue -t bogus", "", 1, "squeue: error: Invalid job state specified: bogus"],
  ["squeue --bogus", "", 1, "squeue: unrecognized option '--bogus'"],
  ["scancel", "", 1, "scancel: error: No job identification provided"],
  ["scancel abc", "", 1, "scancel: error: Invalid job id abc"],
  ["scancel -t bogus", "", 1, "Invalid job state specified: bogus"],
  ["scancel 999999", "", 0, ""],
  ["scontrol show job 999999", "", 1, "slurm_load_jobs error: Invalid job id specified"],
  ["scontrol foo", "", 1, "invalid keyword: foo"],
  ["sacct -o bogus", "", 1, 'sacct: error: Invalid field requested: "bogus"'],
  ["sacct -j 999999 -X -n", "", 0, ""],
];

test("first lines of errors and exit codes are Slurm's", async () => {
  const results = await Promise.all(REFUSALS.map(([line, input]) => shell(line, input)));
  expect(results.map(({ status, stderr }, i) => [REFUSALS[i][0], status, stderr.split("\n")[0]])).toEqual(
    REFUSALS.map(([line, , status, first]) => [line, status, first]),
  );
});
