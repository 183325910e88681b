/**
 * The address of a view: what it shows, as the fragment of the page's URL, such as
 * `#/jobs/12?state=queued,running&sort=-wait`. Every state that a user may want to send, reload or go back to
 * is in it.
 */

export interface Address {
  /** The name of the view; empty for the first one. */
  readonly view: string;
  /** What follows the view's name, such as the number of a job. */
  readonly rest: readonly string[];
  /** Parameters in the order of their names. A parameter without a value is left out. */
  readonly query: Readonly<Record<string, string>>;
}

/** Longer fragments are cut: nobody types them, and a hostile link must not make a page slow. */
const MAX_LENGTH = 40_000;

/** Reads any text; what cannot be read is left out. */
export function parseAddress(fragment: string): Address {
  const text = fragment.slice(0, MAX_LENGTH).replace(/^#?\/?/, "");
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.slice(0, mark);
  const [view = "", ...rest] = path.split("/").map(decoded);
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(mark < 0 ? "" : text.slice(mark + 1)))
    if (value !== "") query[name] = value;
  return { view, rest: rest.filter((part) => part !== ""), query };
}

export function addressText({ view, rest, query }: Address): string {
  const path = [view, ...rest].map(encodeURIComponent).join("/");
  const names = Object.keys(query)
    .filter((name) => query[name] !== "")
    .sort();
  const parameters = names.map((name) => `${encodeURIComponent(name)}=${readable(query[name])}`).join("&");
  return `#/${path}${parameters === "" ? "" : `?${parameters}`}`;
}

/** Encoded, but with commas, colons and stars as they are: people read these addresses. */
function readable(value: string): string {
  return encodeURIComponent(value).replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
