/**
 * Runs the README's first command with the real npm: the scheduler prints where it is and what to type, and
 * that works.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Leftovers } from "./leftovers.ts";
import { startTutti, until } from "./live-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tutti-start-"));
const state = join(folder, "state");
const socket = join(folder, "run", "tutti.sock");
let npm: ChildProcess;
let said = "";
let gone: Promise<number | null>;

beforeAll(async () => {
  const env = { ...process.env, NO_COLOR: "1", TUTTI_STATE: state, TUTTI_SOCKET: socket };
  npm = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: root,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [npm.stdout!, npm.stderr!]) {
    stream.setEncoding("utf8").on("data", (piece) => {
      said += piece;
    });
  }
  gone = new Promise((resolve) => npm.once("close", resolve));
  await Promise.race([until(() => /^help: npx .*\n/m.test(said)), gone]);
});
afterAll(async () => {
  await new Leftovers(folder, state).clear();
  rmSync(folder, { recursive: true, force: true });
});

test("npm start says where the scheduler is and what to type next", () => {
  expect(said).toContain(`socket ${socket}`);
  expect(said).toMatch(/^ {2}API +http:\/\/127\.0\.0\.1:\d+\/api with the token in \/.*$/m);
  // The last three lines, however Tutti was installed.
  const page = "page: http://127\\.0\\.0\\.1:\\d+/ \\(npx tutti web prints a link that logs you in\\)";
  const job = "try:  npx tutti run -n [12] -- nproc \\(in another terminal\\)";
  expect(said).toMatch(new RegExp(`^${page}\n${job}\nhelp: npx tutti --help, .*$`, "m"));
});

test("the addresses open the page and a description of the API, and the token opens the API", async () => {
  const [, address, file] = /API +(http:\S+)api with the token in (.*)/.exec(said)!;
  const token = readFileSync(file, "utf8").trim();
  expect(await (await fetch(address)).text()).toContain("<title>Tutti</title>");
  const page = await fetch(`${address}api`);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(await page.text()).toContain("/v1/jobs");
  const answer = await fetch(`${address}v1/status`, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ schema: "tutti.status/1" });
});

test("the command that it names runs a job, whose output says how many CPUs it has", async () => {
  const words = /^try: {2}npx tutti (.*) \(/m.exec(said)![1].split(" ");
  const ran = await startTutti(socket, words).result;
  expect(ran).toMatchObject({ status: 0, stdout: `${words[2]}\n`, stderr: "" });
});

test("a second one says that the first has the folder", async () => {
  const second = startTutti(join(folder, "other", "tutti.sock"), ["serve", "--no-http", "--state", state]);
  const { status, stderr } = await second.result;
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/Cannot start a scheduler .*another one uses it, process \d+ .*tutti down/);
});

test("Ctrl-C ends it and says what continues", async () => {
  // To the whole process group, as a terminal does. How npm itself reacts does not matter.
  process.kill(-npm.pid!, "SIGINT");
  await gone;
  expect(said).toContain("The next npx tutti serve takes them over");
  expect(existsSync(socket)).toBe(false);
});
