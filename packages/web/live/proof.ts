/**
 * Recognizes the scheduler before the page sends its token. When the scheduler has ended, any user may listen
 * on its port and would receive the token with the next request (docs/api.md, Sessions of the page).
 */
import type { WebProofAnswer } from "@tutti/protocol/answers.ts";
import type { Session } from "./session.ts";

const NONCE_BYTES = 24;

/**
 * Asks the process on the page's port for a proof that it began this session, and checks it.
 * @throws Error if the process cannot give it: then it is not the scheduler that began the session
 */
export async function prove(
  { id, proofKey }: Session,
  fetchIt: typeof fetch,
  port: string,
  signal: AbortSignal,
): Promise<void> {
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const answer = await fetchIt(`/v1/web/proof?id=${id}&nonce=${nonce}`, { signal });
  if (!answer.ok) throw new Error(`no proof: status ${answer.status}`);
  const { proof }: WebProofAnswer = await answer.json();
  const key = await crypto.subtle.importKey(
    "raw",
    fromBase64Url(proofKey),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const text = new TextEncoder().encode(`tutti on port ${port} of 127.0.0.1: ${nonce}`);
  if (!(await crypto.subtle.verify("HMAC", key, fromBase64Url(proof), text)))
    throw new Error("the process on this port is not the scheduler that began the session");
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );
}
