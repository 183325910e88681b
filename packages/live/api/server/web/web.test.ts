/** Tests the page's side of the API: files, links, sessions, and what a session may do. */
import { createHmac } from "node:crypto";
import { gunzipSync } from "node:zlib";
import * as contract from "@tutti/protocol/schema.ts";
import { afterEach, describe, expect, test } from "vitest";
import { ADA, type Asked, BOB, makeTestApp, OWNER, someJob, type TestApp } from "../app-for-tests.ts";

const FILES = { "live.html": "<!doctype html>page", "live.js": "1;".repeat(20_000), "icon.svg": "<svg/>" };
let app: TestApp;
afterEach(() => {
  expect(app.bugs).toEqual([]);
  app.remove();
});

const code = async (as = ADA) => {
  const { status, json } = await app.ask("POST", "/v1/web/links", { as });
  expect(status).toBe(201);
  expect(contract.webLinkAnswer.parse(json)).toEqual(json);
  const [, digits = ""] = /^http:\/\/127\.0\.0\.1:7448\/#login=([\w-]{32})$/.exec(json.url) ?? [];
  expect(digits).not.toBe("");
  return digits;
};
const login = (given: string) =>
  app.ask("POST", "/v1/web/sessions", { body: { code: given }, headers: { authorization: "" } });
/** The header of a new session. */
const session = async (as = ADA) => ({
  authorization: `Bearer ${(await login(await code(as))).json.token}`,
});
const refused = ({ status, json }: Asked) => [status, json.refused];

describe("files", () => {
  test("the page may load its own files, run no other script, and ask the browser for nothing", async () => {
    app = makeTestApp({ webFiles: FILES });
    const { status, text, headers } = await app.ask("GET", "/", { headers: { authorization: "" } });
    expect([status, text]).toEqual([200, FILES["live.html"]]);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy.split("; ").sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data: blob:",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types tutti",
      "worker-src 'self'",
    ]);
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("permissions-policy")).toMatch(/camera=\(\).*geolocation=\(\)/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("set-cookie")).toBeNull();
  });

  test("files have their type, and a worker's script has the policy of the page", async () => {
    app = makeTestApp({ webFiles: FILES });
    const page = await app.ask("GET", "/");
    for (const [name, type] of [
      ["live.js", "text/javascript; charset=utf-8"],
      ["icon.svg", "image/svg+xml"],
    ] as const) {
      const { status, text, headers } = await app.ask("GET", `/web/${name}`, {
        headers: { authorization: "" },
      });
      expect([status, text]).toEqual([200, FILES[name]]);
      expect(headers.get("content-type")).toBe(type);
      expect(headers.get("content-security-policy")).toBe(page.headers.get("content-security-policy"));
    }
    for (const name of ["live.html", "feed.js", "other", "..%2Flive.html", "__proto__", "constructor"]) {
      expect((await app.ask("GET", `/web/${name}`)).status, name).toBe(404);
    }
  });

  test("a browser asks again each time, and loads a file again only if it has changed", async () => {
    app = makeTestApp({ webFiles: FILES });
    const first = await app.ask("GET", "/web/live.js");
    const etag = first.headers.get("etag") ?? "";
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const known = { headers: { "if-none-match": `"x", W/${etag}` } };
    const again = await app.ask("GET", "/web/live.js", known);
    expect([again.status, again.text]).toEqual([304, ""]);
    app.remove();
    app = makeTestApp({ webFiles: { ...FILES, "live.js": "2" } });
    expect((await app.ask("GET", "/web/live.js", known)).text).toBe("2");
  });

  test("are compressed for clients that accept it", async () => {
    app = makeTestApp({ webFiles: FILES });
    const get = (accepted: string) =>
      app.fetch(
        new Request("http://127.0.0.1:7448/web/live.js", {
          headers: { host: "127.0.0.1:7448", "accept-encoding": accepted },
        }),
      );
    for (const accepted of ["gzip", "br, gzip;q=0.5, *", "deflate,GZIP"]) {
      const answer = await get(accepted);
      expect(answer.headers.get("content-encoding")).toBe("gzip");
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(answer.headers.get("content-length")).toBe(String(bytes.length));
      expect(gunzipSync(bytes).toString()).toBe(FILES["live.js"]);
    }
    for (const accepted of ["", "br", "gzip;q=0", "gzip; q=0.000", "notgzip"]) {
      const answer = await get(accepted);
      expect(answer.headers.get("content-encoding"), accepted).toBeNull();
      expect(await answer.text()).toBe(FILES["live.js"]);
    }
  });

  test("without the build, the page says how to build it", async () => {
    app = makeTestApp();
    expect(await app.ask("GET", "/")).toMatchObject({
      status: 200,
      text: "The page was not built: run npm run build in Tutti's folder, then start the scheduler again.\n",
    });
  });

  test("under another name of the machine, the page sends the browser to its own address", async () => {
    app = makeTestApp({ webFiles: FILES });
    const { status, headers } = await app.ask("GET", "/", { headers: { host: "localhost:7448" } });
    expect([status, headers.get("location")]).toEqual([307, "http://127.0.0.1:7448/"]);
  });
});

