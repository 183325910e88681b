/**
 * Runs Open MPI in gangs: mpirun finds the tasks of its job in the host file, and it does not notice that its
 * gang is stopped and continued.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedCpus } from "@tutti/host/machine.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Stage } from "./conductor/stage.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

const TASKS = 2;
const CPUS = allowedCpus().slice(0, TASKS);
const isPossible =
  spawnSync("mpirun", ["--version"], { stdio: "ignore" }).status === 0 && CPUS.length === TASKS;
const MPIRUN = "mpirun --allow-run-as-root";
const WITH_HOSTS = `${MPIRUN} --hostfile $TUTTI_HOSTFILE`;

/** A program that prints its rank, works, and prints that it has finished. */
const RANK = `sh -c 'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE
  i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done
  echo done $OMPI_COMM_WORLD_RANK'`;

let folder: string;
let socket: string;
let leftovers: Leftovers;
let server: Started;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-mpi-"));
  socket = join(folder, "run", "tutti.sock");
  const state = join(folder, "state");
  leftovers = new Leftovers(folder, state);
  server = startTutti(
    socket,
    ["serve", "--private", "--no-http", "--slot", "50ms", "--cpus", CPUS.join(), "--state", state],
    { cwd: folder },
  );
  await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
});
afterAll(async () => {
  await startTutti(socket, ["down", "--kill"]).result;
  server.child.kill("SIGKILL");
  await leftovers.clear();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

const submit = (script: string) => {
  const words = ["submit", "-n", String(TASKS), "--name", "mpi", "--hold", "--", "sh", "-c", script];
  return startTutti(socket, words, { cwd: folder }).result;
};

describe("Open MPI", () => {
  test.skipIf(!isPossible)(
    "two mpirun gangs of 2 tasks take turns on the same CPUs and end well",
    async () => {
      const client = new Client({ TUTTI_SOCKET: socket });
      for (let gang = 0; gang < 2; gang++) await submit(`${WITH_HOSTS} -n 2 ${RANK}`);
      await startTutti(socket, ["release", "name:mpi"]).result;
      const jobs: Job[] = [await client.ended(1), await client.ended(2)];
      expect(Math.max(...jobs.map(({ startedAtMs = 0 }) => startedAtMs))).toBeLessThan(
        Math.min(...jobs.map(({ endedAtMs = 0 }) => endedAtMs)),
      );
      for (const { job, state, reason, ranMs, startedAtMs = 0, endedAtMs = 0 } of jobs) {
        const stderr = await client.text(`/v1/jobs/${job}/logs/stderr`);
        expect({ state, reason, stderr }).toEqual({ state: "done", reason: "exit code 0", stderr: "" });
        const lines = (await client.text(`/v1/jobs/${job}/logs/stdout`)).trim().split("\n").sort();
        expect(lines).toEqual(["done 0", "done 1", "rank 0 of 2", "rank 1 of 2"]);
        // It had the CPUs for a part of its time in the matrix.
        expect(ranMs).toBeLessThan(endedAtMs - startedAtMs);
      }
    },
  );

  test.skipIf(!isPossible)(
    "without a host file it runs; with it more tasks than the job has are refused, fewer run",
    async () => {
      const run = (script: string) =>
        startTutti(socket, ["run", "-n", "2", "--", "sh", "-c", script], { cwd: folder }).result;
      const bare = await run(`${MPIRUN} -n 2 hostname`);
      expect([bare.stdout.trim().split("\n").length, bare.status]).toEqual([2, 0]);
      const { stdout, status } = await run(`${WITH_HOSTS} -n 1 hostname`);
      expect([stdout.trim().split("\n").length, status]).toEqual([1, 0]);
      const tooMany = await run(`${WITH_HOSTS} -n 3 hostname`);
      expect(tooMany.status).not.toBe(0);
      expect(tooMany.stderr + tooMany.stdout).toMatch(/not enough slots/);
    },
  );

  test.skipIf(!isPossible)("cancel ends mpirun and its ranks", async () => {
    const run = startTutti(
      socket,
      [
        "run",
        "-n",
        "2",
        "--name",
        "long",
        "--",
        "sh",
        "-c",
        `${WITH_HOSTS} -n 2 sh -c 'echo up; sleep 1000'`,
      ],
      { cwd: folder },
    );
    await until(() => run.stdout().split("up").length === 3 || run.child.exitCode !== null);
    expect(run.child.exitCode).toBeNull();
    expect((await startTutti(socket, ["cancel", "name:long"]).result).status).toBe(0);
    await run.result;
    await until(() => leftovers.ofJobs().length === 0);
  });

  test.skipIf(!isPossible)(
    "where gangs are stopped by signals, mpirun writes a line at each turn, and none with the setting that the guide names",
    async () => {
      const stage = new Stage("signals");
      try {
        await stage.ready();
        stage.turn([[[1, ...CPUS]], [[2, ...CPUS]]] as [number, ...number[]][][], { slotMs: 50 });
        const env = { PATH: process.env.PATH ?? "", HOME: folder };
        stage.launch(1, `${MPIRUN} --oversubscribe -n 2 ${RANK}`, { env });
        stage.launch(2, `${MPIRUN} --oversubscribe -n 2 ${RANK}`, {
          env: { ...env, OMPI_MCA_ess_base_forward_signals: "none" },
        });
        for (const job of [1, 2]) {
          expect(await stage.end(job)).toMatchObject({ code: 0 });
          expect(stage.out(job).trim().split("\n").sort()).toEqual([
            "done 0",
            "done 1",
            "rank 0 of 2",
            "rank 1 of 2",
          ]);
        }
        const errors = [1, 2].map((job) => readFileSync(join(stage.folderOf(job), "err"), "utf8"));
        expect(errors[0]).toContain("Forwarding signal 18");
        expect(errors[1]).toBe("");
      } finally {
        expect(await stage.clear()).toEqual([]);
      }
    },
  );
});
