/** Tests the API without sockets: every route, every refusal, and what each user may see. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { brief } from "@tutti/protocol/job-answers.ts";
import * as contract from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { z } from "zod";
import { ROUTES } from "../contract/routes.ts";
import { ADA, BOB, makeTestApp, OWNER, someJob, type TestApp } from "./app-for-tests.ts";
import { HANDLERS } from "./handlers.ts";

let app: TestApp;
beforeEach(() => {
  app = makeTestApp();
});
afterEach(() => {
  expect(app.bugs).toEqual([]);
  app.remove();
});

/** Checks that the answer matches the schema and has no other keys. */
function expectAnswer(json: unknown, schema: z.ZodType): void {
  expect(schema.parse(json)).toEqual(json);
}

const submit = (body: object, as = OWNER) => app.ask("POST", "/v1/jobs", { body, as });

describe("routes", () => {
  test("every route has a handler, and every handler a route", () => {
    expect(ROUTES.map(({ id }) => id).sort()).toEqual(Object.keys(HANDLERS).sort());
  });

  test("a submit is answered with the jobs of the service", async () => {
    const { status, json } = await submit({
      jobs: [
        someJob({ command: ["./a.out", "x"], tasks: 2, name: "sim", queue: "short", limitMs: 60_000 }),
        someJob({ memoryBytes: 1024, priority: -3, held: true, retries: 2, stdout: "o", stderr: "e" }),
      ],
    });
    expect(status).toBe(201);
    expectAnswer(json, contract.jobsAnswer);
    expect(json.jobs.map(({ job }: { job: number }) => job)).toEqual([1, 2]);
    expect(app.service.submitted[0]).toEqual({
      command: ["./a.out", "x"],
      tasks: 2,
      name: "sim",
      queue: "short",
      limitMs: 60_000,
      cwd: "/",
      env: { HOME: "/root" },
    });
    expect(app.service.submitted[1]).toMatchObject({ held: true, retries: 2, stdout: "o", stderr: "e" });
  });

  test("a large array is answered completely, in pieces", async () => {
    const { status, json } = await submit({ jobs: [someJob({ array: "1-1000" })] });
    expect(status).toBe(201);
    expectAnswer(json, contract.jobsAnswer);
    expect(json.jobs.map(({ job }: contract.Job) => job)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );
  });

  test("an array becomes a job per index", async () => {
    const { json } = await submit({ jobs: [someJob({ array: "3,1-2%2" })] });
    expect(json.jobs.map((job: contract.Job) => [job.array, job.arrayIndex])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ]);
    expect(app.service.submitted.map(({ array }) => array)).toEqual(["3,1-2%2"]);
    expect((await submit({ jobs: [someJob({ array: "5-1" })] })).json.message).toMatch(/smaller index first/);
    expect((await submit({ jobs: [someJob({ array: "1-10001" })] })).status).toBe(400);
  });

  test("a second submit with the same key returns the same jobs", async () => {
    const first = await submit({ jobs: [someJob()], key: "k" });
    const second = await submit({ jobs: [someJob()], key: "k" });
    expect(second.json).toEqual(first.json);
    expect(app.service.entries.size).toBe(1);
  });

  test("jobs can be listed by state and number, shown, held, released, cancelled, requeued", async () => {
    await submit({ jobs: [someJob(), someJob(), someJob()] });
    app.service.start(2);
    const numbers = async (query: string) =>
      (await app.ask("GET", `/v1/jobs${query}`)).json.jobs.map(({ job }: contract.Job) => job);
    expect(await numbers("")).toEqual([1, 2, 3]);
    expect(await numbers("?states=running")).toEqual([2]);
    expect(await numbers("?states=queued,running&last=2")).toEqual([2, 3]);
    const act = async (job: number, action: string) =>
      (await app.ask("POST", `/v1/jobs/${job}/${action}`)).json.job?.state;
    expect(await act(1, "hold")).toBe("held");
    expect(await act(1, "release")).toBe("queued");
    expect(await act(2, "pause")).toBe("paused");
    expect(await act(2, "resume")).toBe("running");
    expect(await act(2, "requeue")).toBe("queued");
    expect(await act(3, "cancel")).toBe("cancelled");
    const again = await app.ask("POST", "/v1/jobs/3/cancel");
    expect([again.status, again.json.refused]).toEqual([409, "wrong-state"]);
    const priority = await app.ask("PATCH", "/v1/jobs/1", { body: { priority: 7 } });
    expect(priority.json.job.priority).toBe(7);
    expectAnswer(priority.json, contract.jobAnswer);
  });

  test.each([
    ["/v1/status", contract.statusAnswer],
    ["/v1/jobs", contract.jobsAnswer],
    ["/v1/jobs/1", contract.jobAnswer],
    ["/v1/jobs/1/why", contract.whyAnswer],
    ["/v1/matrix", contract.matrixAnswer],
    ["/v1/queues", contract.queuesAnswer],
    ["/v1/policy", contract.policyAnswer],
  ] as const)("GET %s keeps its schema", async (path, schema) => {
    await submit({ jobs: [someJob(), someJob()] });
    app.service.start(2);
    const { status, json } = await app.ask("GET", path);
    expect(status).toBe(200);
    expectAnswer(json, schema);
  });

  test("only administrators can change the policy, and only to known ones", async () => {
    const change = (policy: string, as = OWNER) => app.ask("PUT", "/v1/policy", { body: { policy }, as });
    const { json } = await change("easy");
    expectAnswer(json, contract.policyAnswer);
    expect(json.policy).toBe("easy");
    expect((await change("fcfs", ADA)).status).toBe(403);
    expect((await change("nonsense")).status).toBe(400);
    expect(app.service.policyText).toBe("easy");
  });

  test("only administrators can announce and remove windows; all users see them", async () => {
    const reserve = (body: object, as = OWNER) => app.ask("POST", "/v1/windows", { body, as });
    const disk = { name: "disk", fromMs: 1, untilMs: 2, users: ["ada"] };
    expect((await reserve(disk, ADA)).status).toBe(403);
    for (const name of ["", "a b", "-x", "a/b", "x".repeat(65), 7]) {
      expect((await reserve({ ...disk, name })).status).toBe(400);
    }
    for (const users of [[], ["a,b"], [""], Array(101).fill("a")]) {
      expect((await reserve({ ...disk, users })).status).toBe(400);
    }
    const { status, json } = await reserve(disk);
    expect(status).toBe(201);
    expectAnswer(json, contract.windowAnswer);
    const { json: seen } = await app.ask("GET", "/v1/windows", { as: ADA });
    expectAnswer(seen, contract.windowsAnswer);
    expect(seen.windows).toEqual([json.window]);
    expect((await app.ask("DELETE", "/v1/windows/disk", { as: ADA })).status).toBe(403);
    expect((await app.ask("DELETE", "/v1/windows/disc")).status).toBe(404);
    const { json: removed } = await app.ask("DELETE", "/v1/windows/disk");
    expectAnswer(removed, contract.windowAnswer);
  });

  test("only administrators can drain and undrain; all users see it", async () => {
    const drain = (body: object, as = OWNER) => app.ask("PUT", "/v1/drain", { body, as });
    expect((await drain({ reason: "new disk" }, ADA)).status).toBe(403);
    expect((await drain({ reason: "" })).status).toBe(400);
    expect((await drain({ reason: "x".repeat(201) })).status).toBe(400);
    const { status, json } = await drain({ reason: "new disk" });
    expect(status).toBe(200);
    expectAnswer(json, contract.drainAnswer);
    expect(json.drain.reason).toBe("new disk");
    const { json: seen } = await app.ask("GET", "/v1/status", { as: ADA });
    expectAnswer(seen, contract.statusAnswer);
    expect(seen.drain).toEqual(json.drain);
    expect((await app.ask("DELETE", "/v1/drain", { as: ADA })).status).toBe(403);
    const { json: undrained } = await app.ask("DELETE", "/v1/drain");
    expectAnswer(undrained, contract.drainAnswer);
    expect(undrained).not.toHaveProperty("drain");
  });

  test("whatif returns a forecast per policy, or names an unknown one", async () => {
    const ask = (policies: string[]) => app.ask("POST", "/v1/whatif", { body: { policies } });
    const { json } = await ask(["fcfs", "easy"]);
    expectAnswer(json, contract.whatIfAnswer);
    expect(json.policies.map(({ policy }: { policy: string }) => policy)).toEqual(["fcfs", "easy"]);
    expect((await ask(["fcfs", "nonsense"])).status).toBe(400);
  });

  test("whatif takes jobs that are not submitted, and needs something to ask about", async () => {
    const ask = (body: object) => app.ask("POST", "/v1/whatif", { body });
    const { json } = await ask({ jobs: [{ tasks: 2, limitMs: 1000 }, {}], withoutCpus: 1 });
    expectAnswer(json, contract.whatIfAnswer);
    expect(json.policies).toMatchObject([{ policy: "fcfs", hypothetical: [{}, {}] }]);
    const wrong = [
      {},
      { jobs: [] },
      { jobs: Array(17).fill({}) },
      { jobs: [{ command: ["x"] }] },
      { jobs: [{ tasks: 0 }] },
      { withoutCpus: 0 },
      { without: 1 },
    ];
    for (const body of wrong) expect((await ask(body)).status).toBe(400);
  });

  test("timeline is an hour around now, or the stretch asked for", async () => {
    const { json } = await app.ask("GET", "/v1/timeline?from=5&to=7");
    expectAnswer(json, contract.timelineAnswer);
    expect(json).toMatchObject({ fromMs: 5, toMs: 7 });
    const { json: whole } = await app.ask("GET", "/v1/timeline");
    expect(whole.toMs - whole.fromMs).toBe(7_200_000);
    expect(Math.abs(whole.toMs - 3_600_000 - Date.now())).toBeLessThan(60_000);
    const backwards = await app.ask("GET", "/v1/timeline?from=8&to=7");
    expect(backwards.status).toBe(400);
    expect(backwards.json.message).toMatch(/from 8 to 7: expected from to be no later than to/);
    expect((await app.ask("GET", "/v1/timeline?from=-1")).status).toBe(400);
  });

  test("shutdown is for administrators, and refused while jobs run", async () => {
    const down = (killJobs: boolean, as = OWNER) =>
      app.ask("POST", "/v1/shutdown", { body: { killJobs }, as });
    expect((await down(true, ADA)).status).toBe(403);
    await submit({ jobs: [someJob()] });
    app.service.start(1);
    expect((await down(false)).status).toBe(409);
    const { status, json } = await down(true);
    expect(status).toBe(202);
    expectAnswer(json, contract.shutdownAnswer);
  });

  test("wait answers when the job ends, or with its state after the time", async () => {
    await submit({ jobs: [someJob()] });
    app.service.start(1);
    const waiting = app.ask("GET", "/v1/jobs/1?wait=30");
    await new Promise(setImmediate);
    app.service.finish(1, 3);
    expect((await waiting).json.job).toMatchObject({ state: "failed", code: 3 });
    expect((await app.ask("GET", "/v1/jobs/1?wait=30")).json.job.state).toBe("failed");
    await submit({ jobs: [someJob()] });
    expect((await app.ask("GET", "/v1/jobs/2?wait=0")).json.job.state).toBe("queued");
  });

  test("metrics are in the text format of Prometheus, labels escaped", async () => {
    await submit({ jobs: [someJob()] });
    const { text, headers } = await app.ask("GET", "/metrics");
    expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('tutti_jobs{state="queued"} 1\n');
    expect(text).toContain('tutti_api_requests_total{route="submit",status="201"} 1\n');
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) tutti_\w+ .+|tutti_\w+(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})? -?[\d.e+]+)$/,
      );
    }
  });

  test("a full service is answered with 503 and a time to try again", async () => {
    app.service.refuseSubmits = { refused: "full", message: "Cannot take more" };
    const { status, headers, json } = await submit({ jobs: [someJob()] });
    expect([status, headers.get("retry-after"), json.refused]).toEqual([503, "1", "full"]);
  });

  test("a bug in the service is a 500 in plain words, and is reported", async () => {
    app.service.queues = () => {
      throw new Error("secret detail");
    };
    const { status, json, text } = await app.ask("GET", "/v1/queues");
    expect([status, json.refused]).toEqual([500, "failed"]);
    expect(text).not.toContain("secret");
    expect(app.bugs.splice(0)).toHaveLength(1);
  });

  test("an unknown path is 404, a known one with another method 405 and says which", async () => {
    expect((await app.ask("GET", "/v1/nothing")).status).toBe(404);
    const { status, json } = await app.ask("DELETE", "/v1/jobs/1");
    expect(status).toBe(405);
    expect(json.message).toMatch(/expected GET or PATCH/);
    expect((await app.ask("GET", "/v1/jobs/0")).status).toBe(404);
    expect((await app.ask("GET", "/v1/jobs/1e3")).status).toBe(404);
  });

  test("GET and HEAD change nothing, on any route", async () => {
    await submit({ jobs: [someJob(), someJob()] });
    app.service.start(2);
    const before = [...app.service.entries.values()].map(({ info }) => info);
    const events = app.service.events.length;
    for (const { path, id } of ROUTES.filter(({ id }) => id !== "events")) {
      const real = path.replace("{job}", "2").replace("{stream}", "stdout");
      for (const method of ["GET", "HEAD"]) {
        const { status } = await app.ask(method, real);
        expect([200, 404, 405], `${method} ${id}`).toContain(status);
      }
    }
    expect([...app.service.entries.values()].map(({ info }) => info)).toEqual(before);
    expect(app.service.events).toHaveLength(events);
  });
});

