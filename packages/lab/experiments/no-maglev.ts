/**
 * Turns off V8's Maglev compiler for this process and its threads. If bin/tutti.js did not start the process,
 * import this before anything that computes.
 *
 * While Maglev compiles a loop in the background, V8 (seen in Node 24.21 and 26.10) occasionally makes two
 * objects that are created after that loop share the memory of their fractional numbers. The numbers of one
 * object then become those of the next. See docs/decisions.md.
 */
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--no-maglev");
