/**
 * Sends one event of a job to the webhook of its user: `node webhook.js [UID GID USER]`, with the address and
 * the data in its environment, since everybody can see a program's arguments. With an account, it first
 * becomes that user, so that it can reach nothing that the user could not reach.
 *
 * Exit codes: 0 the address has accepted it, 65 it never will, 1 another try may succeed.
 */
const MAX_REDIRECTS = 3;
const TIMEOUT_MS = 25_000;
const FINAL = 65;
/** The same request again, at another address. Others would make it a GET without the data. */
const REPEATS: ReadonlySet<number> = new Set([307, 308]);
/** Refusals that may pass: too early, too many requests, time-out. */
const MAY_PASS: ReadonlySet<number> = new Set([408, 425, 429]);

const [uid, gid, user] = process.argv.slice(2);
if (uid !== undefined) {
  // The types of Node do not have it.
  (process as unknown as { initgroups(user: string, gid: number): void }).initgroups(user, Number(gid));
  process.setgid!(Number(gid));
  process.setuid!(Number(uid));
}
const { env } = process;
const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
const body = JSON.stringify({
  schema: "tutti.news/1",
  id: env.TUTTI_EVENT_ID,
  event: env.TUTTI_EVENT,
  atMs: number(env.TUTTI_AT_MS),
  job: number(env.TUTTI_JOB),
  name: env.TUTTI_JOB_NAME,
  user: env.TUTTI_USER,
  state: env.TUTTI_JOB_STATE,
  attempt: number(env.TUTTI_ATTEMPT),
  ...(env.TUTTI_EXIT_CODE !== undefined && { code: Number(env.TUTTI_EXIT_CODE) }),
  signal: env.TUTTI_SIGNAL,
  reason: env.TUTTI_REASON,
  ...(env.TUTTI_ARRAY_JOB_ID !== undefined && { array: Number(env.TUTTI_ARRAY_JOB_ID) }),
  ...(env.TUTTI_ARRAY_INDEX !== undefined && { arrayIndex: Number(env.TUTTI_ARRAY_INDEX) }),
});

let url = new URL(env.TUTTI_WEBHOOK ?? "");
const signal = AbortSignal.timeout(TIMEOUT_MS);
try {
  for (let redirects = 0; ; redirects++) {
    if (url.protocol !== "http:" && url.protocol !== "https:") end(FINAL, `cannot use ${url.protocol}`);
    const answer = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": "tutti",
        "tutti-event-id": env.TUTTI_EVENT_ID ?? "",
      },
      body,
      signal,
    });
    await answer.body?.cancel();
    const { status } = answer;
    const location = answer.headers.get("location");
    if (status >= 200 && status < 300) end(0, `status ${status}`);
    if (!REPEATS.has(status) || location === null) {
      const isFinal = status < 500 && !MAY_PASS.has(status);
      end(isFinal ? FINAL : 1, `status ${status}, expected 200 to 299`);
    }
    if (redirects === MAX_REDIRECTS) end(FINAL, `more than ${MAX_REDIRECTS} redirects`);
    url = new URL(location, url);
  }
} catch (error) {
  const { message, cause } = error as Error;
  end(1, cause instanceof Error && cause.message !== "" ? cause.message : message);
}

function end(code: number, text: string): never {
  process.stdout.write(`${text}\n`);
  process.exit(code);
}
