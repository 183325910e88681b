/** Tests that a job's terminal is its user's and root's alone, with real accounts. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
} from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { type Api, startApi } from "@tutti/live/api/server/server.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMakeAccounts, makeAccount, removeAccounts, type TestAccount } from "./accounts.ts";
import { type Shell, shows, startShell, type } from "./live-shell.ts";

const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };
/** Prints each line that the terminal gets, in brackets. */
const ECHO = `sh -c 'stty -echo; echo job on $(tty); echo ready; while read line; do echo "[$line]"; done'`;

describe.skipIf(!canMakeAccounts)("a terminal and other users (as root, with useradd)", () => {
  let ada: TestAccount;
  let bob: TestAccount;
  let folder: string;
  let frontEnd: RunningFrontEnd;
  let api: Api;
  beforeAll(async () => {
    ada = makeAccount("ada");
    bob = makeAccount("bob");
    folder = mkdtempSync(join(tmpdir(), "tutti-terminal-users-"));
    chmodSync(folder, 0o755);
    frontEnd = await startFrontEnd({
      stateFolder: join(folder, "state"),
      isShared: true,
      settings: { slotMs: 50 },
    });
    api = await startApi({
      service: frontEnd.service,
      version: "1.2.3",
      jobsFolder: frontEnd.jobsFolder,
      places: runtimeDirOf(join(folder, "run", "tutti.sock")),
      owner: ROOT,
      isShared: true,
      ports: [],
      users: () => [ada, bob],
      onBug: (error) => {
        throw error;
      },
    });
  });
  afterAll(async () => {
    await frontEnd?.service.shutdown(ROOT, true);
    await api?.close();
    await frontEnd?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    removeAccounts();
  });

  const inTerminal = (line: string, as?: TestAccount) =>
    startShell(line, { socket: api.socket, cwd: "/", isTerminal: true, as });

  /** Starts a job with a terminal, and waits until it reads. */
  async function startJob(command: string): Promise<{ readonly shell: Shell; readonly job: number }> {
    const shell = inTerminal(`tutti run --pty -- ${command}; echo rc $?`, ada);
    await shows(shell, "ready");
    return { shell, job: Number(/this is job (\d+)/.exec(shell.shown())?.[1]) };
  }

  test("another user sees and types nothing, by command, API, file, process or device", async () => {
    const { shell, job } = await startJob(ECHO);
    type(shell, "secret\n");
    await shows(shell, "[secret]");

    const sockets = socketsBelow(folder).filter((path) => !path.endsWith(`/${bob.uid}.sock`));
    expect(sockets.length).toBeGreaterThan(3);
    const asked = [
      `tutti attach ${job}`,
      "tutti attach last",
      ...sockets.map((path) => `TUTTI_SOCKET=${path} tutti attach ${job}`),
    ].map((line) => inTerminal(`${line}; echo rc $?`, bob));
    const [, device] = /job on (\/dev\/pts\/\d+)/.exec(shell.shown()) ?? [];
    const [, pid] = readlinkSync(join(frontEnd.jobsFolder, String(job), "1", "job")).split(":");
    const attempt = join(frontEnd.jobsFolder, String(job), "1");
    const tried = [
      ...["input", "ready", "launch", "../stdout"].map((name) => `cat ${attempt}/${name}`),
      ...["input", "ready"].map((name) => `printf 'd 5\nevil\n' > ${attempt}/${name}`),
      `ls ${attempt}`,
      `cat /proc/${pid}/fd/0 /proc/${pid}/fd/1 /proc/${pid}/environ`,
      `echo evil > /proc/${pid}/fd/3`,
      `echo evil > ${device}`,
      `timeout 1 cat ${device}`,
      `kill -HUP ${pid}`,
      `ln ${attempt}/input /tmp/tutti-test-must-not-exist`,
    ].map((line) => ({
      line,
      ...spawnSync("bash", ["-c", line], { uid: bob.uid, gid: bob.gid, encoding: "utf8" }),
    }));
    for (const { line, status, stdout } of tried)
      expect([line, status === 0, stdout]).toEqual([line, false, ""]);
    const found = spawnSync("grep", ["-rs", "-D", "skip", "secret", folder], {
      uid: bob.uid,
      gid: bob.gid,
      encoding: "utf8",
      cwd: "/",
    });
    expect(found.stdout).not.toContain("[secret]");
    const bobs = readFileSync(join(folder, "run", "tokens", String(bob.uid)), "utf8").trim();
    const forged = bobs.replace(String(bob.uid), String(ada.uid));
    expect(forged).not.toBe(bobs);
    const path = `/v1/jobs/${job}/input`;
    expect([await statusOf(path, bobs), await statusOf(path, forged), await statusOf(path, "")]).toEqual([
      404, 401, 401,
    ]);
    await Promise.all(asked.map(({ exit }) => exit));
    for (const { shown } of asked) {
      expect(shown()).toMatch(/rc [345]/);
      expect(shown()).not.toMatch(/rc 0|secret|attached/);
    }

    type(shell, "mine\n");
    await shows(shell, "[mine]");
    const output = readFileSync(join(attempt, "../stdout"), "utf8");
    expect(output.match(/\[.*?\]/g)).toEqual(["[secret]", "[mine]"]);
    type(shell, "\x04");
    await shell.exit;
    expect(shell.shown()).toContain("rc 0");
  });

  test("root's attach shows it and types, and ends with the exit code of the job", async () => {
    const { shell, job } = await startJob(ECHO);
    type(shell, "from ada\n");
    await shows(shell, "[from ada]");
    const root = inTerminal(`tutti attach ${job}; echo rc $?`);
    await shows(root, "[from ada]");
    type(root, "from root\n");
    await Promise.all([shows(root, "[from root]"), shows(shell, "[from root]")]);
    type(root, "\x04");
    await Promise.all([root.exit, shell.exit]);
    expect([root.shown(), shell.shown()]).toEqual([
      expect.stringContaining("rc 0"),
      expect.stringContaining("rc 0"),
    ]);
  });

  test("a job that swaps its pipe or its output makes root write or read nothing else", async () => {
    const pipe = join(folder, "roots-pipe");
    spawnSync("mkfifo", ["-m", "600", pipe]);
    const file = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const { shell, job } = await startJob("sh -c 'echo ready; sleep 1000'");
    const attempt = join(frontEnd.jobsFolder, String(job), "1");
    const swap = (line: string) =>
      spawnSync("sh", ["-c", `cd ${attempt} && ${line}`], { uid: ada.uid, gid: ada.gid });
    for (const [line, why] of [
      [`mv input kept; ln -s ${pipe} input`, "Cannot write to the job's input"],
      ["rm input; echo > input", "it is not a named pipe of the job's user"],
    ]) {
      expect(swap(line).status).toBe(0);
      const root = inTerminal(`tutti attach ${job}; echo rc $?`);
      type(root, "roots password\n");
      await root.exit;
      expect(root.shown()).toContain(why);
      expect(root.shown()).toMatch(/rc 4/);
    }
    expect(() => readSync(file, Buffer.alloc(10))).toThrow("EAGAIN");
    closeSync(file);
    await frontEnd.service.change(ROOT, { action: "cancel" }, [job]);
    await shell.exit;
  });

  /** The status of the API's answer over the socket of all users. */
  function statusOf(path: string, token: string): Promise<number | undefined> {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    return new Promise((resolve, reject) => {
      get({ socketPath: api.socket, path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).on("error", reject);
    });
  }
});

function socketsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path).isSocket());
}
