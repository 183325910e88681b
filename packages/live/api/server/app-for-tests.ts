/** Builds the API over a service in memory. Tests call it without a socket. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Caller } from "../../daemon/contract/service.ts";
import { WholeAnswer } from "./answers/whole-answer.ts";
import { makeApp } from "./app.ts";
import { FakeService } from "./fake-service-for-tests.ts";
import type { Transport } from "./guard.ts";
import { makeToken } from "./tokens.ts";
import { Links } from "./web/links.ts";
import { WebFiles } from "./web/web-files.ts";

export const OWNER: Caller = { uid: 0, user: "root", isAdministrator: true };
export const ADA: Caller = { uid: 1001, user: "ada", isAdministrator: false };
export const BOB: Caller = { uid: 1002, user: "bob", isAdministrator: false };
const PORT = 7448;
const USERS = new Map([OWNER, ADA, BOB].map(({ uid, user }) => [uid, user]));
const KEY = Buffer.alloc(32, 7);

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by many tests
  readonly json: any;
}

export interface TestApp {
  readonly service: FakeService;
  readonly jobsFolder: string;
  readonly bugs: unknown[];
  /** The clock of links to the page. */
  readonly clock: { nowMs: number };
  readonly token: (caller: Caller) => string;
  /** Sends a request as a user over HTTP, with the token and a valid Host. */
  ask(method: string, path: string, options?: AskOptions): Promise<Asked>;
  /** @param onceClosed receives what to call when the answer is sent; left out: never called */
  fetch(request: Request, transport?: Transport, onceClosed?: (then: () => void) => void): Promise<Response>;
  remove(): void;
}

export interface AskOptions {
  readonly as?: Caller;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly transport?: Transport;
}

export interface TestAppOptions {
  readonly maySubmit?: boolean;
  /** Files of the page, by name. */
  readonly webFiles?: Readonly<Record<string, string>>;
  readonly port?: number | undefined;
}

export function makeTestApp({ maySubmit = false, webFiles = {}, ...rest }: TestAppOptions = {}): TestApp {
  const port = "port" in rest ? rest.port : PORT;
  const folder = mkdtempSync(join(tmpdir(), "tutti-api-"));
  const jobsFolder = join(folder, "jobs");
  const service = new FakeService(jobsFolder);
  const bugs: unknown[] = [];
  const links = new Links(() => clock.nowMs);
  const clock = { nowMs: 0 };
  const webFolder = join(folder, "web");
  mkdirSync(webFolder);
  for (const [name, text] of Object.entries(webFiles)) writeFileSync(join(webFolder, name), text);
  const app = makeApp({
    service,
    version: "1.2.3",
    jobsFolder,
    credentials: { key: KEY, owner: OWNER, userOf: (uid) => USERS.get(uid), port: () => port },
    web: { files: new WebFiles(pathToFileURL(`${webFolder}/`)), links, maySubmit },
    onBug: (error) => bugs.push(error),
  });
  const token = (caller: Caller) => makeToken(KEY, caller.uid);
  const fetch: TestApp["fetch"] = async (request, transport = "http", onceClosed) => {
    const answer = await app(request, {
      transport,
      isGone: () => request.signal.aborted,
      ...(onceClosed !== undefined && { onceClosed }),
    });
    return answer instanceof WholeAnswer ? answer.toResponse() : answer;
  };
  return {
    service,
    jobsFolder,
    bugs,
    clock,
    token,
    fetch,
    async ask(method, path, { as = OWNER, body, headers = {}, transport = "http" } = {}) {
      const host = transport === "http" ? `127.0.0.1:${PORT}` : "localhost";
      const request = new Request(`http://${host}${path}`, {
        method,
        headers: {
          host,
          authorization: `Bearer ${token(as)}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const response = await fetch(request, transport);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parsed(text) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A small valid job. */
export function someJob(more: object = {}) {
  return { command: ["true"], cwd: "/", env: { HOME: "/root" }, ...more };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
