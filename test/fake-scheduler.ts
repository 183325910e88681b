/**
 * A scheduler that only answers: the page's files, as many jobs as wanted, and a stream of events. Tests with
 * a clock of their own and benchmarks of long lists need no real jobs.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { holds, mergeRanges, parseRanges } from "@tutti/kernel/core/number-ranges.ts";
import type { AllocationsAnswer, Job, StatusAnswer } from "@tutti/protocol/answers.ts";
import { JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { buildLivePage, type PageFiles } from "../scripts/build-web.ts";

const KEY = Buffer.alloc(32, 1).toString("base64url");
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
};
const PAGE_JOBS = 1000;

export class FakeScheduler {
  readonly jobs = new Map<number, Job>();
  /** Parts of the answer about the scheduler that a test sets. */
  facts: Partial<StatusAnswer> = {};
  /** Undefined: it does not run on Slurm. */
  allocations: Omit<AllocationsAnswer, "schema"> | undefined;
  /** All requests so far. */
  requests = 0;
  readonly #files: PageFiles;
  readonly #server: Server;
  readonly #streams = new Set<ServerResponse>();
  #sequence = 0;

  private constructor(files: PageFiles) {
    this.#files = files;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<FakeScheduler> {
    const fake = new FakeScheduler(await buildLivePage());
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Streams of events that are open. */
  get followers(): number {
    return this.#streams.size;
  }

  /** A script that gives the page its session before it starts. */
  get sessionScript(): string {
    const session = {
      token: "page.fake",
      user: "ada",
      isAdministrator: true,
      expiresAtMs: 9e15,
      id: "x".repeat(22),
      proofKey: KEY,
    };
    // Blank pages have no storage.
    return `if (location.protocol === "http:")
      sessionStorage.setItem("tutti.session", ${JSON.stringify(JSON.stringify(session))});`;
  }

  put(job: Partial<Job> & { readonly job: number }): void {
    this.jobs.set(job.job, {
      name: "sim",
      user: "ada",
      queue: "default",
      state: "queued",
      tasks: 1,
      priority: 0,
      command: ["./sim"],
      cwd: "/home/ada",
      attempt: 0,
      submittedAtMs: 1_790_000_000_000,
      ranMs: 0,
      stdout: "",
      stderr: "",
      cpus: [],
      after: [],
      ...this.jobs.get(job.job),
      ...job,
    });
  }

  /** Sends an event about a job to all followers. */
  emit(kind: string, job: number): void {
    const event = { sequence: ++this.#sequence, atMs: Date.now(), kind, job };
    const text = `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`;
    for (const stream of this.#streams) stream.write(text);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests++;
    const url = new URL(request.url ?? "/", this.address);
    const file = url.pathname === "/" ? "live.html" : /^\/web\/([\w.]+)$/.exec(url.pathname)?.[1];
    if (file !== undefined) {
      const type = TYPES[file.slice(file.lastIndexOf(".") + 1)] ?? "text/plain";
      response.writeHead(200, { "content-type": type }).end(this.#files.get(file) ?? "");
      return;
    }
    if (url.pathname === "/v1/events" && request.headers.accept === "text/event-stream") {
      this.#streams.add(response);
      response.on("close", () => this.#streams.delete(response));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: tutti events\nretry: 1000\nid: ${this.#sequence}\n\n`);
      return;
    }
    const answer = this.#json(url);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer ?? { refused: "not-found", message: `Cannot find ${url.pathname}` }));
  }

  #json({ pathname, searchParams, port }: URL): object | undefined {
    if (pathname === "/v1/web/proof") {
      const text = `tutti on port ${port} of 127.0.0.1: ${searchParams.get("nonce")}`;
      const hmac = createHmac("sha256", Buffer.from(KEY, "base64url"));
      return { proof: hmac.update(text).digest("base64url") };
    }
    if (pathname === "/v1/status") return this.#status();
    if (pathname === "/v1/matrix") return MATRIX;
    if (pathname === "/v1/events") return { events: [] };
    if (pathname === "/v1/allocations") return this.allocations;
    if (pathname === "/v1/queues")
      return { queues: [{ name: "default", queued: this.jobs.size, running: 0, mostCpus: 8 }] };
    if (pathname === "/v1/jobs") return this.#page(searchParams);
    const job = this.jobs.get(Number(/^\/v1\/jobs\/(\d+)/.exec(pathname)?.[1]));
    if (job === undefined) return undefined;
    if (!pathname.endsWith("/why")) return { job };
    const { state, tasks } = job;
    return { job: job.job, state, waitedMs: 1, tasks, freeCpus: 0, queuedBefore: 0, obstacles: [] };
  }

  #status(): object {
    const counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
    for (const { state } of this.jobs.values()) counts[state]++;
    return {
      version: "0",
      user: "ada",
      isAdministrator: true,
      startedAtMs: 1,
      cpus: 8,
      busyCpus: 0,
      counts,
      conductor: { connected: true },
      residentBytes: 1e8,
      web: { submit: false },
      ...this.facts,
    };
  }

  #page(query: URLSearchParams): object {
    const numbers = parseRanges(query.get("numbers") ?? "");
    const after = Number(query.get("after"));
    const merged = numbers === undefined ? undefined : mergeRanges(numbers);
    const all = [...this.jobs.values()].filter(
      ({ job }) => job > after && (merged === undefined || holds(merged, job)),
    );
    const jobs = all.slice(0, PAGE_JOBS);
    const last = jobs.at(-1)?.job;
    return { jobs, ...(all.length > jobs.length && last !== undefined && { next: last }) };
  }
}

const MATRIX = {
  sequence: 1,
  policy: "gang",
  sharing: "time",
  slotMs: 100,
  mode: "gang",
  cpus: [0, 1, 2, 3, 4, 5, 6, 7],
  epochMs: 0,
  nowMs: 0,
  rows: [],
};
