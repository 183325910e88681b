/** Makes the page on which visitors break the scheduler, and the script of its worker. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bundled, type PageFiles, withWorld } from "../build-web.ts";
import { linksIn, type SitePage } from "./page.ts";

const source = "packages/web/site/break.html";
const root = fileURLToPath(new URL("../../", import.meta.url));

export function breakPage(): SitePage {
  const path = "break.html";
  const html = readFileSync(root + source, "utf8");
  return {
    ...{ path, title: "Break the scheduler", html, links: linksIn(html, path, source), script: "break.js" },
    hasSearch: true,
    policy: ["script-src 'self' 'wasm-unsafe-eval'", "worker-src blob:"],
  };
}

/** The script of the page, and that of its worker as a packed text. */
export async function breakScripts(): Promise<PageFiles> {
  const page = await bundled({ break: "packages/web/site/break.tsx" });
  const worker = await bundled({ world: "packages/torture/page/worker.ts" }, await withWorld());
  const packed = gzipSync(worker.get("world.js") ?? "", { level: 9 }).toString("base64");
  return new Map([...page, ["break-world.js", `globalThis.tuttiWorld="${packed}"`]]);
}