describe("links", () => {
  test("begin one session, of the user who asked for them", async () => {
    app = makeTestApp();
    const first = await code(ADA);
    const { status, json } = await login(first);
    expect(status).toBe(201);
    expect(contract.webSessionAnswer.parse(json)).toEqual(json);
    expect(json).toMatchObject({ user: "ada", isAdministrator: false });
    const hours = (json.expiresAtMs - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThanOrEqual(12);
    for (const wrong of [first, `${first}x`, first.slice(1), "x".repeat(32)]) {
      const answer = await login(wrong);
      expect(refused(answer)).toEqual([401, "no-token"]);
      expect(answer.json.message).toMatch(/^Cannot use this link: .*; run tutti web for a new one$/);
    }
  });

  test("work for a minute", async () => {
    app = makeTestApp();
    const [early, late] = [await code(), await code()];
    app.clock.nowMs = 59_999;
    expect((await login(early)).status).toBe(201);
    app.clock.nowMs = 60_000;
    expect((await login(late)).status).toBe(401);
  });

  test("of one user are limited: the oldest becomes void, and others' links stay", async () => {
    app = makeTestApp();
    const bobs = await code(BOB);
    const codes: string[] = [];
    for (let i = 0; i < 17; i++) codes.push(await code(ADA));
    expect((await login(codes[0])).status).toBe(401);
    expect((await login(codes[1])).status).toBe(201);
    expect((await login(codes[16])).status).toBe(201);
    expect((await login(bobs)).json.user).toBe("bob");
  });

  test("need a token or a socket, and a page", async () => {
    app = makeTestApp();
    const anonymous = { headers: { authorization: "" } };
    expect((await app.ask("POST", "/v1/web/links", anonymous)).status).toBe(401);
    expect((await app.ask("POST", "/v1/web/links", { transport: "private-socket" })).status).toBe(201);
    expect(refused(await app.ask("POST", "/v1/web/links", { headers: await session() }))).toEqual([
      403,
      "forbidden",
    ]);
    app.remove();
    app = makeTestApp({ port: undefined });
    const answer = await app.ask("POST", "/v1/web/links", { transport: "private-socket" });
    expect(refused(answer)).toEqual([409, "wrong-state"]);
    expect(answer.json.message).toMatch(/--no-http/);
  });

  test("a stranger's body must be small, whether or not it states its length", async () => {
    app = makeTestApp();
    const long = await login("x".repeat(2000));
    expect(refused(long)).toEqual([413, "too-large"]);
    const pieces = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(600)),
    });
    const request = new Request("http://127.0.0.1:7448/v1/web/sessions", {
      method: "POST",
      headers: { host: "127.0.0.1:7448", "content-type": "application/json" },
      body: pieces,
      duplex: "half",
    } as RequestInit);
    expect((await app.fetch(request)).status).toBe(413);
  });
});

