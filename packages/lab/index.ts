/**
 * What `import … from "tutti"` gives a program: the laboratory, and the parts of policies. A policy's own
 * file gets only the latter.
 */
export * from "@tutti/kernel/kit.ts";
/** See docs/library.md. */
export * from "./library.ts";
