/** Tests lists through the API: pages, filters, waiting for the jobs of a list, and batches. */

import { batchAnswer, jobsAnswer } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ADA, BOB, makeTestApp, OWNER, someJob, type TestApp } from "../app-for-tests.ts";

let app: TestApp;
beforeEach(() => {
  app = makeTestApp();
});
afterEach(() => {
  expect(app.bugs).toEqual([]);
  app.remove();
});

async function submitMany(count: number, as = ADA, more: object = {}): Promise<void> {
  for (let i = 0; i < count; i++) await app.service.submit(as, [someJob({ name: `job-${i}`, ...more })]);
}

const numbers = (jobs: readonly { job: number }[]) => jobs.map(({ job }) => job);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe("GET /v1/jobs", () => {
  test("without after, the list is complete, however long, as in the first release", async () => {
    await submitMany(2500);
    const { json, headers } = await app.ask("GET", "/v1/jobs", { as: ADA });
    expect(headers.get("content-type")).toBe("application/json");
    expect(Object.keys(jobsAnswer.parse(json))).toEqual(["schema", "jobs"]);
    expect(numbers(json.jobs)).toEqual(upTo(2500));
  });

  test("with after, pages have at most 1,000 jobs, and next while there are more", async () => {
    await submitMany(2100);
    const listed: number[] = [];
    let asked = 0;
    for (let after: number | undefined = 0; after !== undefined; asked++) {
      const { json } = await app.ask("GET", `/v1/jobs?after=${after}`, { as: ADA });
      listed.push(...numbers(jobsAnswer.parse(json).jobs));
      after = json.next;
    }
    expect([listed, asked]).toEqual([upTo(2100), 3]);
    const small = (await app.ask("GET", "/v1/jobs?after=7&limit=2", { as: ADA })).json;
    expect([numbers(small.jobs), small.next]).toEqual([[8, 9], 9]);
    const most = (await app.ask("GET", "/v1/jobs?after=0&limit=5000", { as: ADA })).json;
    expect([most.jobs.length, most.next]).toEqual([1000, 1000]);
    expect((await app.ask("GET", "/v1/jobs?after=2100", { as: ADA })).json).toEqual({
      schema: "tutti.jobs/1",
      jobs: [],
    });
  });

  test("numbers, name, queue and user search all kept jobs, but not other users' jobs", async () => {
    await submitMany(1200);
    for (const job of upTo(1100)) app.service.finish(job, job % 2);
    await submitMany(2, BOB, { queue: "short" });
    app.service.forgetJob(5);
    const ask = async (query: string, as = ADA) => (await app.ask("GET", `/v1/jobs?${query}`, { as })).json;
    const few = await ask("numbers=3-6,1199-1205");
    expect(numbers(few.jobs)).toEqual([3, 4, 6, 1199, 1200]);
    // Other users' jobs are neither missing nor listed.
    expect(few.missing).toEqual([
      { first: 5, last: 5, because: "forgotten" },
      { first: 1203, last: 1205, because: "not given" },
    ]);
    expect(numbers((await ask("name=job-10*&states=done")).jobs).at(0)).toBe(102);
    expect(numbers((await ask("queue=short", OWNER)).jobs)).toEqual([1201, 1202]);
    expect(numbers((await ask("user=bob", OWNER)).jobs)).toEqual([1201, 1202]);
    expect((await ask("user=bob")).jobs).toEqual([]);
    const last = await ask("after=0&limit=10&last=30");
    expect([numbers(last.jobs).at(0), last.jobs.length, last.next]).toEqual([1171, 10, 1180]);
  });

  test.each([
    ["limit=5", /Cannot use limit without after: expected both/],
    ["numbers=9-3", /numbers from 1, such as 3-9,12/],
    ["numbers=0", /numbers from 1, such as 3-9,12/],
    ["numbers=x", /list of job numbers/],
    ["last=5&name=x", /expected last alone/],
    ["after=-1", /whole number/],
    ["unknown=1", /expected one of states, last, after/],
  ])("%s is refused", async (query, words) => {
    const { status, json } = await app.ask("GET", `/v1/jobs?${query}`);
    expect([status, json.refused]).toEqual([400, "invalid"]);
    expect(json.message).toMatch(words);
  });

  test("wait answers as soon as a job matches, and ignores other jobs", async () => {
    await submitMany(4);
    const asked = app.ask("GET", "/v1/jobs?numbers=2-3&states=done,failed,cancelled&wait=60", { as: ADA });
    await vi.waitFor(() => expect(app.service.listenerCount).toBe(1), 120_000);
    app.service.finish(4);
    app.service.start(3);
    app.service.finish(3);
    expect(numbers((await asked).json.jobs)).toEqual([3]);
    expect(app.service.listenerCount).toBe(0);
    const nothing = await app.ask("GET", "/v1/jobs?numbers=2&states=done&wait=0", { as: ADA });
    expect(nothing.json.jobs).toEqual([]);
    // Does not wait for jobs that can never exist.
    const missing = await app.ask("GET", "/v1/jobs?numbers=77&states=done&wait=60", { as: ADA });
    expect(missing.json.missing).toEqual([{ first: 77, last: 77, because: "not given" }]);
  });
});

