/** Tests that Slurm's commands wait for the scheduler, but not for ever, and repeat only safe requests. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { patientClient } from "./patient-client.ts";

let folder: string;
let socket: string;
let server: Server | undefined;
/** Method and body of each request. */
let asked: string[];

/** Answers requests, but breaks the first connections, after it has read the request. */
async function serve(broken = 0): Promise<void> {
  let left = broken;
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    asked.push(`${request.method} ${Buffer.concat(parts).toString("utf8")}`);
    if (left-- > 0) request.socket.destroy();
    else response.end("{}");
  });
  await new Promise<void>((resolve) => server!.listen(socket, resolve));
}
const close = () =>
  new Promise((resolve) => (server?.listening ? server.close(resolve) : resolve(undefined)));

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-patient-"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  socket = join(folder, "run", "tutti.sock");
  vi.stubEnv("TUTTI_SOCKET", socket);
  asked = [];
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await close();
  rmSync(folder, { recursive: true, force: true });
});

test("waits for a scheduler that is started meanwhile, and for one that is restarted", async () => {
  const promised = patientClient();
  await serve();
  const client = await promised;
  await client.ask("/v1/status");
  await close();
  const answer = client.ask("/v1/jobs");
  await serve();
  expect(await answer).toEqual({});
  expect(asked).toEqual(["GET ", "GET "]);
});

test("gives up after some time", async () => {
  await expect(patientClient(0.1)).rejects.toThrow(/there is no socket/);
  await serve();
  const client = await patientClient(0.1);
  await close();
  await expect(client.ask("/v1/status")).rejects.toBeInstanceOf(NoDaemonError);
});

test("repeats a question and a submit with a key after a broken connection, but nothing else", async () => {
  await serve(1);
  const client = await patientClient();
  await client.ask("/v1/status");
  await close();
  await serve(1);
  await client.ask("/v1/jobs", { method: "POST", body: { jobs: [], key: "k" } });
  await close();
  await serve(1);
  await expect(client.ask("/v1/jobs/1/again", { method: "POST" })).rejects.toThrow(/closed the connection/);
  const submit = 'POST {"jobs":[],"key":"k"}';
  expect(asked).toEqual(["GET ", "GET ", submit, submit, "POST "]);
});

test("does not wait for a socket that belongs to somebody else's folder", async () => {
  await serve();
  chmodSync(join(folder, "run"), 0o777);
  const startMs = performance.now();
  await expect(patientClient(60)).rejects.toThrow(/Cannot trust/);
  expect(performance.now() - startMs).toBeLessThan(50_000);
});
