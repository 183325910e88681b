/**
 * Serves the files of the page, which the build makes (scripts/build-web.ts). They are read and compressed
 * once, at the start, so that a page and its scripts always belong together.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { pulledStream } from "../answers/pieces.ts";

/** The files below /web/, by name, with their content types. The page itself is at `/`. */
export const WEB_FILES: Readonly<Record<string, string>> = {
  "live.js": "text/javascript; charset=utf-8",
  "live.css": "text/css; charset=utf-8",
  "feed.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};
const PAGE = "live.html";
const PAGE_TYPE = "text/html; charset=utf-8";
const PIECE_BYTES = 16 * 1024;

/**
 * Also sent with the scripts, because a worker has the policy of its script's answer. `data:` and `blob:` are
 * for pictures that the page saves.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types tutti",
].join("; ");

/** Everything that a page may ask a browser for, except writing to the clipboard, for buttons that copy. */
const DENIED = [
  "accelerometer",
  "autoplay",
  "camera",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gamepad",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "storage-access",
  "usb",
  "window-management",
  "xr-spatial-tracking",
];

const HEADERS = {
  "cache-control": "no-cache",
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": DENIED.map((feature) => `${feature}=()`).join(", "),
  vary: "accept-encoding",
};

interface WebFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array;
  readonly zipped: Uint8Array;
}

export class WebFiles {
  readonly #files = new Map<string, WebFile>();

  /** @param folder the folder of the build; may be missing */
  constructor(folder: URL) {
    for (const [name, type] of Object.entries({ ...WEB_FILES, [PAGE]: PAGE_TYPE })) {
      const bytes = bytesOf(new URL(name, folder));
      if (bytes === undefined) continue;
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      this.#files.set(name, { type, etag, bytes, zipped: gzipSync(bytes, { level: 9 }) });
    }
  }

  /** The page itself. If it was not built, the answer says so. */
  page(request: Request): Response {
    return (
      this.answer(PAGE, request) ??
      new Response(
        "The page was not built: run npm run build in Tutti's folder, then start the scheduler again.\n",
        { headers: { "content-type": "text/plain; charset=utf-8" } },
      )
    );
  }

  /** Undefined if there is no such file. */
  answer(name: string, { headers: asked }: Request): Response | undefined {
    const file = this.#files.get(name);
    if (file === undefined) return undefined;
    const { type, etag, bytes, zipped } = file;
    const headers = { ...HEADERS, etag };
    const known = (asked.get("if-none-match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known.includes(etag)) return new Response(null, { status: 304, headers });
    const isZipped = acceptsGzip(asked.get("accept-encoding") ?? "");
    const sent = isZipped ? zipped : bytes;
    return new Response(streamOf(sent), {
      headers: {
        ...headers,
        ...(isZipped && { "content-encoding": "gzip" }),
        "content-type": type,
        "content-length": String(sent.length),
      },
    });
  }
}

function acceptsGzip(accepted: string): boolean {
  return accepted.split(",").some((coding) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}

/** In pieces, so that slow clients share the bytes and take only the memory of a piece each. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return pulledStream(
    async () => {
      if (at >= bytes.length) return undefined;
      at += PIECE_BYTES;
      return bytes.subarray(at - PIECE_BYTES, at);
    },
    () => {},
  );
}

function bytesOf(file: URL): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
