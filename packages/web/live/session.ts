/**
 * The session of this tab. `tutti web` prints a link with a one-time code in its fragment; the page exchanges
 * the code for a token. There is no cookie: cookies ignore ports, and on 127.0.0.1 any user may listen on
 * another one.
 */
import { signal } from "@preact/signals";
import { readAddress } from "../page/navigation.ts";

export interface Session {
  readonly token: string;
  readonly user: string;
  readonly isAdministrator: boolean;
  readonly expiresAtMs: number;
  /** Names the session when the scheduler has to prove that it began it. */
  readonly id: string;
  /** Key of these proofs; never sent. */
  readonly proofKey: string;
}

/** Undefined: nobody has identified themselves yet. */
export const session = signal<Session | undefined>(undefined);
/** Why there is no session, in words. */
export const sessionProblem = signal("");

const KEY = "tutti.session";
const CODE = /^#login=([\w-]{1,100})$/;

/** Takes the code out of the address before anything else happens, so that it is in no history. */
export function takeCode(): string | undefined {
  const code = CODE.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, "", "#/");
    readAddress();
  }
  return code;
}

/** Exchanges a code for a session. @throws Error with the server's words */
export async function exchange(code: string): Promise<Session> {
  const answer = await fetch("/v1/web/sessions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(String(content.message ?? answer.statusText));
  return pick(content);
}

/** The session that this tab has kept over a reload. */
export function storedSession(): Session | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return kept !== null && typeof kept.proofKey === "string" && kept.expiresAtMs > Date.now()
      ? pick(kept)
      : undefined;
  } catch {
    return undefined;
  }
}

export function keepSession(next: Session): void {
  sessionStorage.setItem(KEY, JSON.stringify(next));
  sessionProblem.value = "";
  session.value = next;
}

/** Ends the session of this tab, because the server no longer accepts it or the user asked for it. */
export function dropSession(because: string): void {
  sessionStorage.removeItem(KEY);
  sessionProblem.value = because;
  session.value = undefined;
}

function pick({ token, user, isAdministrator, expiresAtMs, id, proofKey }: Session): Session {
  return { token, user, isAdministrator, expiresAtMs, id, proofKey };
}
