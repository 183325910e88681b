/** Folders whose content never changes. */
import type { Made, MadeFile } from "../contract.ts";

/** A tree: texts are files that only say this, functions files that say what they return. */
export interface Tree {
  readonly [name: string]: Tree | MadeFile | Made | string | (() => string);
}

export function folderOfTree(tree: Tree): Made {
  const made = new Map<string, Made>();
  for (const [name, what] of Object.entries(tree)) made.set(name, madeOf(what));
  const names = [...made.keys()];
  return { folder: { mode: 0o555, list: () => names, find: (name) => made.get(name) } };
}

function madeOf(what: Tree[string]): Made {
  if (typeof what === "string") return { file: { mode: 0o444, read: () => what } };
  if (typeof what === "function") return { file: { mode: 0o444, read: what } };
  if (isMade(what)) return what;
  return typeof what.mode === "number" ? { file: what as MadeFile } : folderOfTree(what as Tree);
}

function isMade(what: object): what is Made {
  return "file" in what || "folder" in what || "link" in what;
}
