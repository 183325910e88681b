/** Tests ReconnectingClient with a scheduler that comes back, stays away, or refuses requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import { startTestApi } from "@tutti/live/api/server/api-for-tests.ts";
import type { Api } from "@tutti/live/api/server/server.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ReconnectingClient } from "./reconnecting-client.ts";

let folder: string;
let api: Api;
let told: string[];

async function serve(): Promise<void> {
  const owner = { uid: process.getuid!(), user: "ada", isAdministrator: true };
  api = await startTestApi(folder, { owner });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-reconnecting-"));
  vi.stubEnv("TUTTI_SOCKET", join(folder, "run", "tutti.sock"));
  told = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => told.push(String(text)) > 0);
  await serve();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

test("all concurrent work continues when the scheduler is back, and the loss is reported once", async () => {
  const connection = new ReconnectingClient("tutti wait 1");
  await connection.retry((client) => client.jobs());
  await api.close();
  const asked = Promise.all(
    [1, 2, 3].map(() => connection.retry((client) => client.ask<{ user: string }>("/v1/status"))),
  );
  await vi.waitFor(() => expect(told).not.toEqual([]), { timeout: 120_000 });
  await serve();
  expect((await asked).map(({ user }) => user)).toEqual(["ada", "ada", "ada"]);
  expect(told).toEqual(["tutti: the scheduler is gone; waiting until it is back (running jobs continue)\n"]);
});

test("gives up after the time limit and says what to type", async () => {
  const connection = new ReconnectingClient("tutti wait 1", { giveUpMs: 100 });
  await connection.retry((client) => client.jobs());
  await api.close();
  const error = await connection.retry((client) => client.job(1)).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(NoDaemonError);
  expect((error as Error).message).toMatch(/gone for 0 s; start it with tutti serve, then tutti wait 1$/);
});

test("does not wait for a scheduler that did not run at the start", async () => {
  const connection = new ReconnectingClient("tutti wait 1");
  await api.close();
  // Work without a request, such as reading the number of a job, has reached no scheduler.
  await connection.retry(async () => 1);
  await expect(connection.retry((client) => client.job(1))).rejects.toThrow(/there is no socket/);
  expect(told).toEqual([]);
});

test("a refusal is thrown immediately, and a signal ends the waiting", async () => {
  const left = new AbortController();
  const connection = new ReconnectingClient("tutti wait 1", { signal: left.signal });
  await connection.retry((client) => client.jobs());
  await expect(connection.retry((client) => client.job(99))).rejects.toBeInstanceOf(RefusedError);
  await api.close();
  const waiting = connection.retry((client) => client.job(1));
  left.abort();
  await expect(waiting).rejects.toBeInstanceOf(NoDaemonError);
});
