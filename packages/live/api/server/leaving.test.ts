/** Tests that clients who leave, on any route and at any moment, write nothing into the scheduler's log. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ROUTES, type Route } from "../contract/routes.ts";
import { BugLog } from "./answers/bug-log.ts";
import { startTestApi } from "./api-for-tests.ts";
import { makeTestApp, OWNER, someJob, type TestApp } from "./app-for-tests.ts";
import { FakeService } from "./fake-service-for-tests.ts";

const pathOf = ({ path }: Route) =>
  path
    .replace("{job}", "1")
    .replace("{stream}", "stdout")
    .replace("{file}", "page.js")
    .replace("{window}", "w");

describe("a client that leaves before its answer is read", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = makeTestApp();
    for (let i = 0; i < 3; i++) await app.ask("POST", "/v1/jobs", { body: { jobs: [someJob()] } });
  });
  afterEach(() => {
    expect(app.bugs).toEqual([]);
    app.remove();
  });

  test.each(ROUTES.map((route) => [route.id, route] as const))(
    "%s: the answer ends without an error",
    async (_, route) => {
      const left = new AbortController();
      const query = route.id === "events" ? "?since=0" : "";
      const response = await app.fetch(
        new Request(`http://127.0.0.1:7448${pathOf(route)}${query}`, {
          method: route.method.toUpperCase(),
          headers: {
            host: "127.0.0.1:7448",
            authorization: `Bearer ${app.token(OWNER)}`,
            "content-type": "application/json",
          },
          ...(route.body !== undefined && { body: "{}" }),
          signal: left.signal,
        }),
      );
      left.abort();
      // Node's HTTP server would write an error of the stream into the log.
      await expect(response.text()).resolves.toEqual(expect.any(String));
    },
  );
});

test("clients of every route that close their connections write nothing into the log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-leaving-"));
  const bugs: unknown[] = [];
  const service = new FakeService(join(folder, "jobs"));
  for (let i = 0; i < 50; i++) await service.submit(OWNER, [someJob()]);
  const api = await startTestApi(folder, { service, onBug: (bug) => bugs.push(bug) });
  const said = (["error", "warn", "info", "log"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  // Ending the scheduler is not about clients that leave.
  for (const route of ROUTES.filter(({ id }) => id !== "shutdown")) {
    const body = route.body === undefined ? "" : "{}";
    const head = `${route.method.toUpperCase()} ${pathOf(route)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (const moment of ["sent", "polled", "answered"]) {
      const socket = connect(api.socket).on("error", () => {});
      const closed = once(socket, "close");
      await once(socket, "connect");
      await new Promise((resolve) => socket.write(head, resolve));
      if (moment === "polled") await new Promise((resolve) => setImmediate(resolve));
      if (moment === "answered") await once(socket, "data");
      socket.destroy();
      await closed;
    }
  }
  await api.close();
  rmSync(folder, { recursive: true });
  expect(said.flatMap(({ mock }) => mock.calls)).toEqual([]);
  for (const one of said) one.mockRestore();
  expect(bugs).toEqual([]);
});

test("an answer that fails in the middle closes the connection and is one entry of the log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-leaving-"));
  const bugs: unknown[] = [];
  const service = new FakeService(join(folder, "jobs"));
  Object.assign(service, {
    *exportJsonl() {
      yield "begin\n";
      throw new Error("in the middle");
    },
  });
  const api = await startTestApi(folder, { service, onBug: (bug) => bugs.push(bug) });
  const said = vi.spyOn(console, "error").mockImplementation(() => {});
  const socket = connect(api.socket).on("error", () => {});
  let text = "";
  socket.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  const closed = once(socket, "close");
  socket.write("GET /v1/export.jsonl HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await closed;
  await api.close();
  rmSync(folder, { recursive: true });
  // The last chunk of a complete answer.
  expect(text.endsWith("0\r\n\r\n")).toBe(false);
  expect(said.mock.calls).toEqual([]);
  said.mockRestore();
  expect(bugs).toMatchObject([{ message: "in the middle" }]);
});

test("a user's requests write at most ten bugs an hour into the log; others' bugs are still shown", () => {
  let nowMs = 0;
  const shown: string[] = [];
  const log = new BugLog(
    (error) => shown.push((error as Error).message),
    () => nowMs,
  );
  for (let i = 0; i < 1000; i++) log.note(1001, new Error(`ada ${i}`));
  log.note(1002, new Error("bob"));
  expect(shown).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `ada ${i}`),
    "Requests of user 1001 have met 10 bugs; further ones within an hour are not shown",
    "bob",
  ]);
  nowMs = 3_600_000;
  log.note(1001, new Error("later"));
  expect(shown.at(-1)).toBe("later");
});