describe("strangers who read no answers", () => {
  test("do not keep others from the page, its files, proofs and sessions", async () => {
    app = makeTestApp({ webFiles: FILES });
    const given = await code(ADA);
    const proof = `/v1/web/proof?id=${"A".repeat(22)}&nonce=${"A".repeat(22)}`;
    const unread = (path: string) =>
      app.fetch(
        new Request(`http://127.0.0.1:7448${path}`, { headers: { host: "127.0.0.1:7448" } }),
        "http",
        () => {},
      );
    const answers: Response[] = [];
    // 512 is the limit on open requests.
    for (let i = 0; i < 512; i++) answers.push(await unread("/openapi.json"));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect((await unread("/api")).status).toBe(503);
    for (let i = 0; i < 600; i++) answers.push(await unread(i % 2 === 0 ? "/web/live.js" : "/"));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (let i = 0; i < 600; i++) expect((await unread(proof)).status).toBe(200);
    const anonymous = { headers: { authorization: "" } };
    expect((await app.ask("GET", proof, anonymous)).status).toBe(200);
    expect((await login(given)).status).toBe(201);
    for (const { body } of answers) await body?.cancel();
  });
});

describe("sessions", () => {
  test("have the rights of their user, except to submit, to make links, to change the policy, to end it", async () => {
    app = makeTestApp();
    await app.ask("POST", "/v1/jobs", { as: ADA, body: { jobs: [someJob(), someJob()] } });
    await app.ask("POST", "/v1/jobs", { as: BOB, body: { jobs: [someJob()] } });
    const headers = await session(ADA);
    const ask = (method: string, path: string, body?: object) =>
      app.ask(method, path, { headers, ...(body && { body }) });
    expect((await ask("GET", "/v1/jobs")).json.jobs).toHaveLength(2);
    expect((await ask("POST", "/v1/jobs/1/cancel")).json.job.state).toBe("cancelled");
    expect((await ask("POST", "/v1/jobs/2/hold")).json.job.state).toBe("held");
    expect((await ask("POST", "/v1/jobs/3/cancel")).status).toBe(404);
    expect((await ask("GET", "/v1/status")).json).toMatchObject({ user: "ada", web: { submit: false } });
    const before = app.service.entries.size;
    const submitted = await ask("POST", "/v1/jobs", { jobs: [someJob()] });
    expect(refused(submitted)).toEqual([403, "forbidden"]);
    expect(submitted.json.message).toBe(
      "Cannot submit jobs from the page: the setting web.submit is false; use tutti submit, or ask the administrator to set web.submit = true in the configuration of tutti serve",
    );
    expect(app.service.entries.size).toBe(before);
  });

  test("of an administrator neither change the policy nor end the scheduler, even if they may submit", async () => {
    app = makeTestApp({ maySubmit: true });
    const headers = await session(OWNER);
    const { policy } = (await app.ask("GET", "/v1/policy")).json;
    const ask = (method: string, path: string, body?: object) =>
      app.ask(method, path, { headers, ...(body && { body }) });
    expect((await ask("POST", "/v1/jobs", { jobs: [someJob()] })).status).toBe(201);
    expect((await ask("GET", "/v1/status")).json).toMatchObject({
      isAdministrator: true,
      web: { submit: true },
    });
    for (const [method, path, body, command] of [
      ["PUT", "/v1/policy", { policy: "easy" }, "tutti policy"],
      ["POST", "/v1/shutdown", { killJobs: false }, "tutti down"],
      ["POST", "/v1/web/links", undefined, "tutti web"],
    ] as const) {
      const answer = await ask(method, path, body);
      expect(refused(answer), path).toEqual([403, "forbidden"]);
      expect(answer.json.message).toContain(`from the page: it may never do that; use ${command}`);
    }
    expect((await app.ask("GET", "/v1/policy")).json.policy).toBe(policy);
  });

  test("a token with any character changed is refused, and so is a file's token in its place", async () => {
    app = makeTestApp();
    const { token } = (await login(await code(ADA))).json;
    expect(token).toMatch(/^page\.1001\.\d{13}\.[\w-]{22}\.[\w-]{43}$/);
    const status = async (one: string) =>
      (await app.ask("GET", "/v1/status", { headers: { authorization: `Bearer ${one}` } })).status;
    expect(await status(token)).toBe(200);
    for (let i = 0; i < token.length; i++) {
      for (const other of ["0", "A", "_", "."]) {
        if (token[i] === other) continue;
        const changed = token.slice(0, i) + other + token.slice(i + 1);
        expect(await status(changed), changed).toBe(401);
      }
    }
    const [, , , , mac] = token.split(".");
    expect(await status(`1001.${mac}`)).toBe(401);
    const [, fileMac] = app.token(ADA).split(".");
    expect(await status(token.replace(mac, fileMac))).toBe(401);
    expect(await status(app.token(ADA))).toBe(200);
  });

  test("survive a restart, and end after 12 hours", async () => {
    app = makeTestApp();
    const headers = await session(ADA);
    app.remove();
    app = makeTestApp();
    expect((await app.ask("GET", "/v1/status", { headers })).json.user).toBe("ada");
    const now = Date.now();
    const late = Date.now;
    try {
      Date.now = () => now + 12 * 3_600_000 + 1000;
      const { status, json } = await app.ask("GET", "/v1/status", { headers });
      expect([status, json.message]).toEqual([
        401,
        "Cannot continue the session: it has expired; run tutti web for a new link to the page",
      ]);
    } finally {
      Date.now = late;
    }
  });

  test("exist also on port 80, which no address names", async () => {
    app = makeTestApp({ port: 80, webFiles: FILES });
    const at = { headers: { host: "127.0.0.1", authorization: "" } };
    expect((await app.ask("GET", "/", at)).text).toBe(FILES["live.html"]);
    const { url } = (await app.ask("POST", "/v1/web/links", { transport: "private-socket" })).json;
    const body = { code: url.split("#login=")[1] };
    const { token } = (await app.ask("POST", "/v1/web/sessions", { ...at, body })).json;
    const headers = { host: "127.0.0.1", authorization: `Bearer ${token}` };
    expect((await app.ask("GET", "/v1/status", { headers })).status).toBe(200);
  });

  test("exist only at the page's own address", async () => {
    app = makeTestApp();
    const headers = await session(ADA);
    const at = (host: string) => app.ask("GET", "/v1/status", { headers: { ...headers, host } });
    expect((await at("127.0.0.1:7448")).status).toBe(200);
    expect((await at("localhost:7448")).status).toBe(401);
    expect((await at("[::1]:7448")).status).toBe(401);
    expect((await app.ask("GET", "/v1/status", { headers, transport: "shared-socket" })).status).toBe(401);
    const there = await app.ask("POST", "/v1/web/sessions", {
      body: { code: await code() },
      headers: { authorization: "", host: "localhost:7448" },
    });
    expect(there.status).toBe(403);
  });

  test("the proof is the signature of text and port with the key that only the session got", async () => {
    app = makeTestApp();
    const { id, proofKey } = (await login(await code(ADA))).json;
    const nonce = "A".repeat(22);
    const { json } = await app.ask("GET", `/v1/web/proof?id=${id}&nonce=${nonce}`, {
      headers: { authorization: "" },
    });
    const expected = createHmac("sha256", Buffer.from(proofKey, "base64url"))
      .update(`tutti on port 7448 of 127.0.0.1: ${nonce}`)
      .digest("base64url");
    expect(json).toEqual({ schema: "tutti.web-proof/1", proof: expected });
    for (const query of [`?id=${id}&nonce=short`, `?id=x&nonce=${nonce}`]) {
      expect((await app.ask("GET", `/v1/web/proof${query}`)).status, query).toBe(400);
    }
    // A program in a container may have a socket, but not the port: it must not get proofs to pass on.
    for (const transport of ["private-socket", "user-socket", "shared-socket"] as const) {
      const answer = await app.ask("GET", `/v1/web/proof?id=${id}&nonce=${nonce}`, { transport });
      expect(refused(answer), transport).toEqual([403, "forbidden"]);
      expect(answer.json.message).toMatch(/over a Unix socket .* ask on the port itself/);
    }
    const link = (await app.ask("POST", "/v1/web/links", { transport: "private-socket" })).json;
    const ofLink = await app.ask("GET", `/v1/web/proof?id=${link.id}&nonce=${nonce}`);
    expect(ofLink.json.proof).toBe(
      createHmac("sha256", Buffer.from(link.proofKey, "base64url"))
        .update(`tutti on port 7448 of 127.0.0.1: ${nonce}`)
        .digest("base64url"),
    );
    app.remove();
    app = makeTestApp({ port: 7449 });
    const elsewhere = await app.ask("GET", `/v1/web/proof?id=${id}&nonce=${nonce}`, {
      headers: { host: "127.0.0.1:7449" },
    });
    expect(elsewhere.json.proof).not.toBe(expected);
  });
});

