/**
 * Makes one HTML file of a page: script, style and icon are inside. The page starts its workers from the text
 * of its script. It opens from a disk, without a server. Its policy allows exactly its own script and style,
 * by their hashes.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { PageFiles } from "./build-web.ts";

interface Parts {
  readonly html: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
  /** Scripts that are loaded on demand: id of the element, which has them packed, and name of the file. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Text that would end the element early, or change how the parser reads it. */
const DANGEROUS = /<\/(?:script|style)|<!--/i;

/** @throws Error if a script contains a text that HTML would read as markup */
export function oneFile(files: PageFiles, parts: Parts): string {
  const content = (name: string) => {
    const text = files.get(name);
    if (text === undefined) throw new Error(`The page has no file ${name}`);
    const found = DANGEROUS.exec(text);
    if (found !== null && name !== parts.html && name !== parts.icon)
      throw new Error(`${name} contains "${found[0]}", which ends or changes the element around it`);
    return text;
  };
  const [script, style] = [content(parts.script), content(parts.style)];
  const icon = `data:image/svg+xml,${encodeURIComponent(content(parts.icon))}`;
  const loaded = Object.entries(parts.parts)
    .map(([id, name]) => {
      const packed = gzipSync(files.get(name) ?? "", { level: 9 }).toString("base64");
      return `<script id="${id}" type="text/plain">${packed}</script>`;
    })
    .join("\n");
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data: blob:",
    "connect-src 'none'",
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types tutti",
  ].join("; ");
  return [
    [/(<meta http-equiv="Content-Security-Policy" content=")[^"]*/, `$1${policy}`],
    [new RegExp(`(<link rel="icon" href=")${parts.icon}`), `$1${icon}`],
    [new RegExp(`<link rel="stylesheet" href="${parts.style}">`), `<style>${style}</style>`],
    // A script at the end of the body needs no `defer`, which inline scripts do not have.
    [new RegExp(`<script src="${parts.script}" defer></script>\n?`), ""],
    [/<\/body>/, `${loaded}\n<script>${script}</script>\n</body>`],
  ].reduce((html, [from, to]) => replaced(html, from as RegExp, to as string), content(parts.html));
}

function replaced(html: string, from: RegExp, to: string): string {
  if (!from.test(html)) throw new Error(`The page has no ${from}`);
  // As a function, because scripts contain $& and the like.
  return html.replace(from, (_, first = "") => (to.startsWith("$1") ? first + to.slice(2) : to));
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
