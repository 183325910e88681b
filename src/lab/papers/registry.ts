/** The one list of papers that can be reproduced. */
import type { Paper } from "./paper.ts";

export const PAPERS: readonly Paper[] = [];
