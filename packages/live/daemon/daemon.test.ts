/**
 * Tests the front end as a process: one at a time, private folders, a disk that is really full, a burst of
 * submits.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCpus } from "@tutti/host/machine.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ANNA, answerOf, makeBench, ROOT, request, runToEnd } from "./front-end/front-end-for-tests.ts";
import { startFrontEnd } from "./main.ts";
import { lockStateFolder, makeFoldersIn, makeStateFolder, openToJobs } from "./state/state-folder.ts";
import { Store } from "./store/store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-daemon-"));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const script = fileURLToPath(new URL("./serve-for-tests.ts", import.meta.url));

/** Starts a front end, or several after each other; resolves with the first line that it prints. */
async function serve(
  ...folders: readonly string[]
): Promise<{ readonly line: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [script, ...folders], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return { line: await nextLine(child), child };
}

function nextLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`ended with ${code} before its next line`)));
    child.stdout!.once("data", (chunk: Buffer) => resolve(String(chunk).trim()));
  });
}

const ended = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));

describe("one front end at a time", () => {
  test("of several started together, one wins; after kill −9 the next one can start", async () => {
    const path = join(folder, "together");
    const all = await Promise.all([serve(path), serve(path), serve(path)]);
    const winners = all.filter(({ line }) => line === "up");
    expect(winners).toHaveLength(1);
    for (const { line } of all) {
      if (line !== "up") expect(line).toMatch(/^Cannot start a scheduler in ".*": another one uses it/);
    }
    const gone = ended(winners[0].child);
    winners[0].child.kill("SIGKILL");
    await gone;
    const next = await serve(path);
    expect(next.line).toBe("up");
    next.child.kill("SIGKILL");
  });

  test("of several that make the folder at the same instant, none takes it from the one that wins", async () => {
    const folders = [0, 1, 2].map((round) => join(folder, `new-${round}`));
    const all = await Promise.all(Array.from({ length: 4 }, () => serve(...folders)));
    expect(all.map(({ line }) => line)).toEqual(Array(4).fill("ready"));
    for (const path of folders) {
      const lines = all.map(({ child }) => nextLine(child));
      writeFileSync(`${path}.go`, "");
      const refused = expect.stringMatching(/^Cannot start a scheduler in ".*": another one uses it/);
      expect((await Promise.all(lines)).toSorted()).toEqual([refused, refused, refused, "up"]);
    }
    for (const { child } of all) child.kill("SIGKILL");
  });

  test("an impossible setting is refused before anything is made or started, with what to change", async () => {
    const stateFolder = join(folder, "never");
    const configFile = join(folder, "cpus.toml");
    writeFileSync(configFile, "cpus = [4000, 4001, 4003]\n");
    const start = (settings: object, file?: string) =>
      startFrontEnd({ stateFolder, isShared: false, settings, configFile: file });
    await expect(start({ cpus: [4000, 4001] })).rejects.toThrow(/CPU 4000-4001: .*; .* with --cpus$/);
    await expect(start({}, configFile)).rejects.toThrow(
      /4000-4001,4003: .*; change "cpus" in ".*cpus.toml"$/,
    );
    await expect(start({ policy: "nonsense" })).rejects.toThrow(/Cannot find policy "nonsense"/);
    expect(existsSync(stateFolder)).toBe(false);
  });

  test("the lock ends with its holder, not with a file", () => {
    const state = makeStateFolder(join(folder, "lock"), false);
    const unlock = lockStateFolder(state);
    expect(() => lockStateFolder(state)).toThrow(InputError);
    unlock();
    lockStateFolder(state)();
  });

  test("the lock ends although the file that names its holder cannot be removed", () => {
    const state = makeStateFolder(join(folder, "holder"), false);
    const unlock = lockStateFolder(state);
    // As on a disk that has become read-only.
    rmSync(state.holder);
    mkdirSync(join(state.holder, "in the way"), { recursive: true });
    unlock();
    lockStateFolder(state)();
  });

  test("a folder with other files is refused and not changed; one without a database yet is accepted", () => {
    const other = join(folder, "other");
    mkdirSync(other, { mode: 0o755 });
    writeFileSync(join(other, "thesis.tex"), "mine");
    expect(() => makeStateFolder(other, true)).toThrow(
      /it contains other files, such as "thesis.tex", .* a path such as .*other\/tutti$/,
    );
    expect(readdirSync(other)).toEqual(["thesis.tex"]);
    expect(statSync(other).mode & 0o777).toBe(0o755);
    const begun = join(folder, "begun");
    lockStateFolder(makeStateFolder(begun, false))();
    expect(makeStateFolder(begun, false).path).toBe(begun);
    writeFileSync(join(begun, "tutti.db"), "");
    writeFileSync(join(begun, "tutti.json"), "{}");
    expect(makeStateFolder(begun, false).path).toBe(begun);
  });

  test("folders are private under any umask; a folder that others may write to is refused", () => {
    const before = process.umask(0);
    try {
      const state = makeStateFolder(join(folder, "open"), false);
      lockStateFolder(state)();
      makeFoldersIn(state);
      for (const path of [state.path, state.jobs, state.conductor]) {
        expect(statSync(path).mode & 0o777).toBe(0o700);
      }
      expect(statSync(join(state.path, "lock")).mode & 0o777).toBe(0o600);
      const shared = makeStateFolder(join(folder, "shared"), true);
      makeFoldersIn(shared);
      openToJobs(shared);
      expect([shared.path, shared.jobs].map((path) => statSync(path).mode & 0o777)).toEqual([0o711, 0o711]);
      expect(statSync(shared.conductor).mode & 0o777).toBe(0o700);
    } finally {
      process.umask(before);
    }
    const writable = join(folder, "writable");
    mkdirSync(writable);
    chmodSync(writable, 0o777);
    const plain = join(folder, "plain");
    writeFileSync(plain, "");
    expect(() => makeStateFolder(join(plain, "state"), false)).toThrow(
      /Cannot keep the state in ".*\/plain\/state": ENOTDIR.*set TUTTI_STATE to another path/,
    );
    expect(() => makeStateFolder(writable, false)).toThrow(
      /others may write to .*, expected (?:a folder that belongs to you and that only you can write to|a path on which all folders belong to root and only root can write to them)/,
    );
    expect(() => makeStateFolder(join(folder, "x".repeat(100)), false)).toThrow(/too long for the socket/);
  });

  test("parseCpus() reads ranges", () => {
    expect(parseCpus("0-2,5,7-8")).toEqual([0, 1, 2, 5, 7, 8]);
    expect(parseCpus("3")).toEqual([3]);
  });
});

