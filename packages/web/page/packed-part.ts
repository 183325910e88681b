/** Parts of a page of one file, packed in its elements. */

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
