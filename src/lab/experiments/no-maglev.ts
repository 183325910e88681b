/**
 * Turns off V8's Maglev compiler for this process and its threads. To be imported before anything that computes, where
 * bin/tutti.js did not start the process.
 *
 * While Maglev compiles a loop on the side, V8 (seen in Node 24.21 and 26.10) now and then lets objects made behind that loop share
 * the memory of their fractional numbers: the numbers of one become those of the next. See docs/decisions.md.
 */
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--no-maglev");
