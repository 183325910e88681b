/** `node:url`: paths and URLs of files. */

/** What `new URL` would take for something else than a part of a path. */
const SPECIAL = /[%\\?#\s]/g;

export function fileURLToPath(url: URL | string): string {
  const { protocol, hostname, pathname } = typeof url === "string" ? new URL(url) : url;
  if (protocol !== "file:") throw new TypeError("The URL must be of scheme file");
  if (hostname !== "") throw new TypeError("File URL host must be empty");
  if (/%2f/i.test(pathname)) throw new TypeError("File URL path must not include encoded / characters");
  return decodeURIComponent(pathname);
}

/** @param path absolute */
export function pathToFileURL(path: string): URL {
  return new URL(`file://${path.replace(SPECIAL, encodeURIComponent)}`);
}
