/**
 * Sends random and mutated requests. Each must get a status below 500 and an answer that conforms to
 * the contract, nothing may change unless requested, and the daemon must keep running.
 */

import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { refusalAnswer } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../contract/routes.ts";
import { makeTestApp, OWNER, someJob, type TestApp } from "../app-for-tests.ts";

const REQUESTS = SIZES.fuzzedRequests;
const HOST = "127.0.0.1:7448";

let app: TestApp;
let requests = 0;
const statuses = new Map<number, number>();
beforeAll(() => {
  app = makeTestApp();
});
afterAll(() => {
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${status}: ${n}`);
  process.stderr.write(`${requests} requests, ${counts.join(", ")}, ${app.bugs.length} bugs\n`);
  app.remove();
});

/** Sends a request directly to the app and checks the properties of every answer. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<number> {
  let request: Request;
  try {
    request = new Request(`http://${HOST}${path}`, {
      method,
      headers: { host: HOST, ...headers },
      ...(body === undefined || method === "GET" || method === "HEAD" ? {} : { body }),
    });
  } catch {
    // Not a request that any client can send.
    return 0;
  }
  const response = await app.fetch(request);
  requests++;
  statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) await response.body?.cancel();
  else {
    const text = await response.text();
    if (response.status >= 400 && response.status !== 416 && method !== "HEAD") {
      refusalAnswer.parse(JSON.parse(text));
    }
  }
  // Plain throws: a matcher costs more than the request.
  if (response.status >= 500 || app.bugs.length > 0) {
    throw new Error(`status ${response.status}, ${app.bugs.map(String).join()}`);
  }
  return response.status;
}

const authorised = () => ({
  authorization: `Bearer ${app.token(OWNER)}`,
  "content-type": "application/json",
});
const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND");
const nasty = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "%00",
    "%2e%2e%2f",
    "\u001b[2J",
    "<script>",
    "\0",
    "\ud800",
    "1e999",
    "-0",
    "9".repeat(400),
  ),
);
const anything = fc.jsonValue({ maxDepth: 2 });

/** A valid body with one random value replaced, or with a key added or removed. */
function mutated(valid: object): fc.Arbitrary<string> {
  const places = placesOf(valid);
  return fc
    .tuple(
      fc.constantFrom(...places),
      fc.oneof(anything, nasty),
      fc.constantFrom("replace", "remove", "add", "cut"),
      fc.nat(200),
    )
    .map(([place, value, how, at]) => {
      const copy = structuredClone(valid);
      let target: Record<string, unknown> = copy as Record<string, unknown>;
      for (const key of place.slice(0, -1)) target = target[key] as Record<string, unknown>;
      const key = place.at(-1)!;
      if (how === "replace") target[key] = value;
      if (how === "remove") delete target[key];
      // Not into an array, whose "length" cannot be set to a string.
      if (how === "add" && !Array.isArray(target)) target[typeof value === "string" ? value : "more"] = value;
      const text = JSON.stringify(copy);
      return how === "cut" ? text.slice(0, at % text.length) : text;
    });
}

function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [...path, key],
    ...placesOf(inner, [...path, key]),
  ]);
}

const whole = someJob({
  tasks: 2,
  name: "n",
  queue: "main",
  limitMs: 1000,
  memoryBytes: 1000,
  stdout: "o",
  stderr: "e",
  after: [{ job: 1, ok: true }],
  priority: 0,
  held: true,
  retries: 1,
});
const bodies: readonly (readonly [string, string, object])[] = [
  ["POST", "/v1/jobs", { jobs: [whole, someJob()], key: "k" }],
  ["POST", "/v1/jobs", { jobs: [someJob({ array: "1-3%2" })] }],
  ["PATCH", "/v1/jobs/1", { priority: 1 }],
  ["PUT", "/v1/policy", { policy: "easy" }],
  ["POST", "/v1/whatif", { policies: ["easy", "fcfs"] }],
  ["POST", "/v1/shutdown", { killJobs: false }],
];

