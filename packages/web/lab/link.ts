/**
 * Writes an experiment into the fragment of a link and reads it again: JSON, deflated, in base64url. A
 * fragment is not sent to any server.
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { experimentData, type PageExperiment, readExperiment } from "./experiment.ts";

/** Longer links are cut by programs that people send them with. */
export const MAX_LINK_BYTES = 32 * 1024;
/** Of the JSON text: a hostile link may deflate to a thousandth. */
const MAX_TEXT_BYTES = 1024 * 1024;

export async function linkText(experiment: PageExperiment): Promise<string> {
  const text = new Blob([JSON.stringify(experimentData(experiment))]);
  const packed = await new Response(text.stream().pipeThrough(new CompressionStream("deflate-raw"))).bytes();
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @throws InputError if the text is not the experiment of a link */
export async function readLink(text: string): Promise<PageExperiment> {
  return readExperimentText(await inflated(text));
}

/** @throws InputError if the text is not the JSON of an experiment */
export function readExperimentText(text: string): PageExperiment {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw damaged();
  }
  return readExperiment(data);
}

async function inflated(text: string): Promise<string> {
  if (text.length > MAX_LINK_BYTES) throw damaged();
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const reader = new Blob([packed])
      .stream()
      .pipeThrough(new DecompressionStream("deflate-raw"))
      .getReader();
    const decoder = new TextDecoder();
    let read = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return read + decoder.decode();
      read += decoder.decode(value, { stream: true });
      if (read.length > MAX_TEXT_BYTES) throw damaged();
    }
  } catch (error) {
    throw error instanceof InputError ? error : damaged();
  }
}

function damaged(): InputError {
  return new InputError(
    "Cannot use the experiment of this link: it is damaged or not complete, expected the link as the page has copied it",
  );
}