describe("pages of others", () => {
  /** What a browser sends for a page at another origin. */
  const FOREIGN: Readonly<Record<string, Record<string, string>>> = {
    "another port": { origin: "http://127.0.0.1:8000", "sec-fetch-site": "same-site" },
    "another name of this machine": { origin: "http://localhost:7448", "sec-fetch-site": "cross-site" },
    "another site": { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    "a browser without Sec-Fetch": { origin: "http://127.0.0.1:8000" },
    "a sandboxed frame": { origin: "null", "sec-fetch-site": "cross-site" },
  };

  test.each(Object.keys(FOREIGN))("%s: neither reads nor acts, with or without a session", async (name) => {
    app = makeTestApp({ webFiles: FILES, maySubmit: true });
    const given = await code(ADA);
    const own = await session(ADA);
    for (const token of [own, { authorization: "" }]) {
      const headers = { ...token, ...FOREIGN[name] };
      for (const path of ["/v1/jobs", "/v1/events", "/web/live.js", "/v1/web/proof", "/"]) {
        const answer = await app.ask("GET", path, { headers: { ...headers, "sec-fetch-mode": "cors" } });
        expect(answer.status, path).toBe(403);
        expect(answer.headers.get("access-control-allow-origin")).toBeNull();
      }
      // fetch(…, { mode: "no-cors" }) and forms send these types without asking first.
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json"]) {
        for (const mode of ["no-cors", "navigate"]) {
          const all = { ...headers, "content-type": type, "sec-fetch-mode": mode };
          const login = await app.ask("POST", "/v1/web/sessions", { body: { code: given }, headers: all });
          const submit = await app.ask("POST", "/v1/jobs", { body: { jobs: [someJob()] }, headers: all });
          const link = await app.ask("POST", "/v1/web/links", { headers: all });
          expect([login.status, submit.status, link.status]).toEqual([403, 403, 403]);
        }
      }
    }
    expect(app.service.entries.size).toBe(0);
    expect((await login(given)).status).toBe(201);
  });

  test("a name that was made to point to this machine (DNS rebinding) is refused", async () => {
    app = makeTestApp({ webFiles: FILES });
    const given = await code(ADA);
    const host = "evil.example:7448";
    const headers = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin", authorization: "" };
    for (const path of ["/", "/web/live.js", "/api", "/v1/web/proof"]) {
      expect((await app.ask("GET", path, { headers })).status, path).toBe(403);
    }
    const answer = await app.ask("POST", "/v1/web/sessions", { body: { code: given }, headers });
    expect(answer.status).toBe(403);
  });

  test("the page itself may, because it has our origin", async () => {
    app = makeTestApp({ webFiles: FILES });
    const own = { origin: "http://127.0.0.1:7448", "sec-fetch-site": "same-origin", authorization: "" };
    const answer = await app.ask("POST", "/v1/web/sessions", { body: { code: await code() }, headers: own });
    expect(answer.status).toBe(201);
  });
});