describe("POST /v1/batch", () => {
  const batch = (body: object, as = ADA) => app.ask("POST", "/v1/batch", { as, body });

  test("changes each independently: existing jobs of ranges, and all single numbers", async () => {
    await submitMany(4);
    await submitMany(1, BOB);
    app.service.finish(2);
    const { status, json } = await batch({ action: "hold", jobs: "1-9,5,2", states: ["queued"] });
    expect(status).toBe(200);
    expect(batchAnswer.parse(json).results).toMatchObject([
      { number: 1, job: { state: "held" } },
      { number: 2, refused: "wrong-state" },
      { number: 3, job: { state: "held" } },
      { number: 4, job: { state: "held" } },
      { number: 5, refused: "not-found" },
    ]);
    expect((await batch({ action: "release", jobs: "3" })).json.results).toMatchObject([
      { number: 3, job: { state: "queued" } },
    ]);
    expect((await batch({ action: "priority", jobs: "3", priority: -4 })).json.results).toMatchObject([
      { number: 3, job: { priority: -4 } },
    ]);
    expect(app.service.entries.get(5)!.info.state).toBe("queued");
  });

  test("cancels in reverse order, so that no job starts only because another was cancelled", async () => {
    await submitMany(700);
    const { json } = await batch({ action: "cancel", jobs: "1-700" });
    expect(json.results.map(({ number }: { number: number }) => number)).toEqual(upTo(700).reverse());
    expect([...app.service.entries.values()].every(({ info }) => info.state === "cancelled")).toBe(true);
  });

  test("more than 10,000 jobs, and wrong requests, are refused before anything is changed", async () => {
    await app.service.submit(
      ADA,
      Array.from({ length: 10_001 }, () => someJob({ held: true })),
    );
    const { status, json } = await batch({ action: "cancel", jobs: "1-10001" });
    expect([status, json.refused]).toEqual([413, "too-large"]);
    expect(app.service.entries.get(10_001)!.info.state).toBe("held");
    for (const body of [
      { action: "priority", jobs: "1" },
      { action: "kill", jobs: "1" },
      { action: "cancel", jobs: "" },
      { action: "cancel", jobs: "0" },
      { action: "cancel" },
    ])
      expect((await batch(body)).json.refused, JSON.stringify(body)).toBe("invalid");
  });

  test("stops when the client leaves: the remaining jobs are not changed", async () => {
    await submitMany(600);
    const left = new AbortController();
    const change = app.service.change.bind(app.service);
    vi.spyOn(app.service, "change").mockImplementation((...given) => {
      left.abort();
      return change(...given);
    });
    const request = new Request("http://127.0.0.1:7448/v1/batch", {
      method: "POST",
      headers: {
        host: "127.0.0.1:7448",
        authorization: `Bearer ${app.token(ADA)}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ action: "cancel", jobs: "1-600" }),
      signal: left.signal,
    });
    await app.fetch(request);
    const states = [...app.service.entries.values()].map(({ info }) => info.state);
    expect(states.filter((state) => state === "cancelled")).toHaveLength(250);
    expect(states.slice(0, 350).every((state) => state === "queued")).toBe(true);
  });
});
