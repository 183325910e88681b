/** Tests which requests are admitted: tokens, hosts, pages, methods, bodies. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../daemon/contract/service.ts";
import { ADA, makeTestApp, OWNER, someJob, type TestApp } from "./app-for-tests.ts";

let app: TestApp;
beforeEach(() => {
  app = makeTestApp();
});
afterEach(() => {
  expect(app.bugs).toEqual([]);
  app.remove();
});

const submit = (body: object, as = OWNER) => app.ask("POST", "/v1/jobs", { body, as });

describe("guard", () => {
  const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const paths = [
    "/v1/jobs",
    "/v1/jobs/1",
    "/v1/jobs/1/cancel",
    "/v1/policy",
    "/v1/events",
    "/metrics",
    "/v1/shutdown",
  ];

  test.each(methods)("%s without a token, or with a wrong one, is refused on every path", async (method) => {
    const right = app.token(OWNER);
    const wrong = [
      "",
      "Bearer",
      "Bearer x",
      `Bearer ${right}x`,
      `Bearer ${right.slice(0, -1)}`,
      `Bearer 1001${right.slice(1)}`,
      `Bearer 0${right}`,
      `Basic ${right}`,
      right,
      `Bearer 4294967295.${right.split(".")[1]}`,
    ];
    for (const path of paths) {
      for (const authorization of wrong) {
        const { status } = await app.ask(method, path, { headers: { authorization } });
        expect(status, `${path} ${authorization}`).toBe(401);
      }
    }
    expect(app.service.events).toEqual([]);
  });

  test.each(methods)("%s with a foreign Host is refused, token or not", async (method) => {
    for (const host of [
      "evil.example",
      "127.0.0.1",
      "127.0.0.1:80",
      "localhost.evil.example:7448",
      "127.0.0.1:7448.evil",
    ]) {
      for (const path of [...paths, "/", "/api", "/openapi.json"]) {
        const { status } = await app.ask(method, path, { headers: { host } });
        expect(status, `${host} ${path}`).toBe(403);
      }
    }
    expect((await app.ask("GET", "/v1/status", { headers: { host: "LOCALHOST:7448" } })).status).toBe(200);
  });

  test.each(methods)("%s from a foreign page is refused, token or not", async (method) => {
    const foreign: Record<string, string>[] = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://127.0.0.1:8080" },
      { origin: "http://127.0.0.1:7448.evil.example" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" },
    ];
    for (const headers of foreign) {
      for (const path of paths) {
        const { status } = await app.ask(method, path, { headers });
        expect(status, `${JSON.stringify(headers)} ${path}`).toBe(403);
      }
    }
    expect(app.service.events).toEqual([]);
  });

  test("the API's own page may use it, and a link from elsewhere may open the description", async () => {
    const own = { origin: "http://127.0.0.1:7448", "sec-fetch-site": "same-origin" };
    const { status } = await app.ask("POST", "/v1/jobs", { headers: own, body: { jobs: [someJob()] } });
    expect(status).toBe(201);
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect((await app.ask("GET", "/api", { headers: link })).status).toBe(200);
    expect((await app.ask("POST", "/v1/shutdown", { headers: link, body: { killJobs: true } })).status).toBe(
      403,
    );
  });

  test("no answer allows other pages to read it, and every answer says how it may be used", async () => {
    for (const path of ["/api", "/v1/jobs", "/v1/nothing", "/metrics"]) {
      const others: Record<string, string>[] = [
        {},
        { authorization: "" },
        { origin: "https://evil.example" },
      ];
      for (const headers of others) {
        const answer = await app.ask("GET", path, { headers });
        expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
        expect(answer.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
        expect(answer.headers.get("cache-control")).toBe("no-store");
      }
    }
  });

  test("a body of another type is refused, so that forms of other pages cannot send one", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/jsonx",
    ]) {
      const { status } = await app.ask("POST", "/v1/jobs", {
        body: { jobs: [someJob()] },
        headers: { "content-type": type },
      });
      expect(status).toBe(415);
    }
  });
});

describe("bodies", () => {
  test("unknown keys, wrong types and values out of range are named", async () => {
    const message = async (job: object) => (await submit({ jobs: [job] })).json.message;
    expect(await message(someJob({ taks: 2 }))).toMatch(/jobs\[0\]: .*"taks"/);
    expect(await message(someJob({ tasks: 0 }))).toMatch(/jobs\[0\]\.tasks: /);
    expect(await message(someJob({ tasks: "2" }))).toMatch(/jobs\[0\]\.tasks: /);
    expect(await message(someJob({ cwd: "relative" }))).toMatch(/jobs\[0\]\.cwd: is not absolute/);
    expect(await message(someJob({ command: [] }))).toMatch(/jobs\[0\]\.command: /);
    expect(await message(someJob({ command: ["a\0b"] }))).toMatch(/NUL/);
    expect(await message(someJob({ env: { "A=B": "" } }))).toMatch(/contains "="/);
    expect((await app.ask("GET", "/v1/jobs?stats=queued")).json.message).toMatch(
      /expected one of states, last/,
    );
    expect((await app.ask("GET", "/v1/jobs?states=sleeping")).json.message).toMatch(/list of states/);
  });

  test("a folder that does not exist is refused to the scheduler's own user, and kept secret from others", async () => {
    const submitAs = (as: Caller, job: object) =>
      app.ask("POST", "/v1/jobs", { as, body: { jobs: [someJob({ cwd: "/no/such/folder", ...job })] } });
    const own = await submitAs(OWNER, {});
    expect(own.status).toBe(400);
    expect(own.json.message).toBe(
      'Cannot submit a job in the folder "/no/such/folder": it does not exist, expected a folder in which the job can run',
    );
    expect((await submitAs(OWNER, { after: [{ job: 1, ok: true }] })).json.message ?? "").not.toMatch(
      /folder/,
    );
    expect((await submitAs(ADA, {})).status).toBe(201);
  });

  test("bodies that are too large, too deep or not JSON are refused before they are parsed or used", async () => {
    const post = (body: string) => app.ask("POST", "/v1/jobs", { body });
    expect((await post("x".repeat(16 * 1024 * 1024 + 1))).status).toBe(413);
    expect((await post(`{"jobs":${"[".repeat(100_000)}`)).json.message).toMatch(/nested deeper/);
    expect((await post(`{"jobs":[${'{"a":'.repeat(20)}1`)).json.message).toMatch(/nested deeper/);
    expect((await post('{"jobs": "[[[[[[[[[[[[[[[[[[[[[\\"[[["}')).json.message).toMatch(
      /^Cannot use the body/,
    );
    expect((await post('{"jobs"')).json.message).toMatch(/not JSON/);
    expect((await post("")).status).toBe(400);
  });

  test("__proto__ and constructor are keys like others", async () => {
    for (const key of ["__proto__", "constructor", "prototype"]) {
      const body = `{"jobs":[{"command":["true"],"cwd":"/","env":{"${key}":"x"},"${key}":{"held":true}}]}`;
      expect((await app.ask("POST", "/v1/jobs", { body })).status).toBe(400);
    }
    await app.ask("POST", "/v1/jobs", {
      body: '{"jobs":[{"command":["true"],"cwd":"/","env":{"__proto__":"polluted","A":"b"}}]}',
    });
    expect(app.service.submitted.at(-1)?.env).not.toHaveProperty("held");
    expect(({} as { held?: unknown }).held).toBeUndefined();
    expect(Object.getPrototypeOf(app.service.submitted.at(-1)?.env ?? {})).toBe(Object.prototype);
    expect((await app.ask("GET", "/v1/jobs?__proto__=1")).status).toBe(400);
  });
});
