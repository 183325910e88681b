/**
 * Fuzzes the API. Whatever it sends, answers must conform to the OpenAPI document, no status may be 500 or
 * above, and no request without a token may get in.
 */
import { readFileSync } from "node:fs";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import type { Where } from "../http.ts";
import type { Stage } from "../stage.ts";
import { ApiDocument } from "./document.ts";
import { type FuzzRequest, makeRequest } from "./requests.ts";
import { type Exchange, exchange, type WireAnswer } from "./wire.ts";

const AT_ONCE = 48;
/** Time to wait for an answer to a complete request, and to an incomplete one. */
const PATIENCE = { wholeMs: 20_000, brokenMs: 500 };
const MAX_RSS_BYTES = 400e6;
const PROGRESS = 5000;
/** Number of requests in the short form and in the long form. */
const COUNTS = { short: 2000, long: 50_000 };

async function fuzz(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  const accounts = stage.hasAccounts ? [stage.users.eve, stage.users.bob] : [];
  const scheduler = await stage.serve({ http: true, config: { keepJobs: 5000 } });
  const document = new ApiDocument((await scheduler.ask(undefined, "/openapi.json")).json);
  const tokens = [scheduler.token(), ...accounts.map((user) => scheduler.token(user))];
  const { port } = scheduler.port as { port: number };
  const doors: readonly { readonly where: Where; readonly host: string }[] = [
    { where: scheduler.where, host: "localhost" },
    { where: scheduler.port, host: `127.0.0.1:${port}` },
  ];
  const statuses = new Map<number, number>();
  const counts = { json: 0, silent: 0 };
  const total = stage.isShort ? COUNTS.short : COUNTS.long;
  let next = 0;
  let slowestMs = 0;
  const work = async () => {
    while (next < total) {
      const number = next++;
      if (number > 0 && number % PROGRESS === 0)
        stage.note(`     ${number} requests, the slowest ${Math.round(slowestMs)} ms`);
      const { where, host } = doors[number % doors.length];
      const request = makeRequest(document, { tokens, host }, stage.seed, number);
      const patienceMs = request.isHttp ? PATIENCE.wholeMs : PATIENCE.brokenMs;
      const fromMs = performance.now();
      const result = await exchange(where, request.bytes, request.method, patienceMs);
      slowestMs = Math.max(slowestMs, performance.now() - fromMs);
      for (const { status } of result.answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (result.answers.length === 0) counts.silent++;
      const wrong = problemOf(document, request, result, counts);
      tally.attempt(
        wrong &&
          `request ${number} of seed ${stage.seed}: ${wrong}: ${JSON.stringify(request.bytes.toString("latin1", 0, 300))}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { status } = await scheduler.ask(undefined, "/v1/status");
  tally.attempt(status !== 200 && `at the end, the request for the status is answered with ${status}`);
  const rssBytes = residentBytes(scheduler.frontEndPid);
  tally.attempt(rssBytes > MAX_RSS_BYTES && `the front end has ${Math.round(rssBytes / 1e6)} MB`);
  const list = [...statuses].sort(([a], [b]) => a - b).map(([code, n]) => `${code}: ${n}`);
  return tally.outcome(
    `${counts.json} JSON answers valid, ${counts.silent} without answer, ${Math.round(rssBytes / 1e6)} MB; ${list.join(", ")}`,
  );
}

/** Returns what is wrong with the answers, if anything. */
function problemOf(
  document: ApiDocument,
  request: FuzzRequest,
  { answers, rest, isClosed }: Exchange,
  counts: { json: number },
): string | undefined {
  // A server that could not read the head does not know that HEAD expects no body.
  const isUnread = request.method === "HEAD" && !request.isHttp;
  if (rest.length > 0 && !isUnread) return `not HTTP: ${JSON.stringify(rest.toString("latin1", 0, 100))}`;
  // A complete request must get an answer, and its connection must be closed as it asked.
  if (request.isHttp && answers.length === 0) return isClosed ? "closed without an answer" : "no answer";
  for (const answer of answers) {
    const wrong = problemOfAnswer(document, request, answer, counts);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function problemOfAnswer(
  document: ApiDocument,
  request: FuzzRequest,
  answer: WireAnswer,
  counts: { json: number },
): string | undefined {
  const { status, headers, body, isComplete } = answer;
  if (status >= 500) return `status ${status}: ${body.toString("utf8", 0, 200)}`;
  const operation = document.find(request.method, request.path);
  // Events never end, and a log that is followed ends only with its job.
  const isFollowed = /^GET [^ ]*[?&]follow=/.test(request.bytes.toString("latin1", 0, 1000));
  const isStream = /^text\/event-stream/.test(headers.get("content-type") ?? "") || isFollowed;
  if (!isComplete && !isStream && request.isHttp) return `status ${status} is cut off`;
  if (request.isHttp && !request.isAuthorised && status < 400 && operation?.isPublic !== true) {
    return `accepted with ${status} without a valid token`;
  }
  const isKnown = operation?.answers.has(status) || status === 206 || status === 304;
  if (request.isHttp && status < 400 && !isKnown) return `status ${status} is not documented`;
  if (
    !/^application\/json(?:;|$)/.test(headers.get("content-type") ?? "") ||
    request.method === "HEAD" ||
    !isComplete
  ) {
    return undefined;
  }
  let json: unknown;
  try {
    json = JSON.parse(body.toString("utf8"));
  } catch (error) {
    return `status ${status} with invalid JSON: ${(error as Error).message}`;
  }
  counts.json++;
  const validate = status >= 400 ? document.refusal : operation?.answers.get(status);
  // For several requests at once, it is not known which of them was answered.
  if (validate === undefined || (!request.isHttp && status < 400)) return undefined;
  if (validate(json)) return undefined;
  return `status ${status}, not as documented: ${JSON.stringify(validate.errors?.slice(0, 2))}`;
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

export const FUZZ: readonly Attack[] = [
  {
    name: "fuzz",
    finding: "fuzz",
    about: `${COUNTS.long} requests (${COUNTS.short} in the short form) by OpenAPI, mutated, over socket and loopback`,
    needs: "users",
    run: fuzz,
  },
];
