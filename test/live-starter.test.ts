/**
 * Tests that the variables, open files and umask of the shell in which root starts the scheduler do not reach
 * any other process, least of all jobs.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readStat } from "@tutti/host/processes.ts";
import { makeToken } from "@tutti/live/api/server/tokens.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  canMakeAccounts,
  makeAccount,
  removeAccounts,
  resultOf,
  spawnAs,
  type TestAccount,
} from "./accounts.ts";
import type { CommandResult } from "./command.ts";
import { until } from "./live-command.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
/** Open files from 3 on. Node itself marks the low ones; bash can close only the first ten by name. */
const DESCRIPTORS = [3, 9, 17, 77, 200, 251, 1000];
const TOOLS = [
  "awk",
  "chrt",
  "git",
  "ln",
  "mkfifo",
  "mv",
  "rm",
  "setpriv",
  "setsid",
  "sh",
  "sync",
  "taskset",
];

describe.skipIf(!canMakeAccounts)("the shell that starts the scheduler (as root, with useradd)", () => {
  let ada: TestAccount;
  let services: TestAccount[];
  let folder: string;
  let server: ChildProcess;
  let conductor: number;
  const path = (name: string) => join(folder, name);
  beforeAll(async () => {
    ada = makeAccount("ada");
    services = [makeAccount("web", "-s", "/usr/sbin/nologin"), makeAccount("slurm", "-u", "64099")];
    folder = mkdtempSync(join(tmpdir(), "tutti-starter-"));
    chmodSync(folder, 0o755);
    writeFileSync(path("secret"), "TOP SECRET", { mode: 0o600 });
    writeFileSync(path("lock"), "");
    // A process that looks for a program, a start-up file or a module by these variables leaves a trace. Only
    // the front end may, and its forecast thread, which exists once a job had to wait.
    mkdirSync(path("bin"));
    for (const tool of TOOLS) {
      writeFileSync(
        path(`bin/${tool}`),
        `#!/bin/bash\necho ${tool} >> ${path("trace")}\nPATH=/usr/bin:/bin exec ${tool} "$@"\n`,
      );
      chmodSync(path(`bin/${tool}`), 0o755);
    }
    writeFileSync(path("start-up"), `echo start-up >> ${path("trace")}\n`);
    writeFileSync(
      path("module.cjs"),
      `if (!process.argv.includes("serve") && require("node:worker_threads").isMainThread) require("node:fs").appendFileSync(${JSON.stringify(path("trace"))}, "module\\n");\n`,
    );
    const open = DESCRIPTORS.map((one) => `exec ${one}<>${path(one === 200 ? "lock" : "secret")};`).join(" ");
    const script = `umask 000; ${open} flock 200; exec "$@"`;
    const words = ["serve", "--no-http", "--slot", "20ms", "--state", path("state")];
    server = spawn("/bin/bash", ["-c", script, "bash", process.execPath, program, ...words], {
      env: {
        ...process.env,
        NO_COLOR: "1",
        TUTTI_SOCKET: path("run/tutti.sock"),
        PATH: `${path("bin")}:${process.env.PATH}`,
        BASH_ENV: path("start-up"),
        ENV: path("start-up"),
        NODE_OPTIONS: `--require=${path("module.cjs")}`,
        "BASH_FUNC_echo%%": `() { builtin echo function >> ${path("trace")}; builtin echo "$@"; }`,
        SECRET_OF_STARTER: "hunter2",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    server.stdout!.on("data", (piece) => {
      out += piece;
    });
    await until(() => out.includes("help:") || server.exitCode !== null);
    expect(server.exitCode).toBeNull();
    // What bash does at its own start, before Tutti runs.
    rmSync(path("trace"), { force: true });
    // Its first report may come after the first screen.
    do conductor = JSON.parse((await tutti("status", "--json")).stdout).conductor.pid;
    while (conductor === undefined);
  });
  afterAll(async () => {
    await tuttiAsRoot("down", "--kill");
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    removeAccounts();
  });

  const tutti = (...words: readonly string[]): Promise<CommandResult> =>
    resultOf(
      spawnAs(ada, [process.execPath, program, ...words], {
        TUTTI_SOCKET: path("run/tutti.sock"),
        HOME: "/",
      }),
    );
  const tuttiAsRoot = (...words: readonly string[]): Promise<CommandResult> =>
    resultOf(
      spawn(process.execPath, [program, ...words], {
        env: { ...process.env, TUTTI_SOCKET: path("run/tutti.sock") },
      }),
    );
  const filesOf = (pid: number): string[] =>
    readdirSync(`/proc/${pid}/fd`).map((one) => readlinkSync(`/proc/${pid}/fd/${one}`));
  const childrenOf = (pid: number): number[] =>
    readdirSync("/proc")
      .map(Number)
      .filter((one) => one > 0 && readStat(one)?.parent === pid);

  test("its open files reach neither conductor nor guardian nor jobs, whatever their numbers", async () => {
    const { stdout } = await tutti(
      "run",
      "--",
      "sh",
      "-c",
      "ls /proc/self/fd; readlink /proc/$$/fd/*; cat <&77 <&200 <&1000",
    );
    expect(stdout).not.toMatch(/secret|lock/i);
    // The fourth is that of ls itself.
    expect(stdout.split("\n").filter((line) => /^\d+$/.test(line))).toEqual(["0", "1", "2", "3"]);
    const { stdout: told } = await tutti("submit", "--json", "--", "sleep", "1000");
    const { job } = JSON.parse(told).jobs[0];
    const shown = async () => JSON.parse((await tutti("show", String(job), "--json")).stdout).jobs[0];
    while ((await shown()).state !== "running");
    const mine = [conductor, ...childrenOf(conductor)];
    expect(mine.length).toBeGreaterThanOrEqual(3);
    expect(mine.flatMap(filesOf).filter((file) => /\/(secret|lock)$/.test(file))).toEqual([]);
    // The front end keeps inherited files, such as a lock, as long as it runs.
    expect(filesOf(server.pid!)).toContain(path("lock"));
    await tutti("cancel", String(job));
  });

  test("its variables, and programs in its PATH, reach neither conductor nor guardian nor jobs", async () => {
    const submitted = await tutti("run", "--env", "A=1", "--", "/usr/bin/env");
    expect(submitted.stdout).toContain("A=1\n");
    expect(submitted.stdout).not.toMatch(/hunter2|NODE_OPTIONS|BASH|start-up/);
    const environments = [conductor, ...childrenOf(conductor)].map((pid) =>
      readFileSync(`/proc/${pid}/environ`, "latin1"),
    );
    expect(environments.length).toBeGreaterThanOrEqual(2);
    // The guardian's shell adds its own.
    for (const environment of environments) {
      const names = environment.split("\0").filter((one) => one !== "" && !one.startsWith("_="));
      expect(names.sort()).toEqual(["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TZ=UTC"]);
    }
    expect(readdirSync(folder)).not.toContain("trace");
  });

  test("its umask decides about no user's files", async () => {
    const modes = (one: string) =>
      spawnSync("find", [path(one), "-perm", "/022", "!", "-type", "l", "!", "-type", "s"], {
        encoding: "utf8",
      });
    expect(modes("state").stdout).toBe("");
    expect(modes("run").stdout).toBe("");
  });

  test("accounts of services have no token, and one that they have kept is refused", async () => {
    const tokens = readdirSync(path("run/tokens")).map(Number);
    expect(tokens).toEqual(expect.arrayContaining([0, ada.uid]));
    const key = readFileSync(path("run/key"));
    for (const account of services) {
      expect(tokens).not.toContain(account.uid);
      // As an earlier version left it.
      writeFileSync(path(`run/tokens/${account.uid}`), makeToken(key, account.uid));
      chownSync(path(`run/tokens/${account.uid}`), account.uid, account.gid);
      for (const words of [["jobs"], ["submit", "--", "true"]]) {
        const child = spawnAs(account, [process.execPath, program, ...words], {
          TUTTI_SOCKET: path("run/tutti.sock"),
        });
        expect(await resultOf(child)).toMatchObject({ status: 4, stdout: "" });
      }
    }
  });

  describe("a job's files", () => {
    const home = () => path("home");
    beforeAll(() => {
      mkdirSync(home(), { mode: 0o755 });
      chownSync(home(), ada.uid, ada.gid);
    });
    const modeOf = (name: string) => (statSync(join(home(), name)).mode & 0o777).toString(8);
    /** Command line of a shell with that umask. */
    const under = (mask: string, ...words: readonly string[]) =>
      resultOf(
        spawnAs(
          ada,
          [
            "/bin/sh",
            "-c",
            `umask ${mask}; cd ${home()}; exec "$@"`,
            "sh",
            process.execPath,
            program,
            ...words,
          ],
          {
            TUTTI_SOCKET: path("run/tutti.sock"),
            HOME: home(),
          },
        ),
      );

    test.each(["000", "022", "027", "077"])(
      "have the mask %s of the shell that has submitted it",
      async (mask) => {
        const file = (0o666 & ~Number.parseInt(mask, 8)).toString(8);
        const made = `umask; touch made-${mask}; mkdir made-in-${mask}`;
        const ran = await under(mask, "run", "-o", `out-${mask}`, "--", "sh", "-c", made);
        expect(ran).toMatchObject({ status: 0, stderr: "" });
        expect(readFileSync(join(home(), `out-${mask}`), "utf8")).toBe(`0${mask}\n`);
        expect([modeOf(`out-${mask}`), modeOf(`made-${mask}`)]).toEqual([file, file]);
        expect(modeOf(`made-in-${mask}`)).toBe((0o777 & ~Number.parseInt(mask, 8)).toString(8));
      },
    );

    test("have it in scripts, arrays and later attempts, too", async () => {
      writeFileSync(
        join(home(), "job.sh"),
        "umask > mask-$TUTTI_ARRAY_INDEX.$TUTTI_ATTEMPT; [ $TUTTI_ATTEMPT = 2 ] || sleep 1000\n",
      );
      const { stdout } = await under("027", "submit", "--json", "--array", "1-2", "--retries", "1", "job.sh");
      const jobs: { job: number }[] = JSON.parse(stdout).jobs;
      for (const [i, { job }] of jobs.entries()) {
        await until(() => existsSync(join(home(), `mask-${i + 1}.1`)));
        await tutti("requeue", String(job));
        expect((await tutti("wait", String(job))).status).toBe(0);
        for (const attempt of [1, 2]) {
          expect(readFileSync(join(home(), `mask-${i + 1}.${attempt}`), "utf8")).toBe("0027\n");
        }
      }
    });

    test("belong to their user alone if no umask is given", async () => {
      const body = { jobs: [{ command: ["touch", "private"], cwd: home(), env: { PATH: "/usr/bin:/bin" } }] };
      const request = `curl -s --unix-socket ${path("run/tutti.sock")} -H "Authorization: Bearer $(cat ${path(`run/tokens/${ada.uid}`)})" -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' http://localhost/v1/jobs`;
      const { stdout } = await resultOf(spawnAs(ada, ["/bin/sh", "-c", request]));
      const { job } = JSON.parse(stdout).jobs[0];
      expect((await tutti("wait", String(job))).status).toBe(0);
      expect(modeOf("private")).toBe("600");
    });
  });

  test("a lock that it held is free when the front end has ended, though conductor and jobs go on", async () => {
    const isFree = () => spawnSync("flock", ["-n", path("lock"), "true"]).status === 0;
    const { stdout } = await tutti("submit", "--json", "--", "sleep", "1000");
    const { job } = JSON.parse(stdout).jobs[0];
    expect(isFree()).toBe(false);
    server.kill("SIGKILL");
    await until(() => server.signalCode !== null);
    expect(isFree()).toBe(true);
    expect(readStat(conductor)).toBeDefined();
    // So that the test can end.
    server = spawn(process.execPath, [program, "serve", "--no-http", "--state", path("state")], {
      env: { ...process.env, TUTTI_SOCKET: path("run/tutti.sock") },
      stdio: "ignore",
    });
    while ((await tuttiAsRoot("cancel", String(job))).status !== 0);
  });
});
