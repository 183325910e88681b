/**
 * Turns off a part of V8's Maglev compiler for this process and its threads. If bin/tutti.js did not start
 * the process, import this before anything that computes.
 *
 * Maglev does not create an object that its code never lets out. If the code has to be left where the object
 * is needed after all, V8 (Node 24.21 and 26.10) can create several such objects with one common place for
 * a fractional number. The number of one object then becomes that of the next. Without this part, Maglev
 * creates all objects itself. See docs/decisions.md, Numbers, and test/compiler.
 */
import { setFlagsFromString } from "node:v8";

/** bin/tutti.js sets it, too. */
export const COMPILER_FLAG = "--no-maglev-escape-analysis";

setFlagsFromString(COMPILER_FLAG);