describe("requests", () => {
  test("mutated bodies are accepted completely or refused with a message", async () => {
    const property = fc.asyncProperty(
      fc
        .constantFrom(...bodies)
        .chain(([verb, path, body]) => mutated(body).map((text) => [verb, path, text] as const)),
      async ([verb, path, text]) => {
        const before = app.service.entries.size;
        const status = await send(verb, path, authorised(), text);
        if (status >= 400 && app.service.entries.size !== before)
          throw new Error("refused, yet there are jobs");
        // The service would keep all jobs, which this test does not need.
        if (app.service.entries.size > 200) app.service.forget();
      },
    );
    await fc.assert(property, { numRuns: 0.3 * REQUESTS });
  });

  test("random bytes as a body are refused", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      anything.map((value) => JSON.stringify(value)),
    );
    const target = fc.constantFrom(...bodies);
    const property = fc.asyncProperty(target, text, async ([verb, path], body) => {
      const status = await send(verb, path, authorised(), body);
      if (status < 400) throw new Error(`accepted with ${status}`);
    });
    await fc.assert(property, { numRuns: 0.2 * REQUESTS });
  });

  test("any method on any path with any query, with a token", async () => {
    const known = fc.constantFrom(...ROUTES.map(({ path }) => path));
    const path = fc
      .tuple(
        known,
        nasty,
        nasty,
        fc.constantFrom("stdout", "stderr"),
        fc.array(fc.tuple(nasty, nasty), { maxLength: 3 }),
        fc.nat(9),
      )
      .map(([route, job, key, stream, query, kind]) => {
        const real = route
          .replace("{job}", kind < 5 ? "1" : encodeURIComponent(job.toWellFormed()))
          .replace("{stream}", kind < 7 ? stream : encodeURIComponent(key.toWellFormed()));
        const words = query.map(
          ([a, b]) => `${encodeURIComponent(a.toWellFormed())}=${encodeURIComponent(b.toWellFormed())}`,
        );
        return { route, target: words.length === 0 ? real : `${real}?${words.join("&")}` };
      });
    const property = fc.asyncProperty(method, path, async (verb, { route, target }) => {
      const status = await send(verb, target, authorised(), "{}");
      const isKnown = ROUTES.some((known) => known.path === route && known.method.toUpperCase() === verb);
      const isUnknown = !isKnown && (verb === "DELETE" || verb === "PROPFIND");
      if (isUnknown && ![0, 404, 405].includes(status))
        throw new Error(`${verb} was answered with ${status}`);
    });
    await fc.assert(property, { numRuns: 0.2 * REQUESTS });
  });

  test("without a token, only the description is served, whatever the headers", async () => {
    const headers = fc.dictionary(
      fc.constantFrom(
        "authorization",
        "origin",
        "sec-fetch-site",
        "sec-fetch-mode",
        "content-type",
        "accept",
        "last-event-id",
        "range",
        "cookie",
        "x-forwarded-for",
        "x-http-method-override",
      ),
      fc.oneof(
        fc.string({ maxLength: 40 }),
        fc.constantFrom(
          "Bearer 0.AAAA",
          "null",
          "same-origin",
          `http://${HOST}`,
          "application/json",
          "DELETE",
        ),
      ),
    );
    const path = fc.constantFrom(
      ...ROUTES.filter(({ isPublic }) => !isPublic).map((route) =>
        route.path.replace("{job}", "1").replace("{stream}", "stdout"),
      ),
    );
    const property = fc.asyncProperty(method, path, headers, async (verb, target, extra) => {
      const events = app.service.events.length;
      const status = await send(verb, target, extra, "{}");
      if (![0, 401, 403].includes(status)) throw new Error(`let in with ${status}`);
      if (app.service.events.length !== events) throw new Error("something has happened");
    });
    await fc.assert(property, { numRuns: 0.2 * REQUESTS });
  });

  test("a token with any one character changed is refused", async () => {
    const token = app.token(OWNER);
    const property = fc.asyncProperty(
      fc.nat(token.length - 1),
      fc.string({ minLength: 1, maxLength: 1 }),
      async (at, character) => {
        const other = token.slice(0, at) + character + token.slice(at + 1);
        fc.pre(other !== token && /^\S+$/.test(other));
        const status = await send("GET", "/v1/status", { authorization: `Bearer ${other}` });
        if (![0, 401].includes(status)) throw new Error(`let in with ${status}`);
      },
    );
    await fc.assert(property, { numRuns: 0.1 * REQUESTS });
  });

  test("after all requests it answers as before", async () => {
    expect(requests).toBeGreaterThan(0.95 * REQUESTS);
    const { status } = await app.ask("POST", "/v1/jobs", { body: { jobs: [someJob()] } });
    expect(status).toBe(201);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});