describe("OpenAPI", () => {
  test("the document is valid by the schema of OpenAPI 3.1, its references resolve, and it names every route", async () => {
    const { status, json } = await app.ask("GET", "/openapi.json");
    expect(status).toBe(200);
    const validator = new Validator();
    const result = await validator.validate(structuredClone(json));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
    const references = [...JSON.stringify(json).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, kind = "", name = ""] of references) expect(json.components[kind]).toHaveProperty(name);
    const named = Object.values(json.paths).flatMap((path) =>
      Object.values(path as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(named.sort()).toEqual(ROUTES.map(({ id }) => id).sort());
  });

  test("the validator finds a broken document", async () => {
    const { json } = await app.ask("GET", "/openapi.json");
    delete json.paths["/v1/jobs"].get.responses;
    json.paths["/v1/jobs"].get.parameters[0].in = "nowhere";
    expect((await new Validator().validate(json)).valid).toBe(false);
  });
});

describe("description", () => {
  test("describes every route, loads nothing from elsewhere and allows no script", async () => {
    const { text, headers } = await app.ask("GET", "/api");
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    for (const { path, summary } of ROUTES) {
      expect(text).toContain(`<code>${path}</code>`);
      expect(text).toContain(summary.split("'")[0]);
    }
    expect(text).not.toMatch(/<script|\bon\w+=|https?:\/\/|@import|url\(/);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  test("names the fields of a body, which are required, and what each means", async () => {
    const { text } = await app.ask("GET", "/api");
    expect(text).toContain("<dt>jobs</dt><dd>Required. Either all jobs are accepted or none</dd>");
    expect(text).toMatch(/<dt>jobs\[\]\.command<\/dt><dd>Required\. Program and its arguments/);
    expect(text).toMatch(/<dt>jobs\[\]\.script\.base64<\/dt>/);
  });

  test("it and OpenAPI need no token and reveal nothing about this machine", async () => {
    await submit({ jobs: [someJob({ name: "hush" })] });
    for (const path of ["/api", "/openapi.json"]) {
      const request = new Request(`http://127.0.0.1:7448${path}`, { headers: { host: "127.0.0.1:7448" } });
      const response = await app.fetch(request);
      expect(response.status).toBe(200);
      expect(await response.text()).not.toContain("hush");
    }
  });
});

describe("users", () => {
  test("see their own jobs only; the administrator sees all", async () => {
    await submit({ jobs: [someJob({ name: "of-ada" })] }, ADA);
    await submit({ jobs: [someJob({ name: "of-bob" })] }, BOB);
    const names = async (as = OWNER) =>
      (await app.ask("GET", "/v1/jobs", { as })).json.jobs.map(({ name }: contract.Job) => name);
    expect(await names(ADA)).toEqual(["of-ada"]);
    expect(await names(BOB)).toEqual(["of-bob"]);
    expect(await names()).toEqual(["of-ada", "of-bob"]);
  });

  test("another user's job does not exist, for every route that names a job", async () => {
    await submit({ jobs: [someJob({ name: "of-ada" })] }, ADA);
    app.service.start(1, "secret");
    const routes = ROUTES.filter(({ path }) => path.includes("{job}"));
    expect(routes.length).toBeGreaterThan(6);
    const piece = { writer: "w", offset: 0 };
    for (const { method, path, body, id } of routes) {
      const bodies: Record<string, object> = { sendInput: piece, signal: { name: "SIGUSR1" } };
      const sent = bodies[id] ?? { priority: -1 };
      const { status, text } = await app.ask(
        method.toUpperCase(),
        path.replace("{job}", "1").replace("{stream}", "stdout"),
        { as: BOB, ...(body === undefined ? {} : { body: sent }) },
      );
      expect([404, 403], id).toContain(status);
      expect(text).not.toMatch(/secret|of-ada/);
    }
    expect(app.service.entries.get(1)!.info).toMatchObject({ state: "running", priority: 0 });
  });

  test("matrix, events and export do not show names of other users' jobs", async () => {
    await submit({ jobs: [someJob({ name: "of-ada" })] }, ADA);
    app.service.start(1);
    for (const path of [
      "/v1/matrix",
      "/v1/events",
      "/v1/export.swf",
      "/v1/export.jsonl",
      "/v1/jobs?last=5",
    ]) {
      const { text } = await app.ask("GET", path, { as: BOB, headers: { accept: "application/json" } });
      expect(text, path).not.toContain("of-ada");
    }
    expect((await app.ask("GET", "/v1/matrix", { as: ADA })).text).toContain("of-ada");
    expect((await app.ask("GET", "/v1/matrix", { as: BOB })).json.rows).toEqual([
      [{ job: 1, name: "", cpus: [0] }],
    ]);
  });

  test("a private socket proves its owner without a token; a shared one needs a token like HTTP", async () => {
    const request = () => new Request("http://localhost/v1/status", { headers: { host: "localhost" } });
    const own = await app.fetch(request(), "private-socket");
    expect(await own.json()).toMatchObject({ user: "root", isAdministrator: true });
    expect((await app.fetch(request(), "shared-socket")).status).toBe(401);
    const { json } = await app.ask("GET", "/v1/status", { as: ADA, transport: "shared-socket" });
    expect(json).toMatchObject({ user: "ada", isAdministrator: false });
  });
});

test("a list shows the beginning of a long command, a single job all of it", async () => {
  const command = ["sh", "x".repeat(990), "second".repeat(10), "third"];
  const { json } = await app.ask("POST", "/v1/jobs", { body: { jobs: [someJob({ command })] } });
  const cut = ["sh", "x".repeat(990), "secon…"];
  expect(json.jobs[0].command).toEqual(cut);
  expect((await app.ask("GET", "/v1/jobs")).json.jobs[0].command).toEqual(cut);
  expect((await app.ask("GET", "/v1/jobs/1")).json.job.command).toEqual(command);
});

test("a list shows the beginning of a long value", () => {
  const values = { short: "a", long: "x".repeat(201) };
  expect(brief({ command: ["sh"], values })).toEqual({
    command: ["sh"],
    values: { short: "a", long: `${"x".repeat(200)}…` },
  });
});

test("a wrong method is answered with the methods of the route", async () => {
  const { status, headers } = await app.ask("DELETE", "/v1/jobs/1");
  expect([status, headers.get("allow")]).toEqual([405, "GET, PATCH"]);
});
