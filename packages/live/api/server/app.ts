/** Turns a request into a response, without sockets: guard, route, checks, handler, answer. */

import { StorageError } from "@tutti/kernel/core/errors.ts";
import { isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import { Hono } from "hono";
import type { Caller } from "../../daemon/contract/service.ts";
import { DamagedStoreError } from "../../daemon/store/store-error.ts";
import { ROUTES, type Route } from "../contract/routes.ts";
import { BugLog } from "./answers/bug-log.ts";
import type { RequestCount } from "./answers/metrics-text.ts";
import { watched } from "./answers/watched-answer.ts";
import { WholeAnswer } from "./answers/whole-answer.ts";
import type { Call, HandlerDeps, Outcome, Web } from "./call.ts";
import { RequestQuota, type Ticket } from "./fairness/request-quota.ts";
import { ClientLeft, FairLine, RequestScheduler, type RequestTurns } from "./fairness/request-scheduler.ts";
import { authenticate, type Credentials, checkOrigin, type Entrance, type Sender } from "./guard.ts";
import { HANDLERS } from "./handlers.ts";
import { type ApiRefusal, refusalResponse } from "./refusal.ts";
import { readBody, readBytes, readQuery } from "./requests/body.ts";
import { FolderChecks } from "./requests/folder-checks.ts";

export interface AppSetup
  extends Omit<HandlerDeps, "requests" | "http" | "forecasts" | "eventStreams" | "folders"> {
  /** Receives every error that is a bug in Tutti. */
  readonly onBug: (error: unknown) => void;
}

/** How a request came in, and whether its client still waits for the answer. */
interface Arrival extends Entrance {
  /** Whether the client has closed the connection. */
  readonly isGone: () => boolean;
  /**
   * Calls `then` when the last byte is sent or the connection is closed. Left out: these moments are unknown.
   */
  readonly onceClosed?: (then: () => void) => void;
  /** Closes the connection in the middle of an answer. Left out: there is none. */
  readonly cut?: () => void;
  /** Called when a request has proven the user of the connection. Refuses if that user has too many. */
  readonly identified?: (caller: Caller) => ApiRefusal | undefined;
}

/** Answers a request. */
export type App = (request: Request, arrival: Arrival) => Promise<Response | WholeAnswer>;

/** Status of an answer that nobody reads, because the client has left. */
const UNREAD = 499;
/** The sender of public requests: all requests without a token share one turn. */
const STRANGER: Sender = { caller: { uid: -1, user: "unknown", isAdministrator: false }, isPage: false };
/**
 * The senders of public requests that the page needs: sessions and proofs, and the files of the page. Each
 * kind has its own quota and leaves it when it is answered. Their unread answers take little memory, since
 * files are shared; so only the limit on connections counts them. Otherwise, answers that strangers do not
 * read would keep people from the page.
 */
const VISITOR: Sender = { caller: { ...STRANGER.caller, uid: -2 }, isPage: false };
const READER: Sender = { caller: { ...STRANGER.caller, uid: -3 }, isPage: false };
const PUBLIC_SENDERS: ReadonlyMap<string, Sender> = new Map([
  ["makeSession", VISITOR],
  ["prove", VISITOR],
  ["page", READER],
  ["webFile", READER],
]);
/**
 * Requests that count as several requests. Forecasts are made one at a time and take about a second each: a
 * long series would block other users. A follower receives every event, or polls a file ten times a second.
 */
const FORECAST_WEIGHT = 128;
const TIMELINE_WEIGHT = 32;
const FOLLOWER_WEIGHT = 4;
/** Body of a request that needs no token. */
const MAX_PUBLIC_BODY_BYTES = 1024;

/** Headers of every answer. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export function makeApp(setup: AppSetup): App {
  const { credentials } = setup;
  const counts = new Map<string, RequestCount>();
  const quota = new RequestQuota();
  const bugs = new BugLog(setup.onBug);
  const scheduler = new RequestScheduler();
  const deps: HandlerDeps = {
    ...setup,
    forecasts: new FairLine(),
    eventStreams: { count: 0 },
    folders: new FolderChecks(),
    requests: () => [...counts.values()],
    http: () => (credentials.port() === undefined ? undefined : `http://127.0.0.1:${credentials.port()}/`),
  };
  /** The answer of a route. */
  const respond = async (
    route: Route,
    request: Request,
    parameters: Admitted["parameters"],
    arrival: Arrival,
  ): Promise<Response | WholeAnswer> => {
    const sender = route.isPublic ? publicSenderOf(route) : authenticate(request, arrival, credentials);
    if (isRefusal(sender)) return refusalResponse(sender);
    const { caller } = sender;
    const onBug = (error: unknown) => bugs.note(caller.uid, error);
    const entry = route.isPublic ? undefined : arrival.identified?.(caller);
    if (isRefusal(entry)) return lastAnswer(entry);
    const barred = refusalOfPage(route, sender, deps.web);
    if (barred !== undefined) return refusalResponse(barred);
    const received = route.isPublic && route.body !== undefined ? await withBody(request) : request;
    if (isRefusal(received)) return lastAnswer(received);
    const ticket = quota.take(caller, received, weightOf(route, received));
    if (isRefusal(ticket)) return refusalResponse(ticket);
    const turns = scheduler.turnsOf(caller.uid, arrival.isGone);
    const release = releaser(ticket, sender === VISITOR || sender === READER ? {} : arrival);
    try {
      const made = await answer(
        { route, request: received, parameters, caller, turns, ticket, arrival },
        deps,
      );
      if (made instanceof WholeAnswer && request.method !== "HEAD") {
        release();
        return made;
      }
      const response = made instanceof WholeAnswer ? made.toResponse() : made;
      if (!response.headers.has("content-length") || request.method === "HEAD") {
        return watched(response, request, ticket, onBug, release, arrival.cut);
      }
      release();
      return response;
    } catch (error) {
      release();
      if (error instanceof ClientLeft) return new Response(null, { status: UNREAD });
      return failure(error, onBug);
    }
  };
  const router = new Hono<{ Bindings: Arrival }>();
  for (const route of ROUTES) {
    router.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const response = await respond(route, context.req.raw, context.req.param(), context.env);
      const key = `${route.id} ${response.status}`;
      const before = counts.get(key)?.count ?? 0;
      counts.set(key, { route: route.id, status: response.status, count: before + 1 });
      // Hono passes on whatever a handler returns.
      return response as Response;
    });
  }
  router.notFound((context) => refusalResponse(unknownRoute(context.req.raw, context.env, credentials)));
  router.onError((error) => failure(error, (bug) => bugs.note(STRANGER.caller.uid, bug)));
  return async (request, arrival) => {
    const refusal = checkOrigin(request, arrival.transport, credentials);
    const response: Response | WholeAnswer =
      refusal === undefined ? await router.fetch(request, arrival) : refusalResponse(refusal);
    if (response instanceof WholeAnswer) return response;
    for (const [name, value] of Object.entries(SAFE_HEADERS)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  };
}

