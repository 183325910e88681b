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
  await Promise.race([until(() => /next +npx .*\n/.test(said)), gone]);
});
afterAll(async () => {
  await new Leftovers(folder, state).clear();
  rmSync(folder, { recursive: true, force: true });
});

test("npm start says where the scheduler is and what to type next", () => {
  expect(said).toContain(`socket ${socket}`);
  expect(said).toMatch(
    /^page: http:\/\/127\.0\.0\.1:\d+\/ \(npx tutti web prints a link that logs you in\)$/m,
  );
  expect(said).toMatch(/^ {2}API +http:\/\/127\.0\.0\.1:\d+\/api with the token in \/.*$/m);
  expect(said).toMatch(/next +npx tutti submit -n [12] -- COMMAND/);
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

test("the command that it names runs a job", async () => {
  const words = /next +npx tutti (submit .*) -- COMMAND/.exec(said)![1].split(" ");
  const submitted = await startTutti(socket, [...words, "--", "sh", "-c", "echo $TUTTI_NTASKS"]).result;
  expect(submitted).toMatchObject({ status: 0, stderr: "" });
  expect((await startTutti(socket, ["wait", "1"]).result).status).toBe(0);
  expect((await startTutti(socket, ["logs", "1"]).result).stdout).toMatch(/^[12]\n$/);
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
