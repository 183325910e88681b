/** The index of silva1999: its tables, figures and sentences with a claim, in its order. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

export const INDEX: PaperIndex = { entries: [], added: { shown: [], statements: [] } };
