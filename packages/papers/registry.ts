/** Lists all papers that can be reproduced, and finds them by key. */
import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { dimitriadou2009 } from "./dimitriadou2009/paper.ts";
import { kawanami2008 } from "./kawanami2008/paper.ts";
import type { Paper } from "./paper.ts";
import { silva1999 } from "./silva1999/paper.ts";
import { zhou1999 } from "./zhou1999/paper.ts";
import { zhou2000 } from "./zhou2000/paper.ts";

export const PAPERS: readonly Paper[] = [zhou2000, zhou1999, kawanami2008, silva1999, dimitriadou2009];

/** Finds a paper by its key. @throws InputError for an unknown key, with the closest one as a suggestion */
export function findPaper(key: string): Paper {
  const keys = PAPERS.map((paper) => paper.key);
  const paper = PAPERS.find((candidate) => candidate.key === key);
  if (paper !== undefined) return paper;
  throw new InputError(`Cannot find paper "${key}"${closest(key, keys)}: expected one of ${keys.join(", ")}`);
}
