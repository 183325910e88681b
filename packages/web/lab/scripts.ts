/** Where the scripts of workers are: next to the page, or in it, if the page is one file. */

import { hasPart, partText } from "../page/packed-part.ts";

/** In a page of one file, the text of the page's script; empty if the script is a file of its own. */
const inside = document.currentScript?.textContent ?? "";
const made = new Map<string, string>();

/** The page's own script, which is also that of its workers. */
export function scriptUrl(): string {
  return inside === "" ? "lab.js" : blobUrl("lab", inside);
}

/** A script that is loaded on demand. In a page of one file, it is packed. */
export async function partUrl(name: string): Promise<string> {
  return hasPart(name) ? blobUrl(name, await partText(name)) : `${name}.js`;
}

/** Text that loads the page's script in a worker whose script the page has made. */
export function ownScript(): string {
  if (inside !== "") return inside;
  const url = JSON.stringify(new URL("lab.js", document.baseURI).href);
  return `{ const url = ${url};
importScripts(globalThis.trustedTypes?.createPolicy("tutti", { createScriptURL: () => url }).createScriptURL(url) ?? url); }`;
}

function blobUrl(name: string, text: string): string {
  const known = made.get(name) ?? URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  made.set(name, known);
  return known;
}