const small = join(folder, "small");
let isMounted = false;
try {
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", small], { stdio: "ignore" });
  isMounted = true;
} catch {
  // Only root may mount.
}
afterAll(() => {
  if (isMounted) execFileSync("umount", ["-l", small]);
});

describe("a disk that is full", () => {
  test.skipIf(!isMounted)("refuses submits while it lasts, keeps what it has, recovers", async () => {
    const store = new Store(join(small, "tutti.db"), 0);
    const bench = makeBench({ config: { policy: "fcfs" }, store, runMs: () => 100 });
    const ask = () =>
      answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ env: { FILL: "x".repeat(900) } })]));
    let accepted = 0;
    for (let i = 0; i < 20; i++) if (!("refused" in (await ask()))) accepted++;
    expect(accepted).toBe(20);
    const filler = join(small, "filler");
    for (const size of [2 ** 16, 4096, 1]) {
      try {
        for (let i = 0; i < 2000; i++) writeFileSync(filler, "x".repeat(size), { flag: "a" });
      } catch {
        // The disk is full.
      }
    }
    let refused = 0;
    for (let i = 0; i < 300; i++) {
      const answer = await ask();
      if ("refused" in answer) {
        expect(answer).toMatchObject({ refused: "unavailable", message: expect.stringContaining("full") });
        refused++;
      } else accepted++;
    }
    expect(refused).toBeGreaterThan(0);
    expect(bench.frontEnd.jobs(ROOT, {})).toHaveLength(accepted);
    rmSync(filler);
    bench.clock.advanceTo(bench.clock.nowMs() + 2000);
    if (!("refused" in (await ask()))) accepted++;
    runToEnd(bench.clock);
    expect(bench.frontEnd.status().counts).toMatchObject({ done: accepted, queued: 0, running: 0 });
    expect(bench.machine.launched).toHaveLength(accepted);
    bench.kill();
    const again = new Store(join(small, "tutti.db"), 0);
    expect(again.kept.counts()).toMatchObject([{ state: "done", jobs: accepted }]);
    again.close();
  });
});

describe("a burst", () => {
  test("10,000 submits by 64 clients: all confirmed, all on disk, each once", async () => {
    const path = join(folder, "burst.db");
    const bench = makeBench({ config: { policy: "easy" }, path, runMs: () => 1e9 });
    const numbers: number[] = [];
    let left = 10_000;
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const answer = await bench.frontEnd.submit(ANNA, [request({ tasks: 1 + (left % 4), limitMs: 1000 })]);
        if ("refused" in answer) throw new Error(answer.message);
        numbers.push(answer.jobs[0].job);
      }
    };
    const clients = Promise.all(Array.from({ length: 64 }, client));
    let isDone = false;
    void clients.then(() => {
      isDone = true;
    });
    while (!isDone) {
      bench.clock.settle();
      await new Promise(setImmediate);
    }
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    bench.kill();
    const store = new Store(path, 0);
    expect(store.liveJobs()).toHaveLength(10_000);
    store.close();
  });
});
