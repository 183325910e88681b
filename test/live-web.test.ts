/**
 * The way to the page, with real schedulers: what serve prints, `tutti web`, sessions over a restart, another
 * program on the port, and the demo. What Chromium allows other pages is in live-web-origins.test.ts.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JobsAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measureFollowers } from "../bench/followers.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";
import { askAs, logIn } from "./page-session.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-web-test-"));
const socket = join(folder, "run", "tutti.sock");
const state = join(folder, "state");
let server: Started;
let address: string;

const tutti = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  startTutti(socket, words, { env }).result;
const serve = async (...words: string[]) => {
  const started = startTutti(socket, ["serve", "--private", "--state", state, "--slot", "50ms", ...words]);
  await until(() => started.stdout().includes("help:") || started.child.exitCode !== null);
  return started;
};
const web = async (): Promise<string> => JSON.parse((await tutti(["web", "--json"])).stdout).url;
const statusWith = (token: string) => askAs<StatusAnswer>(token, `${address}v1/status`);

beforeAll(async () => {
  server = await serve("--port", "0");
  [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.stdout())!;
});
afterAll(async () => {
  await tutti(["down", "--kill"]);
  await new Leftovers(folder, state).clear();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

describe("serve", () => {
  test("names the page; into a pipe or a file it prints no code", () => {
    expect(server.stdout()).toMatch(/^page: http:\/\/127\.0\.0\.1:\d+\/ \(tutti web prints a link/m);
    expect(server.stdout() + server.stderr()).not.toContain("login=");
  });

  test("on a terminal, the link logs in the user who started it", async () => {
    const other = mkdtempSync(join(tmpdir(), "tutti-web-test-"));
    const own = join(other, "run", "tutti.sock");
    const words = ["serve", "--private", "--port", "0", "--state", join(other, "state")];
    const started = startTutti(own, words, { onTerminal: true });
    await until(() => started.stdout().includes("help:"));
    const [url] = /^page: (\S+#login=\S+) \(works once;/m.exec(started.stdout())!.slice(1);
    expect(await logIn(url)).toMatchObject({ status: 201, isAdministrator: true });
    await startTutti(own, ["down"]).result;
    await started.result;
    rmSync(other, { recursive: true });
  });

  test("with web.submit in its configuration, the page may submit jobs", async () => {
    const other = mkdtempSync(join(tmpdir(), "tutti-web-test-"));
    const own = join(other, "run", "tutti.sock");
    const config = join(other, "tutti.toml");
    writeFileSync(config, "[web]\nsubmit = true\n");
    const words = ["serve", "--private", "--port", "0", "--config", config, "--state", join(other, "state")];
    const started = startTutti(own, words);
    await until(() => started.stdout().includes("help:"));
    const { url } = JSON.parse((await startTutti(own, ["web", "--json"]).result).stdout);
    const { token } = await logIn(url);
    expect((await askAs<StatusAnswer>(token, new URL("/v1/status", url))).web).toEqual({ submit: true });
    const answer = await fetch(new URL("/v1/jobs", url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ jobs: [{ command: ["true"], cwd: "/", env: {} }] }),
    });
    expect(answer.status).toBe(201);
    await startTutti(own, ["down", "--kill"]).result;
    await started.result;
    rmSync(other, { recursive: true });
  });

  test("without HTTP says that there is no page, and tutti web says why there is none", async () => {
    const other = mkdtempSync(join(tmpdir(), "tutti-web-test-"));
    const own = join(other, "run", "tutti.sock");
    const words = ["serve", "--private", "--no-http", "--state", join(other, "state")];
    const started = startTutti(own, words);
    await until(() => started.stdout().includes("help:"));
    expect(started.stdout()).toMatch(/^page: none, because of --no-http$/m);
    expect(started.stdout()).not.toContain("http:");
    const { status, stderr } = await startTutti(own, ["web"]).result;
    expect([status, stderr]).toEqual([4, expect.stringContaining("started with --no-http")]);
    await startTutti(own, ["down"]).result;
    await started.result;
    rmSync(other, { recursive: true });
  });
});

describe("tutti web", () => {
  test("prints a link that works once; the session survives kill -9, and other links do not", async () => {
    const { stdout, stderr, status } = await tutti(["web"]);
    expect([status, stderr]).toEqual([0, "The link works once, within a minute.\n"]);
    const url = stdout.trim();
    expect(url.startsWith(`${address}#login=`)).toBe(true);
    const { status: first, token } = await logIn(url);
    expect([first, (await logIn(url)).status]).toEqual([201, 401]);
    expect((await statusWith(token)).web).toEqual({ submit: false });
    const unused = await web();
    server.child.kill("SIGKILL");
    await server.result;
    server = await serve("--port", new URL(address).port);
    expect((await statusWith(token)).web).toEqual({ submit: false });
    expect((await logIn(unused)).status).toBe(401);
    expect((await logIn(await web())).status).toBe(201);
  });

  test("a page that kill -9 cuts off before its first event misses none", async () => {
    const { token } = await logIn(await web());
    const events = async (since: number) => {
      const answer = await fetch(`${address}v1/events?since=${since}`, {
        headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
      });
      return answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    };
    // Each try has its own.
    const go = join(mkdtempSync(join(folder, "go-")), "go");
    const script = `until [ -e ${go} ]; do sleep 0.05; done`;
    const submitted = await tutti(["submit", "--json", "--", "sh", "-c", script]);
    const { job } = JSON.parse(submitted.stdout).jobs[0];
    while ((await tutti(["show", String(job), "--json"])).stdout.includes('"state": "running"') === false);
    const fromNow = await events(999_999_999_999_999);
    const last = Number(/^id: (\d+)$/m.exec((await fromNow.read()).value ?? "")?.[1]);
    expect(last).toBeGreaterThan(0);
    server.child.kill("SIGKILL");
    await server.result;
    await expect(fromNow.read()).rejects.toThrow();
    writeFileSync(go, "");
    server = await serve("--port", new URL(address).port);
    const again = await events(last);
    let text = "";
    while (!text.includes(`"kind":"ended","job":${job},`)) text += (await again.read()).value;
    expect(Number(/^id: (\d+)\nevent/m.exec(text)?.[1])).toBe(last + 1);
    await again.cancel();
  });

  test("gives no link to another program that has the port", async () => {
    const other = mkdtempSync(join(tmpdir(), "tutti-web-test-"));
    const asked: string[] = [];
    const listen = (listener: RequestListener, where: string | number): Promise<Server> =>
      new Promise((resolve) => {
        const one = createServer(listener);
        if (typeof where === "string") one.listen(where, () => resolve(one));
        else one.listen(where, "127.0.0.1", () => resolve(one));
      });
    const thief = await listen(({ headers, url }, answer) => {
      asked.push(`${url} ${headers.authorization}`);
      answer.end('{"schema":"tutti.web-proof/1","proof":"guess"}');
    }, 0);
    const { port } = thief.address() as AddressInfo;
    const code = "c".repeat(32);
    const own = join(other, "tutti.sock");
    const page = `http://127.0.0.1:${port}/#login=${code}`;
    const link = { url: page, expiresAtMs: 1, id: "i".repeat(22), proofKey: "k".repeat(43) };
    const scheduler = await listen((_, answer) => answer.end(JSON.stringify(link)), own);
    const { status, stdout, stderr } = await startTutti(own, ["web"]).result;
    expect([status, stdout]).toEqual([4, ""]);
    expect(stderr).toMatch(/another program answers at 127\.0\.0\.1:\d+, not the scheduler/);
    expect(stderr).not.toContain(code);
    expect(asked).toEqual([expect.stringMatching(/^\/v1\/web\/proof\?id=\S+&nonce=\S+ undefined$/)]);
    thief.close();
    scheduler.close();
    rmSync(other, { recursive: true });
  });

  test("--open gives the browser a private file, so that nobody sees the link among its arguments", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    const seen = join(folder, "seen");
    writeFileSync(
      join(bin, "xdg-open"),
      `#!/bin/sh\nstat -c %a "$1" > ${seen}\necho "$@" >> ${seen}\ncat "$1" >> ${seen}\n`,
    );
    chmodSync(join(bin, "xdg-open"), 0o755);
    const place = mkdtempSync(join(folder, "private-"));
    const env = { PATH: `${bin}:${process.env.PATH}`, XDG_RUNTIME_DIR: place };
    const { status, stdout, stderr } = await tutti(["web", "--open"], env);
    expect([status, stderr]).toEqual([0, ""]);
    const [mode, words, ...page] = readFileSync(seen, "utf8").split("\n");
    expect(mode).toBe("600");
    expect(words).toMatch(/^\S+\/private-\w+\/tutti-web-\w+\/page\.html$/);
    expect(page.join("\n")).toContain(`content="0; url=${stdout.trim()}"`);
    expect(readdirSync(place)).toHaveLength(1);
  });
});

test("every follower receives the same events, also while the bench measures what they cost", async () => {
  const [round] = await measureFollowers({ followers: 5, jobsPerS: 5, windowS: 6, rounds: 1 });
  expect(round.leastEvents).toBeGreaterThan(10);
  // All have the whole window in common; a follower may have seen some events of the moment in which it came.
  expect(round.mostEvents - round.leastEvents).toBeLessThan(10);
  expect(round.alonePercent).toBeGreaterThanOrEqual(0);
});

test("the demo shows six gangs in the page, and leaves nothing behind", async () => {
  const place = join(folder, "tmp");
  mkdirSync(place, { recursive: true });
  const demo = startTutti(socket, ["demo", "--web", "--slot", "100ms", "--work", "0.2"], {
    env: { TMPDIR: place },
  });
  await until(() => demo.stdout().includes("\n") || demo.child.exitCode !== null);
  const url = demo.stdout().trim();
  expect((await fetch(url)).status).toBe(200);
  const { token } = await logIn(url);
  const jobs = async () => (await askAs<JobsAnswer>(token, new URL("/v1/jobs", url))).jobs;
  // Each gang was submitted again, so that six live at any time.
  for (;;) {
    const all = await jobs();
    const live = all.filter(({ state: one }) => !["done", "failed", "cancelled"].includes(one));
    expect(live.length).toBeLessThanOrEqual(6);
    if (all.length >= 18 && live.length === 6) break;
  }
  demo.child.kill("SIGINT");
  expect((await demo.result).status).toBe(130);
  expect(readdirSync(place)).toEqual([]);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
  expect(programs()).not.toContain(place);
  expect(existsSync(socket)).toBe(true);
});

/** The command lines of all programs. */
const programs = () => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });

test.each(["its terminal vanishes", "it is killed"])("the demo leaves nothing behind if %s", async (how) => {
  const place = join(folder, "tmp-gone");
  mkdirSync(place, { recursive: true });
  const isTerminal = how.includes("terminal");
  const demo = startTutti(socket, ["demo", "--work", "100"], {
    env: { TMPDIR: place },
    onTerminal: isTerminal,
  });
  await until(() => demo.stdout().includes("tutti-again") || demo.child.exitCode !== null);
  expect(programs()).toContain(place);
  // Killing script(1) closes the terminal's other end.
  demo.child.kill("SIGKILL");
  await expect.poll(() => readdirSync(place)).toEqual([]);
  await expect.poll(programs).not.toContain(place);
});