/** The answer to a request that has failed. */
function failure(error: unknown, onBug: (error: unknown) => void): Response {
  if (error instanceof StorageError || error instanceof DamagedStoreError) {
    return refusalResponse(refuse("unavailable", `${error.message}. Running jobs continue`));
  }
  onBug(error);
  return refusalResponse(
    refuse(
      "failed",
      "Cannot answer: this is a bug in tutti; the scheduler's log has the details, please report it",
    ),
  );
}

/** An admitted request. */
interface Admitted {
  readonly route: Route;
  readonly request: Request;
  readonly parameters: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly turns: RequestTurns;
  readonly ticket: Ticket;
  readonly arrival: Arrival;
}

async function answer(admitted: Admitted, deps: HandlerDeps): Promise<Response | WholeAnswer> {
  const { route, request, parameters, caller, turns, ticket, arrival } = admitted;
  const { job = "1", stream = "stdout", file = "", window = "" } = parameters;
  if (!/^[1-9]\d{0,14}$/.test(job)) {
    return refusalResponse(
      refuse("not-found", `Cannot find job ${JSON.stringify(job)}: expected the number of a job`),
    );
  }
  if (stream !== "stdout" && stream !== "stderr") {
    return refusalResponse(
      refuse("not-found", `Cannot find the log ${JSON.stringify(stream)}: expected stdout or stderr`),
    );
  }
  const query = readQuery(new URL(request.url), route.query ?? {});
  if (isRefusal(query)) return refusalResponse(query);
  const body = route.body === undefined ? undefined : await readBody(request, route.body, turns);
  if (isRefusal(body)) return refusalResponse(body);
  const { transport } = arrival;
  const named = { job: Number(job), stream, file, window } as const;
  const call: Call = { caller, request, transport, ...named, query, body, turns };
  const finish = (outcome: Outcome) => finished(route, outcome, ticket);
  // If a handler does not wait, it runs and its answer is made in one piece.
  const result = await turns.run(() => {
    const outcome = ticket.refusal() ?? HANDLERS[route.id](call, deps);
    return outcome instanceof Promise ? { outcome } : { response: finish(outcome) };
  });
  if (result.response !== undefined) return result.response;
  const outcome = await result.outcome;
  if (outcome instanceof Response) return outcome;
  await ticket.room(arrival.isGone);
  return turns.run(() => finish(outcome));
}

