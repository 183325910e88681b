/**
 * Kills or stops the front end while commands wait, and restarts it: the commands continue, and their output
 * is complete.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Started, startTutti, until } from "./live-command.ts";

const LINES = 120;
/** Writes half of the lines on both streams, and the others when the scheduler is gone. */
const COUNT = `i=0; while [ $i -lt ${LINES} ]; do
  echo line $i; echo error $i >&2; i=$((i+1)); sleep 0.02
  while [ $i = ${LINES / 2} ] && [ ! -e gone ]; do sleep 0.1; done
done; exit 7`;
const lines = (word: string) => Array.from({ length: LINES }, (_, i) => `${word} ${i}\n`).join("");
const GONE = "tutti: the scheduler is gone; waiting until it is back (running jobs continue)\n";

let folder: string;
let socket: string;
let server: Started;

const start = (...parameters: string[]) => startTutti(socket, parameters, { cwd: folder });

async function serve(): Promise<void> {
  server = start("serve", "--private", "--no-http", "--state", join(folder, "state"), "--slot", "50ms");
  await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
}

/**
 * Does not wait for the end of standard error, because the conductor keeps running and has the same stream.
 */
async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  server.child.kill(signal);
  await until(() => server.child.exitCode !== null || server.child.signalCode !== null);
}

/** Ends the front end, waits until all waiting verbs have noticed it, and starts it again. */
async function restart(signal: "SIGKILL" | "SIGTERM", verbs: readonly Started[]): Promise<void> {
  await end(signal);
  await until(() => verbs.every(({ stderr }) => stderr().includes(GONE)));
  writeFileSync(join(folder, "gone"), "");
  await serve();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-restart-"));
  socket = join(folder, "run", "tutti.sock");
  await serve();
});
afterAll(async () => {
  await start("down", "--kill").result;
  await end("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "run, wait, logs -f and events -f outlive a front end that is ended by %s, and lose and double nothing",
  async (signal) => {
    const own = `${signal}.txt`;
    rmSync(join(folder, "gone"), { force: true });
    await start("submit", "--", "true").result;
    await start("wait", "last").result;
    const run = start("run", "--", "sh", "-c", COUNT);
    await until(() => run.stdout().includes("line 3\n"));
    const { stdout: listed } = await start("jobs", "--json").result;
    const [{ job }] = JSON.parse(listed).jobs;
    await start("submit", "-o", own, "--", "sh", "-c", COUNT).result;
    const verbs = [
      run,
      start("wait", `${job - 1}-${job + 1}`),
      start("logs", "-f", "--stderr", String(job)),
      start("logs", "-f", "--tail", "1", String(job)),
      start("logs", "-f", String(job + 1)),
    ];
    const events = start("events", "-f", "--json");
    await until(
      () => verbs.every(({ stdout }) => stdout() !== "") && events.stdout().includes(`"job":${job}`),
    );
    await restart(signal, [...verbs, events]);
    const [ran, waited, errors, tail, file] = await Promise.all(verbs.map(({ result }) => result));
    expect(ran!.stdout).toBe(lines("line"));
    expect(ran!.stderr.replaceAll(/^error \d+\n/gm, "")).toBe(GONE);
    expect(ran!.stderr.replace(GONE, "")).toBe(lines("error"));
    expect(ran!.status).toBe(7);
    expect(waited!.stdout.split("\n").filter((line) => line !== "")).toHaveLength(3);
    expect([waited!.stderr, waited!.status]).toEqual([`${GONE}1 done, 2 failed\n`, 1]);
    expect([errors!.stdout, errors!.stderr, errors!.status]).toEqual([lines("error"), GONE, 0]);
    // From some line to the end.
    expect(lines("line").endsWith(tail!.stdout)).toBe(true);
    expect(tail!.stdout).toContain(`line ${LINES - 1}\n`);
    expect(tail!.stdout).not.toContain("line 0\n");
    // Both streams of one file, in the order in which they were written.
    expect(file!.stdout.replaceAll(/^error \d+\n/gm, "")).toBe(lines("line"));
    await until(() => events.stdout().includes(`"kind":"ended","job":${job + 1}`));
    events.child.kill("SIGINT");
    await events.result;
    const sequences = events
      .stdout()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line).sequence);
    expect(sequences.length).toBeGreaterThan(10);
    expect(sequences).toEqual(sequences.map((_, i) => sequences[0] + i));
    expect(events.stderr()).toBe(GONE);
  },
);

test("matrix --watch goes on; Ctrl-C of run reaches a scheduler that was away", async () => {
  const watch = start("matrix", "--watch");
  const run = start("run", "--", "sleep", "1000");
  await until(() => /sleep/.test(watch.stdout()));
  await end("SIGKILL");
  await until(() => [run, watch].every(({ stderr }) => stderr().includes(GONE)));
  run.child.kill("SIGINT");
  await until(() => run.stderr().includes("cancelling job"));
  const before = watch.stdout().length;
  await serve();
  const { status, stderr } = await run.result;
  expect(status).toBe(130);
  expect(stderr.split(GONE)).toHaveLength(2);
  await until(() => watch.stdout().length > before);
  watch.child.kill("SIGINT");
  expect((await watch.result).status).toBe(130);
});

test("a front end that hangs is named after some seconds, and the request is carried out when it goes on", async () => {
  server.child.kill("SIGSTOP");
  const status = start("status");
  const gone = start("submit", "--", "true");
  await until(() => [status, gone].every(({ stderr }) => stderr().includes("does not answer")));
  server.child.kill("SIGCONT");
  for (const { result } of [status, gone]) {
    const { status: code, stderr } = await result;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^tutti: the scheduler.* does not answer; jobs that run continue\n/);
  }
});
