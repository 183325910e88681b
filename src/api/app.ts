/** The API as one function from request to response: door, route, checked parts, handler, answer. It knows of no socket. */
import { Hono } from "hono";
import type { Caller } from "../daemon/service.ts";
import { readBody, readQuery } from "./body.ts";
import { authenticate, checkOrigin, type Door, type Transport } from "./guard.ts";
import { HANDLERS, type Outcome, type Surroundings } from "./handlers.ts";
import { Load, untilRead } from "./load.ts";
import type { RequestCount } from "./metrics-text.ts";
import { type ApiRefusal, isRefusal, refusalResponse } from "./refusal.ts";
import { ROUTES, type Route } from "./routes.ts";

export interface AppSetup extends Omit<Surroundings, "requests" | "http"> {
  readonly door: Door;
  /** Told of every error that is a bug of ours. */
  readonly onBug: (error: unknown) => void;
}

/** Answers a request that came in by a transport. */
export type App = (request: Request, transport: Transport) => Promise<Response>;

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
  const around: Surroundings = {
    ...setup,
    requests: () => [...counts.values()],
    http: () => (door.port() === undefined ? undefined : `http://127.0.0.1:${door.port()}/`),
  };
  const router = new Hono<{ Bindings: { transport: Transport } }>();
  for (const route of ROUTES) {
    router.on(route.method.toUpperCase(), route.path.replaceAll(/\{(\w+)\}/g, ":$1"), async (context) => {
      const request = context.req.raw;
      const caller = route.isPublic ? door.owner : authenticate(request, context.env.transport, door);
      if (isRefusal(caller)) return count(counts, route, refusalResponse(caller));
      const release = load.take(caller, request, route.id === "whatIf");
      if (isRefusal(release)) return count(counts, route, refusalResponse(release));
      try {
        const outcome = await answer(route, request, context.req.param(), caller, around);
        return untilRead(count(counts, route, finished(route, outcome)), request, release);
      } catch (error) {
        release();
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
  return async (request, transport) => {
    const refusal = checkOrigin(request, transport, door);
    const response =
      refusal === undefined ? await router.fetch(request, { transport }) : refusalResponse(refusal);
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
  around: Surroundings,
): Promise<Outcome> {
  const { job = "1", stream = "stdout" } = parameters;
  if (!/^[1-9]\d{0,14}$/.test(job)) {
    return { refused: "not-found", message: `Cannot find job ${JSON.stringify(job)}: expected its number` };
  }
  if (stream !== "stdout" && stream !== "stderr") {
    return {
      refused: "not-found",
      message: `Cannot find the log ${JSON.stringify(stream)}: expected stdout or stderr`,
    };
  }
  const query = readQuery(new URL(request.url), route.query ?? {});
  if (isRefusal(query)) return query;
  const body = route.body === undefined ? undefined : await readBody(request, route.body);
  if (isRefusal(body)) return body;
  return HANDLERS[route.id]!({ caller, request, job: Number(job), stream, query, body }, around);
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
