/** The index of zhou2000: its tables, figures and sentences with a claim, in its order. */
import type { PaperIndex } from "../paper.ts";

export const INDEX: PaperIndex = { entries: [], added: { shown: [], statements: [] } };
