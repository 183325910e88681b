/** The API as one function from request to response: door, route, checked parts, handler, answer. It knows of no socket. */
import { Hono } from "hono";
import type { Caller } from "../daemon/service.ts";
import { readBody, readQuery } from "./body.ts";
import { ClientLeft, FairGate, type Turns } from "./fair-gate.ts";
import { authenticate, checkOrigin, type Door, type Transport } from "./guard.ts";
import { type Call, HANDLERS, type Outcome, type Surroundings } from "./handlers.ts";
import { Load, untilRead } from "./load.ts";
import type { RequestCount } from "./metrics-text.ts";
import { type ApiRefusal, isRefusal, refusalResponse } from "./refusal.ts";
import { ROUTES, type Route } from "./routes.ts";

export interface AppSetup extends Omit<Surroundings, "requests" | "http"> {
  readonly door: Door;
  /** Told of every error that is a bug of ours. */
  readonly onBug: (error: unknown) => void;
}

/** How a request came in, and whether somebody still waits for its answer. */
export interface Arrival {
  readonly transport: Transport;
  /** Whether the client has closed the connection. */
  readonly isGone: () => boolean;
}

/** Answers a request. */
export type App = (request: Request, arrival: Arrival) => Promise<Response>;

/** Nobody reads it: the client has left. */
const UNREAD = 499;
/** For whom public pages are made: a user whom nobody is, so that requests without a token have one turn for all of them. */
const NOBODY = -1;

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

export function makeApp(setup: AppSetup): App {
  const { door } = setup;
  const counts = new Map<string, RequestCount>();
  const load = new Load();
  const gate = new FairGate();
  const around: Surroundings = {
    ...setup,
    requests: () => [...counts.values()],
    http: () => (door.port() === undefined ? undefined : `http://127.0.0.1:${door.port()}/`),
  };
  const router = new Hono<{ Bindings: Arrival }>();
  for (const route of ROUTES) {
    router.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const request = context.req.raw;
      const caller = route.isPublic ? door.owner : authenticate(request, context.env.transport, door);
      if (isRefusal(caller)) return count(counts, route, refusalResponse(caller));
      const release = load.take(caller, request, route.id === "whatIf");
      if (isRefusal(release)) return count(counts, route, refusalResponse(release));
      const turns = gate.turnsOf(route.isPublic ? NOBODY : caller.uid, context.env.isGone);
      try {
        const response = await answer(route, request, context.req.param(), caller, turns, around);
        return untilRead(count(counts, route, response), request, release);
      } catch (error) {
        release();
        if (error instanceof ClientLeft) return count(counts, route, new Response(null, { status: UNREAD }));
        throw error;
      }
    });
  }
  router.notFound((context) => refusalResponse(unknownRoute(context.req.raw, context.env.transport, door)));
  router.onError((error) => {
    setup.onBug(error);
    return refusalResponse({
      refused: "failed",
      message: "Cannot answer: this is a bug in tutti, please report it; its log has the details",
    });
  });
  return async (request, arrival) => {
    const refusal = checkOrigin(request, arrival.transport, door);
    const response = refusal === undefined ? await router.fetch(request, arrival) : refusalResponse(refusal);
    for (const [name, value] of Object.entries(SAFE_HEADERS)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  };
}

async function answer(
  route: Route,
  request: Request,
  parameters: Readonly<Record<string, string>>,
  caller: Caller,
  turns: Turns,
  around: Surroundings,
): Promise<Response> {
  const { job = "1", stream = "stdout" } = parameters;
  if (!/^[1-9]\d{0,14}$/.test(job)) {
    return refusalResponse({
      refused: "not-found",
      message: `Cannot find job ${JSON.stringify(job)}: expected its number`,
    });
  }
  if (stream !== "stdout" && stream !== "stderr") {
    return refusalResponse({
      refused: "not-found",
      message: `Cannot find the log ${JSON.stringify(stream)}: expected stdout or stderr`,
    });
  }
  const query = readQuery(new URL(request.url), route.query ?? {});
  if (isRefusal(query)) return refusalResponse(query);
  const body = route.body === undefined ? undefined : await readBody(request, route.body, turns);
  if (isRefusal(body)) return refusalResponse(body);
  const call: Call = { caller, request, job: Number(job), stream, query, body, turns };
  // What needs no wait is done, and made an answer, in one piece.
  const made = await turns.run(() => {
    const outcome = HANDLERS[route.id]!(call, around);
    return outcome instanceof Promise ? { outcome } : { response: finished(route, outcome) };
  });
  if (made.response !== undefined) return made.response;
  const outcome = await made.outcome;
  return outcome instanceof Response ? outcome : turns.run(() => finished(route, outcome));
}

function finished({ answer }: Route, outcome: Outcome): Response {
  if (outcome instanceof Response) return outcome;
  if (isRefusal(outcome)) return refusalResponse(outcome);
  if (answer.kind === "text") throw new Error("Broken invariant: a route of text gave an object");
  return Response.json({ schema: schemaName(answer.schema), ...outcome }, { status: answer.status });
}

/** The literal that a schema of an answer demands, such as `tutti.jobs/1`. */
function schemaName(schema: unknown): string {
  return (schema as { shape: { schema: { value: string } } }).shape.schema.value;
}

function unknownRoute(request: Request, transport: Transport, door: Door): ApiRefusal {
  const caller = authenticate(request, transport, door);
  if (isRefusal(caller)) return caller;
  const { pathname } = new URL(request.url);
  const allowed = ROUTES.filter(({ path }) =>
    new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  ).map(({ method }) => method.toUpperCase());
  return allowed.length === 0
    ? {
        refused: "not-found",
        message: `Cannot find ${JSON.stringify(pathname)}: see / for what there is`,
      }
    : {
        refused: "invalid",
        status: 405,
        message: `Cannot ${request.method} ${pathname}: expected ${allowed.join(" or ")}`,
        headers: { allow: allowed.join(", ") },
      };
}

function count(counts: Map<string, RequestCount>, { id }: Route, response: Response): Response {
  const key = `${id} ${response.status}`;
  const before = counts.get(key)?.count ?? 0;
  counts.set(key, { route: id, status: response.status, count: before + 1 });
  return response;
}