function finished({ answer }: Route, outcome: Outcome, ticket: Ticket): Response | WholeAnswer {
  if (outcome instanceof Response) return outcome;
  if (isRefusal(outcome)) return refusalResponse(outcome);
  if (answer.kind === "text") throw new Error("Broken invariant: a route of text gave an object");
  const text = JSON.stringify({ schema: schemaName(answer.schema), ...outcome });
  const bytes = Buffer.byteLength(text);
  ticket.count(bytes);
  const headers = { ...SAFE_HEADERS, "content-type": "application/json", "content-length": String(bytes) };
  return new WholeAnswer(answer.status, headers, text);
}

/**
 * A request of a stranger with its whole body. Until then it takes nothing from the quota of strangers, so
 * bodies that never arrive cost others nothing; the limit on connections limits them.
 */
async function withBody(request: Request): Promise<Request | ApiRefusal> {
  const bytes = await readBytes(request, MAX_PUBLIC_BODY_BYTES);
  if (isRefusal(bytes)) return bytes;
  const { url, method, headers } = request;
  return new Request(url, { method, headers, body: bytes });
}

function publicSenderOf({ id }: Route): Sender {
  return PUBLIC_SENDERS.get(id) ?? STRANGER;
}

/** A refusal if the request comes from the page, and the page may not make it. */
function refusalOfPage({ fromPage }: Route, { isPage }: Sender, { maySubmit }: Web): ApiRefusal | undefined {
  if (!isPage || fromPage === undefined) return undefined;
  const { action, command, unless } = fromPage;
  if (unless === undefined) {
    return refuse("forbidden", `Cannot ${action} from the page: it may never do that; use ${command}`);
  }
  return maySubmit
    ? undefined
    : refuse(
        "forbidden",
        `Cannot ${action} from the page: the setting ${unless} is false; use ${command}, or ask the administrator to set ${unless} = true in the configuration of tutti serve`,
      );
}

/** A refusal that closes the connection. */
function lastAnswer(refusal: ApiRefusal): Response {
  return refusalResponse({ ...refusal, headers: { connection: "close" } });
}

function weightOf({ id }: Route, { url }: Request): number {
  if (id === "whatIf") return FORECAST_WEIGHT;
  if (id === "timeline") return TIMELINE_WEIGHT;
  return id === "events" || (id === "logs" && url.includes("follow=")) ? FOLLOWER_WEIGHT : 1;
}

/** Releases a ticket once this function was called and the answer is sent (if the arrival reports that). */
function releaser(ticket: Ticket, { onceClosed }: Pick<Arrival, "onceClosed">): () => void {
  let isAnswered = false;
  let isClosed = onceClosed === undefined;
  const releaseIfBoth = () => {
    if (isAnswered && isClosed) ticket.release();
  };
  onceClosed?.(() => {
    isClosed = true;
    releaseIfBoth();
  });
  return () => {
    isAnswered = true;
    releaseIfBoth();
  };
}

/** The literal that an answer's schema requires, such as `tutti.jobs/1`. */
function schemaName(schema: unknown): string {
  return (schema as { shape: { schema: { value: string } } }).shape.schema.value;
}

function unknownRoute(request: Request, arrival: Arrival, credentials: Credentials): ApiRefusal {
  const caller = authenticate(request, arrival, credentials);
  if (isRefusal(caller)) return caller;
  const { pathname } = new URL(request.url);
  const allowed = ROUTES.filter(({ path }) =>
    new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  ).map(({ method }) => method.toUpperCase());
  return allowed.length === 0
    ? refuse(
        "not-found",
        `Cannot find ${JSON.stringify(pathname)}: there is no such route; /api lists all routes`,
      )
    : {
        refused: "invalid",
        status: 405,
        message: `Cannot ${request.method} ${pathname}: expected ${allowed.join(" or ")}`,
        headers: { allow: allowed.join(", ") },
      };
}
