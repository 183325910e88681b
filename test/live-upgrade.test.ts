/**
 * Tests upgrades: today's front end takes over the state of earlier front ends and everything that runs, the
 * same conductor continues, and every result is exact.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const EARLIER = [
  // The store's version 9: data of events are flat.
  { revision: "e32fa34", what: "the last one that opens stores of all versions" },
];
const repository = resolve(import.meta.dirname, "..");
const canRead = (revision: string) =>
  spawnSync("git", ["-C", repository, "cat-file", "-e", `${revision}^{commit}`]).status === 0;

describe.each(EARLIER)("the state of $what, with running jobs", ({ revision }) => {
  let sources: string;
  const live = new LiveScheduler();
  const tutti = (...words: string[]) =>
    startTutti(live.socket, words, { env: { TUTTI_STATE: live.state } }).result;

  beforeAll(() => {
    sources = mkdtempSync(join(tmpdir(), "tutti-first-"));
    const archive = execFileSync("git", ["-C", repository, "archive", revision], { maxBuffer: 2 ** 28 });
    execFileSync("tar", ["-x", "-C", sources], { input: archive });
    symlinkSync(join(repository, "node_modules"), join(sources, "node_modules"));
  });
  afterAll(async () => {
    await live.clear();
    rmSync(sources, { recursive: true, force: true });
  });

  /** As for a user of that revision: with its own command line and its own conductor. */
  function old(...words: string[]) {
    const env = { ...process.env, NO_COLOR: "1", TUTTI_SOCKET: live.socket, TUTTI_STATE: live.state };
    return spawn(process.execPath, [join(sources, "bin/tutti.js"), ...words], { env, cwd: live.folder });
  }

  test.skipIf(!canRead(revision))("is taken over: nothing is lost, claimed or run twice", async () => {
    const serve = old("serve", "--private", "--no-http", "--slot", "20ms");
    let out = "";
    serve.stdout.on("data", (piece) => {
      out += piece;
    });
    await until(() => out.includes("socket") || serve.exitCode !== null);
    const submit = async (...words: string[]) => {
      const child = old("submit", ...words);
      await new Promise((done) => child.on("close", done));
      expect(child.exitCode).toBe(0);
    };
    // Job 1 has ended; 2 ends while there is no front end; 3 ends under today's; 4 waits for it; 5 is held.
    const until3 = `until [ -e ${live.folder}/go ]; do sleep 0.05; done`;
    await submit("--", "sh", "-c", "exit 41");
    await submit("--", "sh", "-c", `echo ran >> ran2; until [ -e gone ]; do sleep 0.05; done; exit 42`);
    await submit("--", "sh", "-c", `echo ran >> ran3; ${until3}; exit 43`);
    await submit("--after", "any:3", "--", "sh", "-c", "echo ran >> ran4; exit 44");
    await submit("--hold", "--", "sh", "-c", "exit 45");
    await until(() => [2, 3].every((n) => existsSync(join(live.folder, `ran${n}`))));
    await new Promise((done) => old("wait", "1").on("close", done));
    serve.kill("SIGKILL");
    await until(() => serve.signalCode !== null);
    writeFileSync(join(live.folder, "gone"), "");
    const [conductor] = live.leftovers.conductors();
    await until(() => existsSync(join(live.state, "jobs/2/1/exit")));

    await live.start();
    const { trouble, strays } = await live.status();
    expect([trouble, strays]).toEqual([undefined, undefined]);
    expect(await live.conductorPid()).toBe(conductor);
    while ((await live.job(2)).endedAtMs === undefined);
    expect(await live.job(1)).toMatchObject({ code: 41, attempt: 1 });
    expect(await live.job(2)).toMatchObject({ code: 42, attempt: 1 });
    expect(await live.job(3)).toMatchObject({ state: "running", attempt: 1 });
    // A new job runs under the old conductor.
    const next = await live.submit("exit 46");
    expect(next).toBe(6);
    writeFileSync(join(live.folder, "go"), "");
    expect((await tutti("release", "5")).status).toBe(0);
    for (const job of [3, 4, 5, next]) {
      while ((await live.job(job)).endedAtMs === undefined);
      expect(await live.job(job)).toMatchObject({ state: "failed", code: 40 + job, attempt: 1 });
    }
    for (const job of [2, 3, 4]) expect(readFileSync(join(live.folder, `ran${job}`), "utf8")).toBe("ran\n");
    expect((await tutti("store", "check")).status).toBe(0);

    // The next start uses today's conductor.
    expect((await tutti("down")).status).toBe(0);
    await live.killFrontEnd();
    await live.start();
    expect(await live.conductorPid()).not.toBe(conductor);
    const last = await live.submit("exit 47");
    while ((await live.job(last)).endedAtMs === undefined);
    expect(await live.job(last)).toMatchObject({ code: 47 });
    expect((await live.status()).trouble).toBeUndefined();

    // There is no way back: the earlier front end says so and does not change the state.
    expect((await tutti("down")).status).toBe(0);
    await live.killFrontEnd();
    const back = old("serve", "--private", "--no-http");
    let refusal = "";
    back.stderr.on("data", (piece) => {
      refusal += piece;
    });
    await new Promise((done) => back.on("close", done));
    expect(back.exitCode).not.toBe(0);
    expect(refusal).toMatch(/it has version \d+, expected \d or earlier; a later version of Tutti wrote it/);
    await live.start();
    expect(await live.job(last)).toMatchObject({ code: 47 });
  });
});
