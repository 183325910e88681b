/** Handles the requests of the page: its files, the link to it, its session, and the proof for it. */
import { unixMs } from "@tutti/host/clock.ts";
import { refuse } from "@tutti/protocol/refusal.ts";
import type { Call, HandlerDeps, Outcome } from "../call.ts";
import { callerOf } from "../guard.ts";
import { LINK_MS, linkTo } from "./links.ts";
import { newProofId, newSession, proofKeyOf, proofOf, sessionToken } from "./session-tokens.ts";
import { WEB_FILES } from "./web-files.ts";

/**
 * The page answers only as 127.0.0.1. A browser also looks for `localhost` at ::1, where another user may
 * listen: that user's page would have the same origin as ours, and could read our session.
 */
export function livePage({ request }: Call, { http, web }: HandlerDeps): Outcome {
  const address = http();
  if (address !== undefined && request.headers.get("host") !== new URL(address).host) {
    return new Response(null, { status: 307, headers: { location: address, "content-length": "0" } });
  }
  return web.files.page(request);
}

export function webFile({ request, file }: Call, { web }: HandlerDeps): Outcome {
  return (
    web.files.answer(Object.hasOwn(WEB_FILES, file) ? file : "", request) ??
    refuse("not-found", `Cannot find the file ${JSON.stringify(file)} of the page: there is no such file`)
  );
}

export function makeLink({ caller }: Call, { credentials, http, web }: HandlerDeps): Outcome {
  const address = http();
  if (address === undefined) {
    return refuse(
      "wrong-state",
      "Cannot make a link to the page: the scheduler was started with --no-http, so it serves no page; start it without that option",
    );
  }
  const id = newProofId();
  return {
    url: linkTo(address, web.links.make(caller.uid)),
    expiresAtMs: unixMs() + LINK_MS,
    id,
    proofKey: proofKeyOf(credentials.key, id),
  };
}

export function makeSession({ request, body }: Call, { credentials, http, web }: HandlerDeps): Outcome {
  const address = http();
  if (address === undefined || request.headers.get("host") !== new URL(address).host) {
    return refuse("forbidden", `Cannot begin a session here: the page is at ${address ?? "no address"}`);
  }
  const uid = web.links.use((body as { code: string }).code);
  const caller = uid === undefined ? undefined : callerOf(uid, credentials);
  if (caller === undefined) {
    return refuse(
      "no-token",
      "Cannot use this link: it was used already, is older than a minute, or is from before the scheduler's last start; run tutti web for a new one",
    );
  }
  const session = newSession(caller.uid);
  return {
    token: sessionToken(credentials.key, session),
    user: caller.user,
    isAdministrator: caller.isAdministrator,
    expiresAtMs: session.expiresAtMs,
    id: session.id,
    proofKey: proofKeyOf(credentials.key, session.id),
  };
}

/**
 * Only over the port that the proof is about. A container may have the socket but other ports: a process
 * there could listen on the same number and pass the question on to the socket.
 */
export function prove({ query, transport }: Call, { credentials }: HandlerDeps): Outcome {
  if (transport !== "http") {
    return refuse(
      "forbidden",
      "Cannot prove over a Unix socket who answers on the port: ask on the port itself, at http://127.0.0.1:PORT",
    );
  }
  const { id = "", nonce = "" } = query;
  return { proof: proofOf(proofKeyOf(credentials.key, id), nonce, credentials.port()) };
}
