/** Reads the blocks of code of a guide, so that a test does what a reader would. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.ts";

export interface Block {
  /** Of the line that opens it, from 1. */
  readonly line: number;
  /** The first word after the fence, such as `sh`; empty if there is none. */
  readonly language: string;
  /** The second word: the file that has this text. */
  readonly file: string;
  readonly text: string;
}

/** The blocks of a document, in its order. */
export function blocksOf(path: string): Block[] {
  const document = readFileSync(join(root, path), "utf8");
  return Array.from(document.matchAll(/^```(\w*) ?(\S*)\n([\s\S]*?)^```$/gm), (match) => ({
    line: document.slice(0, match.index).split("\n").length,
    language: match[1],
    file: match[2],
    text: match[3],
  }));
}

/** The commands of a block with language `console`, each with what the guide says that it prints. */
export function dialogueOf({ text }: Block): { readonly command: string; readonly shown: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => ({
      command: part.slice(0, part.indexOf("\n")),
      shown: part.slice(part.indexOf("\n") + 1),
    }));
}

/** A text in which every number, time and width of a column is the same. */
export function withoutNumbers(text: string): string {
  return text
    .replace(/\d+(?:[.,:]\d+)*/g, "0")
    .replace(/\b0 (?:ms|s|min|h)\b/g, "0 s")
    .replace(/[ \t]+/g, " ")
    .trim();
}
