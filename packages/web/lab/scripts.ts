/** Where the scripts of workers are: next to the page, or in it, if the page is one file. */

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

/** Whether a page of one file has this part in it. */
export function hasPart(name: string): boolean {
  return document.getElementById(name) !== null;
}

/** A part of a page of one file, unpacked. */
export async function partText(name: string): Promise<string> {
  const packed = document.getElementById(name)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).text();
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
