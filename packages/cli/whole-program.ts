/**
 * The bundle of clients throws this in place of loading a file that it does not contain. That happens before
 * a command has done anything, so the whole program can run it from its beginning.
 */
export class NeedsWholeProgram extends Error {}
