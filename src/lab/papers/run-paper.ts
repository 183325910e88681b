/** A cell that is a part of a paper. */
import { closest } from "../../core/closest.ts";
import { InputError } from "../../core/errors.ts";
import type { Paper } from "./paper.ts";
import { PAPERS } from "./registry.ts";

export interface PaperCell {
  readonly key: string;
  readonly part: unknown;
}

/** The paper of that key. @throws InputError for an unknown one; suggests the closest */
export function findPaper(key: string): Paper {
  const keys = PAPERS.map((paper) => paper.key);
  const paper = PAPERS.find((one) => one.key === key);
  if (paper !== undefined) return paper;
  throw new InputError(`Cannot find paper "${key}"${closest(key, keys)}: expected one of ${keys.join(", ")}`);
}

export async function runPaper({ key, part }: PaperCell): Promise<unknown> {
  return findPaper(key).runCell(part);
}
