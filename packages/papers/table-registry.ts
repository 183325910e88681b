/** Lists the tables of all papers, without the papers' other parts, for pages in a browser. */
import { dimitriadou2009Tables } from "./dimitriadou2009/tables.ts";
import { kawanami2008Tables } from "./kawanami2008/tables.ts";
import type { PaperTables } from "./paper.ts";
import { silva1999Tables } from "./silva1999/tables.ts";
import { zhou1999Tables } from "./zhou1999/tables.ts";
import { zhou2000Tables } from "./zhou2000/tables.ts";

export const PAPER_TABLES: readonly PaperTables[] = [
  zhou2000Tables,
  zhou1999Tables,
  kawanami2008Tables,
  silva1999Tables,
  dimitriadou2009Tables,
];
