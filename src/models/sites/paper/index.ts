/** The index of dimitriadou2009: its tables, figures and sentences with a claim, in its order. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

export const INDEX: PaperIndex = { entries: [], added: { shown: [], statements: [] } };
