/**
 * Nobody makes a state folder that was moved away: a conductor that is just starting, a front end that looks
 * for one, a node of a cluster, or a job that has just passed its gate. And what was read in the moment of
 * the move is read again. Each test moves the folder in just that moment.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allPids, bootId, readSmall, readStat } from "@tutti/host/processes.ts";
import { programFile } from "@tutti/host/programs.ts";
import { Attempt } from "@tutti/live/conductor/attempts/attempt.ts";
import type { Machine } from "@tutti/live/conductor/attempts/gang-part.ts";
import { openGate, outputsElsewhere, startShim } from "@tutti/live/conductor/attempts/shim.ts";
import { makeTaskFolder } from "@tutti/live/conductor/attempts/task.ts";
import { ConductorClient } from "@tutti/live/conductor/client.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { HomeLock } from "@tutti/live/conductor/home.ts";
import { GangShares } from "@tutti/live/conductor/shares.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "./stage.ts";

const IDENTITY = "0123456789abcdef0123456789abcdef";
const PROGRAM = fileURLToPath(
  programFile("conductor", new URL("../../packages/live/conductor/main.ts", import.meta.url)),
);

let base: string;
let state: string;
let home: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "tutti-away-"));
  state = join(base, "state");
  home = join(state, "conductor");
  for (const folder of [state, home, join(state, "jobs"), join(state, "jobs", "1")]) mkdirSync(folder);
  mkdirSync(join(state, "jobs", "1", "1"));
});
afterEach(() => rmSync(base, { recursive: true }));

const away = () => join(base, "away");
const moveAway = () => renameSync(state, away());
const moveBack = () => renameSync(away(), state);

function machineThat(isHomeAway: () => boolean): Machine {
  const containment = openContainment(home, "signals")!;
  const shares = new GangShares(containment.groups, containment.freezer);
  return {
    containment,
    shares,
    setpriv: undefined,
    note: (act) => act(),
    isHomeAway,
    whyAllEnd: () => undefined,
    turnsUntilStopMs: () => Number.POSITIVE_INFINITY,
  };
}

function specOf(more: Partial<LaunchSpec> = {}): LaunchSpec {
  const job = join(state, "jobs", "1");
  return {
    job: 1,
    attempt: 1,
    identity: IDENTITY,
    folder: join(job, "1"),
    command: ["true"],
    cwd: "/",
    env: {},
    stdout: join(job, "stdout"),
    stderr: join(job, "stderr"),
    graceMs: 1000,
    uid: process.getuid!(),
    gid: process.getgid!(),
    ...more,
  };
}

describe("nobody makes it", () => {
  test("a conductor that was just starting ends with words", async () => {
    moveAway();
    const child = spawn(process.execPath, [PROGRAM, home], { stdio: ["ignore", "ignore", "pipe"] });
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      words += text;
    });
    const [code] = await once(child, "close");
    expect([code, existsSync(state)]).toEqual([1, false]);
    expect(words).toMatch(/The folder ".*state" was removed or moved away: jobs go on/);
    expect(words).not.toMatch(/^ +at /m);
  });

  test("a front end that looks for its conductor starts none", async () => {
    moveAway();
    const messages: string[] = [];
    const client = new ConductorClient({ home, name: "test" });
    client.on("message", (message) => messages.push(JSON.stringify(message)));
    await until("it has tried", () => messages.length > 0);
    client.close();
    expect(messages[0]).toMatch(/Cannot start the conductor: ENOENT/);
    expect(existsSync(state)).toBe(false);
  });

  test("the lock of the conductor, at its start and later", () => {
    const lock = new HomeLock(home);
    moveAway();
    expect(() => lock.take()).toThrow("was removed or moved away");
    moveBack();
    expect(lock.take()).toBe(true);
    moveAway();
    expect(() => lock.take()).toThrow("was removed or moved away");
    expect(existsSync(state)).toBe(false);
  });

  test("a node that prepares tasks", () => {
    const { folder } = specOf();
    moveAway();
    expect(() => makeTaskFolder(join(folder, "tasks", "0"))).toThrow("ENOENT");
    expect(existsSync(state)).toBe(false);
    moveBack();
    makeTaskFolder(join(folder, "tasks", "0"));
    expect(existsSync(join(folder, "tasks", "0"))).toBe(true);
  });

  test("the script of a job makes folders for outputs elsewhere only", () => {
    const spec = specOf();
    expect(outputsElsewhere(spec)).toEqual([]);
    expect(outputsElsewhere({ ...spec, stdout: "/data/out/1" })).toEqual(["/data/out/1"]);
    expect(outputsElsewhere({ ...spec, stderr: join(state, "jobs", "1", "more", "err") })).toHaveLength(1);
  });
});

test("a job that passes its gate while the state is away waits, and its result is there when it is back", async () => {
  const spec = specOf({ command: ["sh", "-c", "echo written; exit 5"], stdout: join(state, "more", "out") });
  const shim = startShim(spec, "tutti-away/1.1", undefined);
  const ended = once(shim, "exit");
  const isOpen = () => openGate({ ...spec, folder: join(away(), "jobs", "1", "1") }, "");
  await until("the job comes to its gate", () => readdirSync(spec.folder).includes("job"));
  moveAway();
  await until("the job is at its gate", isOpen);
  const folder = join(away(), "jobs", "1", "1");
  const job = Number(readlinkSync(join(folder, "job")).split(":")[1]);
  // Without the wait, it makes the folder of its output, or ends.
  const goesOn = () => existsSync(state) || existsSync(join(folder, "exit"));
  await until("it waits, or goes on", () => goesOn() || waitsForFolder(job));
  expect(goesOn()).toBe(false);
  moveBack();
  await ended;
  expect(readFileSync(join(spec.folder, "exit"), "utf8").trim()).toBe(`5 ${IDENTITY}`);
  expect(readFileSync(spec.stdout, "utf8")).toBe("written\n");
});

test("a job whose state is moved away while it waits for its input has input and outputs all the same", async () => {
  const spec = specOf({ command: ["sh", "-c", "cat; exit 5"], input: "pipe" });
  const shim = startShim(spec, "tutti-away/1.1", undefined);
  const ended = once(shim, "exit");
  await until("the job comes to its gate", () => readdirSync(spec.folder).includes("job"));
  await until("the job is at its gate", () => openGate(spec, ""));
  const ready = await openForJob(spec, "ready");
  const input = await openForJob(spec, "input");
  moveAway();
  writeSync(input, "typed\n");
  writeSync(ready, "go\n");
  closeSync(ready);
  const folder = join(away(), "jobs", "1");
  await until(
    "it has begun, or failed",
    () => existsSync(join(folder, "1", "exit")) || /typed/.test(readFileSync(join(folder, "stdout"), "utf8")),
  );
  closeSync(input);
  await ended;
  expect(readFileSync(join(folder, "1", "exit"), "utf8").trim()).toBe(`5 ${IDENTITY}`);
  expect(readFileSync(join(folder, "stdout"), "utf8")).toBe("typed\n");
});

/** Opens a pipe as a client does, when the job has it open: else what is written is lost at the close. */
async function openForJob({ folder }: LaunchSpec, pipe: "ready" | "input"): Promise<number> {
  let file: number | undefined;
  await until(`the job has its ${pipe} open`, () => {
    try {
      file = openSync(join(folder, pipe), constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
    }
    return file !== undefined;
  });
  return file!;
}

describe("a job that waits for its input, and then", () => {
  /** @returns the exit status and the reason of the loss, when the client has come */
  async function ended(
    more: Partial<LaunchSpec>,
    before: () => void,
    folder = () => join(state, "jobs", "1"),
  ) {
    const spec = specOf({ input: "pipe", ...more });
    const shim = startShim(spec, "tutti-away/1.1", undefined);
    const end = once(shim, "exit");
    await until("the job is at its gate", () => openGate(spec, ""));
    const ready = await openForJob(spec, "ready");
    before();
    writeSync(ready, "go\n");
    closeSync(ready);
    await end;
    const text = (name: string) => readFileSync(join(folder(), "1", name), "utf8").trim();
    return [text("exit"), text("lost")];
  }
  const CANNOT_BEGIN = `74 ${IDENTITY}`;

  test("finds its working directory gone, says so", async () => {
    const cwd = mkdtempSync(join(base, "cwd-"));
    const found = await ended({ cwd }, () => rmSync(cwd, { recursive: true }));
    expect(found).toEqual([CANNOT_BEGIN, expect.stringContaining(`Cannot change to the folder "${cwd}"`)]);
  });

  test("has no program while its state is away, says so there", async () => {
    const found = await ended({ command: ["/no/such"] }, moveAway, () => join(away(), "jobs", "1"));
    expect(found).toEqual([CANNOT_BEGIN, expect.stringContaining('Cannot run "/no/such"')]);
  });
});

test("an attempt whose folder is away when it is launched was certainly not begun", () => {
  const machine = machineThat(() => !existsSync(home));
  const spec = specOf();
  const attempt = new Attempt(machine, spec);
  moveAway();
  attempt.launch(spec);
  expect([attempt.advance(1), attempt.end]).toEqual([undefined, undefined]);
  moveBack();
  expect([attempt.advance(2), attempt.end?.neverBegan]).toEqual(["ended", true]);
});

/** Whether the script of a job that has passed its gate sleeps until it looks for its folder again. */
function waitsForFolder(job: number): boolean {
  return allPids().some(
    (pid) => readStat(pid)?.parent === job && readSmall(`/proc/${pid}/cmdline`) === "sleep\x000.2\0",
  );
}

describe("a result", () => {
  /** An attempt whose processes have ended with code 3, found by a conductor that looks for its home. */
  function found(looks: readonly (() => boolean)[]): Attempt {
    let look = 0;
    const machine = machineThat(() => looks[Math.min(look++, looks.length - 1)]());
    const spec = specOf();
    writeFileSync(join(spec.folder, "exit"), `3 ${IDENTITY}\n`);
    // No machine has this process.
    const gone = { bootId: bootId(), pid: 2 ** 22 + 1, startTicks: 1 };
    symlinkSync(`${gone.bootId}:${gone.pid}:${gone.startTicks}:${IDENTITY}`, join(spec.folder, "claim"));
    return Attempt.adopt(machine, { spec, shim: gone, job: gone, begun: true, startedAtMs: 1 })!;
  }
  const isAway = () => !existsSync(home);
  const lookAndThen = (act: () => void, look: () => boolean) => () => {
    const seen = look();
    act();
    return seen;
  };
  const lookAfter = (act: () => void, look: () => boolean) => () => {
    act();
    return look();
  };

  test("that cannot be read because the state is just moved away is read when it is back", () => {
    // Still there at the first look, and gone when the result is read.
    const attempt = found([lookAndThen(moveAway, isAway), isAway]);
    expect([attempt.advance(1), attempt.end]).toEqual([undefined, undefined]);
    moveBack();
    expect([attempt.advance(2), attempt.end?.code, attempt.end?.lost]).toEqual(["ended", 3, undefined]);
  });

  test("that cannot be read because the state is still away is read when it is back", () => {
    // Away at the first look and while the result is read, and back right after that.
    const attempt = found([lookAfter(moveAway, isAway), lookAfter(moveBack, isAway), isAway]);
    expect([attempt.advance(1), attempt.end]).toEqual([undefined, undefined]);
    expect([attempt.advance(2), attempt.end?.code, attempt.end?.lost]).toEqual(["ended", 3, undefined]);
  });
});
