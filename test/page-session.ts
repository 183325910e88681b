/** Begins a session of the page, as the page does with the code of its link. */
interface LoggedIn {
  readonly status: number;
  readonly token: string;
  readonly isAdministrator: boolean;
}

export async function logIn(link: string): Promise<LoggedIn> {
  const answer = await fetch(new URL("/v1/web/sessions", link), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: codeOf(link) }),
  });
  const { token, isAdministrator } = (await answer.json()) as LoggedIn;
  return { status: answer.status, token, isAdministrator };
}

export function codeOf(link: string): string {
  return new URL(link).hash.slice("#login=".length);
}

/** The JSON answer to a request with the token of a session. */
export async function askAs<Answer>(token: string, url: URL | string): Promise<Answer> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as Answer;
}
