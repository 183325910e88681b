/**
 * Tests that the socket is restored if its file, its folder or a file in that folder is removed or replaced
 * at run time.
 */
import { chmodSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client } from "../../client/client.ts";
import { runtimeDirOf } from "../../runtime-dir.ts";
import { startTestApi } from "../api-for-tests.ts";
import { someJob } from "../app-for-tests.ts";
import type { Api } from "../server.ts";

const me = userInfo();
const isRoot = me.uid === 0;

let folder: string;
let notes: string[];
let api: Api;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-keeper-"));
  chmodSync(folder, 0o755);
  notes = [];
});
afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(isShared = false): Promise<void> {
  api = await startTestApi(folder, {
    isShared,
    users: () => [{ uid: 20_001, user: "ada" }],
    onNote: (text) => notes.push(text),
  });
}

async function untilNoted(count: number): Promise<void> {
  await vi.waitFor(() => expect(notes.length, notes.join("; ")).toBeGreaterThanOrEqual(count), 120_000);
}

const mode = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);
/** Modes of all files around the socket, and the contents of key and tokens. */
function around() {
  const { folder: run, socket, key, tokens } = runtimeDirOf(api.socket);
  const token = join(tokens, String(me.uid));
  return {
    modes: [run, socket, key, tokens, token].map(mode),
    key: readFileSync(key, "hex"),
    token: readFileSync(token, "utf8"),
  };
}
const jobs = async () => (await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs;

test("each file and the folder are restored as they were, and open connections stay", async () => {
  await start();
  const before = around();
  const client = new Client({ TUTTI_SOCKET: api.socket });
  await client.ask("/v1/jobs", { method: "POST", body: { jobs: [someJob()] } });
  const events = await client.open("/v1/events");
  const paths = runtimeDirOf(api.socket);
  const removed = [paths.socket, paths.key, paths.tokens, join(paths.tokens, String(me.uid)), paths.folder];
  for (const [i, path] of removed.entries()) {
    rmSync(path, { recursive: true });
    await untilNoted(i + 1);
    expect(around(), path).toEqual(before);
    expect(await jobs()).toHaveLength(1);
  }
  expect(notes.every((note) => note.includes("removed while the scheduler ran"))).toBe(true);
  const text = new Promise((resolve) => events.once("data", (piece) => resolve(String(piece))));
  expect(await text).toContain("retry");
  events.destroy();
});

test("a file or a dead socket in its place is replaced, but not a socket at which another program listens", async () => {
  await start();
  rmSync(api.socket);
  writeFileSync(api.socket, "mine");
  await untilNoted(1);
  expect(await jobs()).toEqual([]);
  rmSync(api.socket);
  const other = createServer().listen(api.socket);
  await new Promise((resolve) => other.once("listening", resolve));
  const { ino } = lstatSync(api.socket);
  await untilNoted(2);
  expect(notes[1]).toMatch(
    /^The scheduler cannot be reached: its socket ".*" was replaced, and another program listens there$/,
  );
  expect(lstatSync(api.socket).ino).toBe(ino);
  await new Promise((resolve) => other.close(resolve));
  await untilNoted(3);
  expect(await jobs()).toEqual([]);
  expect(notes).toHaveLength(3);
});

test("a failure to restore the socket is reported once, and retried until it succeeds", async () => {
  await start();
  const { folder: run } = runtimeDirOf(api.socket);
  rmSync(run, { recursive: true });
  writeFileSync(run, "in the way");
  await untilNoted(1);
  expect(notes[0]).toMatch(/^Cannot make the socket again: /);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(notes).toHaveLength(1);
  rmSync(run);
  await untilNoted(2);
  expect(await jobs()).toEqual([]);
});

test.skipIf(!isRoot)(
  "files of a shared scheduler are restored with access for all, and each token for its user (as root)",
  async () => {
    await start(true);
    const before = around();
    const token = join(dirname(api.socket), "tokens", "20001");
    rmSync(dirname(api.socket), { recursive: true });
    await untilNoted(1);
    expect(around()).toEqual(before);
    expect([lstatSync(token).uid, mode(token)]).toEqual([20_001, "400"]);
  },
);

test("after close(), nothing is restored", async () => {
  await start();
  await api.close();
  rmSync(dirname(api.socket), { recursive: true });
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(existsSync(dirname(api.socket))).toBe(false);
});
